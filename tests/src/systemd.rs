//! systemd, real and played.
//!
//! * [`UserManager`]: a real `systemd --user`, in namespaces of its own, for machines where none runs
//! * [`Played`]: programs named `systemctl` and `loginctl` that note what they are asked, and can fail

mod manager;
mod played;

pub use manager::UserManager;
pub use played::Played;
