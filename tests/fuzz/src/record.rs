use crate::meter::measured;
use abide_engine::{Command, History, Input, Mint, effects, handle, view, wake_at};
use abide_protocol::{
    ConversationId, RecordId, TaskId, Timestamp,
    record::{Interruption, NewRecord},
};
use abide_store::fuzzing::{read, stored};

/// More records take long and find nothing new.
const MAX_RECORDS: usize = 64;

/// Folds records as the database stores them: `kind body`, one a line. A record that can be decoded must
/// never make the fold panic.
pub fn stored_record(text: &str) {
    let (task, at) = (TaskId(Default::default()), Timestamp(1_700_000_000_000));
    let mut history = History::default();
    for line in text.lines().take(MAX_RECORDS) {
        let Some((kind, body)) = line.split_once(' ') else { continue };
        let Ok(body) = measured(|| read(kind, 1, body)) else { continue };
        let (kind, version, text) = stored(&body).expect("what was read can be stored");
        assert_eq!(read(kind, version, &text).expect("what was stored can be read"), body);
        history.fold(&NewRecord { id: RecordId(Default::default()), task_id: Some(task), at, body });
        let _ = (
            effects(&history),
            history.root().map(|task| view(ConversationId(Default::default()), &history, task)),
        );
    }
    // A later daemon takes the history over, and a person stops its tasks.
    let mut mint = Mint::new(at.plus(1000), 1);
    let live = history.live().next().map(|task| task.id);
    if let Some(task) = live {
        let _ = history.live().filter_map(wake_at).min();
        handle(
            &mut history,
            Input::Interrupted {
                cause: Interruption::DaemonRestarted,
                findings: Vec::new(),
                ran_until: None,
            },
            &mut mint,
        )
        .expect("it is never refused");
        let _ = handle(&mut history, Command::Stop { task }, &mut mint);
        assert!(history.live().next().is_none(), "a stop ends a task");
    }
}
