//! Sub-tasks as their parent sees them: how it starts one, waits for them, and speaks with its relatives.

use crate::{
    decide::{draft::Draft, input::OwnPlace},
    mint::Mint,
    mode::{
        prompt::{CHILD, Note},
        task_mode::{OF_SUB_TASKS, control_tools},
    },
    state::{
        history::History,
        task::{CallStage, Stage, Task},
    },
};
use abide_protocol::{
    CallId, TaskId,
    record::{
        ForkedBy, Intervened, Intervener, InterventionKind, NewRecord, Nudge, RecordBody, TaskEnded,
        TaskStarted, UserMessage,
    },
    task::{AgentTask, Limits},
    transcript::{EffectClass, ToolSpec, Usage},
};
use serde_json::{Value, json};

/// The most characters of a sub-task's result that its parent is given.
const RESULT: usize = 16_000;
/// The most characters of a sub-task's title.
const TITLE: usize = 60;
/// The name by which a sub-task speaks to the task above it.
const PARENT: &str = "parent";

/// What a task asks of a sub-task.
pub(crate) struct Order<'a> {
    pub(crate) prompt: &'a str,
    /// Names of the tools that it may use; `None`: all that its parent may.
    pub(crate) tools: Option<&'a [String]>,
    pub(crate) by: Option<ForkedBy>,
    /// Where it works; `None`: where its parent does.
    pub(crate) place: Option<&'a OwnPlace>,
}

/// The first record of a sub-task of this task.
///
/// # Errors
/// Why there can be none, in words for the model.
pub(crate) fn head(history: &History, parent: &Task, order: &Order<'_>) -> Result<TaskStarted, String> {
    check_caps(history, parent)?;
    if order.prompt.trim().is_empty() {
        return Err("The sub-task has no prompt.".to_owned());
    }
    let own = &*parent.head;
    let system_prompt = own.child_system_prompt.as_ref().unwrap_or(&own.system_prompt);
    Ok(TaskStarted {
        parent_id: Some(parent.id),
        depth: own.depth.saturating_add(1),
        mode: OF_SUB_TASKS,
        system_prompt: match order.place {
            Some(place) => system_prompt.replace(&own.workspace, &place.workspace),
            None => system_prompt.clone(),
        },
        workspace: order.place.map_or(&own.workspace, |place| &place.workspace).clone(),
        tools: tools(own, order.tools)?,
        // The limits of tokens, cost and time are the root's, for the whole tree.
        limits: Limits {
            max_steps: if parent.table().shares_step_limit {
                own.limits.max_steps
            } else {
                Limits::default().max_steps
            },
            max_duration_secs: 0,
            max_tokens: 0,
            max_cost_micros: 0,
            ..own.limits
        },
        original_prompt: order.prompt.to_owned(),
        title: title(order.prompt),
        forked_by: order.by,
        metadata: None,
        client_message: None,
        external_id: None,
        by: None,
        child_system_prompt: None,
        // For its own sub-tasks; an agent has no phases.
        prompts: own
            .prompts
            .get_key_value(Note::Child.name())
            .map(|(name, text)| (name.clone(), text.clone()))
            .into_iter()
            .collect(),
        ..own.clone()
    })
}

/// The records that start a sub-task.
pub(crate) fn begin(
    task: TaskId,
    head: TaskStarted,
    place: Option<OwnPlace>,
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let text = head.original_prompt.clone();
    let note = head.prompts.get(Note::Child.name()).map_or(CHILD, String::as_str).trim_end().to_owned();
    let mut draft = Draft::new(task, mint);
    draft.push(RecordBody::TaskStarted(Box::new(head)));
    draft.push(RecordBody::UserMessage(UserMessage { text }));
    draft.push(RecordBody::Nudge(Nudge::new(note)));
    if let Some(OwnPlace { branch, setup, .. }) = place {
        draft.push(RecordBody::Nudge(Nudge::new(format!(
            "You work in a git worktree of your own, on the branch `{branch}`. Commit your work there before you end: the agent that \
             started you gets it from that branch."
        ))));
        setup.into_iter().for_each(|call| draft.push(RecordBody::CallAssessed(*call)));
    }
    draft.records
}

