//! The desktop's own dialog for a folder or a file. The portal shows it, as for sandboxed programs, so no
//! toolkit is linked.

use std::path::PathBuf;

/// The kind of thing to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Folder,
    File,
}

/// The chosen path; `None` if the person chose nothing.
///
/// # Errors
/// There is no dialog; the message for a person.
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
    portal::choose(choice).await.map_err(|reason| {
        let instead = match choice {
            Choice::Folder => "Type its path, or drop the folder on the window.",
            Choice::File => "Drop the file on the window, or name its path in the prompt.",
        };
        format!("The desktop shows no dialog for files: {reason}. {instead}")
    })
}

#[cfg(target_os = "linux")]
mod portal {
    use super::Choice;
    use abide_client::request_id;
    use futures_util::StreamExt as _;
    use std::{
        collections::HashMap, ffi::OsString, os::unix::ffi::OsStringExt as _, path::PathBuf, time::Duration,
    };
    use zbus::{Connection, MatchRule, MessageStream, OwnedVariant, Variant, message::Type};

    const DESTINATION: &str = "org.freedesktop.portal.Desktop";
    const PATH: &str = "/org/freedesktop/portal/desktop";
    const CHOOSER: &str = "org.freedesktop.portal.FileChooser";
    const REQUEST: &str = "org.freedesktop.portal.Request";
    /// How long the portal may take to accept the question; the bus may have to start it.
    const PATIENCE: Duration = Duration::from_secs(5);

    /// There is no time limit for the person, but one for the portal.
    pub(super) async fn choose(choice: Choice) -> Result<Option<PathBuf>, String> {
        let asked = tokio::time::timeout(PATIENCE, ask(choice)).await;
        let mut answers = match asked {
            Ok(Ok(answers)) => answers,
            Ok(Err(error)) => return Err(format!("no portal answers ({error})")),
            Err(_) => return Err(format!("its portal has not answered for {} s", PATIENCE.as_secs())),
        };
        let answer = answers.next().await.ok_or("its portal has gone away")?;
        let read = answer.and_then(|answer| {
            let body = answer.body();
            let (code, mut results): (u32, HashMap<String, OwnedVariant>) = body.deserialize()?;
            let uris: Vec<String> =
                results.remove("uris").map_or_else(|| Ok(Vec::new()), TryInto::try_into)?;
            Ok((code, uris))
        });
        let (code, uris) =
            read.map_err(|error| format!("the answer of its portal cannot be read ({error})"))?;
        outcome(code, &uris)
    }

    /// The meaning of a portal's reply: 0 is done, 1 is that the person cancelled, any other code is an
    /// error.
    pub(super) fn outcome(code: u32, uris: &[String]) -> Result<Option<PathBuf>, String> {
        match (code, uris.first()) {
            (0, Some(uri)) => match path(uri) {
                Some(path) => Ok(Some(path)),
                None => Err(format!("its portal has chosen {uri}, which is no file of this computer")),
            },
            (0, None) | (1, _) => Ok(None),
            (code, _) => Err(format!("its portal could not ask (response {code})")),
        }
    }

    /// Opens the dialog; returns the stream with its reply.
    async fn ask(choice: Choice) -> zbus::Result<MessageStream> {
        let bus = Connection::session().await?;
        // The reply is a signal of an object whose name is set before the request, so that it is not missed.
        let token = format!("abide{}", request_id().replace('-', ""));
        let sender = bus.unique_name().map(|name| name.trim_start_matches(':').replace('.', "_"));
        let request = format!("{PATH}/request/{}/{token}", sender.unwrap_or_default());
        let rule = MatchRule::builder()
            .msg_type(Type::Signal)
            .interface(REQUEST)
            .member("Response")
            .path(&*request)
            .build()?;
        let answers = MessageStream::for_match_rule(rule, &bus, None).await?;
        let title = match choice {
            Choice::Folder => "Where the agent works",
            Choice::File => "A text file for the prompt",
        };
        let options = HashMap::from([
            ("handle_token", Variant::from(token.as_str())),
            ("directory", Variant::from(choice == Choice::Folder)),
        ]);
        bus.call_method(Some(DESTINATION), PATH, Some(CHOOSER), "OpenFile", &("", title, options)).await?;
        Ok(answers)
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
    use super::portal::{outcome, path};
    use std::path::PathBuf;

    #[test]
    fn a_portal_that_cannot_ask_is_no_person_who_does_not_want_to() {
        let one = ["file:///home/me/a".to_owned()];
        assert_eq!(outcome(0, &one), Ok(Some(PathBuf::from("/home/me/a"))));
        assert_eq!(outcome(0, &[]), Ok(None));
        assert_eq!(outcome(1, &[]), Ok(None));
        assert!(outcome(2, &[]).is_err_and(|words| words.contains("could not ask")));
        let elsewhere = ["https://a.org/x".to_owned()];
        assert!(outcome(0, &elsewhere).is_err_and(|words| words.contains("https://a.org/x")));
    }

    #[test]
    fn a_uri_is_a_path() {
        assert_eq!(path("file:///home/me/a%20b%C3%A4"), Some(PathBuf::from("/home/me/a bä")));
        assert_eq!(path("file://host/x"), Some(PathBuf::from("/x")));
        assert_eq!(path("https://x/y"), None);
        assert_eq!(path("file:///x%2"), None);
        assert_eq!(path("file:///x%zz"), None);
    }
}
