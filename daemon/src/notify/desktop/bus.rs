//! The notification server of a desktop's D-Bus session: <https://specifications.freedesktop.org/notification-spec/latest/>, and
//! Plasma's extension of it, the inline reply.

use super::{Desktop, Heard, Server};
use crate::notify::{Abilities, Popup, within};
use abide_client::application::ID;
use futures_util::StreamExt as _;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::{HashMap, VecDeque},
    pin::pin,
    sync::Arc,
};
use zbus::{
    Connection, DynamicType, MatchRule, Message, MessageStream, Type, Variant,
    message::{Flags, Type as MessageType},
};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// The notifications that are remembered, to know their signals. Signals about others are dropped.
const KNOWN: usize = 256;
/// The signals that may wait.
const WAITING: usize = 16;
/// The longest text of a signal, in bytes. The daemon's own limit of an answer is lower.
const MAX_TEXT: usize = 1024 * 1024;

/// A notification: its id, and the server that gave it. (A server that starts again begins with 1.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    /// The server's unique name on the bus.
    server: Arc<str>,
    id: u32,
}

/// The system's notification server. There is a connection to it while notifications are shown.
#[derive(Debug, Default)]
pub struct SystemDesktop {
    link: Option<Link>,
}

#[derive(Debug)]
struct Link {
    bus: Connection,
    signals: MessageStream,
    /// The server that was asked last.
    server: Option<(Arc<str>, Server)>,
    /// The last notifications.
    known: VecDeque<Handle>,
    /// Signals about them.
    heard: VecDeque<Heard<Handle>>,
    /// The token for the action that comes next.
    token: Option<(Handle, String)>,
}

impl SystemDesktop {
    async fn link(&mut self) -> zbus::Result<&mut Link> {
        let link = match self.link.take() {
            Some(link) => link,
            None => Link::open().await?,
        };
        Ok(self.link.insert(link))
    }

    /// The notification server's name and version, and what it can do.
    ///
    /// # Errors
    /// There is no server, or it does not answer; the reason, in words.
    pub async fn describe() -> Result<String, String> {
        let mut desktop = Self::default();
        let Server { name, abilities } = within(desktop.server()).await?;
        Ok(match abilities {
            Abilities { actions: false, .. } => format!("{name}, without buttons"),
            Abilities { actions: true, inline_reply: false } => name,
            Abilities { actions: true, inline_reply: true } => format!("{name}, with replies"),
        })
    }
}

impl Desktop for SystemDesktop {
    type Handle = Handle;

    async fn server(&mut self) -> Result<Server, String> {
        let asked = async { self.link().await?.current().await };
        asked.await.map(|(_, server)| server).map_err(|e| e.to_string())
    }

    async fn show(&mut self, popup: &Popup, replaces: Option<&Handle>) -> Result<Handle, String> {
        let shown = async { self.link().await?.notify(popup, replaces).await };
        shown.await.map_err(|e: zbus::Error| e.to_string())
    }

    async fn close(&mut self, shown: &Handle) {
        let Some(link) = &self.link else { return };
        // To the server that shows it: with another one, the id is another notification's.
        let message = Message::method_call(PATH, "CloseNotification")
            .destination(&*shown.server)
            .interface(NAME)
            .with_flags(Flags::NO_REPLY_EXPECTED | Flags::NO_AUTO_START)
            .build(&(shown.id,));
        if let Ok(message) = message {
            let _ = link.bus.send(&message).await;
        }
    }

    async fn heard(&mut self) -> Heard<Handle> {
        let Some(link) = &mut self.link else { return std::future::pending().await };
        let heard = link.next().await;
        if heard == Heard::Lost {
            self.link = None;
        }
        heard
    }

    fn rest(&mut self) {
        self.link = None;
    }
}

impl Link {
    /// Connects, and listens before anything is shown, so that no signal is missed.
    async fn open() -> zbus::Result<Self> {
        let bus = Connection::session().await?;
        let rule = MatchRule::builder().msg_type(MessageType::Signal).interface(NAME).path(PATH).build()?;
        let signals = MessageStream::for_match_rule(rule, &bus, None).await?;
        let (known, heard) = (VecDeque::new(), VecDeque::new());
        Ok(Self { bus, signals, server: None, known, heard, token: None })
    }

