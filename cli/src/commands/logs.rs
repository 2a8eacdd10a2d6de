//! `abide daemon logs`: the newest log file. It needs no daemon, since the log is wanted after a crash.

use crate::{
    args::LogsArgs,
    error::CommandError,
    exit::Exit,
    output::{json, screen, text},
};
use abide_client::ConnectError;
use abide_host::Home;
use serde::Serialize;
use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    pin::pin,
    time::Duration,
};
use tokio::time::interval;

/// The file has to be polled: its growth is not notified.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How much of a file's end is searched for lines; also the most read at a time.
const MAX_TAIL: u64 = 4 * 1024 * 1024;

pub(crate) async fn logs(args: &LogsArgs, json: bool) -> Result<Exit, CommandError> {
    let home = Home::from_env()?;
    let Some(path) = newest(&home.log_dir())? else {
        return Err(ConnectError::NotRunning { socket: home.socket()? }.into());
    };
    let mut log = Tail::open(path)?;
    let lines = last(&log.lines()?, args.lines);
    if !args.follow {
        return print_all(&log.path, &lines, json);
    }
    print(&lines, json)?;
    let (mut look, mut unread) = (interval(LOOK_EVERY), pin!(screen::unread()));
    loop {
        tokio::select! {
            _ = look.tick() => {}
            () = &mut unread => return Ok(Exit::Done),
            _ = tokio::signal::ctrl_c() => return Ok(Exit::Done),
        }
        print(&log.lines()?, json)?;
        // A new file was begun; the rest of the old one has just been read.
        if let Some(newer) = newest(&home.log_dir())?.filter(|newer| *newer != log.path) {
            log = Tail::open(newer)?;
            print(&log.lines()?, json)?;
        }
    }
}

/// The file with the latest change.
fn newest(dir: &Path) -> io::Result<Option<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    let mut newest = None;
    for entry in entries {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let written = metadata.modified()?;
        let is_newer = newest.as_ref().is_none_or(|(at, _)| *at < written);
        if metadata.is_file() && metadata.len() > 0 && is_newer {
            newest = Some((written, entry.path()));
        }
    }
    Ok(newest.map(|(_, path)| path))
}

/// A growing file, read from near its end.
struct Tail {
    path: PathBuf,
    file: File,
    /// The last line, as long as it has no end.
    rest: Vec<u8>,
}

impl Tail {
    fn open(path: PathBuf) -> io::Result<Self> {
        let mut file = File::open(&path)?;
        let skipped = file.metadata()?.len().saturating_sub(MAX_TAIL);
        file.seek(SeekFrom::Start(skipped))?;
        let mut tail = Self { path, file, rest: Vec::new() };
        if skipped > 0 {
            // The first read begins within a line.
            tail.read()?;
            let end = tail.rest.iter().position(|b| *b == b'\n').map_or(0, |end| end + 1);
            tail.rest.drain(..end);
        }
        Ok(tail)
    }

    fn read(&mut self) -> io::Result<()> {
        (&self.file).take(MAX_TAIL).read_to_end(&mut self.rest)?;
        Ok(())
    }

    /// The complete lines since the last call.
    fn lines(&mut self) -> io::Result<Vec<String>> {
        self.read()?;
        let end = self.rest.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
        let whole: Vec<u8> = self.rest.drain(..end).collect();
        Ok(String::from_utf8_lossy(&whole).lines().map(str::to_owned).collect())
    }
}

fn last(lines: &[String], n: usize) -> Vec<String> {
    lines[lines.len().saturating_sub(n)..].to_vec()
}

fn print_all(path: &Path, lines: &[String], json: bool) -> Result<Exit, CommandError> {
    #[derive(Serialize)]
    struct Document<'a> {
        file: &'a Path,
        lines: &'a [String],
    }
    if json {
        json::document(&Document { file: path, lines })?;
    } else {
        print(lines, false)?;
    }
    Ok(Exit::Done)
}

fn print(lines: &[String], json: bool) -> Result<(), CommandError> {
    #[derive(Serialize)]
    struct LogLine<'a> {
        line: &'a str,
    }
    for line in lines {
        if json {
            json::line("log", &LogLine { line })?;
        } else {
            screen::print(&format!("{}\n", text::block(line)))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn only_complete_lines_are_returned_once() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(newest(&dir.path().join("none")).unwrap(), None);
        assert_eq!(newest(dir.path()).unwrap(), None);
        let path = dir.path().join("a.log");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"one\ntwo\nthr").unwrap();
        assert_eq!(newest(dir.path()).unwrap().as_ref(), Some(&path));

        let mut tail = Tail::open(path).unwrap();
        assert_eq!(tail.lines().unwrap(), ["one", "two"]);
        assert!(tail.lines().unwrap().is_empty());
        file.write_all(b"ee\n").unwrap();
        assert_eq!(tail.lines().unwrap(), ["three"]);
    }

    #[test]
    fn the_last_lines_are_the_newest() {
        let lines = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(last(&lines, 2), ["b", "c"]);
        assert_eq!(last(&lines, 9).len(), 3);
    }
}
