//! `abided doctor`: its arguments and output.

use crate::{failure, runtime, say, usage};
use abide_daemon::doctor::{self, Diagnosis, Health, TruncatedDatabase};
use abide_host::{home::Home, text::visible_line};
use abide_store::{Existing, Loss, Salvaged};
use serde_json::json;
use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Debug, Default)]
struct Arguments {
    json: bool,
    rebuild: bool,
    backup: Option<PathBuf>,
    salvage: Option<PathBuf>,
    force: bool,
    accept_loss: bool,
    yes: bool,
}

enum Command {
    Examine,
    Rebuild,
    Backup { to: PathBuf, existing: Existing },
    Salvage { to: PathBuf, existing: Existing },
    AcceptLoss { yes: bool },
}

impl Arguments {
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut parsed = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.to_str()? {
                "--json" => parsed.json = true,
                "--rebuild" => parsed.rebuild = true,
                "--backup" => parsed.backup = Some(arguments.next()?.into()),
                "--salvage" => parsed.salvage = Some(arguments.next()?.into()),
                "--force" => parsed.force = true,
                "--accept-loss" => parsed.accept_loss = true,
                "--yes" => parsed.yes = true,
                _ => return None,
            }
        }
        Some(parsed)
    }

    fn command(self) -> Option<Command> {
        let Self { json: _, rebuild, backup, salvage, force, accept_loss, yes } = self;
        let existing = if force { Existing::Replace } else { Existing::Keep };
        if let Some(to) = salvage {
            let is_alone = !rebuild && backup.is_none() && !accept_loss && !yes;
            return is_alone.then_some(Command::Salvage { to, existing });
        }
        match (rebuild, backup, accept_loss) {
            (false, None, false) if !force && !yes => Some(Command::Examine),
            (true, None, false) if !force && !yes => Some(Command::Rebuild),
            (false, Some(to), false) if !yes => Some(Command::Backup { to, existing }),
            (false, None, true) if !force => Some(Command::AcceptLoss { yes }),
            _ => None,
        }
    }
}

pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(arguments) = Arguments::parse(arguments) else { return usage() };
    let json = arguments.json;
    let Some(command) = arguments.command() else { return usage() };
    carry_out(command, json).unwrap_or_else(|error| failure::failed(&error.to_string(), json))
}

fn carry_out(command: Command, json: bool) -> anyhow::Result<ExitCode> {
    let home = Home::from_env()?;
    if !matches!(command, Command::Examine) && doctor::is_unused(&home) {
        anyhow::bail!(
            "there is no database in {} yet; the first start of the daemon creates it",
            home.data_dir.display()
        );
    }
    match command {
        Command::Examine => examine(&home, json),
        Command::Rebuild => rebuild(&home, json),
        Command::Backup { to, existing } => backup(&home, &to, existing, json),
        Command::Salvage { to, existing } => salvage(&home, &to, existing, json),
        Command::AcceptLoss { yes } => accept_loss(&home, yes, json),
    }
}

