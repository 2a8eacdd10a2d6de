//! Limits the traces kept of one attempt: a stream may have any number of them.

use abide_engine::Traces;
use abide_protocol::record::Trace;

/// Each has at most [`abide_model::MAX_RAW`] bytes, so a record of them has at most 16 KiB.
const MOST: usize = 16;

pub(super) fn keep(traces: &mut Traces, trace: Trace) {
    if traces.kept.len() < MOST {
        traces.kept.push(trace);
    } else {
        traces.left_out += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_kept_and_the_others_counted() {
        let mut traces = Traces::default();
        for n in 0..MOST + 3 {
            keep(&mut traces, Trace { what: n.to_string(), raw: String::new() });
        }
        assert_eq!((traces.kept.len(), traces.left_out), (MOST, 3));
        assert_eq!(traces.kept[MOST - 1].what, (MOST - 1).to_string());
    }
}
