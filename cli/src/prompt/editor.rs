//! Edits a line with arrow keys, history, completion and pasting. `rustyline` does it on a thread of its own,
//! since it blocks.

use super::{
    Draft, Edited, Terminal,
    burst::Burst,
    dialect::{Dialect, is_continued},
    unix::{InputMode, readable},
};
use crate::output::style::{STRONG, paint};
use rustix::process::{Signal, getpid, kill_process};
use rustyline::{
    Behavior, Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Event, EventContext,
    EventHandler, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
    config::BellStyle,
    error::ReadlineError,
    history::{History as _, MemHistory},
};
use std::{
    io::{self, IsTerminal as _, Write as _},
    path::Path,
};
use tokio::signal::unix::{SignalKind, signal};

/// How long the rest of a key may take that begins with Escape, in ms.
const KEY_SEQUENCE_MS: u16 = 200;

type Reader = rustyline::Editor<Dialect, MemHistory>;

/// An editor for several lines: text typed between two of them is kept for the next one.
pub(crate) struct Editor {
    terminal: Terminal,
    /// `None` if the terminal cannot move its cursor; then the kernel's line editing is used. Also `None`
    /// while the thread has it.
    reader: Option<Reader>,
    draft: Draft,
    burst: Burst,
    /// While no line is read, typed keys are not echoed into the output.
    mode: Option<InputMode>,
}

impl Editor {
    /// `lines` are what Tab completes to, word by word.
    pub(crate) fn open(terminal: Terminal, lines: Vec<String>) -> io::Result<Self> {
        let (draft, burst) = (Draft::default(), Burst::new());
        if is_dumb() {
            return Ok(Self { terminal, reader: None, draft, burst, mode: None });
        }
        let mode = Some(InputMode::of_editor()?);
        let dialect = Dialect { lines, burst: Some(burst.clone()), ..Dialect::new(draft.clone()) };
        let reader = reader(dialect).map_err(failed)?;
        Ok(Self { terminal, reader: Some(reader), draft, burst, mode })
    }

    /// Reads a line, or several: Alt-Enter, Ctrl-J or a backslash at the end continue it, and lines that come
    /// in one burst belong together. Arrow up and Ctrl-R offer `history`, oldest first; Tab completes the
    /// names of files in `folder` after an `@`. If dropped, a thread keeps reading the terminal.
    pub(crate) async fn line(
        &mut self,
        label: &str,
        history: &[String],
        folder: &Path,
    ) -> io::Result<Edited> {
        let Some(mut reader) = self.reader.take() else {
            return plain(label, self.terminal.lines()).await;
        };
        remember(&mut reader, history).map_err(failed)?;
        if let Some(dialect) = reader.helper_mut() {
            dialect.folder = Some(folder.to_owned());
        }
        self.burst.begin();
        // Without it the line could not be called off.
        let printer = reader.create_external_printer().ok();
        let (reader, edited) = self.until_over(read(reader, label.to_owned())).await?;
        drop(printer);
        self.reader = Some(reader);
        if let Some(mode) = &self.mode {
            mode.mark_pastes()?;
        }
        edited
    }

    /// Waits for the line. If a burst has ended it, it is what has come.
    async fn until_over(
        &self,
        line: impl Future<Output = io::Result<(Reader, io::Result<Edited>)>>,
    ) -> io::Result<(Reader, io::Result<Edited>)> {
        tokio::pin!(line);
        let mut is_over = false;
        let (reader, edited) = loop {
            tokio::select! {
                read = &mut line => break read?,
                () = self.burst.over() => {
                    is_over = true;
                    self.terminal.call_off()?;
                    // It is called off again if the thread did not listen.
                    Burst::pause().await;
                }
            }
        };
        if !is_over {
            return Ok((reader, edited));
        }
        // A signal that came too late for the editor is over before anybody listens for Ctrl-C again.
        Burst::pause().await;
        let text = self.draft.text();
        let text = text.strip_suffix('\n').unwrap_or(&text);
        match edited {
            Ok(Edited::Interrupted) => Ok((reader, Ok(Edited::Line(text.to_owned())))),
            edited => Ok((reader, edited)),
        }
    }

    /// Gives the terminal to a program as long as it runs.
    pub(crate) async fn lend<T>(&self, program: impl Future<Output = T>) -> io::Result<T> {
        if let Some(mode) = &self.mode {
            mode.suspend()?;
        }
        let ended = program.await;
        if let Some(mode) = &self.mode {
            mode.resume()?;
        }
        Ok(ended)
    }
}

