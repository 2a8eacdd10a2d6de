/// What confines a tool's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sandbox {
    /// Nothing but the rights of the user.
    None,
}

impl Sandbox {
    /// As it is recorded and shown.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
        }
    }
}
