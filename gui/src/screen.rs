//! The screens; each owns what it shows.

pub mod composer;
pub mod conversation;
pub mod fresh;
pub mod held;
pub mod help;
pub mod inbox;
pub mod palette;
pub mod pending;
pub mod provider;
pub mod reader;
pub mod settings;
pub mod sidebar;
pub mod tree;
