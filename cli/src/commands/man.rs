use crate::{
    args::{Cli, ManArgs},
    error::CommandError,
    exit::Exit,
};
use clap::CommandFactory as _;
use std::{fs, io, path::Path};

/// Writes a page for each command from clap's definitions.
pub(crate) fn man(args: &ManArgs) -> Result<Exit, CommandError> {
    write(&args.folder).map_err(|e| {
        let words = format!("cannot write the manual pages into {}: {e}", args.folder.display());
        CommandError::failed(words)
            .hinted("name a folder that you may write to; it is made if it is not there")
    })?;
    Ok(Exit::Done)
}

fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("file");
        fs::write(&folder, "").unwrap();
        let error = man(&ManArgs { folder: folder.clone() }).unwrap_err().to_string();
        assert!(error.contains(&folder.display().to_string()), "{error}");
    }

    fn pages(command: &clap::Command, name: &str, found: &mut Vec<String>) {
        found.push(format!("{name}.1"));
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            pages(sub, &format!("{name}-{}", sub.get_name()), found);
        }
    }

    #[test]
    fn each_command_has_a_page_with_its_help() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("man");
        man(&ManArgs { folder: folder.clone() }).unwrap();
        let mut command = Cli::command();
        command.build();
        let mut wanted = Vec::new();
        pages(&command, "abide", &mut wanted);
        assert!(wanted.contains(&"abide-daemon-status.1".to_owned()), "{wanted:?}");
        for page in wanted.iter().filter(|page| !page.contains("help")) {
            let text = fs::read_to_string(folder.join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
            assert!(text.contains(".SH SYNOPSIS") && text.contains(".SH DESCRIPTION"), "{page}: {text}");
        }
        let run = fs::read_to_string(folder.join("abide-run.1")).unwrap();
        assert!(run.contains("Ctrl") && run.contains("Print the task"), "{run}");
    }
}
