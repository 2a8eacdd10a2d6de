//! The harness of the scenarios: the real binaries and everything around them that a test controls and
//! checks.
//!
//! * [`model_server`]: a model over real HTTP that replies by script and refuses what a strict provider would
//!   refuse
//! * [`daemon`]: the real `abided` in a home of its own, to start, kill and restart; the real `abide` with it
//! * [`world`]: both together, and the steps that most scenarios begin with
//! * [`wait`]: waits that name what they wait for
//! * [`witness`]: records outside of the daemon how often a tool ran
//! * [`watcher`]: a client that keeps every record it got
//! * [`ledger`]: the content of the database, read from outside
//! * [`tap`]: every sequenced notification, over all lives of the daemon
//! * [`crowd`]: many tasks, and the people who look after them
//! * [`audit`]: checks a database against every promise
//! * [`seed`]: reproducible random numbers
//! * [`vitals`]: the cost of a process
//! * [`cutter`]: a proxy that cuts connections
//! * [`peer`]: models, proxies and clients of other projects
//! * [`shim`]: libraries that stand between a program and the C library
//! * [`skip`]: records skipped tests and why (a crate of its own, since tests of other crates use it too)
//! * [`process`]: programs of the machine, run with a time limit
//! * [`terminal`]: a real terminal, in tmux
//! * [`screen`]: a real X display with a window manager, and the real window on it
//! * [`bus`]: a private D-Bus session with a notification server
//! * [`packages`]: the packages of the programs under test
//! * [`fresh_root`]: a new Debian to install them in
//! * [`systemd`]: a user manager, real or played
//!
//! Nothing here retries, and no fixed sleep is used to wait: a wait ends when its condition holds, or fails
//! and names it.

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
pub mod cutter;
pub mod daemon;
pub mod fresh_root;
pub mod http;
pub mod ledger;
pub mod model_server;
pub mod packages;
pub mod peer;
pub mod process;
pub mod screen;
pub mod seed;
pub mod shim;
pub mod systemd;
pub mod tap;
pub mod terminal;
pub mod vitals;
pub mod wait;
pub mod watcher;
pub mod witness;
pub mod world;
