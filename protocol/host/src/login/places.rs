use super::{ENTRY, SERVICE, SOCKET};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Where units and entries of this user are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The folder of the user's own units.
    pub units: PathBuf,
    /// The file that makes the desktop start a daemon at login.
    pub entry: PathBuf,
    /// Folders of units of all users and of packages; the first that has a unit counts (systemd.unit(5)).
    shared: Vec<PathBuf>,
}

/// The folder in which a user's links to enabled units are, by unit (`WantedBy=`).
const WANTED_BY: [(&str, &str); 2] = [(SERVICE, "default.target.wants"), (SOCKET, "sockets.target.wants")];

impl Places {
    /// `None`: this user has no home folder.
    #[must_use]
    pub fn from_env() -> Option<Self> {
        let dirs = directories::BaseDirs::new()?;
        let data = env::var_os("XDG_DATA_DIRS").filter(|dirs| !dirs.is_empty());
        let data = data.unwrap_or_else(|| "/usr/local/share:/usr/share".into());
        let data: Vec<_> = env::split_paths(&data).map(|dir| dir.join("systemd/user")).collect();
        let own = dirs.data_dir().join("systemd/user");
        let libraries = ["/usr/local/lib/systemd/user", "/usr/lib/systemd/user"].map(PathBuf::from);
        let shared =
            [PathBuf::from("/etc/systemd/user"), own].into_iter().chain(data).chain(libraries).collect();
        Some(Self {
            units: dirs.config_dir().join("systemd/user"),
            entry: dirs.config_dir().join("autostart").join(ENTRY),
            shared,
        })
    }

    /// Everything beneath one folder, for tests.
    #[cfg(test)]
    pub(super) fn beneath(dir: &Path) -> Self {
        Self {
            units: dir.join("units"),
            entry: dir.join("autostart").join(ENTRY),
            shared: vec![dir.join("shared")],
        }
    }

    /// The file of the unit that systemd uses.
    #[must_use]
    pub fn unit(&self, name: &str) -> Option<PathBuf> {
        let own = self.units.join(name);
        if fs::symlink_metadata(&own).is_ok() { Some(own) } else { self.packaged(name) }
    }

    /// The unit's file that is not the user's own: that of a package, or of the administrator.
    #[must_use]
    pub fn packaged(&self, name: &str) -> Option<PathBuf> {
        self.shared.iter().map(|dir| dir.join(name)).find(|path| path.is_file())
    }

    /// Whether the unit is enabled, for this user or for all.
    #[must_use]
    pub fn is_enabled(&self, name: &str) -> bool {
        self.enabled_by_user(name).is_some() || self.enabled_for_all(name).is_some()
    }

    /// The link that enables the unit for this user.
    #[must_use]
    pub fn enabled_by_user(&self, name: &str) -> Option<PathBuf> {
        link(&self.units, name)
    }

    /// The link that enables the unit for all users.
    #[must_use]
    pub fn enabled_for_all(&self, name: &str) -> Option<PathBuf> {
        link(Path::new("/etc/systemd/user"), name)
    }
}

fn link(folder: &Path, name: &str) -> Option<PathBuf> {
    let (_, wants) = WANTED_BY.iter().find(|(unit, _)| *unit == name)?;
    Some(folder.join(wants).join(name)).filter(|link| fs::symlink_metadata(link).is_ok())
}
