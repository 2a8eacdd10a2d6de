use crate::{
    args::{Since, UsageArgs},
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, screen, text, usage},
};
use abide_client::protocol::{
    Timestamp,
    method::{GetUsage, usage::UsageParams},
};

pub(crate) async fn usage(args: UsageArgs, json: bool) -> Result<Exit, CommandError> {
    let params = match args.since {
        Since::All => UsageParams::default(),
        Since::Ago(seconds) => {
            let ms = i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX);
            let since = Timestamp(clock::now().0.saturating_sub(ms));
            UsageParams { since: Some(since), since_day: None }
        }
        Since::Day(day) => UsageParams { since: None, since_day: Some(day) },
    };
    let reply = Daemon::started().await?.call::<GetUsage>(params).await?;
    if json {
        json::document(&reply)?;
    } else {
        screen::print(&usage::usage(&reply, text::terminal_width()))?;
    }
    Ok(Exit::Done)
}
