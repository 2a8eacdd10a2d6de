//! How the lines of a text end.

/// The line ends of a whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// The text has at most one line, without an end.
    None,
    Lf,
    CrLf,
    Mixed,
}

impl LineEnds {
    pub(crate) fn of(text: &str) -> Self {
        let (all, crlf) = (text.matches('\n').count(), text.matches("\r\n").count());
        match (all, crlf) {
            (0, _) => Self::None,
            (_, 0) => Self::Lf,
            (all, crlf) if all == crlf => Self::CrLf,
            _ => Self::Mixed,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
            Self::Mixed => "LF and CRLF",
        }
    }
}

/// The text with each line end as CRLF.
pub(crate) fn to_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}
