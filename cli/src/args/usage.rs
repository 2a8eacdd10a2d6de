use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Days are those of the daemon's time zone. What deleted conversations have used is not counted, and money only where a price is known.

Examples:
  abide usage                      the last 30 days
  abide usage --since 7d
  abide usage --since 2026-11-01 --json")]
pub(crate) struct UsageArgs {
    /// How far back: so long (12h, 7d), or to this day (2026-11-01); 0 means all
    #[arg(long, value_name = "DURATION|DATE", default_value = "30d", value_parser = since)]
    pub(crate) since: Since,
}

/// From when on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Since {
    All,
    /// So many seconds ago.
    Ago(u64),
    /// As it was typed; the daemon knows what a day is.
    Day(String),
}

fn since(typed: &str) -> Result<Since, String> {
    match super::duration::seconds(typed) {
        Ok(0) => Ok(Since::All),
        Ok(seconds) => Ok(Since::Ago(seconds)),
        Err(_) if typed.contains('-') => Ok(Since::Day(typed.to_owned())),
        Err(_) => Err(format!("{typed:?} is neither a time, as 12h or 7d, nor a day, as 2026-11-01")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_or_a_day_is_understood() {
        assert_eq!(since("0"), Ok(Since::All));
        assert_eq!(since("7d"), Ok(Since::Ago(7 * 86400)));
        assert_eq!(since("2026-11-01"), Ok(Since::Day("2026-11-01".to_owned())));
        assert!(since("yesterday").is_err());
    }
}
