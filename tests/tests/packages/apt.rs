//! The packages in a fresh Debian: installed, used, upgraded while tasks wait, and purged.

use abide_tests::{fresh_root::FreshRoot, packages, skip::skip};
use serde_json::Value;

/// A task of the built-in model, which has asked its question.
fn waiting_task(root: &FreshRoot, user: &str) -> String {
    let id = root.ok_as(user, "abide run --detach --yes-all --model demo/demo Show me.").trim().to_owned();
    let waited = root.run_as(user, &format!("abide wait --or-waiting {id}"));
    assert_eq!(waited.code, Some(4), "it waits for {user}: {waited:?}");
    id
}

fn waits(root: &FreshRoot, user: &str, id: &str) {
    let tasks: Value = serde_json::from_str(&root.ok_as(user, "abide ps --json")).unwrap();
    let [task] = &tasks.as_array().unwrap()[..] else { panic!("one task of {user}: {tasks:#}") };
    assert_eq!((task["id"].as_str(), task["status"].as_str()), (Some(id), Some("waiting_user")), "{task:#}");
}

/// Its question is answered. It goes on with a command, for which the daemon executes its own program.
fn goes_on(root: &FreshRoot, user: &str, id: &str) {
    root.ok_as(user, &format!("abide answer {id} 1 && abide wait {id}"));
    let shown = root.ok_as(user, &format!("abide show {id} --output"));
    assert!(
        shown.contains("wc -w greeting.md") && shown.contains("15 greeting.md"),
        "the command ran: {shown}"
    );
}

fn installed_version(root: &FreshRoot) -> String {
    root.ok("dpkg-query --show --showformat='${Status} ${Version}' abide")
}

fn daemon(root: &FreshRoot, user: &str) -> Value {
    let status: Value = serde_json::from_str(&root.ok_as(user, "abide daemon status --json")).unwrap();
    status["pid"].clone()
}

#[test]
fn a_package_is_installed_used_upgraded_at_work_and_purged() {
    let root = match FreshRoot::enter(packages::built()) {
        Ok(root) => root,
        Err(why) => return skip("packages::apt", &why),
    };
    let (now, next) = (packages::NOW, packages::NEXT);
    root.ok("useradd --create-home --shell /bin/bash ada && useradd --create-home --shell /bin/bash bob");
    let said = root.ok(&format!("apt-get install --yes ./packages/abide_{now}-1_*.deb"));
    assert!(said.contains("abide demo"), "it says how to begin: {said}");
    let running = "for p in /proc/[0-9]*; do readlink $p/exe || true; done | grep abide || true";
    assert_eq!(root.ok(running), "", "it starts nothing");

    let demo = root.run_as("ada", "abide demo");
    assert_eq!(demo.code, Some(0), "{demo:#?}");
    assert!(demo.stderr.contains("completed"), "{}", demo.stderr);
    let ada = waiting_task(&root, "ada");
    let bob = waiting_task(&root, "bob");
    // Logging out ends everything of hers.
    let _ = root.run_as("ada", "kill -KILL -1");
    waits(&root, "ada", &ada);
    let before = [daemon(&root, "ada"), daemon(&root, "bob")];

    // 20 MiB are enough for what people do meanwhile, and too little for the programs.
    let _ = root.run("cat /dev/zero >/ballast; truncate --size=-20M /ballast");
    let upgrade = format!("apt-get install --yes ./packages/abide_{next}-1_*.deb");
    let full = root.run(&upgrade);
    assert!(full.code != Some(0) && full.stdout.contains("No space left on device"), "{full:#?}");
    assert_eq!(installed_version(&root), format!("install ok installed {now}-1"));
    assert_eq!(root.ok("abide --version"), format!("abide {now}\n"), "what was there works");
    waits(&root, "ada", &ada);
    root.ok("rm /ballast");

    root.ok(&upgrade);
    assert_eq!(installed_version(&root), format!("install ok installed {next}-1"));
    waits(&root, "ada", &ada);
    waits(&root, "bob", &bob);
    for daemon in before {
        let executes = format!(
            "readlink /proc/{daemon}/exe && test \"$(readlink /proc/{daemon}/exe)\" = /usr/bin/abided"
        );
        root.wait_until("a daemon to go over to the program that was installed", &executes);
    }
    goes_on(&root, "ada", &ada);
    goes_on(&root, "bob", &bob);

    let said = root.ok("apt-get purge --yes abide");
    assert!(said.contains(".local/share/abide"), "it says what stays: {said}");
    let left = root.ok("find /usr /etc -name '*abide*'");
    assert_eq!(left, "", "nothing of the package is left");
    root.ok("test -s ~ada/.local/share/abide/abide.db && test -s ~bob/.local/share/abide/abide.db");
    root.ok(&upgrade);
    let all = root.ok_as("ada", "abide ps --all --json");
    assert!(all.contains(&ada), "her tasks are there again: {all}");
}

/// The window opens these libraries when it runs, so only the package's description knows them. A program is
/// in the place of AppArmor's, as this kernel may have none.
#[test]
fn the_window_finds_its_libraries_and_the_profile_is_loaded_where_apparmor_knows_it() {
    let root = match FreshRoot::enter(packages::built()) {
        Ok(root) => root,
        Err(why) => return skip("packages::apt", &why),
    };
    let alone = root.run(&format!("dpkg --install ./packages/abide-gui_{}-1_*.deb", packages::NOW));
    assert!(alone.stderr.contains("depends on abide (= "), "not without the daemon: {alone:#?}");
    root.ok("dpkg --purge abide-gui");

    root.ok("mkdir /etc/apparmor.d && printf '#!/bin/sh\\ntest -e /knows && echo \"$@\" >>/parsed\\n' >/usr/sbin/apparmor_parser");
    root.ok("ln -s /usr/bin/true /usr/bin/aa-enabled && chmod 755 /usr/sbin/apparmor_parser");
    let install =
        format!("apt-get install --yes --no-install-recommends ./packages/abide_{}-1_*.deb", packages::NOW);
    root.ok(&install);
    root.ok("test ! -e /etc/apparmor.d/abided -a ! -e /parsed");
    root.ok("apt-get purge --yes abide && touch /knows");
    root.ok(&format!("{install} ./packages/abide-gui_{}-1_*.deb", packages::NOW));
    let loaded = root.ok("cat /etc/apparmor.d/abided /parsed");
    assert!(loaded.contains("profile abided /usr/bin/abided"), "{loaded}");
    assert!(loaded.contains("--replace --write-cache /etc/apparmor.d/abided"), "{loaded}");

    let opened = root.ok(
        r"grep --text --only-matching 'lib[A-Za-z0-9-]*\.so\.[0-9][0-9]*' /usr/bin/abide-gui | sort --unique",
    );
    assert!(opened.contains("libX11.so.6") && opened.contains("libwayland-client.so.0"), "{opened}");
    let there = root.ok("ldconfig --print-cache");
    for library in opened.lines() {
        assert!(there.contains(&format!("{library} (")), "{library} is missing");
    }
    root.ok("test -s /usr/share/icons/hicolor/scalable/apps/dev.abide.Abide.svg");

    root.ok("apt-get remove --yes abide && test ! -L /etc/apparmor.d/abided");
    assert!(root.ok("cat /parsed").contains("--remove /etc/apparmor.d/abided"));
    root.ok("echo '# edited by hand' >/etc/apparmor.d/abided");
    root.ok(&install);
    root.ok("apt-get purge --yes abide");
    assert_eq!(root.ok("cat /etc/apparmor.d/abided"), "# edited by hand\n");
}
