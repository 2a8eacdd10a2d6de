//! Streams a scripted reply piece by piece, at the script's pace.

use super::{
    file::{Call, Fail, Script, ScriptedReply},
    scene::Scene,
};
use crate::{
    api::Api,
    assembly::{Assembly, Fault, Part},
    error::ModelError,
    request::{ModelRequest, Sink},
};
use abide_protocol::{
    record::ModelErrorKind,
    transcript::{Reply, StopReason, Usage},
};
use serde_json::Value;
use std::time::Duration;
use tokio::time::sleep;

/// The length of a piece of arguments, in characters.
const ARGUMENTS_PIECE: usize = 16;

/// Plays one attempt.
pub(crate) async fn complete(
    script: &Script,
    request: &ModelRequest,
    sink: Sink<'_>,
) -> Result<Reply, ModelError> {
    let scene = Scene::of(request);
    let line = scene.choose(&script.replies).ok_or_else(|| no_line(script, &scene))?;
    sleep(Duration::from_millis(line.wait_ms)).await;
    let mut player = Player {
        reply: Assembly::new(sink),
        pace: Duration::from_millis(line.chunk_ms.unwrap_or(script.chunk_ms)),
    };
    player.play(line, &scene).await.map_err(|_| too_long(script))?;
    if let Some(fail) = &line.fail {
        return Err(failure(fail));
    }
    let stop_reason =
        line.stop.unwrap_or(if line.calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolCalls });
    Ok(Reply {
        blocks: player.reply.finish(stop_reason),
        api: Api::Scripted.name().to_owned(),
        model: script.name().to_owned(),
        stop_reason,
        usage: Usage {
            input: line.usage.input,
            output: line.usage.output,
            model_calls: 1,
            ..Usage::default()
        },
    })
}

struct Player<'a> {
    reply: Assembly<'a>,
    pace: Duration,
}

impl Player<'_> {
    async fn play(&mut self, line: &ScriptedReply, scene: &Scene<'_>) -> Result<(), Fault> {
        if !line.reasoning.is_empty() {
            let part = self.reply.add_reasoning()?;
            self.speak(part, &scene.fill(&line.reasoning)).await?;
        }
        let text = scene.text(line);
        if !text.is_empty() {
            let part = self.reply.add_text()?;
            self.speak(part, &text).await?;
        }
        for (at, call) in line.calls.iter().enumerate() {
            self.call(at, call, scene).await?;
        }
        Ok(())
    }

    /// Word by word.
    async fn speak(&mut self, part: Part, text: &str) -> Result<(), Fault> {
        for word in text.split_inclusive(char::is_whitespace) {
            self.piece(part, word).await?;
        }
        Ok(())
    }

    async fn call(&mut self, at: usize, call: &Call, scene: &Scene<'_>) -> Result<(), Fault> {
        let arguments = match &call.arguments {
            Value::String(raw) => raw.clone(),
            Value::Null => "{}".to_owned(),
            value => scene.fill_value(value).to_string(),
        };
        let part = self.reply.add_call(format!("call_{}_{at}", scene.replies_ever), call.tool.clone())?;
        let mut rest = arguments.as_str();
        while !rest.is_empty() {
            let end = rest.char_indices().nth(ARGUMENTS_PIECE).map_or(rest.len(), |(end, _)| end);
            let (piece, more) = rest.split_at(end);
            self.piece(part, piece).await?;
            rest = more;
        }
        self.reply.ready(part);
        Ok(())
    }

    async fn piece(&mut self, part: Part, piece: &str) -> Result<(), Fault> {
        if !self.pace.is_zero() {
            sleep(self.pace).await;
        }
        self.reply.push(part, piece)
    }
}

fn no_line(script: &Script, scene: &Scene<'_>) -> ModelError {
    let what = format!(
        "the script `{}` has no reply that fits here, after {} replies; add one without `when`",
        script.name(),
        scene.replies
    );
    ModelError::new(ModelErrorKind::BadRequest, what)
}

fn too_long(script: &Script) -> ModelError {
    let what = format!("a reply of the script `{}` is too long", script.name());
    ModelError::new(ModelErrorKind::Malformed, what).fatal()
}

fn failure(fail: &Fail) -> ModelError {
    let message = if fail.message.is_empty() { "the script fails here" } else { &fail.message };
    ModelError { retry_after_ms: fail.retry_after_ms, ..ModelError::new(fail.kind, message) }
}
