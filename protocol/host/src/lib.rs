//! What daemon and clients share of the machine that they run on. Nothing here connects to a daemon.
//!
//! * [`home`]: where the files are
//! * [`program`]: finds, checks and starts the programs of Abide
//! * [`fresh`]: what daemon and window do not keep of the process that starts them
//! * [`environment`]: what of this process's environment its tasks get
//! * [`login`]: what starts the daemon at login
//! * [`framing`]: splits a stream of the socket into messages
//! * [`application`]: how the desktop names the window
//! * [`parked`]: until when a task is parked, in local time
//! * [`text`]: makes text of models and tools safe for a terminal

#[cfg(unix)]
pub mod application;
pub mod environment;
pub mod framing;
#[cfg(unix)]
pub mod fresh;
pub mod home;
pub mod login;
pub mod parked;
pub mod program;
mod replace_file;
mod run_within;
pub mod text;

pub use home::{Home, create_private_dir};
pub use replace_file::replace_file;
