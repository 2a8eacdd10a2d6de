use super::*;
use crate::config::Config;
use std::{fs, sync::Arc};

/// A keyring on a bus that serves nothing, never the user's session bus.
async fn no_keyring() -> Keyring {
    mock::Mock::default().keyring(false).await
}

async fn store(path: &Path, keyring: Keyring, env: &[(&str, &str)]) -> Result<ConfiguredKeys, KeyError> {
    let config = Config::parse(
        "[providers.local]\napi = \"openai-chat\"\nbase_url = \"http://h\"\napi_key_env = \"L\"\n",
    )
    .unwrap();
    let variable = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
    Ok(ConfiguredKeys::new(Arc::new(KeyStore::open_with(path, keyring)?), &config, &variable))
}

async fn set(keys: &ConfiguredKeys, provider: &str, key: Option<&str>) -> String {
    keys.set(provider, key).await.unwrap().stored_in
}

fn secret(key: &str) -> Option<Secret> {
    Some(Secret::new(key))
}

#[tokio::test]
async fn the_environment_takes_precedence_over_a_stored_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.toml");
    let env = [("ANTHROPIC_API_KEY", "sk-env"), ("OPENAI_API_KEY", " "), ("L", "sk-local")];
    let keys = store(&path, no_keyring().await, &env).await.unwrap();
    assert_eq!(keys.names(), ["anthropic", "local"]);
    assert_eq!(keys.origin("local"), Some(KeyOrigin::Environment("L".to_owned())));
    assert_eq!((keys.key("anthropic"), keys.key("openai")), (secret("sk-env"), None));

    let words = set(&keys, "anthropic", Some("sk-kept")).await;
    assert!(words.ends_with(", but ANTHROPIC_API_KEY of the daemon's environment goes first"), "{words}");
    assert_eq!(keys.key("anthropic"), secret("sk-env"));
}

#[tokio::test]
async fn without_a_keyring_a_key_is_stored_in_a_private_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.toml");
    let keys = store(&path, no_keyring().await, &[]).await.unwrap();
    let odd = "sk-\"\\{}ä";
    let words = set(&keys, "openai", Some(&format!("{odd}\n"))).await;
    assert_eq!(words, format!("{} (only you can read it; there is no keyring here)", path.display()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(!format!("{keys:?}").contains("sk-"));

    let again = store(&path, no_keyring().await, &[]).await.unwrap();
    assert_eq!((again.key("openai"), again.origin("openai")), (secret(odd), Some(KeyOrigin::File)));
    assert_eq!(set(&again, "openai", None).await, "nowhere");
    assert_eq!(again.key("openai"), None);
    assert_eq!(KeyFile::load(&path).unwrap(), KeyFile::default());
}

#[tokio::test]
async fn setting_a_key_tells_whether_there_was_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.toml");
    let keys = store(&path, no_keyring().await, &[("ANTHROPIC_API_KEY", "sk-env")]).await.unwrap();
    let mut had = Vec::new();
    for key in [None, Some("sk-1"), Some("sk-2"), None, None] {
        had.push(keys.set("anthropic", key).await.unwrap().had_key);
    }
    assert_eq!(had, [false, false, true, true, false], "that of the environment was not stored");
}

#[tokio::test]
async fn an_invalid_key_or_name_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.toml");
    let keys = store(&path, no_keyring().await, &[]).await.unwrap();
    for key in ["", "  ", "a b", "a\u{1b}[0m", &"x".repeat(key::MAX)] {
        assert!(matches!(keys.set("openai", Some(key)).await, Err(KeyError::BadKey(_))), "{key:?}");
    }
    assert!(matches!(keys.set("a/b", Some("k")).await, Err(KeyError::BadName)));
    assert!(!path.exists());
}

#[tokio::test]
async fn an_invalid_file_is_refused_without_quoting_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.toml");
    let open = || async { store(&path, no_keyring().await, &[]).await.unwrap_err() };
    fs::write(&path, "[keys]\nopenai = sk-secret\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(open().await, KeyError::Exposed { .. }));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let words = open().await.to_string();
    assert!(words.contains("see line 2") && !words.contains("secret"), "{words}");
    #[cfg(unix)]
    {
        fs::rename(&path, dir.path().join("real")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("real"), &path).unwrap();
        assert!(matches!(open().await, KeyError::NotOurs { .. }));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_keyring_has_the_key_and_the_file_only_the_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.toml");
    let mock = mock::Mock::default();
    let keys = store(&path, mock.keyring(true).await, &[]).await.unwrap();
    assert_eq!(set(&keys, "openai", Some("sk-1")).await, "the system's keyring");
    assert_eq!(set(&keys, "openai", Some("sk-2")).await, "the system's keyring");
    assert_eq!(keys.key("openai"), secret("sk-2"));
    assert!(!fs::read_to_string(&path).unwrap().contains("sk-"));
    assert_eq!(mock.values(), ["sk-2"]);

    let again = store(&path, mock.keyring(true).await, &[]).await.unwrap();
    assert_eq!((again.key("openai"), again.names()), (None, vec!["openai".to_owned()]));
    again.kept().fetch().await;
    assert_eq!(again.key("openai"), secret("sk-2"));

    again.set("openai", None).await.unwrap();
    assert_eq!((again.names().len(), mock.values().len()), (0, 0));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_locked_keyring_counts_as_absent_until_it_is_unlocked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.toml");
    let mock = mock::Mock::default();
    let keys = store(&path, mock.keyring(true).await, &[]).await.unwrap();
    keys.set("openai", Some("sk-1")).await.unwrap();

    mock.lock(true);
    let again = store(&path, mock.keyring(true).await, &[]).await.unwrap();
    again.kept().fetch().await;
    assert_eq!(again.key("openai"), None);
    assert!(matches!(again.set("openai", None).await, Err(KeyError::Keyring(_))));
    let words = set(&again, "local", Some("sk-3")).await;
    assert_eq!(words, format!("{} (only you can read it; the keyring is locked)", path.display()));

    mock.lock(false);
    again.kept().fetch().await;
    assert_eq!((again.key("openai"), again.key("local")), (secret("sk-1"), secret("sk-3")));
}

#[cfg(target_os = "linux")]
mod mock;
#[cfg(not(target_os = "linux"))]
mod mock {
    #[derive(Default)]
    pub(super) struct Mock;
    impl Mock {
        pub(super) async fn keyring(&self, _: bool) -> super::Keyring {
            super::Keyring
        }
    }
}
