//! A configuration that the daemon refuses is shown on every page.

use crate::{person::Person, preset};
use abide_client::protocol::{
    method::{
        config::{ConfigReply, ModelChoice},
        daemon::{ConfigStatus, RefusedConfig},
    },
    provider::DefaultModel,
};
use abide_gui::{
    Message,
    app::WindowEvent,
    daemon::Failure,
    request::{self, Reply},
};
use iced_test::core::window;

const WHY: &str = "/home/me/.config/abide/config.toml, line 3: `task.max_step`: there is no such key; correct it, or remove it";
const SHOWN: &str = "The configuration is refused: /home/me/.config/abide/config.toml, line 3: `task.max_step`: \
                     there is no such key; correct it, or remove it. What was read before stays in force.";

fn reply(refused: bool) -> Reply {
    let refused = refused.then(|| RefusedConfig {
        message: WHY.to_owned(),
        line: Some(3),
        key: Some("task.max_step".to_owned()),
    });
    Reply::GetConfig(ConfigReply {
        model: ModelChoice::Automatic,
        default: DefaultModel { model: "demo/demo".into(), why: "built in".into() },
        notifications: true,
        memory: true,
        file: ConfigStatus {
            path: "/home/me/.config/abide/config.toml".into(),
            read_at: preset::NOW,
            refused,
        },
    })
}

fn focused(person: &mut Person) {
    person.sent();
    person.tell(Message::Window(window::Id::unique(), WindowEvent::Focused));
}

#[test]
fn a_refused_configuration_is_shown_on_every_page_until_it_is_mended() {
    let (overview, conversation) =
        preset::waits(abide_client::protocol::task::Status::Thinking, &[], preset::history());
    let mut person = Person::before(overview);
    assert!(person.sent().contains(&request::config()), "asked once connected");
    assert!(person.finds(SHOWN).is_none());
    person.tell(Message::Answered(request::config(), Ok(reply(true))));
    assert!(person.finds_whole(SHOWN), "on the first page");
    person.open(preset::CONVERSATION, conversation);
    assert!(person.finds_whole(SHOWN), "in a conversation");
    for page in ["i", ","] {
        person.control(page);
        assert!(person.finds_whole(SHOWN), "Ctrl {page}");
    }
    // The person edits the file in another window and comes back.
    focused(&mut person);
    assert!(person.sent().contains(&request::config()), "asked when the window has the keyboard again");
    person.tell(Message::Answered(request::config(), Ok(reply(false))));
    assert!(person.finds(SHOWN).is_none());
}

/// In a small window the card that waits needs the room more.
#[test]
fn a_refused_configuration_leaves_the_room_to_a_card() {
    use abide_client::protocol::task::Status;
    let (overview, conversation) =
        preset::waits(Status::WaitingApproval, &[preset::approval()], preset::history());
    let mut person = Person::before(overview);
    person.resizes(640.0, 420.0);
    person.open(preset::CONVERSATION, conversation);
    person.tell(Message::Answered(request::config(), Ok(reply(true))));
    let banner = person.finds(SHOWN).unwrap();
    assert!(banner.height < 39.0, "{banner:?}");
    person.wait(1000);
    assert!(
        person.finds_whole("Allow once")
            && person.finds_whole("Runs outside the sandbox, with all your rights · shell · high risk")
    );
    person.sent();
    person.tell(Message::Ticked);
    assert_eq!(person.sent(), [request::config()], "it may have been mended");
    person.tell(Message::Answered(request::config(), Ok(reply(false))));
    person.tell(Message::Ticked);
    assert_eq!(person.sent(), []);
}

#[test]
fn a_failed_request_for_the_configuration_disturbs_nobody() {
    let mut person = Person::before(preset::empty());
    let failure = Failure { message: "there is no such method".into(), kind: None };
    person.tell(Message::Answered(request::config(), Err(failure)));
    assert!(person.finds("there is no such method").is_none());
}
