use crate::{
    args::TokenCommand,
    clock,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{
        json, measure, qr, screen,
        style::{FAINT, PLAIN, STRONG},
        table::{cell, table},
        text,
    },
};
use abide_client::protocol::method::{
    AddToken, ListTokens, RevokeToken,
    http::{AddTokenParams, ListTokensParams, RevokeTokenParams, TokenAccess},
};

pub(crate) async fn token(command: TokenCommand, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    match command {
        TokenCommand::Add { name, read, page } => {
            let access = if read { TokenAccess::Read } else { TokenAccess::Act };
            let reply = daemon.call::<AddToken>(AddTokenParams { name, access }).await?;
            if json {
                json::document(&reply)?;
            } else if let Some(page) = page {
                // A browser keeps what follows the `#` to itself.
                let url = format!("{page}/#token={}", reply.token);
                let code = qr::code(&url).unwrap_or_default();
                screen::print(&format!("{code}{url}\n"))?;
            } else {
                // Alone on its line, so that a script can take it.
                screen::print(&format!("{}\n", reply.token))?;
            }
        }
        TokenCommand::List => {
            let reply = daemon.call::<ListTokens>(ListTokensParams::default()).await?;
            let now = clock::now();
            let rows = reply.tokens.iter().map(|token| {
                let access = match token.access {
                    TokenAccess::Read => "reads",
                    TokenAccess::Act => "acts",
                };
                [
                    cell(STRONG, &token.name),
                    cell(PLAIN, access),
                    cell(FAINT, &measure::age(token.created_at, now)),
                ]
            });
            match (json, reply.tokens.is_empty()) {
                (true, _) => json::document(&reply)?,
                (false, true) => screen::print("There is no token. `abide token add NAME` makes one.\n")?,
                (false, false) => {
                    let rows: Vec<_> = rows.collect();
                    screen::print(&table(["NAME", "ACCESS", "SINCE"], &rows, text::terminal_width()))?;
                }
            }
        }
        TokenCommand::Revoke { name } => {
            let revoked = daemon.call::<RevokeToken>(RevokeTokenParams { name }).await;
            let reply = revoked.map_err(|e| match e.is_not_found() {
                true => e.hinted("`abide token list` shows what there is"),
                false => e,
            })?;
            if json {
                json::document(&reply)?;
            } else {
                screen::print(&format!("{}: revoked\n", text::one_line(&reply.info.name)))?;
            }
        }
    }
    Ok(Exit::Done)
}
