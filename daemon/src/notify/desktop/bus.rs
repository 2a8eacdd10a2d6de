//! The notification server of a desktop's D-Bus session:
//! <https://specifications.freedesktop.org/notification-spec/latest/>, and Plasma's extension of it, the
//! inline reply.

use super::{Desktop, Heard, Screen, Server};
use crate::notify::{Abilities, Popup, within};
use abide_host::application::ID;
use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture};
use serde::de::DeserializeOwned;
use std::{collections::HashMap, pin::pin, sync::Arc};
use zbus::{
    Connection, MatchRule, Message, MessageStream, Type, Variant,
    message::{Flags, Type as MessageType},
};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// The bus itself.
const BUS: &str = "org.freedesktop.DBus";
/// The longest text of a signal, in bytes. The daemon's own limit of an answer is lower.
const MAX_TEXT: usize = 1024 * 1024;

/// A notification: its id, and the server that gave it. (A server that starts again begins with 1.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    /// The server's unique name on the bus.
    server: Arc<str>,
    id: u32,
}

/// The system's notification server.
#[derive(Debug, Default)]
pub struct SystemDesktop;

impl SystemDesktop {
    /// The notification server's name and version, and what it can do.
    ///
    /// # Errors
    /// There is no server, or it does not answer; the reason, in words.
    pub async fn describe() -> Result<String, String> {
        let Server { name, abilities } = within(Self.connect()).await?.server;
        Ok(match abilities {
            Abilities { actions: false, .. } => format!("{name}, without buttons"),
            Abilities { actions: true, inline_reply: false } => name,
            Abilities { actions: true, inline_reply: true } => format!("{name}, with replies"),
        })
    }
}

impl Desktop for SystemDesktop {
    type Screen = Link;

    fn connect(&mut self) -> BoxFuture<'static, Result<Link, String>> {
        async { Link::open().await.map_err(|e| e.to_string()) }.boxed()
    }
}

/// A connection to the server that had the name when it was opened.
#[derive(Debug)]
pub struct Link {
    bus: Connection,
    /// The server's unique name on the bus.
    owner: Arc<str>,
    server: Server,
    signals: MessageStream,
    /// The changes of who has the name.
    owners: MessageStream,
    /// The token for the action that comes next.
    token: Option<(Handle, String)>,
}

impl Screen for Link {
    type Handle = Handle;

    fn server(&self) -> &Server {
        &self.server
    }

    fn show(&self, popup: &Popup, replaces: Option<&Handle>) -> BoxFuture<'static, Result<Handle, String>> {
        let (bus, server, popup) = (self.bus.clone(), Arc::clone(&self.owner), popup.clone());
        let replaces = replaces.filter(|handle| handle.server == server).map_or(0, |handle| handle.id);
        let abilities = self.server.abilities;
        async move {
            let id = notify(&bus, &server, abilities, &popup, replaces).await.map_err(|e| e.to_string())?;
            Ok(Handle { server, id })
        }
        .boxed()
    }

    fn close(&self, shown: &Handle) -> BoxFuture<'static, ()> {
        // To the server that shows it: with another one, the id is another notification's.
        let message = Message::method_call(PATH, "CloseNotification")
            .destination(&*shown.server)
            .interface(NAME)
            .with_flags(Flags::NO_REPLY_EXPECTED | Flags::NO_AUTO_START)
            .build(&(shown.id,));
        let bus = self.bus.clone();
        async move {
            if let Ok(message) = message {
                let _ = bus.send(&message).await;
            }
        }
        .boxed()
    }

    async fn heard(&mut self) -> Heard<Handle> {
        loop {
            let heard = tokio::select! {
                signal = self.signals.next() => match signal {
                    Some(Ok(signal)) => self.take(&signal),
                    Some(Err(_)) | None => Some(Heard::Lost),
                },
                change = self.owners.next() => match change {
                    Some(Ok(change)) => self.has_lost(&change).then_some(Heard::Lost),
                    Some(Err(_)) | None => Some(Heard::Lost),
                },
            };
            if let Some(heard) = heard {
                return heard;
            }
        }
    }
}

