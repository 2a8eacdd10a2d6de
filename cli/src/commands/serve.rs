use crate::{
    args::ServeArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    output::{json, screen, text},
};
use abide_client::protocol::method::{
    Method as _, ServeHttp, StopHttp,
    http::{ServeHttpParams, StopHttpParams},
};

/// Variables that name addresses, with `;` between them; the first that is set counts.
const VARIABLES: [&str; 2] = ["ABIDE_HTTP_URLS", "ASPNETCORE_URLS"];
const DEFAULT: &str = "http://localhost:5000";

pub(crate) async fn serve(args: ServeArgs, json: bool) -> Result<Exit, CommandError> {
    if args.stop {
        return stop(json).await;
    }
    let urls = if args.url.is_empty() { usual(|name| std::env::var(name).ok()) } else { args.url };
    let params = ServeHttpParams { urls, plain: args.plain, detach: args.detach };
    let mut daemon = Daemon::started().await?;
    loop {
        let reply = daemon.call::<ServeHttp>(params.clone()).await?;
        if json && args.detach {
            json::document(&reply)?;
        } else if json {
            // One line for each time that it is opened.
            json::line(ServeHttp::NAME, &reply)?;
        } else {
            let urls = text::one_line(&reply.urls.join(", "));
            let until = if args.detach { "until the daemon ends" } else { "until Ctrl-C" };
            screen::print(&format!("listening on {urls}, {until}\n"))?;
        }
        if args.detach {
            return Ok(Exit::Done);
        }
        // It is open as long as this connection is; the daemon after this one is asked again.
        tokio::select! {
            replaced = daemon.until_replaced() => replaced?,
            _ = tokio::signal::ctrl_c() => return Ok(Exit::Done),
        }
    }
}

async fn stop(json: bool) -> Result<Exit, CommandError> {
    let reply = Daemon::running().await?.call::<StopHttp>(StopHttpParams::default()).await?;
    if json {
        json::document(&reply)?;
    } else if reply.urls.is_empty() {
        screen::print("it was not open\n")?;
    } else {
        screen::print(&format!("closed: {}\n", text::one_line(&reply.urls.join(", "))))?;
    }
    Ok(Exit::Done)
}

/// Where it listens if the command line does not say.
fn usual(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let listed = |value: String| {
        let urls = value.split(';').map(str::trim).filter(|url| !url.is_empty());
        urls.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut set = VARIABLES.into_iter().filter_map(variable).map(listed);
    set.find(|urls| !urls.is_empty()).unwrap_or_else(|| vec![DEFAULT.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::usual;

    #[test]
    fn addresses_come_from_the_first_variable_that_names_some() {
        type Row<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
        let table: [Row<'_>; 5] = [
            (&[], &["http://localhost:5000"]),
            (&[("ASPNETCORE_URLS", "http://+:80")], &["http://+:80"]),
            (
                &[("ABIDE_HTTP_URLS", " http://[::1]:1 ; http://localhost:2;")],
                &["http://[::1]:1", "http://localhost:2"],
            ),
            (&[("ABIDE_HTTP_URLS", "http://a:1"), ("ASPNETCORE_URLS", "http://b:1")], &["http://a:1"]),
            (&[("ABIDE_HTTP_URLS", ";"), ("ASPNETCORE_URLS", "http://b:1")], &["http://b:1"]),
        ];
        for (set, expected) in table {
            let variable =
                |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(usual(variable), expected, "{set:?}");
        }
    }
}
