//! Open questions and approvals, printed completely, so that the person sees exactly what is decided.

mod screenful;

pub(crate) use screenful::{Screenful, screenful};

use crate::output::{
    blanks,
    fold::{folded, hanging},
    measure,
    style::{BAD, FAINT, GOOD, NEEDS_YOU, STRONG, paint},
    text,
};
use abide_client::{
    condition, confined, is_made_by_daemon, is_quoted,
    protocol::{
        Timestamp,
        inbox::{Approval, InboxItem, Pending, PendingId, Preview, Question, QuestionKind},
        transcript::Risk,
    },
};
use abide_host::parked;
use std::fmt::Write as _;

/// The short id of a question or an approval.
pub(crate) fn short(id: PendingId) -> String {
    match id {
        PendingId::Question(id) => id.short(),
        PendingId::Approval(id) => id.short(),
    }
}

/// The room for an item.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// The most lines of each text.
    lines: usize,
    /// The width at which prose breaks between words; `None` where there is no terminal. What is decided
    /// about is not broken.
    columns: Option<usize>,
}

/// Stands for all lines of a text.
const ALL: usize = usize::MAX;
/// How many lines of each text the inbox shows: it is a list.
const IN_LIST: usize = 8;
/// The width of such a line, in columns.
const LIST_COLUMNS: usize = 400;

/// The item as `show` prints it.
pub(crate) fn pending(pending: &Pending, columns: Option<usize>) -> String {
    rendered(pending, Room { lines: ALL, columns })
}

fn rendered(pending: &Pending, room: Room) -> String {
    match pending {
        Pending::Question(q) => format!("{}\n", prose(asked(q, room.lines).trim_end(), room.columns)),
        Pending::Approval(a) => format!("{}{}\n", decided(a, room), prose(&remembering(a), room.columns)),
    }
}

pub(crate) fn question(question: &Question) -> String {
    asked(question, ALL)
}

fn asked(question: &Question, most: usize) -> String {
    let who = match question.kind {
        QuestionKind::Agent => "The agent asks",
        QuestionKind::Loop => "The agent repeats itself",
        QuestionKind::Budget => "A limit is reached",
        QuestionKind::Interrupted => "A tool call was interrupted",
        QuestionKind::Restart => "The daemon was restarted",
        QuestionKind::Parked => "The model cannot be asked now",
    };
    let until = parked::question(question).map(|until| format!(": {until}")).unwrap_or_default();
    let text = first(&indented(&question.text, 2), most, 2);
    let mut out = format!("{}\n{text}", paint(NEEDS_YOU, &format!("{who}{until}")));
    for (i, choice) in question.choices.iter().enumerate() {
        let _ = writeln!(out, "  {} {}", paint(STRONG, &format!("{}.", i + 1)), text::one_line(choice));
    }
    out
}

/// The first lines of a text, and how many more there are.
fn first(lines: &str, most: usize, margin: usize) -> String {
    if most == ALL {
        return lines.to_owned();
    }
    let shown = lines.lines().take(most).map(|line| format!("{}\n", text::fit(line, LIST_COLUMNS)));
    let mut out: String = shown.collect();
    let hidden = lines.lines().count().saturating_sub(most);
    if hidden > 0 {
        let more = measure::counted(u64::try_from(hidden).unwrap_or(u64::MAX), "more line");
        let _ = writeln!(out, "{}{}", " ".repeat(margin), paint(FAINT, &format!("… {more}")));
    }
    out
}

/// What a decision is about, all of it.
pub(crate) fn exactly(approval: &Approval, columns: Option<usize>) -> String {
    decided(approval, Room { lines: ALL, columns })
}

/// All of it, with what "always" does, without styles.
pub(crate) fn whole(approval: &Approval) -> String {
    let words = format!("{}{}\n", exactly(approval, None), remembering(approval));
    anstream::adapter::strip_str(&words).to_string()
}

fn decided(approval: &Approval, room: Room) -> String {
    let facts = facts(approval, room.columns).concat();
    [header(approval), before(approval, room.lines), facts, after(approval, room.lines)].concat()
}

fn header(approval: &Approval) -> String {
    let risk = match approval.risk {
        Risk::Low => "",
        Risk::Medium => ", medium risk",
        Risk::High => ", high risk",
    };
    format!("{}\n", paint(NEEDS_YOU, &format!("Approve {}{risk}?", text::one_line(&approval.tool))))
}

/// The call itself.
fn before(approval: &Approval, most: usize) -> String {
    let summary = paint(STRONG, &text::one_line(&approval.summary));
    format!("  {summary}\n{}", arguments(approval, most))
}