impl Link {
    /// Connects, and listens before anything is shown, so that no signal is missed.
    async fn open() -> zbus::Result<Self> {
        let bus = Connection::session().await?;
        let rule = MatchRule::builder().msg_type(MessageType::Signal).interface(NAME).path(PATH).build()?;
        let mut signals = MessageStream::for_match_rule(rule, &bus, None).await?;
        let rule = MatchRule::builder()
            .msg_type(MessageType::Signal)
            .sender(BUS)
            .interface(BUS)
            .member("NameOwnerChanged")
            .arg(0, NAME)
            .build()?;
        let owners = MessageStream::for_match_rule(rule, &bus, None).await?;
        let (capabilities, owner): (Vec<String>, _) =
            call_early(&bus, &mut signals, NAME, "GetCapabilities").await?;
        let ((name, _, version, _), _): ((String, String, String, String), _) =
            call_early(&bus, &mut signals, &owner, "GetServerInformation").await?;
        let has = |wanted: &str| capabilities.iter().any(|capability| capability == wanted);
        let abilities = Abilities { actions: has("actions"), inline_reply: has("inline-reply") };
        let server = Server { name: format!("{name} {version}"), abilities };
        Ok(Self { bus, owner, server, signals, owners, token: None })
    }

    /// A signal of the server about a notification. (Signals of others are not its; about whose notification
    /// it is, it does not know.)
    fn take(&mut self, signal: &Message) -> Option<Heard<Handle>> {
        let header = signal.header();
        if header.sender()?.as_str() != &*self.owner {
            return None;
        }
        let body = signal.body();
        let named = |id| Handle { server: Arc::clone(&self.owner), id };
        let texted = || {
            let (id, text) = body.deserialize::<(u32, &str)>().ok()?;
            Some((named(id), text)).filter(|(_, text)| text.len() <= MAX_TEXT)
        };
        match header.member()?.as_str() {
            "ActionInvoked" => {
                let (shown, key) = texted()?;
                let token = self.token.take_if(|(of, _)| *of == shown).map(|(_, token)| token);
                Some(Heard::Pressed { shown, key: key.to_owned(), token })
            }
            "NotificationReplied" => {
                let (shown, text) = texted()?;
                Some(Heard::Replied { shown, text: text.to_owned() })
            }
            "NotificationClosed" => {
                let (id, _) = body.deserialize::<(u32, u32)>().ok()?;
                Some(Heard::Closed(named(id)))
            }
            "ActivationToken" => {
                let (shown, token) = texted()?;
                self.token = Some((shown, token.to_owned()));
                None
            }
            _ => None,
        }
    }

    /// Whether the server has the name no more.
    fn has_lost(&self, change: &Message) -> bool {
        let body = change.body();
        let names = body.deserialize::<(&str, &str, &str)>();
        names.is_ok_and(|(_, _, now)| now != &*self.owner)
    }
}

/// Shows a notification; returns its id.
async fn notify(
    bus: &Connection,
    server: &str,
    abilities: Abilities,
    popup: &Popup,
    replaces: u32,
) -> zbus::Result<u32> {
    let mut actions: Vec<&str> = Vec::new();
    let mut hints = HashMap::from([("desktop-entry", Variant::from(ID))]);
    if abilities.actions {
        actions.extend(popup.buttons.iter().flat_map(|button| [button.key, button.label.as_str()]));
    }
    if popup.reply.is_some() && abilities.inline_reply {
        actions.extend(["inline-reply", "Reply"]);
        hints.insert("x-kde-reply-placeholder-text", Variant::from("Your answer"));
    }
    // 0: it stays, as long as the server has no other policy. (Without raised urgency, which would break
    // through "do not disturb".)
    let expires: i32 = if popup.stays { 0 } else { -1 };
    let body = ("Abide", replaces, ID, popup.summary.as_str(), popup.body.as_str(), actions, hints, expires);
    let reply = bus.call_method(Some(server), PATH, Some(NAME), "Notify", &body).await?;
    reply.body().deserialize()
}

/// Calls a method without arguments while nothing is shown yet; returns its result and the unique name of who
/// answered. Signals are dropped meanwhile: zbus reads no reply while too many of them wait.
async fn call_early<R>(
    bus: &Connection,
    signals: &mut MessageStream,
    destination: &str,
    method: &str,
) -> zbus::Result<(R, Arc<str>)>
where
    R: DeserializeOwned + Type,
{
    let mut call = pin!(bus.call_method(Some(destination), PATH, Some(NAME), method, &()));
    let reply = loop {
        tokio::select! {
            reply = &mut call => break reply?,
            Some(_) = signals.next() => {}
        }
    };
    let sender = reply.header().sender().map_or("", |sender| sender.as_str()).into();
    Ok((reply.body().deserialize()?, sender))
}
