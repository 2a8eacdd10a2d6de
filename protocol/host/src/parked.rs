//! Until when a task is parked, in the person's local time.

use abide_protocol::{
    Timestamp,
    inbox::{Question, QuestionKind},
    task::{AgentTask, PauseReason},
};
use chrono::{DateTime, Local, TimeZone};

/// `parked until 15:00`, if the question is that of a parked task.
#[must_use]
pub fn question(question: &Question) -> Option<String> {
    let until = question.expires_at.filter(|_| question.kind == QuestionKind::Parked)?;
    Some(format!("parked until {}", time(until, question.at, &Local)))
}

/// The same of a task; `None`: it is not parked.
#[must_use]
pub fn task(task: &AgentTask) -> Option<String> {
    if task.pause_reason != Some(PauseReason::Parked) {
        return None;
    }
    let asked = task.pending.iter().find_map(|pending| match pending {
        abide_protocol::inbox::Pending::Question(asked) => question(asked),
        abide_protocol::inbox::Pending::Approval(_) => None,
    });
    Some(asked.unwrap_or_else(|| PauseReason::Parked.words().to_owned()))
}

/// The time, with its day if that is another one than of `asked`.
fn time<Z: TimeZone>(at: Timestamp, asked: Timestamp, zone: &Z) -> String
where
    Z::Offset: std::fmt::Display,
{
    let local = |at: Timestamp| -> Option<DateTime<Z>> { zone.timestamp_millis_opt(at.0).single() };
    let (Some(at), Some(asked)) = (local(at), local(asked)) else { return "a later time".to_owned() };
    let days = at.date_naive().signed_duration_since(asked.date_naive()).num_days();
    let format = match days {
        0 => "%H:%M",
        1..7 => "%a %H:%M",
        _ => "%-d %b %H:%M",
    };
    at.format(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::time;
    use abide_protocol::Timestamp;
    use chrono::{FixedOffset, TimeZone as _};

    #[test]
    fn the_day_is_named_if_it_is_another_one() {
        let zone = FixedOffset::east_opt(2 * 3600).unwrap();
        let at = |day, hour, minute| {
            Timestamp(zone.with_ymd_and_hms(2026, 12, day, hour, minute, 0).unwrap().timestamp_millis())
        };
        let table = [(at(1, 15, 5), "15:05"), (at(2, 0, 5), "Wed 00:05"), (at(9, 9, 0), "9 Dec 09:00")];
        for (until, expected) in table {
            assert_eq!(time(until, at(1, 9, 0), &zone), expected);
        }
    }
}