impl Terminal {
    /// Reads one edited line. It can be dropped without effect until the `draft` has begun; after that it is
    /// [called off](Self::call_off).
    pub(crate) async fn edit(&self, label: &str, draft: &Draft) -> io::Result<Edited> {
        if is_dumb() {
            return plain(label, self.line()).await;
        }
        let _mode = InputMode::of_editor()?;
        // The label is shown only now: a person who sees it may type, and no key may be read in the old mode.
        show(label)?;
        readable().await?;
        draft.set_text("");
        let mut reader = reader(Dialect::new(draft.clone())).map_err(failed)?;
        // Only with an external printer does rustyline wait for its signal pipe, too. Without one the line
        // cannot be called off.
        let _printer = reader.create_external_printer().ok();
        read(reader, label.to_owned()).await?.1
    }

    /// Makes the thread that edits a line give it up: [`Self::edit`] returns that it was interrupted. Of no
    /// effect in the moment before the thread listens, and within a key of several bytes. (The editor takes
    /// SIGINT while it reads; Ctrl-C is a key meanwhile.)
    pub(crate) fn call_off(&self) -> io::Result<()> {
        Ok(kill_process(getpid(), Signal::INT)?)
    }
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term == "dumb")
}

async fn plain(label: &str, line: impl Future<Output = io::Result<Option<String>>>) -> io::Result<Edited> {
    show(label)?;
    tokio::select! {
        line = line => Ok(line?.map_or(Edited::End, Edited::Line)),
        _ = tokio::signal::ctrl_c() => Ok(Edited::Interrupted),
    }
}

fn show(label: &str) -> io::Result<()> {
    let mut terminal = anstream::stderr();
    write!(terminal, "{}", paint(STRONG, label))?;
    terminal.flush()
}

async fn read(mut reader: Reader, label: String) -> io::Result<(Reader, io::Result<Edited>)> {
    // tokio's handler must be installed before rustyline's, which restores the handler that it found.
    drop(signal(SignalKind::interrupt())?);
    let reading = tokio::task::spawn_blocking(move || {
        let edited = match reader.readline(&(label.as_str(), paint(STRONG, &label))) {
            Ok(line) => Ok(Edited::Line(line)),
            Err(ReadlineError::Eof) => Ok(Edited::End),
            Err(ReadlineError::Interrupted) => Ok(Edited::Interrupted),
            // Invalid UTF-8 was typed: there is no line, but the terminal works.
            Err(ReadlineError::Io(e)) if e.kind() == io::ErrorKind::InvalidData => {
                Ok(Edited::Line(String::new()))
            }
            Err(error) => Err(failed(error)),
        };
        (reader, edited)
    });
    reading.await.map_err(io::Error::other)
}

fn remember(reader: &mut Reader, entries: &[String]) -> Result<(), ReadlineError> {
    let history = reader.history_mut();
    history.clear()?;
    history.set_max_len(entries.len())?;
    entries.iter().try_for_each(|entry| history.add(entry).map(drop))
}

fn reader(dialect: Dialect) -> Result<Reader, ReadlineError> {
    // Standard output may be a file.
    let behavior = if io::stdout().is_terminal() { Behavior::Stdio } else { Behavior::PreferTerm };
    let color = match anstream::AutoStream::choice(&io::stderr()) {
        anstream::ColorChoice::Never => ColorMode::Disabled,
        _ => ColorMode::Forced,
    };
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .bell_style(BellStyle::None)
        .color_mode(color)
        .behavior(behavior)
        // After a lone Escape it would wait for the next key without an end, and could not be called off.
        .keyseq_timeout(Some(KEY_SEQUENCE_MS))
        .build();
    let history = MemHistory::with_config(&config);
    let mut reader = Reader::with_history(config, history)?;
    let burst = dialect.burst.clone();
    reader.set_helper(Some(dialect));
    for key in [KeyEvent::ctrl('J'), KeyEvent(KeyCode::Enter, Modifiers::ALT)] {
        reader.bind_sequence(key, Cmd::Newline);
    }
    let conditional = |handler: Binding| EventHandler::Conditional(Box::new(handler));
    reader.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::NONE), conditional(Binding::Enter(burst)));
    reader.bind_sequence(KeyEvent::ctrl('C'), conditional(Binding::CtrlC));
    Ok(reader)
}

fn failed(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// Keys whose effect depends on the line.
enum Binding {
    /// After a backslash at the end of the text, or amid a burst: begins another line.
    Enter(Option<Burst>),
    /// If there is text: clears it (Ctrl-Y brings it back) instead of interrupting.
    CtrlC,
}

impl ConditionalEventHandler for Binding {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let (line, position) = (context.line(), context.pos());
        match self {
            // `Cmd::Replace` would leave the cursor before the inserted text.
            Self::Enter(_) if is_continued(line, position) => Some(Cmd::Complete),
            Self::Enter(Some(burst)) if position == line.len() && burst.enter() => Some(Cmd::Newline),
            Self::CtrlC if !line.is_empty() => Some(Cmd::Kill(Movement::WholeBuffer)),
            Self::Enter(_) | Self::CtrlC => None,
        }
    }
}