/// Where and how it runs, and why it asks: a line for each.
fn facts(approval: &Approval, columns: Option<usize>) -> Vec<String> {
    // A path is left whole, so that it can be copied.
    let mut facts = vec![labelled("in:", &text::one_line(&approval.workspace), None)];
    if !is_made_by_daemon(approval) {
        facts.push(labelled("sandbox:", &sandbox(&approval.sandbox), columns));
    }
    if let Some(why) = &approval.why {
        facts.push(labelled("asks:", &text::one_line(why), columns));
    }
    if let Some(condition) = condition(approval) {
        facts.push(labelled("only if:", &text::one_line(&condition), columns));
    }
    facts
}

/// The diff, if there is one.
fn after(approval: &Approval, most: usize) -> String {
    approval.preview.as_ref().map(|preview| diff(preview, most)).unwrap_or_default()
}

/// A text beside its label; the rows that do not fit go on below it.
fn labelled(label: &str, words: &str, columns: Option<usize>) -> String {
    /// In columns.
    const LABEL: usize = 8;
    let line = format!("  {} {words}", paint(FAINT, &format!("{label:<LABEL$}")));
    match columns {
        Some(columns) => hanging(&line, columns, LABEL + 1) + "\n",
        None => line + "\n",
    }
}

fn prose(words: &str, columns: Option<usize>) -> String {
    columns.map_or_else(|| words.to_owned(), |columns| folded(words, columns))
}

/// What the decisions "task" and "always" do.
pub(crate) fn remembering(approval: &Approval) -> String {
    let always = remembering_always(approval);
    if !approval.for_task {
        return always;
    }
    let words = "\"task\" would allow: this, and all in this task and its sub-tasks that asks only because it could not be undone";
    format!("  {}\n{always}", paint(FAINT, words))
}

fn remembering_always(approval: &Approval) -> String {
    if let Some(why) = &approval.only_once {
        return format!(
            "  {}",
            paint(FAINT, &format!("\"always\" is not possible: {}", text::one_line(why)))
        );
    }
    let (tool, place) = (rule_tool(approval), rule_place(approval));
    let or = if approval.wider.is_empty() { "" } else { "; or one of these rules:" };
    let reason = if approval.rule.arguments == approval.arguments { "" } else { ", whatever its reason" };
    let words = format!("\"always\" would remember: {tool} with exactly this{reason}, in {place}{or}");
    let mut out = format!("  {}", paint(FAINT, &words));
    for (number, wider) in approval.wider.iter().enumerate() {
        let (text, matches) = (text::one_line(&wider.text), text::one_line(&wider.matches));
        let _ = write!(out, "\n  {}  {text}  {}", number + 1, paint(FAINT, &matches));
    }
    out
}

fn rule_tool(approval: &Approval) -> String {
    text::one_line(&approval.rule.tool)
}

fn rule_place(approval: &Approval) -> String {
    text::one_line(&approval.rule.workspace)
}

/// What `--always` would remember, in one line.
pub(crate) fn rule(approval: &Approval) -> String {
    format!(
        "{} with {} in {}",
        rule_tool(approval),
        text::one_line(approval.rule.arguments.as_str()),
        rule_place(approval)
    )
}

fn sandbox(sandbox: &str) -> String {
    match sandbox {
        "none" => paint(BAD, "none: it can do all that you can"),
        other => text::one_line(confined(other)),
    }
}

/// The arguments by name. Long texts are left out if a diff shows all of them, and so are an argument that
/// equals the summary and a reason that is quoted below.
fn arguments(approval: &Approval, most: usize) -> String {
    let arguments = &approval.arguments;
    let has_preview = approval.preview.as_ref().is_some_and(|preview| !is_cut(preview));
    let is_summary = |text: &str| text == approval.summary && text == text::one_line(text);
    let is_outside = approval.sandbox == "none";
    let mut out = String::new();
    let serde_json::Value::Object(fields) = arguments.value() else {
        return first(&indented(arguments.as_str(), 2), most, 2);
    };
    for (argument, value) in &fields {
        let name = paint(FAINT, &format!("{}:", text::one_line(argument)));
        match value {
            serde_json::Value::String(s) if is_summary(s) || is_quoted(approval, argument, s) => {}
            serde_json::Value::String(s) if s.contains('\n') && has_preview => {
                let _ =
                    writeln!(out, "  {name} {}, below", measure::counted(s.lines().count() as u64, "line"));
            }
            serde_json::Value::String(s) if s.contains('\n') => {
                let _ = write!(out, "  {name}\n{}", first(&indented(s, 4), most, 4));
            }
            serde_json::Value::String(s) => {
                let _ = writeln!(
                    out,
                    "  {name} {}",
                    first(&blanks::folded(&text::block(s), 0), most, 0).trim_end_matches('\n')
                );
            }
            // The line of the sandbox says it.
            serde_json::Value::Bool(true) if argument == "outside" && is_outside => {}
            other => {
                let _ = writeln!(out, "  {name} {}", blanks::folded(&text::block(&other.to_string()), 0));
            }
        }
    }
    out
}

