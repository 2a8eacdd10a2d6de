//! The desktop's own dialog for a folder or a file. The portal shows it, as it does for sandboxed programs, so no toolkit is linked.

use std::path::PathBuf;

/// What is to be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Folder,
    File,
}

/// The chosen path; `None` if the person chose nothing.
///
/// # Errors
/// In words, where there is no dialog.
pub async fn choose(choice: Choice) -> Result<Option<PathBuf>, String> {
    chosen(choice).await
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_async, reason = "elsewhere it waits for the portal")]
async fn chosen(_: Choice) -> Result<Option<PathBuf>, String> {
    Err("There is no dialog for files on this system yet: type the path, or drop the file on the window."
        .to_owned())
}

#[cfg(target_os = "linux")]
async fn chosen(choice: Choice) -> Result<Option<PathBuf>, String> {
    portal::choose(choice).await.map_err(|error| {
        format!("The desktop has no dialog for files (no portal answers: {error}). Type the path, or drop the file on the window.")
    })
}

#[cfg(target_os = "linux")]
mod portal {
    use super::Choice;
    use abide_client::request_id;
    use futures_util::StreamExt as _;
    use std::{collections::HashMap, ffi::OsString, os::unix::ffi::OsStringExt as _, path::PathBuf};
    use zbus::{Connection, MatchRule, MessageStream, OwnedVariant, Variant, message::Type};

    const DESTINATION: &str = "org.freedesktop.portal.Desktop";
    const PATH: &str = "/org/freedesktop/portal/desktop";
    const CHOOSER: &str = "org.freedesktop.portal.FileChooser";
    const REQUEST: &str = "org.freedesktop.portal.Request";

    pub(super) async fn choose(choice: Choice) -> zbus::Result<Option<PathBuf>> {
        let bus = Connection::session().await?;
        // The answer is a signal of an object that is named before the question, so that none is missed.
        let token = format!("abide{}", request_id().replace('-', ""));
        let sender = bus.unique_name().map(|name| name.trim_start_matches(':').replace('.', "_"));
        let request = format!("{PATH}/request/{}/{token}", sender.unwrap_or_default());
        let rule = MatchRule::builder()
            .msg_type(Type::Signal)
            .interface(REQUEST)
            .member("Response")
            .path(&*request)
            .build()?;
        let mut answers = MessageStream::for_match_rule(rule, &bus, None).await?;
        let title = match choice {
            Choice::Folder => "Where the agent works",
            Choice::File => "A text file for the prompt",
        };
        let options = HashMap::from([
            ("handle_token", Variant::from(token.as_str())),
            ("directory", Variant::from(choice == Choice::Folder)),
        ]);
        bus.call_method(Some(DESTINATION), PATH, Some(CHOOSER), "OpenFile", &("", title, options)).await?;
        let Some(answer) = answers.next().await else { return Ok(None) };
        let body = answer?.body();
        let (code, mut results): (u32, HashMap<String, OwnedVariant>) = body.deserialize()?;
        let uris: Vec<String> = match results.remove("uris").filter(|_| code == 0) {
            Some(uris) => uris.try_into()?,
            None => return Ok(None),
        };
        Ok(uris.first().and_then(|uri| path(uri)))
    }

    /// `file:///home/me/a%20b`.
    pub(super) fn path(uri: &str) -> Option<PathBuf> {
        let rest = uri.strip_prefix("file://")?;
        let path = &rest[rest.find('/')?..];
        let mut bytes = Vec::with_capacity(path.len());
        let mut rest = path.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(if byte == b'%' {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            } else {
                byte
            });
        }
        Some(PathBuf::from(OsString::from_vec(bytes)))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::portal::path;
    use std::path::PathBuf;

    #[test]
    fn a_uri_is_a_path() {
        assert_eq!(path("file:///home/me/a%20b%C3%A4"), Some(PathBuf::from("/home/me/a bä")));
        assert_eq!(path("file://host/x"), Some(PathBuf::from("/x")));
        assert_eq!(path("https://x/y"), None);
        assert_eq!(path("file:///x%2"), None);
        assert_eq!(path("file:///x%zz"), None);
    }
}
