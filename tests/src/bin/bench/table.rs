//! Figures, and their table.

use std::{fmt, time::Duration};

/// A measured value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value {
    Time(Duration),
    /// Bytes.
    Size(f64),
    /// Per second.
    Rate(f64),
    /// Of 1.
    Share(f64),
}

impl Value {
    fn number(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Size(number) | Self::Rate(number) | Self::Share(number) => number,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Time(time) if time >= Duration::from_secs(1) => write!(f, "{:.2} s", time.as_secs_f64()),
            Self::Time(time) => write!(f, "{:.2} ms", time.as_secs_f64() * 1e3),
            Self::Size(bytes) if bytes >= 1e6 => write!(f, "{:.1} MB", bytes / 1e6),
            Self::Size(bytes) if bytes >= 1e4 => write!(f, "{:.1} kB", bytes / 1e3),
            Self::Size(bytes) => write!(f, "{bytes:.0} B"),
            Self::Rate(rate) => write!(f, "{rate:.0} /s"),
            Self::Share(share) => write!(f, "{:.1} %", share * 100.0),
        }
    }
}

/// The goal for a figure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Aim {
    AtMost(Value),
    AtLeast(Value),
    /// At most this multiple of the floor.
    TimesFloor(f64),
    /// At least this share of the floor.
    ShareOfFloor(f64),
}

/// A line of the table.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    what: String,
    value: Value,
    floor: Option<Value>,
    aim: Option<Aim>,
}

impl Figure {
    pub(crate) fn new(what: impl Into<String>, value: Value) -> Self {
        Self { what: what.into(), value, floor: None, aim: None }
    }

    pub(crate) fn floor(self, floor: Value) -> Self {
        Self { floor: Some(floor), ..self }
    }

    pub(crate) fn aim(self, aim: Aim) -> Self {
        Self { aim: Some(aim), ..self }
    }

    fn ratio(&self) -> Option<f64> {
        self.floor.map(|floor| self.value.number() / floor.number())
    }

    fn is_met(&self) -> Option<bool> {
        match self.aim? {
            Aim::AtMost(most) => Some(self.value.number() <= most.number()),
            Aim::AtLeast(least) => Some(self.value.number() >= least.number()),
            Aim::TimesFloor(times) => self.ratio().map(|ratio| ratio <= times),
            Aim::ShareOfFloor(share) => self.ratio().map(|ratio| ratio >= share),
        }
    }

    fn cells(&self) -> [String; 6] {
        let aim = match self.aim {
            None => String::new(),
            Some(Aim::AtMost(most)) => format!("≤ {most}"),
            Some(Aim::AtLeast(least)) => format!("≥ {least}"),
            Some(Aim::TimesFloor(times)) => format!("≤ {times} × floor"),
            Some(Aim::ShareOfFloor(share)) => format!("≥ {:.0} % of floor", share * 100.0),
        };
        [
            self.what.clone(),
            self.value.to_string(),
            self.floor.map(|floor| floor.to_string()).unwrap_or_default(),
            self.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            aim,
            self.is_met().map(|met| if met { "yes" } else { "no" }.to_owned()).unwrap_or_default(),
        ]
    }
}

const HEAD: [&str; 6] = ["", "figure", "floor", "ratio", "aim", "met"];

fn rows(figures: &[Figure]) -> Vec<[String; 6]> {
    std::iter::once(HEAD.map(str::to_owned)).chain(figures.iter().map(Figure::cells)).collect()
}

/// The table for a terminal.
pub(crate) fn plain(figures: &[Figure]) -> String {
    let rows = rows(figures);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// The table for a document.
pub(crate) fn markdown(figures: &[Figure]) -> String {
    let line = |row: &[String; 6]| format!("| {} |\n", row.join(" | "));
    let mut lines: Vec<String> = rows(figures).iter().map(line).collect();
    lines.insert(1, "|---|---:|---:|---:|---|---|\n".to_owned());
    lines.concat()
}

/// The value at this percentile.
pub(crate) fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

pub(crate) fn median(times: &[Duration]) -> Duration {
    percentile(times, 50)
}
