/// What confines a tool's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sandbox {
    /// Nothing but the rights of the user.
    None,
}

impl Sandbox {
    /// Its name in records and for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
        }
    }
}
