//! The hours in which no notification is shown.

use serde::{Deserialize, Deserializer, de::Error as _};
use std::str::FromStr;

/// A part of the day, from one minute to before another one, maybe over midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    from: u16,
    to: u16,
}

/// Why a text names no part of the day.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuietError {
    #[error("{0:?} is not like \"22:00-07:00\"")]
    Form(String),
    #[error("{0:?} begins when it ends; for no notifications at all: enabled = false")]
    Empty(String),
}

impl Quiet {
    /// Whether this minute of the day (0 to 1439, local time) is one of them.
    #[must_use]
    pub const fn has(self, minute: u16) -> bool {
        if self.from < self.to {
            self.from <= minute && minute < self.to
        } else {
            self.from <= minute || minute < self.to
        }
    }
}

impl FromStr for Quiet {
    type Err = QuietError;

    fn from_str(text: &str) -> Result<Self, QuietError> {
        let parsed = text.split_once('-').and_then(|(from, to)| Some((minute(from)?, minute(to)?)));
        match parsed {
            None => Err(QuietError::Form(text.to_owned())),
            Some((from, to)) if from == to => Err(QuietError::Empty(text.to_owned())),
            Some((from, to)) => Ok(Self { from, to }),
        }
    }
}

/// The minute of the day of `HH:MM`.
fn minute(text: &str) -> Option<u16> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let number = |digits: &str, below: u16| -> Option<u16> {
        let is_plain = digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|n| is_plain && *n < below)
    };
    Some(number(hours, 24)? * 60 + number(minutes, 60).filter(|_| minutes.len() == 2)?)
}

impl<'de> Deserialize<'de> for Quiet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_may_span_midnight() {
        let night: Quiet = "22:00-07:00".parse().unwrap();
        for (minute, quiet) in
            [(0, true), (6 * 60 + 59, true), (7 * 60, false), (21 * 60 + 59, false), (22 * 60, true)]
        {
            assert_eq!(night.has(minute), quiet, "{minute}");
        }
        let noon: Quiet = " 12:00 - 13:30 ".parse().unwrap();
        for (minute, quiet) in [(719, false), (720, true), (809, true), (810, false), (0, false)] {
            assert_eq!(noon.has(minute), quiet, "{minute}");
        }
    }

    #[test]
    fn what_is_no_part_of_the_day_is_refused() {
        for text in [
            "",
            "22:00",
            "22-7",
            "24:00-07:00",
            "22:60-07:00",
            "22:0-07:00",
            "+2:00-07:00",
            "a:bc-07:00",
            "22:00-07:00-08:00",
        ] {
            assert_eq!(text.parse::<Quiet>(), Err(QuietError::Form(text.to_owned())), "{text:?}");
        }
        assert_eq!("07:00-07:00".parse::<Quiet>(), Err(QuietError::Empty("07:00-07:00".to_owned())));
    }
}
