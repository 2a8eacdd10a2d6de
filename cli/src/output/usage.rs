//! What models have used, by day, model and conversation.

use crate::output::{
    measure,
    style::{FAINT, PLAIN, STRONG, paint},
    table::{cell, table},
    text,
};
use abide_client::protocol::{
    method::usage::{UsageReply, UsageRow},
    transcript::Usage,
};

/// The most conversations that are listed.
const MOST: usize = 20;

pub(crate) fn usage(reply: &UsageReply, width: Option<usize>) -> String {
    if reply.rows.is_empty() {
        return "No model was asked in this time.\n".to_owned();
    }
    // The rows begin with the newest day.
    let by_day = sums(&reply.rows, |row| row.day.clone());
    let mut by_model = sums(&reply.rows, |row| text::one_line(&row.model));
    let name = |row: &UsageRow| format!("{} {}", row.conversation_id.short(), text::one_line(&row.title));
    let mut by_conversation = sums(&reply.rows, name);
    for sums in [&mut by_model, &mut by_conversation] {
        // Those without a price come last.
        sums.sort_by_key(|(_, usage)| std::cmp::Reverse((usage.cost_micros, usage.tokens())));
    }
    let left_out = by_conversation.len().saturating_sub(MOST);
    by_conversation.truncate(MOST);
    let mut total = Usage::default();
    reply.rows.iter().for_each(|row| total.add(&row.usage));
    let mut out = format!(
        "{}\n{}\n{}",
        of("DAY", &by_day, width),
        of("MODEL", &by_model, width),
        of("CONVERSATION", &by_conversation, width)
    );
    if left_out > 0 {
        let more = measure::counted(left_out as u64, "more conversation");
        out.push_str(&format!("{}\n", paint(FAINT, &format!("… and {more}: --json has all"))));
    }
    out.push_str(&format!("\n{}\n", paint(STRONG, &format!("in all {}", measure::usage(&total)))));
    if reply.is_cut {
        out.push_str("there is more than one reply can have; give a shorter time: --since 7d\n");
    }
    out
}

/// The sums of rows of the same name, in the order in which the names come.
fn sums(rows: &[UsageRow], name: impl Fn(&UsageRow) -> String) -> Vec<(String, Usage)> {
    let mut sums: Vec<(String, Usage)> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for row in rows {
        let at = *known.entry(name(row)).or_insert_with_key(|name| {
            sums.push((name.clone(), Usage::default()));
            sums.len() - 1
        });
        if let Some((_, sum)) = sums.get_mut(at) {
            sum.add(&row.usage);
        }
    }
    sums
}

fn of(what: &'static str, sums: &[(String, Usage)], width: Option<usize>) -> String {
    let row = |(name, usage): &(String, Usage)| {
        let cost = usage.cost_micros.map(measure::money).unwrap_or_default();
        [
            cell(PLAIN, &cost),
            cell(PLAIN, &measure::count(usage.tokens())),
            cell(FAINT, &measure::count(usage.model_calls)),
            cell(PLAIN, name),
        ]
    };
    table(["COST", "TOKENS", "CALLS", what], &sums.iter().map(row).collect::<Vec<_>>(), width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use insta::assert_snapshot;

    fn row(day: &str, model: &str, title: &str, tokens: u64, cost: Option<u64>) -> UsageRow {
        UsageRow {
            day: day.into(),
            model: model.into(),
            conversation_id: fixture::task().conversation_id,
            title: title.into(),
            usage: Usage { input: tokens, model_calls: 2, cost_micros: cost, ..Usage::default() },
        }
    }

    #[test]
    fn sums_are_by_day_model_and_conversation() {
        let rows = vec![
            row("2026-11-27", "local/small", "Fix the \u{1b}[2Jtest", 500, None),
            row("2026-11-27", "a/large", "Docs", 1_000, Some(20_000)),
            row("2026-11-26", "a/large", "Docs", 3_000, Some(1_230_000)),
        ];
        let shown = usage(&UsageReply { rows, is_cut: false }, None);
        assert_snapshot!(anstream::adapter::strip_str(&shown).to_string(), @r"
        COST   TOKENS  CALLS  DAY
        $0.02  1,500   4      2026-11-27
        $1.23  3,000   2      2026-11-26

        COST   TOKENS  CALLS  MODEL
        $1.25  4,000   4      a/large
        -      500     2      local/small

        COST   TOKENS  CALLS  CONVERSATION
        $1.25  4,000   4      00000002 Docs
        -      500     2      00000002 Fix the \x1b[2Jtest

        in all 4,500 tokens in 6 model calls · $1.25
        ");
        assert!(usage(&UsageReply::default(), None).contains("No model was asked"));
    }
}
