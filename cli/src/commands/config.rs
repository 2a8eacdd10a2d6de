use crate::{
    args::{ConfigCommand, Setting},
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{config, json, screen},
    replace::become_daemon,
};
use abide_client::protocol::{
    ErrorKind,
    method::{
        GetConfig, UpdateConfig,
        config::{ConfigReply, GetConfigParams, ModelChoice, UpdateConfigParams},
    },
};
use std::{ffi::OsStr, time::Duration};
use tokio::time::timeout;

/// How long the provider of a new default model may take to list its models.
const ANSWER_TIME: Duration = Duration::from_secs(3);

pub(crate) async fn config(command: ConfigCommand, json: bool) -> Result<Exit, CommandError> {
    match command {
        // The daemon's program does these without a running daemon.
        ConfigCommand::Check => of_daemon("check", json),
        ConfigCommand::Edit => of_daemon("edit", json),
        ConfigCommand::Reference => of_daemon("reference", json),
        ConfigCommand::Show => {
            let reply = Daemon::started().await?.call::<GetConfig>(GetConfigParams::default()).await?;
            print_settings(&reply, json)
        }
        ConfigCommand::Set { setting, value } => {
            let params = change(setting, &value)?;
            let mut daemon = Daemon::started().await?;
            let changed = daemon.call::<UpdateConfig>(params).await;
            let reply = changed.map_err(|e| match e.is(ErrorKind::IllegalState) {
                true => e.hinted("`abide config check` says whether the file is well"),
                false => e,
            })?;
            let exit = print_settings(&reply, json)?;
            if let (Setting::Model, ModelChoice::Named(model)) = (setting, &reply.model) {
                // The model is set, whether or not its provider answers soon.
                drop(timeout(ANSWER_TIME, daemon.warn_of_unlisted(model)).await);
            }
            Ok(exit)
        }
    }
}

fn of_daemon(command: &str, json: bool) -> Result<Exit, CommandError> {
    let flag = json.then_some("--json");
    let arguments: Vec<&OsStr> = ["config", command].into_iter().chain(flag).map(OsStr::new).collect();
    become_daemon(&arguments)
}

fn print_settings(reply: &ConfigReply, json: bool) -> Result<Exit, CommandError> {
    if json {
        json::document(reply)?;
    } else {
        screen::print(&config::config(reply))?;
    }
    Ok(Exit::Done)
}

fn change(setting: Setting, value: &str) -> Result<UpdateConfigParams, CommandError> {
    let mut params = UpdateConfigParams::default();
    match setting {
        Setting::Model => {
            params.model = Some(match value {
                "auto" => ModelChoice::Automatic,
                model => ModelChoice::Named(model.to_owned()),
            });
        }
        Setting::Notifications => {
            params.notifications = Some(match value {
                "on" | "true" => true,
                "off" | "false" => false,
                other => {
                    return Err(CommandError::usage(format!("{other:?} is neither on nor off")));
                }
            });
        }
    }
    Ok(params)
}