    /// The server that has the name now. It is started if there is none.
    async fn current(&mut self) -> zbus::Result<(Arc<str>, Server)> {
        const BUS: &str = "org.freedesktop.DBus";
        let owner = self.call::<_, String>(BUS, "/org/freedesktop/DBus", BUS, "GetNameOwner", &(NAME,)).await;
        let owner = owner.map(|(owner, _)| owner).ok();
        if let Some((name, server)) = &self.server
            && owner.as_deref() == Some(&**name)
        {
            return Ok((Arc::clone(name), server.clone()));
        }
        let (capabilities, owner) =
            self.call::<_, Vec<String>>(NAME, PATH, NAME, "GetCapabilities", &()).await?;
        let (about, _) = self
            .call::<_, (String, String, String, String)>(&owner, PATH, NAME, "GetServerInformation", &())
            .await?;
        let (name, _, version, _) = about;
        let has = |wanted: &str| capabilities.iter().any(|capability| capability == wanted);
        let abilities = Abilities { actions: has("actions"), inline_reply: has("inline-reply") };
        let current = (owner, Server { name: format!("{name} {version}"), abilities });
        self.server = Some(current.clone());
        Ok(current)
    }

    async fn notify(&mut self, popup: &Popup, replaces: Option<&Handle>) -> zbus::Result<Handle> {
        let (owner, server) = self.current().await?;
        let replaces = replaces.filter(|handle| handle.server == owner).map_or(0, |handle| handle.id);
        let mut actions: Vec<&str> = Vec::new();
        let mut hints = HashMap::from([("desktop-entry", Variant::from(ID))]);
        if server.abilities.actions {
            actions.extend(popup.buttons.iter().flat_map(|button| [button.key, button.label.as_str()]));
        }
        if popup.reply.is_some() && server.abilities.inline_reply {
            actions.extend(["inline-reply", "Reply"]);
            hints.insert("x-kde-reply-placeholder-text", Variant::from("Your answer"));
        }
        // 0: it stays, as long as the server has no other policy. (Without raised urgency, which would break through "do not disturb".)
        let expires: i32 = if popup.stays { 0 } else { -1 };
        let body =
            ("Abide", replaces, ID, popup.summary.as_str(), popup.body.as_str(), actions, hints, expires);
        let (id, server) = self.call::<_, u32>(&owner, PATH, NAME, "Notify", &body).await?;
        let handle = Handle { server, id };
        self.known.retain(|known| *known != handle);
        self.known.push_back(handle.clone());
        if self.known.len() > KNOWN {
            self.known.pop_front();
        }
        Ok(handle)
    }

    /// Calls a method; returns its result and the unique name of who answered. Signals are taken meanwhile: zbus reads no reply while
    /// too many of them wait.
    async fn call<B, R>(
        &mut self,
        destination: &str,
        path: &str,
        interface: &str,
        method: &str,
        body: &B,
    ) -> zbus::Result<(R, Arc<str>)>
    where
        B: Serialize + DynamicType + Sync,
        R: DeserializeOwned + Type,
    {
        let bus = self.bus.clone();
        let mut call = pin!(bus.call_method(Some(destination), path, Some(interface), method, body));
        let reply = loop {
            tokio::select! {
                // First, so that a notification is known before its signals are looked at.
                biased;
                reply = &mut call => break reply?,
                Some(Ok(signal)) = self.signals.next() => self.take(&signal),
            }
        };
        let sender = reply.header().sender().map_or("", |sender| sender.as_str()).into();
        Ok((reply.body().deserialize()?, sender))
    }

    async fn next(&mut self) -> Heard<Handle> {
        loop {
            if let Some(heard) = self.heard.pop_front() {
                return heard;
            }
            match self.signals.next().await {
                Some(Ok(signal)) => self.take(&signal),
                Some(Err(_)) | None => return Heard::Lost,
            }
        }
    }

    /// Takes a signal, if it is about a notification that is known.
    fn take(&mut self, signal: &Message) {
        let header = signal.header();
        let (Some(sender), Some(member)) = (header.sender(), header.member()) else { return };
        let body = signal.body();
        let named = |id| {
            let known = self.known.iter().find(|known| known.id == id && *known.server == *sender.as_str());
            known.cloned()
        };
        let texted = || {
            let (id, text) = body.deserialize::<(u32, &str)>().ok()?;
            Some((named(id)?, text)).filter(|(_, text)| text.len() <= MAX_TEXT)
        };
        let heard = match member.as_str() {
            "ActionInvoked" => texted().map(|(shown, key)| {
                let token = self.token.take_if(|(of, _)| *of == shown).map(|(_, token)| token);
                Heard::Pressed { shown, key: key.to_owned(), token }
            }),
            "NotificationReplied" => {
                texted().map(|(shown, text)| Heard::Replied { shown, text: text.to_owned() })
            }
            "NotificationClosed" => {
                let closed = body.deserialize::<(u32, u32)>().ok().and_then(|(id, _)| named(id));
                closed.map(Heard::Closed)
            }
            "ActivationToken" => {
                if let Some((shown, token)) = texted() {
                    self.token = Some((shown, token.to_owned()));
                }
                None
            }
            _ => None,
        };
        if let Some(heard) = heard
            && self.heard.len() < WAITING
        {
            self.heard.push_back(heard);
        }
    }
}
