//! Another version of the daemon's program is installed while the window is open.

use crate::{person::Person, preset};
use abide_client::protocol::method::daemon::UpdateDaemonParams;
use abide_client::protocol::{
    notification::{DaemonUpdate, Snapshot},
    update::UpdateStage,
};
use abide_gui::request::Request;

fn with(stage: UpdateStage) -> Person {
    let daemon = DaemonUpdate { update: Some(stage), ..DaemonUpdate::default() };
    let person = Person::before(Snapshot { daemon, ..preset::empty() });
    drop(person.sent());
    person
}

#[test]
fn it_takes_over_at_a_click_where_a_person_decides() {
    let mut person = with(UpdateStage::Ready);
    person.clicks("Let it take over");
    assert_eq!(person.sent(), [Request::UpdateDaemon(UpdateDaemonParams::default())]);
}

#[test]
fn one_that_cannot_is_named_and_one_that_does_so_by_itself_moves_nothing() {
    assert!(with(UpdateStage::Refused).texts().iter().any(|text| text.contains("cannot take over")));
    let usual = Person::before(preset::empty()).texts();
    for stage in [UpdateStage::Waiting, UpdateStage::HandingOver] {
        assert_eq!(with(stage).texts(), usual);
    }
}
