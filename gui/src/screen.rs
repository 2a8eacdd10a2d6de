//! The screens; each owns what it shows.

pub mod composer;
pub mod conversation;
pub mod forgetting;
pub mod help;
pub mod inbox;
pub mod memory;
pub mod new_conversation;
pub mod palette;
pub mod paused_card;
pub mod pending;
pub mod provider;
pub mod reader;
pub mod settings;
pub mod sidebar;
pub mod tree;
