//! systemd, played.
//!
//! * [`Played`]: programs named `systemctl` and `loginctl` that note what they are asked, and can fail

mod played;

pub use played::Played;
