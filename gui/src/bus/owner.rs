use futures_util::{Stream, StreamExt as _, stream};
use std::future;
use zbus::{Connection, MatchRule, MessageStream, message::Type};

const BUS: &str = "org.freedesktop.DBus";
const PATH: &str = "/org/freedesktop/DBus";

/// Whether the name has an owner: now, and after each change of the owner. Ends with the connection.
pub(crate) fn owned(connection: Connection, name: &'static str) -> impl Stream<Item = bool> + use<> {
    stream::once(watch(connection, name))
        .filter_map(|watched| {
            let watched =
                watched.inspect_err(|error| tracing::debug!(%error, "cannot watch a name of the bus"));
            future::ready(watched.ok())
        })
        .flatten()
}

async fn watch(connection: Connection, name: &'static str) -> zbus::Result<impl Stream<Item = bool> + use<>> {
    let rule = MatchRule::builder()
        .msg_type(Type::Signal)
        .sender(BUS)
        .path(PATH)
        .interface(BUS)
        .member("NameOwnerChanged")
        .arg(0, name)
        .build()?;
    let changes = MessageStream::for_match_rule(rule, &connection, None).await?;
    let now = has_owner(&connection, name).await?;
    let later = changes.filter_map(async |change| {
        let change = change.ok()?;
        let (_, _, new): (String, String, String) = change.body().deserialize().ok()?;
        Some(!new.is_empty())
    });
    Ok(stream::iter([now]).chain(later))
}

/// Whether the name has an owner now.
///
/// # Errors
/// The bus does not answer.
pub(crate) async fn has_owner(connection: &Connection, name: &str) -> zbus::Result<bool> {
    connection.call_method(Some(BUS), PATH, Some(BUS), "NameHasOwner", &name).await?.body().deserialize()
}