/// As [`text::indented`], with long runs of blanks and of empty lines folded.
fn indented(raw: &str, by: usize) -> String {
    text::indented(&blanks::folded(&text::block(raw), 0), by)
}

/// Whether the daemon has left out a part of the diff.
fn is_cut(preview: &Preview) -> bool {
    let changed = preview.changed.map_or(0, |changed| changed.added + changed.removed);
    // The first two lines name the file.
    let shown = preview.diff.lines().skip(2).filter(|line| line.starts_with(['+', '-'])).count();
    (shown as u64) < changed
}

fn diff(preview: &Preview, most: usize) -> String {
    let diff = blanks::folded(&text::block(&preview.diff), 1);
    let mut out = String::new();
    for line in first(&diff, most, 0).lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            _ => FAINT,
        };
        let _ = writeln!(out, "    {}", paint(style, line));
    }
    out
}

/// The commands that answer it.
pub(crate) fn how_to_answer(pending: &Pending) -> String {
    let id = short(pending.id());
    match pending {
        Pending::Question(q) if !q.kind.takes_words() => {
            let choices: Vec<_> =
                q.choices.iter().map(|choice| format!("abide answer {id} {}", quoted(choice))).collect();
            choices.join("  or  ")
        }
        Pending::Question(_) => format!("abide answer {id} TEXT  or  abide answer {id} --decline"),
        Pending::Approval(_) => format!("abide approve {id}  or  abide reject {id}"),
    }
}

/// A choice as a shell takes it.
fn quoted(choice: &str) -> String {
    let choice = text::one_line(choice);
    if choice.contains(' ') { format!("\"{choice}\"") } else { choice }
}

/// The task that asks, with the title of a sub-task.
fn asks(item: &InboxItem) -> String {
    match item.sub_task() {
        Some((id, title)) => format!("sub-task {} ({})", id.short(), text::one_line(title)),
        None => format!("task {}", item.task_id.short()),
    }
}

