//! The icon's menu: the interface `com.canonical.dbusmenu`.

use super::{
    Orders,
    state::{Shown, WaitingItem},
};
use crate::arguments::ShowRequest;
use std::collections::HashMap;
use tokio::sync::watch;
use zbus::{Connection, OwnedVariant, Variant, fdo, interface};

pub(super) const PATH: &str = "/MenuBar";
const INTERFACE: &str = "com.canonical.dbusmenu";

/// The menu itself, and its own entries; the ids of what waits are from [`WaitingItem::FIRST`] on.
const ROOT: i32 = 0;
const ABOVE: i32 = 1;
const OPEN: i32 = 2;
const INBOX: i32 = 3;
const BELOW: i32 = 4;
const QUIT: i32 = 5;

type Properties = HashMap<&'static str, Variant<'static>>;
/// Id, properties, entries beneath it.
type Layout = (i32, Properties, Vec<Variant<'static>>);

/// The object on the bus.
pub(super) struct Menu {
    shown: watch::Receiver<Shown>,
    orders: Orders,
}

impl Menu {
    pub(super) const fn new(shown: watch::Receiver<Shown>, orders: Orders) -> Self {
        Self { shown, orders }
    }

    /// Its entries, from the top.
    fn entries(&self) -> Vec<(i32, Properties)> {
        let shown = self.shown.borrow();
        let inbox = match shown.state.waiting {
            0 => "Inbox".to_owned(),
            waiting => format!("Inbox ({waiting})"),
        };
        let line = |line: &WaitingItem| (line.id, labelled(&line.label));
        let above = (!shown.state.lines.is_empty()).then(|| (ABOVE, separator()));
        let own = [
            (OPEN, labelled("Open Abide")),
            (INBOX, labelled(&inbox)),
            (BELOW, separator()),
            (QUIT, labelled("Quit this icon; tasks go on")),
        ];
        shown.state.lines.iter().map(line).chain(above).chain(own).collect()
    }

    fn properties(&self, id: i32) -> Option<Properties> {
        if id == ROOT {
            return Some(root());
        }
        self.entries().into_iter().find(|(entry, _)| *entry == id).map(|(_, properties)| properties)
    }

    /// Carries out a click; an entry that is not there any more leads to the inbox.
    fn clicked(&self, id: i32) {
        let wanted = match id {
            ROOT | ABOVE | BELOW => return,
            QUIT => return self.orders.quit(),
            OPEN => ShowRequest::Window,
            INBOX => ShowRequest::Inbox,
            id => {
                let shown = self.shown.borrow();
                let line = shown.state.lines.iter().find(|line| line.id == id);
                line.map_or(ShowRequest::Inbox, |line| {
                    ShowRequest::Conversation(line.conversation.to_string())
                })
            }
        };
        self.orders.show(wanted);
    }
}

fn root() -> Properties {
    HashMap::from([("children-display", Variant::from("submenu"))])
}

fn separator() -> Properties {
    HashMap::from([("type", Variant::from("separator"))])
}

/// A single underscore would underline the letter after it.
fn labelled(label: &str) -> Properties {
    HashMap::from([("label", Variant::from(label.replace('_', "__")))])
}

#[interface(name = "com.canonical.dbusmenu", spawn = false, introspection_docs = false)]
impl Menu {
    #[zbus(property)]
    fn version(&self) -> u32 {
        3
    }

    #[zbus(property)]
    fn status(&self) -> &'static str {
        if self.shown.borrow().state.waiting > 0 { "notice" } else { "normal" }
    }

    #[zbus(property)]
    fn text_direction(&self) -> &'static str {
        "ltr"
    }

    #[zbus(property)]
    fn icon_theme_path(&self) -> Vec<String> {
        Vec::new()
    }

    /// All properties, whichever are asked for: each entry has one.
    fn get_layout(&self, parent: i32, depth: i32, _names: Vec<String>) -> fdo::Result<(u32, Layout)> {
        let revision = self.shown.borrow().revision;
        if parent != ROOT {
            let properties = self.properties(parent).ok_or_else(|| unknown(parent))?;
            return Ok((revision, (parent, properties, Vec::new())));
        }
        let entries = if depth == 0 { Vec::new() } else { self.entries() };
        let entries = entries
            .into_iter()
            .map(|(id, properties)| Variant::from((id, properties, Vec::<Variant<'static>>::new())));
        Ok((revision, (ROOT, root(), entries.collect())))
    }

    /// Of all entries if no ids are given.
    #[expect(clippy::needless_pass_by_value, reason = "arguments of a call are owned")]
    fn get_group_properties(&self, ids: Vec<i32>, _names: Vec<String>) -> Vec<(i32, Properties)> {
        let all = std::iter::once((ROOT, root())).chain(self.entries());
        all.filter(|(id, _)| ids.is_empty() || ids.contains(id)).collect()
    }

    fn get_property(&self, id: i32, name: &str) -> fdo::Result<OwnedVariant> {
        let mut properties = self.properties(id).ok_or_else(|| unknown(id))?;
        let value = properties.remove(name).ok_or_else(|| unknown(id))?;
        value.try_into().map_err(|_| unknown(id))
    }

    fn event(&self, id: i32, event: &str, _data: Variant<'_>, _timestamp: u32) {
        if event == "clicked" {
            self.clicked(id);
        }
    }

    /// Returns the ids that are not known.
    #[expect(clippy::needless_pass_by_value, reason = "arguments of a call are owned")]
    fn event_group(&self, events: Vec<(i32, String, OwnedVariant, u32)>) -> Vec<i32> {
        let known = |id: i32| self.properties(id).is_some();
        for (id, event, ..) in &events {
            if event == "clicked" {
                self.clicked(*id);
            }
        }
        events.iter().map(|(id, ..)| *id).filter(|id| !known(*id)).collect()
    }

    /// Whether the menu is older than what it shows: never, as each change is signalled.
    fn about_to_show(&self, _id: i32) -> bool {
        false
    }

    /// Those that need an update, and those that are not known.
    fn about_to_show_group(&self, ids: Vec<i32>) -> (Vec<i32>, Vec<i32>) {
        let unknown = ids.into_iter().filter(|id| self.properties(*id).is_none()).collect();
        (Vec::new(), unknown)
    }
}

fn unknown(id: i32) -> fdo::Error {
    fdo::Error::InvalidArgs(format!("the menu has no such entry: {id}"))
}

/// Signals that it has changed.
///
/// # Errors
/// The bus is gone.
pub(super) async fn tell(connection: &Connection, revision: u32) -> zbus::Result<()> {
    connection.emit_signal(None::<&str>, PATH, INTERFACE, "LayoutUpdated", &(revision, ROOT)).await
}

/// Presses *Quit* in the menu of the icon with this name.
///
/// # Errors
/// It does not answer.
pub(super) async fn press_quit(connection: &Connection, name: &str) -> zbus::Result<()> {
    let event = (QUIT, "clicked", Variant::from(0_i32), 0_u32);
    connection.call_method(Some(name), PATH, Some(INTERFACE), "Event", &event).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            orders::{Wishes, orders},
            state::TrayState,
        },
        *,
    };
    use abide_client::protocol::ConversationId;
    use uuid::Uuid;

    const CONVERSATION: ConversationId = ConversationId(Uuid::from_u128(7));

    fn menu() -> (Menu, Wishes) {
        let line = WaitingItem { id: 1042, conversation: CONVERSATION, label: "a_b".to_owned() };
        let state = TrayState { is_live: true, working: 0, waiting: 1, lines: vec![line] };
        let (_, shown) = watch::channel(Shown { state, ..Shown::default() });
        let (orders, wishes) = orders();
        (Menu::new(shown, orders), wishes)
    }

    #[tokio::test]
    async fn a_click_means_what_the_entry_says_or_the_inbox() {
        let shown = ShowRequest::Conversation(CONVERSATION.to_string());
        for (id, wanted) in [
            (OPEN, ShowRequest::Window),
            (INBOX, ShowRequest::Inbox),
            (1042, shown),
            (1043, ShowRequest::Inbox),
        ] {
            let (menu, mut wishes) = menu();
            menu.event(id, "hovered", Variant::from(0), 0);
            menu.event(BELOW, "clicked", Variant::from(0), 0);
            menu.event(id, "clicked", Variant::from(0), 0);
            assert_eq!(wishes.next().await, Some((wanted, None)), "{id}");
            assert!(!*wishes.quit.borrow());
        }
    }

    #[test]
    fn quit_quits() {
        let (menu, wishes) = menu();
        let data = || Variant::from(0).try_into().unwrap();
        let clicked = |id| (id, "clicked".to_owned(), data(), 0);
        assert_eq!(menu.event_group(vec![clicked(77), clicked(QUIT)]), [77]);
        assert!(*wishes.quit.borrow());
    }

    #[tokio::test]
    async fn the_desktops_token_goes_with_the_next_choice_only() {
        let (menu, mut wishes) = menu();
        menu.orders.allow("token".to_owned());
        menu.event(INBOX, "clicked", Variant::from(0), 0);
        assert_eq!(wishes.next().await, Some((ShowRequest::Inbox, Some("token".to_owned()))));
        menu.event(INBOX, "clicked", Variant::from(0), 0);
        assert_eq!(wishes.next().await, Some((ShowRequest::Inbox, None)));
    }

    #[test]
    fn what_is_unknown_is_refused() {
        let (menu, _) = menu();
        assert!(menu.get_layout(77, -1, Vec::new()).is_err());
        assert!(menu.get_property(77, "label").is_err());
        assert!(menu.get_property(OPEN, "icon").is_err());
        assert_eq!(menu.about_to_show_group(vec![ROOT, 77]), (Vec::new(), vec![77]));
        let (_, (_, _, entries)) = menu.get_layout(ROOT, 0, Vec::new()).unwrap();
        assert!(entries.is_empty(), "no entries at depth 0");
        let label = menu.get_property(1042, "label").unwrap();
        assert_eq!(String::try_from(label).unwrap(), "a__b", "no letter is underlined");
        assert_eq!(menu.get_group_properties(vec![OPEN, 77], Vec::new()).len(), 1);
    }
}
