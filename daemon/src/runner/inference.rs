//! Carries out a call of the tool `inference`: asks a model beside the task's own steps.
//!
//! A call that a crash cuts off asks again, as each pure call runs again. What the lost request has used is
//! not known, and in no record.

use super::{Gate, Runner, ToolJob, tool_call::in_process};
use crate::embedder::EmbedError;
use abide_engine::{AgentPlan, Input};
use abide_model::{ModelError, ModelRequest, Written};
use abide_protocol::{
    JsonText,
    limits::MAX_JSON_DEPTH,
    measure::counted,
    message::CallOutcome,
    shape::{RequestShape, ToolUse},
    transcript::{Entry, Reply, StopReason, ToolResult, Transcript, Usage},
};
use abide_tools::Inference;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The most characters of a reply that a result holds: as many as of a command's output.
const MAX_REPLY: usize = 30_000;

/// Asks after the commit of the call's start.
pub(super) async fn run(
    runner: &Runner,
    job: ToolJob,
    inference: Inference,
    gate: Gate,
    cancel: CancellationToken,
) -> Option<Input> {
    let ((result, usage), duration_ms) =
        in_process(Box::pin(answer(runner, &job, inference)), gate, &cancel).await?;
    let ToolJob { task, call, attempt, .. } = job;
    let (outcome, read_results) = (CallOutcome::Done, Vec::new());
    Some(Input::CallFinished { task, call, attempt, outcome, result, duration_ms, read_results, usage })
}

/// The result, and what the model that was asked has used.
async fn answer(runner: &Runner, job: &ToolJob, inference: Inference) -> (ToolResult, Option<Usage>) {
    match inference {
        Inference::Complete { prompt } => {
            let mut entries = Transcript::default();
            entries.push(Entry::User(prompt));
            let shape = RequestShape { tools: ToolUse::Forbidden, output_schema: None };
            of_reply(ask(runner, job, (String::new(), entries, shape)).await, completed)
        }
        Inference::Plan { prompt } => {
            let request = AgentPlan::ask(&prompt, &job.head.workspace, &job.head.tools);
            of_reply(ask(runner, job, request).await, planned)
        }
        Inference::Embed { texts, vectors } => match embed(runner, &texts, vectors).await {
            Ok(data) => (ToolResult::success("Compared.", Some(data)), None),
            Err(error) => (ToolResult::failure(format!("The texts are not compared: {error}.")), None),
        },
    }
}

/// Compares texts in meaning: `{model, dimension, similarities}`, and `vectors` if they are wanted. A row of
/// `similarities` is a text's cosine to each text.
async fn embed(runner: &Runner, texts: &[String], with_vectors: bool) -> Result<JsonText, EmbedError> {
    let (model, vectors) = runner.embedder.embed(texts).await?;
    Ok(compared(&model, &vectors, with_vectors).into())
}

fn compared(model: &str, vectors: &[Vec<f32>], with_vectors: bool) -> Value {
    let cosine = |one: &[f32], other: &[f32]| {
        let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let lengths = (product(one, one) * product(other, other)).sqrt();
        let cosine = if lengths > 0.0 { product(one, other) / lengths } else { 0.0 };
        (f64::from(cosine) * 1e4).round() / 1e4
    };
    let row = |one: &Vec<f32>| vectors.iter().map(|other| cosine(one, other)).collect();
    let similarities: Vec<Vec<f64>> = vectors.iter().map(row).collect();
    let mut data = json!({
        "model": model,
        "dimension": vectors.first().map_or(0, Vec::len),
        "similarities": similarities,
    });
    if with_vectors {
        data["vectors"] = json!(vectors);
    }
    data
}

/// Asks the task's model once, without tools: the system prompt, the entries and the shape of the request.
async fn ask(
    runner: &Runner,
    job: &ToolJob,
    (system, transcript, shape): (String, Transcript, RequestShape),
) -> Result<Reply, ModelError> {
    let models = runner.settings.recent().await.models().await;
    let request = ModelRequest {
        model: job.head.model.clone(),
        system: system.into(),
        tools: Arc::default(),
        // Its requests share no start with those of the conversation.
        conversation: None,
        transcript,
        written: Written::default(),
        max_output_tokens: None,
        shape,
    };
    models.complete(request, &mut |_| {}).await
}

fn of_reply(
    replied: Result<Reply, ModelError>,
    result: fn(&Reply) -> ToolResult,
) -> (ToolResult, Option<Usage>) {
    match replied {
        Ok(reply) => {
            let used = Usage { model_calls: reply.usage.model_calls.max(1), ..reply.usage };
            (result(&reply), Some(used))
        }
        Err(error) => {
            let again = if error.retryable { " The same call may succeed later." } else { "" };
            let used = error.sent.then(|| Usage { model_calls: 1, ..Usage::default() });
            (ToolResult::failure(format!("The model gave no reply: {}{again}", error.message)), used)
        }
    }
}

fn completed(reply: &Reply) -> ToolResult {
    let text = reply.text();
    match reply.stop_reason {
        StopReason::Refusal => with_reply(ToolResult::failure("The model declined to answer."), &text),
        _ if text.is_empty() => ToolResult::failure("The model replied without a text."),
        StopReason::Length => {
            with_reply(ToolResult::success("Replied, up to the model's token limit.", None), &text)
        }
        StopReason::Unfinished => {
            with_reply(ToolResult::success("Replied; the provider cut the reply.", None), &text)
        }
        StopReason::EndTurn | StopReason::ToolCalls | StopReason::LostCalls => {
            with_reply(ToolResult::success("Replied.", None), &text)
        }
    }
}

