use super::*;
use abide_protocol::{
    Timestamp,
    inbox::Decision,
    method::inbox::{DecideApprovalReply, UserResponseReply},
};

#[test]
fn what_is_said_about_a_reply() {
    let said = |reply| Note::about((), reply).map(|note| (note.summary, note.body));
    let decided = |won, decision| {
        Ok(Reply::DecideApproval(DecideApprovalReply { won, decision, first_at: Some(Timestamp(1)) }))
    };
    let answered = |won, response: Option<&str>| {
        let response = response.map(str::to_owned);
        Ok(Reply::UserResponse(UserResponseReply { won, response, first_at: None }))
    };
    let failed = |kind| Err(Error::new(kind, "the disk is full"));
    let table = [
        (decided(true, Decision::AllowOnce), None),
        (decided(false, Decision::AllowAlways), Some(("Already decided", "It was allowed before."))),
        (decided(false, Decision::RejectOnce), Some(("Already decided", "It was rejected before."))),
        (answered(true, Some("blue")), None),
        (answered(false, Some("blue")), Some(("Already answered", "The answer was: blue"))),
        (answered(false, None), Some(("Already answered", "It was declined before."))),
        (failed(ErrorKind::NotFound), Some(("Gone", "Its conversation was deleted."))),
        (failed(ErrorKind::IllegalState), Some(("No longer open", "the disk is full"))),
        (
            failed(ErrorKind::StorageFull),
            Some(("Not answered", "the disk is full; it is still in the inbox")),
        ),
    ];
    for (reply, expected) in table {
        let words = format!("{reply:?}");
        assert_eq!(said(reply), expected.map(|(summary, body)| (summary, body.to_owned())), "{words}");
    }
}
