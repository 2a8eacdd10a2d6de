//! The harness of the scenarios: everything around the real binaries that a test can hold, script, kill and look at.
//!
//! * [`model_server`]: a model behind real HTTP that answers by script and refuses what a strict provider would refuse
//! * [`daemon`]: the real `abided` in a home of its own, to start, kill and start again; the real `abide` against it
//! * [`world`]: the two together, and the steps that most scenarios begin with
//! * [`wait`]: waits that name what they wait for
//! * [`witness`]: knows from outside how often a tool ran
//! * [`watcher`]: a client that keeps every record it saw
//! * [`ledger`]: what the database holds, read from outside
//! * [`tap`]: the same off the wire, over all lives of the daemon
//! * [`crowd`]: many tasks, and the people who look after them
//! * [`audit`]: whether a database keeps every promise
//! * [`seed`]: chance that can be had again
//! * [`vitals`]: what a process costs
//! * [`peer`]: models, proxies and clients that nobody here wrote
//! * [`skip`]: what is not run, and why (a crate of its own: tests of other crates have a place in the list too)
//! * [`process`]: programs of the machine, none of which may take for ever
//! * [`terminal`]: a real terminal, in tmux
//! * [`screen`]: a real X display with a window manager, and the real window on it
//! * [`bus`]: a private D-Bus session with a notification server
//!
//! Nothing here retries, and nothing sleeps for luck: a wait ends when what it names has happened, or it fails by that name.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a harness fails as tests do: by panicking with words"
)]

pub use abide_skip as skip;

pub mod audit;
pub mod bus;
pub mod crowd;
pub mod daemon;
pub mod ledger;
pub mod model_server;
pub mod peer;
pub mod process;
pub mod screen;
pub mod seed;
pub mod tap;
pub mod terminal;
pub mod vitals;
pub mod wait;
pub mod watcher;
pub mod witness;
pub mod world;