fn planned(reply: &Reply) -> ToolResult {
    let Some(plan) = AgentPlan::read(reply) else {
        return with_reply(ToolResult::failure("The model's reply is no plan."), &reply.text());
    };
    let calls = counted(plan.tool_calls.len() as u64, "call");
    let plan = JsonText::from(json!(plan));
    if plan.as_str().len() > MAX_REPLY || plan.depth() > MAX_JSON_DEPTH {
        return ToolResult::failure("The model's plan is too long, or nested too deeply.");
    }
    ToolResult::success(format!("Planned, with {calls}. Nothing of it is carried out."), Some(plan))
}

/// The reply's text is data: it is in the field for it, as long as it may be.
fn with_reply(result: ToolResult, text: &str) -> ToolResult {
    let (mut diagnostics, mut reply) = (Vec::new(), text);
    if let Some((end, _)) = text.char_indices().nth(MAX_REPLY) {
        reply = &text[..end];
        diagnostics.push(format!("only the first {MAX_REPLY} of its {} characters", text.chars().count()));
    }
    let data = (!reply.is_empty()).then(|| json!({ "reply": reply }).into());
    ToolResult { data, diagnostics, ..result }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_protocol::{
        record::ModelErrorKind,
        transcript::{Block, TextBlock},
    };

    fn reply(stop_reason: StopReason, text: &str) -> Reply {
        let block = Block::Text(TextBlock { text: text.to_owned(), opaque: None });
        let (api, model) = ("scripted".to_owned(), "model".to_owned());
        Reply { blocks: vec![block], api, model, stop_reason, usage: Usage::default() }
    }

    #[test]
    fn a_reply_is_data_as_far_as_it_came_and_fits() {
        use StopReason::{EndTurn, Length, LostCalls, Refusal, ToolCalls, Unfinished};
        for (stop, text, expected) in [
            (EndTurn, "It is Tuesday.", "Replied.\nreply: It is Tuesday."),
            (ToolCalls, "a\nb", "Replied.\nreply:\na\nb"),
            (LostCalls, "a", "Replied.\nreply: a"),
            (Length, "It i", "Replied, up to the model's token limit.\nreply: It i"),
            (Unfinished, "It i", "Replied; the provider cut the reply.\nreply: It i"),
            (Refusal, "No.", "error: The model declined to answer.\nreply: No."),
            (Refusal, "", "error: The model declined to answer."),
            (EndTurn, " \n", "error: The model replied without a text."),
        ] {
            assert_eq!(completed(&reply(stop, text)).text(), expected, "{stop:?} {text:?}");
        }
        let long = completed(&reply(EndTurn, &"é".repeat(MAX_REPLY + 1)));
        let kept = long.data.as_ref().map(JsonText::value).unwrap_or_default();
        assert_eq!(kept["reply"].as_str().map(|reply| reply.chars().count()), Some(MAX_REPLY));
        assert!(long.text().ends_with("only the first 30000 of its 30001 characters"));
    }

    #[test]
    fn a_plan_is_data_and_what_is_none_is_shown() {
        let plan = r#"{"reasoning": "r", "tool_calls": [{"tool_name": "rm", "parameters": {"a": "b"}}]}"#;
        let planned = |text: &str| planned(&reply(StopReason::EndTurn, text)).text();
        let expected = "Planned, with 1 call. Nothing of it is carried out.\n\
                        is_complete: false\nquestion: null\nreasoning: r\n\
                        tool_calls: [{\"parameters\":{\"a\":\"b\"},\"tool_name\":\"rm\"}]";
        assert_eq!(planned(plan), expected);
        assert_eq!(planned("Hm."), "error: The model's reply is no plan.\nreply: Hm.");
        let deep = plan.replace(r#""b""#, &format!("{}{}", "[".repeat(110), "]".repeat(110)));
        let long = plan.replace('b', &"b".repeat(MAX_REPLY));
        for text in [deep, long] {
            assert_eq!(planned(&text), "error: The model's plan is too long, or nested too deeply.");
        }
    }

    #[test]
    fn texts_are_compared_by_the_angles_between_their_vectors() {
        let vectors = [vec![3.0, 4.0], vec![30.0, 40.0], vec![-4.0, 3.0], vec![0.0, 0.0]];
        let similarities = [[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0; 4]];
        let mut expected = json!({ "model": "m", "dimension": 2, "similarities": similarities });
        assert_eq!(compared("m", &vectors, false), expected);
        expected["vectors"] = json!(vectors);
        assert_eq!(compared("m", &vectors, true), expected);
    }

    #[test]
    fn what_was_sent_counts_even_if_it_failed() {
        let error = |sent, retryable| ModelError {
            kind: ModelErrorKind::ServerError,
            message: "it is on fire.".to_owned(),
            retry_after_ms: None,
            retryable,
            sent,
        };
        for (sent, retryable, expected) in [
            (true, true, "error: The model gave no reply: it is on fire. The same call may succeed later."),
            (false, false, "error: The model gave no reply: it is on fire."),
        ] {
            let (result, used) = of_reply(Err(error(sent, retryable)), completed);
            assert_eq!(
                (result.text().as_str(), used.map(|used| used.model_calls)),
                (expected, sent.then_some(1))
            );
        }
        let (_, used) = of_reply(Ok(reply(StopReason::EndTurn, "Yes.")), completed);
        assert_eq!(used, Some(Usage { model_calls: 1, ..Usage::default() }));
    }
}
