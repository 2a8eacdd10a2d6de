//! How the desktop names the window: its application id, and its names on the session bus.

use crate::{Home, login};
use std::os::unix::ffi::OsStrExt as _;

/// The application id: the name of the desktop file, the icon, and the window's class.
pub const ID: &str = "dev.abide.Abide";
/// The object of the window on the session bus, which has the interface `org.freedesktop.Application`.
pub const PATH: &str = "/dev/abide/Abide";
/// The action that shows the conversation whose id is its parameter.
pub const SHOW: &str = "show";
/// The action that shows the inbox.
pub const INBOX: &str = "inbox";

/// The window's name on the session bus: [`ID`] for the home of the platform's folders. A home of its own
/// folder has a name of its own, so that a request never reaches the window of another home.
#[must_use]
pub fn bus_name(home: &Home) -> String {
    let own = match home.root() {
        None if login::variables(home).is_empty() => return ID.to_owned(),
        None => &home.data_dir,
        Some(root) => root,
    };
    format!("{ID}.h{:016x}", fnv1a(own.as_os_str().as_bytes()))
}

/// The same number for the same bytes in every version of every client.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_home_has_its_own_name() {
        let platform = Home {
            config_dir: "/home/me/.config/abide".into(),
            data_dir: "/home/me/.local/share/abide".into(),
            state_dir: "/home/me/.local/state/abide".into(),
            run_dir: "/run/user/1000/abide/v1".into(),
        };
        assert_eq!(bus_name(&platform), "dev.abide.Abide");
        let names = ["/a", "/b", "/home/me/.abide"].map(|dir| bus_name(&Home::at(Path::new(dir))));
        assert_ne!(names[0], names[1]);
        // The number is part of what windows and daemons of different versions say to each other.
        assert_eq!(names[0], "dev.abide.Abide.h07d66707b49cd92d");
        for name in &names {
            assert!(
                name.len() <= 255
                    && name.split('.').all(|part| !part.starts_with(|c: char| c.is_ascii_digit()))
            );
        }
    }
}