/// 0 means no limit, as everywhere.
fn check_caps(history: &History, parent: &Task) -> Result<(), String> {
    let limits = parent.limits;
    if limits.max_depth > 0 && parent.head.depth >= limits.max_depth {
        return Err(format!(
            "No sub-task was started: sub-tasks may be at most {} deep, and this one is. Do the work yourself.",
            limits.max_depth
        ));
    }
    let live = live(history, parent).count();
    if limits.max_children > 0 && live >= limits.max_children as usize {
        return Err(format!(
            "No sub-task was started: {live} are at work, the most at a time. Wait for one of them first."
        ));
    }
    let all = history.tasks().len();
    if limits.max_tasks > 0 && all >= limits.max_tasks as usize {
        return Err(format!(
            "No sub-task was started: this task and its sub-tasks are {all}, the most there may be. Do the rest yourself."
        ));
    }
    Ok(())
}

/// The parent's own tools or the named ones of them, and an agent's control tools.
fn tools(parent: &TaskStarted, named: Option<&[String]>) -> Result<Vec<ToolSpec>, String> {
    let ordinary = || parent.tools.iter().filter(|tool| tool.effect != EffectClass::Control);
    let unknown = named.into_iter().flatten().find(|name| ordinary().all(|tool| tool.name != **name));
    if let Some(unknown) = unknown {
        let known: Vec<&str> = ordinary().map(|tool| tool.name.as_str()).collect();
        return Err(format!(
            "No sub-task was started: you have no tool `{unknown}`. You have: {}.",
            known.join(", ")
        ));
    }
    let may_use = |tool: &&ToolSpec| named.is_none_or(|named| named.contains(&tool.name));
    Ok(ordinary().filter(may_use).cloned().chain(control_tools(OF_SUB_TASKS)).collect())
}

/// The prompt's first line, cut.
fn title(prompt: &str) -> String {
    let line = prompt.trim().lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

/// The sub-task that this fork has started.
pub(crate) fn forked(history: &History, by: ForkedBy) -> Option<TaskId> {
    history.tasks().iter().find(|task| task.head.forked_by == Some(by)).map(|task| task.id)
}

/// The names of the sub-tasks that a call of this task has started; empty if there are none.
pub(crate) fn names_of_forked(history: &History, parent: &Task, call: CallId) -> String {
    names(of(history, parent).filter(|child| child.head.forked_by.is_some_and(|by| by.call_id == call)))
}

/// The live sub-tasks of this task, without theirs, in the order in which they were started.
pub(crate) fn live<'h>(history: &'h History, parent: &'h Task) -> impl Iterator<Item = &'h Task> {
    of(history, parent).filter(|child| !child.has_ended())
}

fn of<'h>(history: &'h History, parent: &'h Task) -> impl Iterator<Item = &'h Task> {
    parent.children.iter().filter_map(|id| history.task(*id))
}

/// The names of these tasks for a model.
pub(crate) fn names<'h>(tasks: impl Iterator<Item = &'h Task>) -> String {
    tasks.map(|task| format!("{} ({})", task.id.short(), task.head.title)).collect::<Vec<_>>().join(", ")
}

/// The sub-tasks that a `wait` is about: that of the handle, or all.
///
/// # Errors
/// There is none, in words for the model.
pub(crate) fn awaited(history: &History, parent: &Task, handle: Option<&str>) -> Result<Vec<TaskId>, String> {
    match handle {
        Some(handle) => find(history, parent, handle).map(|child| vec![child.id]),
        None if parent.children.is_empty() => Err("You have no sub-task to wait for.".to_owned()),
        None => Ok(parent.children.clone()),
    }
}

fn find<'h>(history: &'h History, parent: &'h Task, handle: &str) -> Result<&'h Task, String> {
    let is_named = |child: &&Task| child.id.short() == handle || child.id.to_string() == handle;
    of(history, parent).find(is_named).ok_or_else(|| match parent.children.is_empty() {
        true => format!("There is no sub-task `{handle}`: you have none."),
        false => format!("There is no sub-task `{handle}` of yours. Yours: {}.", names(of(history, parent))),
    })
}

