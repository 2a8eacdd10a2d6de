use interprocess::local_socket::{tokio::Stream, traits::StreamCommon as _};

/// Why a peer is not served.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("cannot read the peer's credentials: {0}")]
    Unknown(#[from] std::io::Error),
    #[error("the peer is user {0}, and only the daemon's own user is served")]
    OtherUser(u32),
    #[error("the peer (pid {0}) is a tool's process: a tool must not drive the daemon that runs it")]
    Tool(u32),
    #[error("the peer (pid {0}) ended before its parents could be checked")]
    Gone(u32),
}

/// Checks that the peer may be served: it is the same user and does not descend from a tool's helper
/// (`is_helper`, by pid).
///
/// # Errors
/// It may not be served.
pub fn peer(stream: &Stream, is_helper: impl Fn(u32) -> bool) -> Result<(), Refused> {
    let creds = stream.peer_creds()?;
    #[cfg(unix)]
    {
        let ours = rustix::process::geteuid().as_raw();
        match creds.euid() {
            Some(euid) if euid == ours => {}
            Some(euid) => return Err(Refused::OtherUser(euid)),
            None => return Err(Refused::Unknown(std::io::ErrorKind::Unsupported.into())),
        }
    }
    // Where the system does not report the pid (macOS), only the sandbox keeps tools away from the socket.
    #[cfg(target_os = "linux")]
    {
        let pid = creds.pid().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
        if descends_from(pid, is_helper)? {
            return Err(Refused::Tool(pid));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (creds, is_helper);
    Ok(())
}

/// More ancestors than any process has unless it tries to escape the check.
const MAX_ANCESTORS: u32 = 1024;

/// Whether the process or one of its ancestors is one that `is` accepts. A tool that detaches is found too:
/// its helper is the subreaper of all its descendants.
///
/// # Errors
/// The process has ended, or the chain of ancestors does not.
#[cfg(target_os = "linux")]
pub fn descends_from(pid: u32, is: impl Fn(u32) -> bool) -> Result<bool, Refused> {
    climb(pid, is, parent)
}

#[cfg(not(target_os = "linux"))]
pub fn descends_from(_: u32, _: impl Fn(u32) -> bool) -> Result<bool, Refused> {
    Ok(false)
}

#[cfg(any(target_os = "linux", test))]
fn climb(pid: u32, is: impl Fn(u32) -> bool, parent: impl Fn(u32) -> Option<u32>) -> Result<bool, Refused> {
    let Some(mut above) = parent(pid) else { return Err(Refused::Gone(pid)) };
    let mut below = pid;
    if is(pid) {
        return Ok(true);
    }
    for _ in 0..MAX_ANCESTORS {
        if above == 0 {
            return Ok(false);
        }
        if is(above) {
            return Ok(true);
        }
        match parent(above) {
            Some(next) => (below, above) = (above, next),
            // Either it has ended, and the process below has a new parent; or it is hidden (/proc with
            // hidepid), and then neither it nor anything above it is a helper.
            None => match parent(below) {
                Some(same) if same == above => return Ok(false),
                Some(adopted) => above = adopted,
                None => return Err(Refused::Gone(pid)),
            },
        }
    }
    Err(Refused::Gone(pid))
}

/// A process's parent; `None`: it has ended, or is hidden.
#[cfg(target_os = "linux")]
pub(crate) fn parent(pid: u32) -> Option<u32> {
    parent_in(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses `pid (name) state ppid ...`; the name is the process's own choice and may contain anything, even
/// `)`.
#[cfg(any(target_os = "linux", test))]
fn parent_in(stat: &[u8]) -> Option<u32> {
    let end = stat.iter().rposition(|b| *b == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::Cell, collections::BTreeMap};

    fn tree(edges: &[(u32, u32)]) -> impl Fn(u32) -> Option<u32> {
        let edges: BTreeMap<u32, u32> = edges.iter().copied().collect();
        move |pid| edges.get(&pid).copied()
    }

    #[test]
    fn the_parent_is_parsed_whatever_the_name() {
        for (stat, parent) in [
            (&b"7 (cat) S 6 7 7 0"[..], Some(6)),
            (b"7 (a) R 1 (b) S 6 7", Some(6)),
            (b"7 (\xff\n) S 6 7", Some(6)),
            (b"7 cat S 6", None),
            (b"7 (cat) S", None),
            (b"", None),
        ] {
            assert_eq!(parent_in(stat), parent, "{}", String::from_utf8_lossy(stat));
        }
    }

    #[test]
    fn a_helper_is_found_at_any_height() {
        let parents = tree(&[(9, 8), (8, 7), (7, 1), (1, 0)]);
        for (helper, found) in [(9, true), (8, true), (7, true), (5, false)] {
            assert_eq!(climb(9, |pid| pid == helper, &parents).unwrap(), found, "{helper}");
        }
    }

    #[test]
    fn an_ancestor_that_ends_during_the_check_hides_no_helper() {
        // 9's parent 8 ends during the climb; 9 is then the child of the helper, 5.
        let asked = Cell::new(0);
        let parents = |pid| match pid {
            9 => {
                asked.set(asked.get() + 1);
                Some(if asked.get() == 1 { 8 } else { 5 })
            }
            5 => Some(1),
            1 => Some(0),
            _ => None,
        };
        assert!(climb(9, |pid| pid == 5, parents).unwrap());
    }

    #[test]
    fn hidden_ancestors_are_no_helpers_and_an_ended_peer_is_refused() {
        let parents = tree(&[(9, 8)]);
        assert!(!climb(9, |pid| pid == 5, &parents).unwrap());
        assert!(matches!(climb(3, |_| false, &parents), Err(Refused::Gone(3))));
        assert!(matches!(climb(4, |_| false, tree(&[(4, 4)])), Err(Refused::Gone(4))));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_descends_from_its_parent() {
        let above = std::os::unix::process::parent_id();
        assert!(descends_from(std::process::id(), |pid| pid == above).unwrap());
        assert!(!descends_from(std::process::id(), |_| false).unwrap());
    }
}
