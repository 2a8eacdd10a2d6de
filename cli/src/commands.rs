//! One file for each command; this one dispatches.

mod answer;
mod approve;
mod chat;
mod completions;
mod config;
mod conversations;
mod daemon;
mod demo;
mod diff;
mod doctor;
mod files;
mod gui;
mod inbox;
mod intervene;
mod key;
mod logs;
mod man;
mod memory;
mod messages;
mod models;
mod pause;
mod personas;
mod prompts;
mod provider;
mod ps;
mod reject;
mod resume;
mod rules;
mod run;
mod search;
mod serve;
mod several;
mod show;
mod stop;
mod templates;
mod token;
mod tools;
mod tree;
mod undo;
mod update;
mod usage;
mod wait;
mod watch;
pub(crate) mod worktree;

use crate::{
    args::{Cli, Command},
    error::CommandError,
    exit::Exit,
};

pub(crate) async fn dispatch(cli: Cli) -> Result<Exit, CommandError> {
    let json = cli.json;
    match cli.command {
        Command::Run(args) => Box::pin(run::run(args, json)).await,
        Command::Chat(args) => Box::pin(chat::chat(args, json)).await,
        Command::Demo(args) => Box::pin(demo::demo(args.mode, json)).await,
        Command::Ps(args) => Box::pin(ps::ps(args, json)).await,
        Command::Tree(args) => tree::tree(args, json).await,
        Command::Files(args) => files::files(args, json).await,
        Command::Diff(args) => diff::diff(args, json).await,
        Command::Undo(args) => undo::undo(args, json).await,
        Command::Worktree(args) => worktree::worktree(args, json).await,
        Command::Show(args) => show::show(args, json).await,
        Command::Watch(args) => Box::pin(watch::watch(args, json)).await,
        Command::Wait(args) => Box::pin(wait::wait(args, json)).await,
        Command::Messages(args) => messages::messages(args, json).await,
        Command::Search(args) => search::search(args, json).await,
        Command::Inbox => inbox::inbox(json).await,
        Command::Answer(args) => answer::answer(args, json).await,
        Command::Approve(args) => approve::approve(args, json).await,
        Command::Reject(args) => reject::reject(args, json).await,
        Command::Stop(args) => stop::stop(args, json).await,
        Command::Intervene(args) => intervene::intervene(args, json).await,
        Command::Pause(args) => pause::pause(args, json).await,
        Command::Resume(args) => resume::resume(args, json).await,
        Command::Usage(args) => usage::usage(args, json).await,
        Command::Rules(args) => rules::rules(args, json).await,
        Command::Memory(args) => memory::memory(args, json).await,
        Command::Conversations(args) => conversations::conversations(args, json).await,
        Command::Provider(command) => Box::pin(provider::provider(command, json)).await,
        Command::Models(args) => models::models(args, json).await,
        Command::Key(command) => key::key(command, json).await,
        Command::Serve(args) => serve::serve(args, json).await,
        Command::Token(command) => token::token(command, json).await,
        Command::Daemon(command) => daemon::daemon(command, json).await,
        Command::Doctor(args) => doctor::doctor(&args, json),
        Command::Config(command) => config::config(command, json).await,
        Command::Personas(args) => personas::personas(&args, json).await,
        Command::Templates => templates::templates(json).await,
        Command::Tools => tools::tools(json).await,
        Command::Prompts(args) => prompts::prompts(&args, json),
        Command::Gui(args) => gui::gui(args).await,
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => man::man(&args),
    }
}