fn examine(home: &Home, json: bool) -> anyhow::Result<ExitCode> {
    let diagnoses = runtime()?.block_on(doctor::examine(home, crate::tool_helper()?));
    if json {
        say(&serde_json::to_string(&diagnoses)?);
    } else {
        diagnoses.iter().for_each(show);
    }
    let is_well = diagnoses.iter().all(|diagnosis| diagnosis.health < Health::Bad);
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(diagnosis: &Diagnosis) {
    say(&line(diagnosis));
}

/// The mark is for the eye, the word after it for everybody else. What is well has no word.
fn line(diagnosis: &Diagnosis) -> String {
    let (mark, word) = match diagnosis.health {
        Health::Good => ("✓", ""),
        Health::Noted => ("!", "note: "),
        Health::Bad => ("✗", "problem: "),
    };
    format!("{mark} {}: {word}{}", diagnosis.about, visible_line(&diagnosis.words))
}

fn rebuild(home: &Home, json: bool) -> anyhow::Result<ExitCode> {
    let rebuilt = runtime()?.block_on(doctor::rebuild(home))?;
    if json {
        return Ok(say(&serde_json::to_string(&rebuilt)?));
    }
    let mut different: Vec<String> = rebuilt.different.iter().map(|id| id.short()).collect();
    if rebuilt.rules_differed {
        different.push("remembered decisions".to_owned());
    }
    let result = if different.is_empty() {
        ": all equal".to_owned()
    } else {
        format!("; different before: {}", different.join(", "))
    };
    Ok(say(&format!(
        "{} conversations and the remembered decisions rebuilt from their records{result}",
        rebuilt.conversations
    )))
}

fn backup(home: &Home, to: &Path, existing: Existing, json: bool) -> anyhow::Result<ExitCode> {
    doctor::backup(home, to, existing)?;
    let words = if json {
        json!({ "backup": to, "of": home.database() }).to_string()
    } else {
        format!("{} is a copy of {}", to.display(), home.database().display())
    };
    Ok(say(&words))
}

fn salvage(home: &Home, to: &Path, existing: Existing, json: bool) -> anyhow::Result<ExitCode> {
    let Salvaged { conversations, records, changed, gaps, without_beginning, left_out } =
        doctor::salvage(home, to, existing)?;
    if json {
        let gaps: Vec<[u64; 2]> = gaps.iter().map(|(first, last)| [first.0, last.0]).collect();
        return Ok(say(&json!({
            "salvaged": to, "of": home.database(), "conversations": conversations, "records": records, "changed": changed,
            "gaps": gaps, "withoutBeginning": without_beginning, "leftOut": left_out,
        })
        .to_string()));
    }
    let mut lost = Vec::new();
    if changed > 0 {
        lost.push(format!("{changed} records are not as they were stored"));
    }
    for (first, last) in gaps {
        lost.push(if last.0 >= i64::MAX as u64 {
            format!("nothing can be read from record {} on", first.0)
        } else {
            format!("nothing can be read from record {} to {}", first.0, last.0)
        });
    }
    if without_beginning > 0 {
        lost.push(format!("{without_beginning} conversations have lost their beginning"));
    }
    if left_out > 0 {
        lost.push(format!(
            "{left_out} conversations cannot be read without what they have lost, and are left out"
        ));
    }
    let lost = if lost.is_empty() { "nothing is lost".to_owned() } else { lost.join("; ") };
    let (to, database) = (to.display(), home.database());
    let database = database.display();
    Ok(say(&format!(
        "{records} records of {conversations} conversations were written to {to}; {lost}.\nTo go on with it, move {database} away together \
         with its -wal, -shm and -newest files, and move {to} there"
    )))
}

fn accept_loss(home: &Home, yes: bool, json: bool) -> anyhow::Result<ExitCode> {
    let Some(truncated) = TruncatedDatabase::find(home)? else {
        return Ok(say(&if json {
            json!({ "accepted": false, "lost": null }).to_string()
        } else {
            format!("no record is missing from {}: there is nothing to accept", home.database().display())
        }));
    };
    if !yes {
        if json || !io::stdin().is_terminal() {
            let words = format!("{truncated} Nothing was changed: accept it with --yes");
            return Ok(failure::needs_person(&words, json));
        }
        say(&truncated.to_string());
        if !is_agreed()? {
            say("Nothing was changed.");
            return Ok(ExitCode::FAILURE);
        }
    }
    let words = truncated.to_string();
    let Loss { newest, noted } = truncated.accept()?;
    Ok(say(&if json {
        json!({ "accepted": true, "lost": { "first": newest.0 + 1, "last": noted.0 } }).to_string()
    } else if yes {
        format!("{words} Accepted.")
    } else {
        "Accepted.".to_owned()
    }))
}

/// Asks on the terminal; anything but a yes is a no.
#[expect(clippy::print_stdout, reason = "a question to the person at the terminal")]
fn is_agreed() -> io::Result<bool> {
    print!("Go on without them? [y/N] ");
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_health_is_told_in_words_too() {
        let of = |health| line(&Diagnosis { about: "disk", health, words: "1 MiB free".to_owned() });
        assert_eq!(of(Health::Good), "✓ disk: 1 MiB free");
        assert_eq!(of(Health::Noted), "! disk: note: 1 MiB free");
        assert_eq!(of(Health::Bad), "✗ disk: problem: 1 MiB free");
    }
}
