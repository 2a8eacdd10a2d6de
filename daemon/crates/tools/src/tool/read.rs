use super::{Call, CallError, Outlook, Site, Subject, Tool, Work};
use crate::{
    text::{Decoded, RESULT_CHARS, decode},
    workspace::{PathError, Workspace},
};
use abide_protocol::transcript::{EffectClass, ToolResult};
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize)]
struct Read {
    path: String,
    /// The first line, from 1.
    offset: Option<usize>,
    limit: Option<usize>,
}

pub(super) fn tool() -> Tool {
    let properties = json!({
        "path": {"type": "string", "minLength": 1, "description": "A file in the workspace."},
        "offset": {"type": "integer", "minimum": 1, "description": "The first line to read; 1 if absent."},
        "limit": {"type": "integer", "minimum": 1, "description": "How many lines; all if absent."},
    });
    let description = "Reads a text file of the workspace, whole or from a line on. Long files come in parts. An encoding other than UTF-8 is named in the result.";
    Tool::of::<Read>(super::spec("read", EffectClass::Pure, description, &properties, &["path"]))
}

impl Call for Read {
    fn summary(&self) -> String {
        match (self.offset, self.limit) {
            (None, None) => format!("read {}", self.path),
            (from, None) => format!("read {} from line {}", self.path, from.unwrap_or(1)),
            (from, Some(limit)) => {
                let from = from.unwrap_or(1);
                format!("read {}, lines {from} to {}", self.path, from.saturating_add(limit - 1))
            }
        }
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Read(&self.path)
    }

    fn assess(&self, site: &mut Site<'_>, _: &mut Outlook) -> Result<(), CallError> {
        site.workspace.resolve(&self.path)?;
        Ok(())
    }

    fn work(self: Box<Self>) -> Work {
        Work::Look(Box::new(move |workspace, _| Ok(self.run(workspace)?)))
    }
}

impl Read {
    fn run(&self, workspace: &Workspace) -> Result<ToolResult, PathError> {
        let spot = workspace.resolve(&self.path)?;
        let Some(found) = workspace.read(&spot)? else {
            return Err(PathError::Missing(spot.relative));
        };
        let path = spot.relative.to_string_lossy();
        let Some(Decoded { text, encoding, is_damaged }) = decode(&found.content) else {
            let words = format!("{path} is not text: a binary file of {} bytes", found.content.len());
            return Ok(ToolResult::failure(words));
        };
        if encoding.is_plain() && !is_damaged {
            return Ok(self.part(&path, &text));
        }
        let mut result = self.part(&format!("{path} ({encoding})"), &text);
        if is_damaged {
            let words = format!(
                "bytes that are not {encoding} are shown as U+FFFD; write and patch refuse this file"
            );
            result.diagnostics.push(words);
        } else if encoding.is_guess() {
            let words = format!("nothing in the file says that it is {encoding}; write and patch keep it so");
            result.diagnostics.push(words);
        }
        Ok(result)
    }

    fn part(&self, path: &str, text: &str) -> ToolResult {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let from = self.offset.unwrap_or(1).max(1);
        if from > lines.len().max(1) {
            return ToolResult::failure(format!(
                "{path} has {}",
                super::counted(lines.len(), "line", "lines")
            ));
        }
        let end = lines.len().min((from - 1).saturating_add(self.limit.unwrap_or(usize::MAX)));
        let (mut part, mut chars, mut to) = (String::new(), 0, from - 1);
        for line in &lines[from - 1..end] {
            let long = line.chars().count();
            if chars + long > RESULT_CHARS {
                break;
            }
            part.push_str(line);
            (chars, to) = (chars + long, to + 1);
        }
        let mut diagnostics = Vec::new();
        if to < end && part.is_empty() {
            // This one line is longer than a result may be.
            part = lines[to].chars().take(RESULT_CHARS).collect();
            to += 1;
            diagnostics.push(format!("line {to} is cut at {RESULT_CHARS} characters"));
        }
        if to < end {
            diagnostics.push(format!("cut after line {to}; go on with offset {}", to + 1));
        }
        let message = match (from, to, lines.len()) {
            (_, _, 0) => format!("{path} is empty"),
            (1, to, all) if to == all => format!("{path}, {}", super::counted(all, "line", "lines")),
            (from, to, all) => format!("{path}, lines {from} to {to} of {all}"),
        };
        let data = json!({ "content": part });
        ToolResult { ok: true, data: Some(data.into()), message, diagnostics }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(offset: Option<usize>, limit: Option<usize>, text: &str) -> ToolResult {
        Read { path: "f".to_owned(), offset, limit }.part("f", text)
    }

    fn content(result: &ToolResult) -> String {
        result.data.as_ref().unwrap().value()["content"].as_str().unwrap().to_owned()
    }

    #[test]
    fn lines_are_counted_from_one() {
        let result = read(Some(2), Some(1), "a\nb\nc\n");
        assert_eq!((result.message.as_str(), content(&result).as_str()), ("f, lines 2 to 2 of 3", "b\n"));
        assert_eq!(read(None, None, "a\nb").message, "f, 2 lines");
        assert_eq!(read(None, None, "").message, "f is empty");
        assert_eq!(read(Some(4), None, "a\nb\nc\n").text(), "error: f has 3 lines");
    }

    #[test]
    fn a_long_file_comes_in_parts_that_join() {
        let text: String = (0..9000).map(|n| format!("line {n}\n")).collect();
        let (mut whole, mut next) = (String::new(), 1);
        while next <= 9000 {
            let result = read(Some(next), None, &text);
            let part = content(&result);
            assert!(part.chars().count() <= RESULT_CHARS);
            next += part.lines().count();
            let more = format!("cut after line {}; go on with offset {next}", next - 1);
            assert_eq!(result.diagnostics, if next <= 9000 { vec![more] } else { vec![] });
            whole.push_str(&part);
        }
        assert_eq!(whole, text);
    }

    #[test]
    fn one_huge_line_is_cut() {
        let result = read(None, None, &format!("{}\nb\n", "x".repeat(40_000)));
        assert_eq!(content(&result).len(), RESULT_CHARS);
        assert_eq!(
            result.diagnostics,
            ["line 1 is cut at 30000 characters", "cut after line 1; go on with offset 2"]
        );
    }
}
