use super::*;
use std::fs;
use tempfile::TempDir;

struct Home {
    folder: TempDir,
    settings: Settings,
}

impl Home {
    fn path(folder: &TempDir) -> PathBuf {
        folder.path().join("config.toml")
    }

    fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(Self::path(&folder), text).unwrap();
        let keys = Arc::new(KeyStore::open(&folder.path().join("keys.toml")).unwrap());
        let variable: Variable = Arc::new(|name: &str| Some(format!("value of {name}")));
        let settings =
            Settings::open(&Self::path(&folder), folder.path().join("last-good.toml"), keys, variable)
                .unwrap();
        Self { folder, settings }
    }

    fn write(&self, text: &str) {
        fs::write(Self::path(&self.folder), text).unwrap();
    }

    async fn max_steps(&self) -> Option<u32> {
        self.settings.now().await.config().task.max_steps
    }
}

#[tokio::test]
async fn a_change_of_one_byte_at_the_same_time_is_seen() {
    let home = Home::with("[task]\nmax_steps = 1\n");
    assert_eq!(home.max_steps().await, Some(1));
    for steps in 2..9 {
        // The same length, and nearly the same time.
        home.write(&format!("[task]\nmax_steps = {steps}\n"));
        assert_eq!(home.max_steps().await, Some(steps));
    }
}

#[tokio::test]
async fn a_replaced_removed_or_created_file_is_seen() {
    let home = Home::with("[task]\nmax_steps = 1\n");
    let (path, other) = (Home::path(&home.folder), home.folder.path().join("other"));
    fs::write(&other, "[task]\nmax_steps = 2\n").unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(home.max_steps().await, Some(2));
    fs::remove_file(&path).unwrap();
    assert_eq!(home.max_steps().await, None);
    home.write("[task]\nmax_steps = 3\n");
    assert_eq!(home.max_steps().await, Some(3));
}

#[tokio::test]
async fn an_invalid_file_leaves_the_configuration_until_it_is_corrected() {
    let home = Home::with("[task]\nmax_steps = 1\n");
    let before = home.settings.status();
    assert_eq!(before.refused, None);
    home.write("[task]\n\nmax_steps = \"few\"\n");
    assert_eq!(home.max_steps().await, Some(1));
    let status = home.settings.status();
    assert_eq!(status.read_at, before.read_at);
    let refused = status.refused.unwrap();
    assert_eq!((refused.line, refused.key.as_deref()), (Some(3), Some("task.max_steps")));
    assert!(refused.message.contains(&status.path), "{}", refused.message);

    fs::remove_file(Home::path(&home.folder)).unwrap();
    fs::create_dir(Home::path(&home.folder)).unwrap();
    assert_eq!(home.max_steps().await, Some(1));
    let refused = home.settings.status().refused.unwrap();
    assert!(refused.message.starts_with("cannot read"), "{}", refused.message);

    fs::remove_dir(Home::path(&home.folder)).unwrap();
    home.write("[task]\nmax_steps = 4\n");
    assert_eq!((home.max_steps().await, home.settings.status().refused), (Some(4), None));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_being_written_does_not_count_as_empty() {
    let home = Home::with("[task]\nmax_steps = 1\n");
    home.write("");
    let (looked, ()) = tokio::join!(home.max_steps(), async {
        // The first read found it empty.
        tokio::time::sleep(SETTLE / 4).await;
        home.write("[task]\nmax_steps = 2\n");
    });
    assert_eq!(looked, Some(2));
}

#[tokio::test]
async fn a_provider_with_a_new_address_gets_only_its_own_key() {
    let provider = |host: &str, variable: &str| {
        format!(
            "[providers.corp]\napi = \"openai-chat\"\nbase_url = \"http://{host}\"\napi_key_env = \"{variable}\"\n"
        )
    };
    let home = Home::with(&provider("old", "OLD"));
    let before = home.settings.now().await;
    home.write(&provider("new", "NEW"));
    let after = home.settings.now().await;
    let origin = |catalog: &Catalog| catalog.keys().origin("corp").unwrap().to_string();
    assert_eq!((origin(&before).as_str(), origin(&after).as_str()), ("OLD is set", "NEW is set"));
}

#[tokio::test(start_paused = true)]
async fn a_recent_configuration_is_a_second_old_at_most() {
    let home = Home::with("[task]\nmax_steps = 1\n");
    home.write("[task]\nmax_steps = 2\n");
    let steps = async || home.settings.recent().await.config().task.max_steps;
    assert_eq!(steps().await, Some(1));
    tokio::time::advance(RECENT).await;
    assert_eq!(steps().await, Some(2));
}
