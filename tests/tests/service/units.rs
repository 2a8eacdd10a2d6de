//! The units, as systemd reads them.

use abide_host::{
    Home,
    login::{SERVICE, SOCKET, units},
};
use abide_tests::{daemon, process, skip::skip};
use std::{fs, path::Path};

/// What `systemd-analyze verify` says about the units; `None` if there is none.
async fn verified(service: &str, socket: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let files = [(SERVICE, service), (SOCKET, socket)].map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    });
    let mut analyze = process::program("systemd-analyze");
    analyze.args(["verify", "--user", "--man=no"]).args(files);
    analyze
        .env("XDG_RUNTIME_DIR", folder.path())
        .env("SYSTEMD_UNIT_PATH", format!("{}:", folder.path().display()));
    let output = process::finished(&mut analyze).await.ok()?;
    Some(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

#[tokio::test]
async fn systemd_has_nothing_to_say_about_them() {
    let template = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/linux").join(name);
    let program = daemon::program();
    let bin = program.parent().unwrap().display().to_string();
    let service = fs::read_to_string(template("abided.service.in")).unwrap().replace("@bindir@", &bin);
    let socket = fs::read_to_string(template("abided.socket.in")).unwrap();
    let Some(said) = verified(&service, &socket).await else {
        return skip("systemd_has_nothing_to_say_about_them", "there is no systemd-analyze");
    };
    assert_eq!(said, "", "the packages' units");
    assert!(
        verified(&service.replace("OOMPolicy", "OOMPolizei"), &socket).await.unwrap().contains("OOMPolizei")
    );

    // A program and a home whose paths systemd would change if they were not quoted.
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("my 100% $HOME; %t tools");
    fs::create_dir(&odd).unwrap();
    std::os::unix::fs::symlink(&program, odd.join("abided")).unwrap();
    let units = units(&odd.join("abided"), &Home::at(odd.join("a \"home\" \\x41"))).unwrap();
    assert_eq!(verified(&units.service, &units.socket).await.unwrap(), "", "{}", units.service);
    fs::remove_file(odd.join("abided")).unwrap();
    let missing = verified(&units.service, &units.socket).await.unwrap();
    assert!(
        missing.contains("abided") && missing.contains("not"),
        "it looks for that very program: {missing}"
    );
}
