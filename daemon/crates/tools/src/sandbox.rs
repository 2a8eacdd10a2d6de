/// What confines a tool's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    /// Nothing but the rights of the user.
    None,
}

impl Sandbox {
    /// As it is recorded and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
        }
    }
}
