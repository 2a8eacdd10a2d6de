//! Rules about calls: `shell(cargo test *)`, `edit(src/**)`, `read(**/.env)`. A rule denies, asks or allows.
//!
//! The order is deny, ask, allow; a more specific rule has no precedence. Rules that deny or ask match any
//! command of a line at any depth, and are cautious: what a line would run is not always known before it
//! runs, and a rule that may match asks. Rules that allow match one *plain* command ([`Plain`]) and nothing
//! else; that command is executed directly, without a shell, so that what was judged is what runs. This crate
//! has no I/O.

mod book;
mod git;
mod hazard;
mod inner;
mod leaving;
mod matching;
mod named;
mod options;
mod path;
mod plain;
mod rule;
mod runs;
mod script;
mod shell;
mod subscript;
mod terminal;
mod wider;
mod word;

pub use book::{Book, Effect, PathVerdict, Source, Standing, Verdict};
pub use leaving::must_leave;
pub use named::Named;
pub use path::{PROTECTED, is_protected};
pub use plain::{Output, Plain, Stderr};
pub use rule::{Rule, RuleError};
pub use script::{Redirect, Script, Simple, Target, Unclear};
pub use terminal::waits_at_terminal;
pub use wider::{Offer, wider, wider_edit};
pub use word::Word;