/// The records of a message to a sub-task or to the parent.
///
/// # Errors
/// Nobody of that name can hear it, in words for the model.
pub(crate) fn tell(
    history: &History,
    from: &Task,
    to: &str,
    message: &str,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, String> {
    let hearer = if to == PARENT {
        let parent = from.head.parent_id.and_then(|id| history.task(id));
        parent.ok_or("There is no task above you. Use `send_update` to tell the user something.")?
    } else {
        find(history, from, to)?
    };
    if hearer.has_ended() {
        return Err(format!("`{to}` has ended and hears nothing any more."));
    }
    let intervened = Intervened {
        by: Intervener::Task(from.id),
        kind: InterventionKind::Comment,
        comment: message.to_owned(),
        content: None,
        withdraws: None,
    };
    let mut draft = Draft::of(hearer, mint);
    draft.push(RecordBody::Intervened(intervened));
    Ok(draft.records)
}

/// The results of these sub-tasks as the result of a `wait`; `None` while one of them is at work. `ending`
/// has the ends that are not folded yet.
pub(crate) fn results(
    history: &History,
    tasks: &[TaskId],
    ending: &[(TaskId, &TaskEnded)],
) -> Option<String> {
    let results: Option<Vec<Value>> = tasks
        .iter()
        .map(|id| {
            let task = history.task(*id)?;
            let now = ending.iter().find(|(ended, _)| ended == id).map(|(_, end)| *end);
            let end = now.or(match &task.stage {
                Stage::Ended { end, .. } => Some(end),
                _ => None,
            })?;
            Some(result(task.id, end, &task.usage))
        })
        .collect();
    match results?.as_slice() {
        [one] => Some(one.to_string()),
        all => Some(Value::from(all.to_vec()).to_string()),
    }
}

/// What is known of these sub-tasks now: the results of those that have ended, the others by their handles.
pub(crate) fn results_so_far(history: &History, tasks: &[TaskId]) -> Value {
    let known = |task: &Task| match &task.stage {
        Stage::Ended { end, .. } => result(task.id, end, &task.usage),
        _ => json!({ "handle": task.id.short(), "status": "running" }),
    };
    tasks.iter().filter_map(|id| history.task(*id)).map(known).collect()
}

/// The result of a task as a `wait` gives it; `None` while it is at work.
#[must_use]
pub fn result_of(task: &AgentTask) -> Option<Value> {
    let (summary, error) = (task.summary.clone(), task.error_message.clone());
    let end = TaskEnded { summary, error, ..TaskEnded::of(task.end_reason?) };
    Some(result(task.id, &end, &task.usage))
}

fn result(id: TaskId, end: &TaskEnded, usage: &Usage) -> Value {
    let mut result = json!({
        "handle": id.short(),
        "status": end.reason.status().name(),
        "endReason": end.reason.name(),
        "result": cut(end.summary.as_deref().unwrap_or_default()),
        "usage": { "tokens": usage.tokens(), "modelCalls": usage.model_calls },
    });
    if let (Some(error), Some(fields)) = (&end.error, result.as_object_mut()) {
        fields.insert("error".to_owned(), cut(error).into());
    }
    result
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(RESULT) {
        Some((end, _)) => format!("{}… (cut: it has {} characters)", &text[..end], text.chars().count()),
        None => text.to_owned(),
    }
}

/// What a parent that does not wait for a sub-task is sent at its end.
pub(crate) fn note(task: &Task, end: &TaskEnded) -> String {
    let mut text = format!("Sub-task {} has ended ({}).", task.id.short(), end.reason.words());
    for result in [&end.summary, &end.error].into_iter().flatten() {
        text.push('\n');
        text.push_str(&cut(result));
    }
    text
}

/// What keeps a task that wants to end from its end, in words for the model: a sub-task's result or a
/// person's words that it has not read, or sub-tasks at work, which it is told of once.
pub(crate) fn keep_from_ending(history: &History, task: &Task) -> Option<String> {
    let unread = task.has_unread.then(|| "a message has come meanwhile: read it first.".to_owned());
    let is_news = !task.knows_live_children && !task.table().joins_sub_tasks;
    let live: Vec<&Task> = live(history, task).filter(|_| is_news).collect();
    let at_work = (!live.is_empty()).then(|| {
        format!(
            "sub-tasks are still at work: {}. Wait for them, or end without their results: then they are ended too.",
            names(live.into_iter())
        )
    });
    let reasons: Vec<String> = [unread, at_work].into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| reasons.join(" And "))
}

/// Whether code that is running has started the task, or one above it: the code may wait for it.
pub(crate) fn serves_code(history: &History, task: &Task) -> bool {
    let is_of_running_code = |task: &Task| {
        let caller = task.head.parent_id.and_then(|parent| history.task(parent));
        let call = caller.zip(task.head.forked_by).and_then(|(caller, by)| caller.call(by.call_id));
        call.is_some_and(|call| matches!(call.stage, CallStage::Started { .. }))
    };
    is_of_running_code(task) || history.ancestors(task.id).any(is_of_running_code)
}
