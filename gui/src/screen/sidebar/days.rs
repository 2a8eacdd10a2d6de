//! The day of a moment, for a person: today, yesterday, earlier.

use abide_client::protocol::Timestamp;
use chrono::{Days, Local, NaiveDate, TimeZone};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Day {
    Earlier,
    Yesterday,
    Today,
}

impl Day {
    /// In this computer's time zone.
    #[must_use]
    pub fn of(at: Timestamp, now: Timestamp) -> Self {
        Self::within(at, now, &Local)
    }

    fn within<Z: TimeZone>(at: Timestamp, now: Timestamp, zone: &Z) -> Self {
        let (Some(at), Some(now)) = (date(at, zone), date(now, zone)) else { return Self::Earlier };
        if at >= now {
            // The clock may have been set back.
            Self::Today
        } else if Some(at) == now.checked_sub_days(Days::new(1)) {
            Self::Yesterday
        } else {
            Self::Earlier
        }
    }

    /// The title of its group.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Today => "TODAY",
            Self::Yesterday => "YESTERDAY",
            Self::Earlier => "EARLIER",
        }
    }
}

fn date<Z: TimeZone>(at: Timestamp, zone: &Z) -> Option<NaiveDate> {
    Some(zone.timestamp_millis_opt(at.0).earliest()?.date_naive())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::FixedOffset;

    #[test]
    fn a_day_begins_at_midnight_where_the_person_is() {
        const HOUR: i64 = 3_600_000;
        // 2026-01-01T00:30:00Z
        let now = Timestamp(1_767_227_400_000);
        let ago = |hours: i64| Timestamp(now.0 - hours * HOUR);
        let utc = FixedOffset::east_opt(0).unwrap();
        let days = [0, 1, 24, 25, -5].map(|hours| Day::within(ago(hours), now, &utc));
        assert_eq!(days, [Day::Today, Day::Yesterday, Day::Yesterday, Day::Earlier, Day::Today]);
        let further_east = FixedOffset::east_opt(2 * 3600).unwrap();
        assert_eq!(Day::within(ago(1), now, &further_east), Day::Today);
        assert_eq!(Day::within(Timestamp(i64::MAX), now, &utc), Day::Earlier, "no date is like that");
    }
}
