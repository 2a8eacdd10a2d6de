//! The tokens of devices. Their texts are shown once and kept nowhere: the file has the SHA-256 of each.

use crate::{clock, private_file};
use abide_host::replace_file;
use abide_protocol::{
    Error, ErrorKind, Timestamp,
    limits::MAX_CLIENT_NAME,
    method::{
        Access,
        http::{AddTokenReply, TokenAccess, TokenInfo},
    },
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::{
    fmt::Write as _,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};
use subtle::ConstantTimeEq as _;
use tokio_util::sync::CancellationToken;

/// Random bytes of a token.
const BYTES: usize = 32;

/// All tokens. The file is read with the first use. A faulty one is read again when somebody of this machine
/// looks at the tokens, and not for each request.
#[derive(Debug)]
pub(super) struct Tokens {
    path: PathBuf,
    held: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Unread,
    Read(Vec<Held>),
    Faulty(Error),
}

/// Nobody can be let in. The log and the status say why; a client is not told where the file is.
#[derive(Debug)]
pub(super) struct Faulty;

#[derive(Debug, Clone)]
struct Held {
    info: TokenInfo,
    digest: [u8; 32],
    /// Cancelled when the token is void.
    revoked: CancellationToken,
}

/// The bearer of a token.
#[derive(Debug, Clone)]
pub(super) struct Device {
    pub(super) name: String,
    pub(super) may: Access,
    /// Cancelled when the token is void.
    pub(super) revoked: CancellationToken,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFile {
    #[serde(default)]
    token: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    access: TokenAccess,
    created_at: Timestamp,
    /// In hex.
    sha256: String,
}

impl Tokens {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, held: Mutex::default() }
    }

    /// Whose token this is.
    pub(super) fn bearer(&self, token: &str) -> Result<Option<Device>, Faulty> {
        let digest = digest(token);
        let mut state = self.lock();
        if matches!(*state, State::Unread) {
            *state = self.read();
        }
        let State::Read(held) = &*state else { return Err(Faulty) };
        // All are compared, so that the time tells nothing about which one it is.
        let is_it = |held: &Held| bool::from(held.digest.ct_eq(&digest));
        let found = held.iter().fold(None, |found, held| if is_it(held) { Some(held) } else { found });
        Ok(found.map(|Held { info, revoked, .. }| Device {
            name: info.name.clone(),
            may: match info.access {
                TokenAccess::Read => Access::Read,
                TokenAccess::Act => Access::Act,
            },
            revoked: revoked.clone(),
        }))
    }

    /// What is wrong with the file, if it was read.
    pub(super) fn fault(&self) -> Option<String> {
        match &*self.lock() {
            State::Faulty(error) => Some(error.message.clone()),
            State::Unread | State::Read(_) => None,
        }
    }

    pub(super) fn list(&self) -> Result<Vec<TokenInfo>, Error> {
        self.change(|held| Ok(held.iter().map(|held| held.info.clone()).collect()))
    }

    /// Makes a token. Its text is in the reply and nowhere else.
    pub(super) fn add(&self, name: String, access: TokenAccess) -> Result<AddTokenReply, Error> {
        check_name(&name)?;
        self.change(|held| {
            if held.iter().any(|held| held.info.name == name) {
                let words = format!("there is a token {name:?}; revoke it first, or choose another name");
                return Err(Error::new(ErrorKind::Conflict, words).about(name));
            }
            let token = fresh()?;
            let info = TokenInfo { name, access, created_at: clock::now() };
            let mut all = held.clone();
            all.push(Held { info: info.clone(), digest: digest(&token), revoked: CancellationToken::new() });
            all.sort_by(|a, b| a.info.name.cmp(&b.info.name));
            self.save(&all)?;
            *held = all;
            Ok(AddTokenReply { token, info })
        })
    }

    /// Makes a token void, and cuts what its bearer has open, also if that cannot be saved.
    pub(super) fn revoke(&self, name: &str) -> Result<TokenInfo, Error> {
        self.change(|held| {
            let Some(at) = held.iter().position(|held| held.info.name == name) else {
                return Err(
                    Error::new(ErrorKind::NotFound, format!("there is no token {name:?}")).about(name)
                );
            };
            let void = held.remove(at);
            void.revoked.cancel();
            self.save(held).map_err(|mut error| {
                let words = format!(
                    "; the token {name:?} is void until the daemon's next start, and then counts again"
                );
                error.message.push_str(&words);
                error
            })?;
            Ok(void.info)
        })
    }

    /// Does something with the tokens, after another look at a file that was faulty.
    fn change<T>(&self, work: impl FnOnce(&mut Vec<Held>) -> Result<T, Error>) -> Result<T, Error> {
        let mut state = self.lock();
        if !matches!(*state, State::Read(_)) {
            *state = self.read();
        }
        match &mut *state {
            State::Read(held) => work(held),
            State::Faulty(error) => Err(error.clone()),
            State::Unread => Err(self.failed("is not read")),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> State {
        self.load().map_or_else(
            |error| {
                tracing::error!("no device is let in: {error}");
                State::Faulty(error)
            },
            State::Read,
        )
    }

    fn load(&self) -> Result<Vec<Held>, Error> {
        let text = private_file::read(&self.path).map_err(|fault| {
            self.failed(&match fault {
                private_file::Fault::Io(e) => format!("cannot be read: {e}"),
                private_file::Fault::Exposed => {
                    "can be read or changed by others; run `chmod 600` on it, and see with `abide token \
                     list` whether all tokens are yours"
                        .to_owned()
                }
                private_file::Fault::NotOurs => {
                    "is not a file of this user's own; move it away and make the tokens again".to_owned()
                }
            })
        })?;
        let damaged = || self.failed("is no file of tokens; move it away and make the tokens again");
        let file: TokenFile = match text {
            Some(text) => toml::from_str(&text).map_err(|_| damaged())?,
            None => TokenFile::default(),
        };
        let held = file.token.into_iter().map(|Entry { name, access, created_at, sha256 }| {
            let info = TokenInfo { name, access, created_at };
            Some(Held { info, digest: from_hex(&sha256)?, revoked: CancellationToken::new() })
        });
        held.collect::<Option<_>>().ok_or_else(damaged)
    }

    fn save(&self, all: &[Held]) -> Result<(), Error> {
        let mut text =
            "# Tokens of devices that may use the HTTP interface, kept by `abide token`.\n".to_owned();
        for Held { info: TokenInfo { name, access, created_at }, digest, .. } in all {
            let access = match access {
                TokenAccess::Read => "read",
                TokenAccess::Act => "act",
            };
            // A name is a TOML string as it is a JSON string, since it has no control characters.
            let name = serde_json::Value::from(name.as_str());
            let (at, sha256) = (created_at.0, hex(digest));
            let _ = writeln!(text, "\n[[token]]\nname = {name}\naccess = \"{access}\"");
            let _ = writeln!(text, "created_at = {at}\nsha256 = \"{sha256}\"");
        }
        replace_file(&self.path, &text, None).map_err(|e| self.failed(&format!("cannot be written: {e}")))
    }

    fn failed(&self, why: &str) -> Error {
        Error::new(ErrorKind::IllegalState, format!("{} {why}", self.path.display()))
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    let is_named = !name.trim().is_empty() && name.len() <= MAX_CLIENT_NAME;
    if is_named && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let words = format!("a token's name has 1 to {MAX_CLIENT_NAME} bytes and no control characters");
    Err(Error::new(ErrorKind::InvalidParams, words))
}

fn fresh() -> Result<String, Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|e| Error::new(ErrorKind::Internal, format!("the system gives no random numbers: {e}")))?;
    Ok(hex(&bytes))
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 2 * bytes.len() || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn at(folder: &tempfile::TempDir) -> Tokens {
        Tokens::at(folder.path().join("tokens.toml"))
    }

    #[test]
    fn a_token_is_kept_as_its_digest_and_lasts_until_it_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = at(&folder);
        let phone = tokens.add("my \"phone\" é".to_owned(), TokenAccess::Act).unwrap();
        let screen = tokens.add("screen".to_owned(), TokenAccess::Read).unwrap();
        assert_eq!((phone.token.len(), phone.token == screen.token), (64, false));
        assert_eq!(
            tokens.add("screen".to_owned(), TokenAccess::Act).unwrap_err().kind(),
            ErrorKind::Conflict
        );
        let text = fs::read_to_string(folder.path().join("tokens.toml")).unwrap();
        assert!(!text.contains(&phone.token) && text.contains(&hex(&digest(&phone.token))), "{text}");

        let again = at(&folder);
        let names = |tokens: &Tokens| tokens.list().unwrap().into_iter().map(|t| t.name).collect::<Vec<_>>();
        assert_eq!(names(&again), ["my \"phone\" é", "screen"]);
        let device = again.bearer(&screen.token).unwrap().unwrap();
        assert_eq!((device.name.as_str(), device.may), ("screen", Access::Read));
        assert_eq!(again.bearer(&phone.token).unwrap().unwrap().may, Access::Act);
        for wrong in
            ["", "screen", &screen.token[1..], &screen.token.to_uppercase(), &hex(&digest(&screen.token))]
        {
            assert!(again.bearer(wrong).unwrap().is_none(), "{wrong}");
        }
        assert_eq!(again.revoke("screen").unwrap().name, "screen");
        assert!(device.revoked.is_cancelled() && again.bearer(&screen.token).unwrap().is_none());
        assert_eq!(again.revoke("screen").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(names(&at(&folder)), ["my \"phone\" é"]);
    }

    #[test]
    fn a_token_is_void_at_once_also_if_that_cannot_be_saved() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = at(&folder);
        let token = tokens.add("phone".to_owned(), TokenAccess::Act).unwrap().token;
        let device = tokens.bearer(&token).unwrap().unwrap();
        folder.close().unwrap();
        let error = tokens.revoke("phone").unwrap_err();
        assert!(error.message.contains("void until the daemon's next start"), "{error}");
        assert!(device.revoked.is_cancelled() && tokens.bearer(&token).unwrap().is_none());
    }

    #[test]
    fn a_name_is_one_that_a_record_can_have() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = at(&folder);
        for name in ["", "  ", "two\nlines", "\u{7f}", &"x".repeat(65)] {
            let error = tokens.add(name.to_owned(), TokenAccess::Act).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParams, "{name:?}");
        }
        tokens.add("x".repeat(64), TokenAccess::Act).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_cannot_be_trusted_lets_nobody_in() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let token = at(&folder).add("phone".to_owned(), TokenAccess::Act).unwrap().token;
        let path = folder.path().join("tokens.toml");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let sound = fs::read_to_string(&path).unwrap();
        let shorter = sound.replace("sha256 = \"", "sha256 = \"0");
        for (text, mode) in [(&*sound, 0o640), (&*sound, 0o602), (&*shorter, 0o600), ("token = 1", 0o600)] {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let tokens = at(&folder);
            tokens.bearer(&token).unwrap_err();
            let fault = tokens.fault().unwrap();
            assert!(fault.contains("tokens.toml") && !fault.contains(&token), "{fault}");
            // It is not read again for each request, but when its owner looks.
            fs::write(&path, &sound).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            tokens.bearer(&token).unwrap_err();
            tokens.list().unwrap();
            assert!(tokens.bearer(&token).unwrap().is_some() && tokens.fault().is_none());
        }
    }
}