/// `abide inbox`.
pub(crate) fn inbox(items: &[InboxItem], now: Timestamp, width: Option<usize>) -> String {
    if items.is_empty() {
        return "Nothing waits for you.\n".to_owned();
    }
    let mut out = String::new();
    for item in items {
        let _ = writeln!(
            out,
            "{}  {}  {}",
            paint(STRONG, &short(item.pending.id())),
            text::one_line(&item.conversation_title),
            paint(FAINT, &format!("{}, {}", asks(item), measure::ago(item.pending.asked_at(), now)))
        );
        let columns = width.map(|width| width.saturating_sub(2));
        let shown = rendered(&item.pending, Room { lines: IN_LIST, columns });
        for line in shown.lines() {
            let _ = writeln!(out, "  {line}");
        }
        if shown != pending(&item.pending, columns) {
            let whole = format!("all of it: abide show {}", item.task_id.short());
            let _ = writeln!(out, "  {}", paint(FAINT, &whole));
        }
        let _ = writeln!(out, "  {}\n", paint(FAINT, &how_to_answer(&item.pending)));
    }
    out.truncate(out.len() - 1);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{output::fixture, prompt::Takes};
    use abide_client::protocol::{
        JsonText,
        inbox::{NamedFile, Rule},
    };
    use insta::assert_snapshot;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn approval(approval: &Approval) -> String {
        pending(&Pending::Approval(approval.clone()), None)
    }

    #[test]
    fn an_approval_shows_exactly_what_will_run() {
        assert_snapshot!(plain(&approval(&fixture::approval())), @r#"
        Approve shell, high risk?
          rm -rf build
          timeout_secs: 60
          in:      /home/me/app
          sandbox: none: it can do all that you can
          "always" would remember: shell with exactly this, in /home/me/app
        "#);
    }

    #[test]
    fn a_command_that_leaves_the_sandbox_shows_its_reason_once() {
        let mut leaves = fixture::approval();
        let reason = "It needs the network.";
        leaves.why = Some(format!("it leaves the sandbox; the agent says: \u{201c}{reason}\u{201d}"));
        leaves.arguments = JsonText::from(
            serde_json::json!({ "command": "rm -rf build", "outside": true, "reason": reason }),
        );
        leaves.rule = Rule::of(&leaves.tool, &leaves.arguments, &leaves.workspace);
        assert_snapshot!(plain(&approval(&leaves)), @r#"
        Approve shell, high risk?
          rm -rf build
          in:      /home/me/app
          sandbox: none: it can do all that you can
          asks:    it leaves the sandbox; the agent says: “It needs the network.”
          "always" would remember: shell with exactly this, whatever its reason, in /home/me/app
        "#);
        // A reason that is shown cut or escaped is shown whole, too.
        leaves.arguments = JsonText::from(serde_json::json!({ "command": "ls", "reason": "It\nneeds it." }));
        assert!(plain(&approval(&leaves)).contains("  reason:"));
    }

    #[test]
    fn a_command_that_names_files_says_how_they_are_and_that_it_is_allowed_only_once() {
        let mut names = fixture::approval();
        let file =
            |path: &str, bytes| NamedFile { path: path.into(), bytes, sha256: "0123456789abcdef".into() };
        names.files = vec![file("deploy.sh", 1234), file("input", 1)];
        names.only_once = Some("it names `deploy.sh`, which other calls could change".into());
        assert_snapshot!(plain(&approval(&names)), @r#"
        Approve shell, high risk?
          rm -rf build
          timeout_secs: 60
          in:      /home/me/app
          sandbox: none: it can do all that you can
          only if: deploy.sh (1,234 bytes, sha256 0123456789ab), input (1 byte, sha256 0123456789ab) are unchanged
          "always" is not possible: it names `deploy.sh`, which other calls could change
        "#);
    }

    #[test]
    fn what_could_not_be_undone_offers_the_task() {
        let offered = Approval { for_task: true, ..fixture::approval() };
        let words = "\"task\" would allow: this, and all in this task and its sub-tasks that asks only because it could not be undone";
        assert!(plain(&approval(&offered)).contains(words));
        assert!(!plain(&approval(&fixture::approval())).contains("\"task\""));
        assert_eq!(
            Takes::at(offered.risk, true).label(&offered),
            "high risk: write yes, task, always, no or detach: "
        );
        let low = Approval { risk: Risk::Low, ..offered };
        assert_eq!(
            Takes::at(low.risk, true).label(&low),
            "y allow once · t for this task · A always · n reject · d detach: "
        );
    }

    #[test]
    fn prose_breaks_between_words_and_what_is_decided_about_does_not() {
        let mut long = fixture::approval();
        long.summary = "rm -rf build/one build/two build/three".into();
        long.arguments = JsonText::from(serde_json::json!({ "command": long.summary.clone() }));
        long.rule = Rule::of(&long.tool, &long.arguments, &long.workspace);
        long.why =
            Some("it leaves the sandbox; the agent says: \u{201c}It needs the network.\u{201d}".into());
        let shown = pending(&Pending::Approval(long.clone()), Some(34));
        assert_snapshot!(plain(&shown), @r#"
        Approve shell, high risk?
          rm -rf build/one build/two build/three
          in:      /home/me/app
          sandbox: none: it can do all
                   that you can
          asks:    it leaves the sandbox;
                   the agent says: “It
                   needs the network.”
          "always" would remember: shell
          with exactly this, in
          /home/me/app
        "#);
        let question = Question { text: "Which colour shall the roof have?".into(), ..fixture::question() };
        assert_snapshot!(plain(&pending(&Pending::Question(question), Some(20))), @r"
        The agent asks
          Which colour shall
          the roof have?
          1. red
          2. blue
        ");
    }

    /// White space that the summary's line does not show may matter to the shell.
    #[test]
    fn a_command_that_differs_from_its_summary_is_shown_too() {
        for command in ["echo 'a  b'", "echo a\necho b", " ls"] {
            let mut approval = fixture::approval();
            approval.arguments = JsonText::from(serde_json::json!({ "command": command }));
            approval.summary = command.to_owned();
            let shown = plain(&super::pending(&Pending::Approval(approval), None));
            assert!(shown.contains("  command:"), "{shown}");
        }
    }

    /// The daemon makes it: nothing runs that a sandbox could confine.
    #[test]
    fn a_new_folder_has_no_line_about_a_sandbox() {
        let folder = Approval { tool: "create_dir".into(), ..fixture::approval() };
        assert!(!plain(&approval(&folder)).contains("sandbox:"));
        assert!(plain(&approval(&fixture::approval())).contains("sandbox:"));
    }

    #[test]
    fn code_is_shown_line_by_line() {
        let mut python = fixture::approval();
        python.tool = "python".into();
        python.summary = "for n in range(3): … (2 lines)".into();
        python.arguments = JsonText::parse(r#"{"code":"for n in range(3):\n    print(n)\n"}"#).unwrap();
        python.rule = Rule::of(&python.tool, &python.arguments, &python.workspace);
        assert_snapshot!(plain(&approval(&python)), @r#"
        Approve python, high risk?
          for n in range(3): … (2 lines)
          code:
            for n in range(3):
                print(n)
          in:      /home/me/app
          sandbox: none: it can do all that you can
          "always" would remember: python with exactly this, in /home/me/app
        "#);
    }

    #[test]
    fn an_edit_shows_its_diff_instead_of_the_text() {
        let mut edit = fixture::approval();
        edit.arguments = JsonText::parse(r#"{"path":"a.txt","content":"x\ny\n"}"#).unwrap();
        edit.rule = Rule::of(&edit.tool, &edit.arguments, &edit.workspace);
        edit.preview = Some(Box::new(Preview {
            path: "a.txt".into(),
            diff: "--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n-w\n+x\n+y".into(),
            changed: None,
        }));
        let shown = plain(&approval(&edit));
        assert_snapshot!(shown, @r#"
        Approve shell, high risk?
          rm -rf build
          content: 2 lines, below
          path: a.txt
          in:      /home/me/app
            --- a.txt
            +++ a.txt
            @@ -1 +1,2 @@
            -w
            +x
            +y
          "always" would remember: shell with exactly this, in /home/me/app
        "#);
    }

    #[test]
    fn an_approval_cannot_hide_behind_escape_sequences() {
        let mut hostile = fixture::approval();
        hostile.arguments = JsonText::parse(r#"{"command":"rm -rf ~\u001b[2K\recho hello"}"#).unwrap();
        hostile.summary = "\u{1b}[8mrm -rf ~".into();
        let shown = plain(&approval(&hostile));
        assert!(!shown.contains(['\u{1b}', '\r']), "{shown:?}");
        assert!(shown.contains("rm -rf ~"), "{shown:?}");
    }

    #[test]
    fn a_question_numbers_its_choices() {
        assert_snapshot!(plain(&question(&fixture::question())), @r"
        The agent asks
          Which colour?
          1. red
          2. blue
        ");
    }

    #[test]
    fn the_inbox_cuts_long_texts_and_names_the_command_for_the_rest() {
        let lines = |n: usize| (1..=n).map(|i| format!("+line {i}\n")).collect::<String>();
        let preview = |n| Preview { path: "a".into(), diff: lines(n), changed: None };
        let item = |n| InboxItem {
            task_id: fixture::task().id,
            conversation_id: fixture::task().conversation_id,
            conversation_title: String::new(),
            pending: Pending::Approval(Approval {
                preview: Some(Box::new(preview(n))),
                ..fixture::approval()
            }),
            root_id: None,
            title: String::new(),
            depth: 0,
        };
        let shown = plain(&inbox(&[item(300)], fixture::START, None));
        assert!(shown.contains("+line 8\n      … 292 more lines\n") && !shown.contains("line 9"), "{shown}");
        assert!(shown.contains("  all of it: abide show 00000001\n"), "{shown}");
        assert!(plain(&pending(&item(300).pending, None)).contains("+line 300"), "a prompt has all of it");
        let short = plain(&inbox(&[item(8)], fixture::START, None));
        assert!(!short.contains("more line") && !short.contains("all of it"), "{short}");
        let asks = InboxItem {
            pending: Pending::Question(Question { text: lines(40), ..fixture::question() }),
            ..item(1)
        };
        let shown = plain(&inbox(&[asks], fixture::START, None));
        assert!(shown.contains("… 32 more lines") && shown.contains("2. blue"), "{shown}");
    }

    #[test]
    fn the_inbox_says_how_to_answer() {
        let item = InboxItem {
            task_id: fixture::task().id,
            conversation_id: fixture::task().conversation_id,
            conversation_title: "Tidy up".into(),
            pending: Pending::Question(fixture::question()),
            root_id: None,
            title: String::new(),
            depth: 0,
        };
        assert_snapshot!(plain(&inbox(&[item], Timestamp(fixture::START.0 + 60_000), None)), @r"
        00000004  Tidy up  task 00000001, 1 min ago
          The agent asks
            Which colour?
            1. red
            2. blue
          abide answer 00000004 TEXT  or  abide answer 00000004 --decline
        ");
        assert_eq!(inbox(&[], fixture::START, None), "Nothing waits for you.\n");
    }
}
