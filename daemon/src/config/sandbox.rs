//! `[sandbox]`: what commands may see and change.

use super::{Config, Problem};
use abide_protocol::sandbox::SandboxLevel;
use abide_tools::{CommandLimits, SandboxSettings, Unasked};
use serde::Deserialize;
use std::path::{Component, Path, PathBuf};

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxConfig {
    /// The least level for running unattended.
    require: Option<SandboxLevel>,
    network: Option<Network>,
    writable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    protect: Vec<PathBuf>,
    max_processes: Option<u32>,
    /// In MiB, here and below.
    max_memory: Option<u64>,
    max_tmp: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Network {
    Off,
    Host,
}

/// What `[policy] shell` and `[policy] edits` say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Asking {
    Sandboxed,
    Ask,
}

impl From<Asking> for Unasked {
    fn from(asking: Asking) -> Self {
        match asking {
            Asking::Sandboxed => Self::Sandboxed,
            Asking::Ask => Self::Nothing,
        }
    }
}

impl SandboxConfig {
    pub(super) fn check(&self) -> Result<(), Problem> {
        for (key, paths) in [("writable", &self.writable), ("hidden", &self.hidden)] {
            if let Some(path) = paths.iter().find(|path| !path.is_absolute() && !path.starts_with("~")) {
                let what = format!("`{}` is not absolute", path.display());
                return Err(Problem::new(format!("sandbox.{key}"), what, "begin it with / or ~/"));
            }
        }
        let leads_out = |path: &&PathBuf| !path.components().all(|part| matches!(part, Component::Normal(_)));
        if let Some(path) = self.protect.iter().find(leads_out) {
            let what = format!("`{}` is not relative to the workspace", path.display());
            return Err(Problem::new(
                "sandbox.protect",
                what,
                "name it as seen from the workspace, without `..`",
            ));
        }
        let limits = [
            ("max_processes", self.max_processes.map(u64::from)),
            ("max_memory", self.max_memory),
            ("max_tmp", self.max_tmp),
        ];
        if let Some((key, _)) = limits.iter().find(|(_, most)| *most == Some(0)) {
            let advice = "give at least 1, or remove it for the default";
            return Err(Problem::new(format!("sandbox.{key}"), "0 would end every command", advice));
        }
        Ok(())
    }
}

impl Config {
    /// What the tools need to know about the sandbox.
    #[must_use]
    pub fn sandbox_settings(&self, home: &Path) -> SandboxSettings {
        let SandboxConfig { require, network, writable, hidden, protect, max_processes, max_memory, max_tmp } =
            &self.sandbox;
        let usual = SandboxSettings::default();
        let bytes = |mib: u64| mib.saturating_mul(1 << 20);
        let at_home = |paths: &[PathBuf]| {
            paths
                .iter()
                .map(|path| path.strip_prefix("~").map_or_else(|_| path.clone(), |rest| home.join(rest)))
                .collect()
        };
        SandboxSettings {
            require: require.unwrap_or(usual.require),
            host_network: *network == Some(Network::Host),
            writable: at_home(writable),
            hidden: at_home(hidden),
            protect: protect.clone(),
            // Those of the rules depend on the workspace.
            unreadable: usual.unreadable,
            environment: self.tools.environment.clone(),
            limits: CommandLimits {
                processes: max_processes.unwrap_or(usual.limits.processes),
                memory: max_memory.map_or(usual.limits.memory, bytes),
                tmp: max_tmp.map_or(usual.limits.tmp, bytes),
            },
            shell: self.policy.shell.map_or(usual.shell, Into::into),
            edits: self.policy.edits.map_or(usual.edits, Into::into),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_the_file_or_the_usual_ones() {
        let settings =
            |text: &str| Config::parse(text).map(|config| config.sandbox_settings(Path::new("/home/me")));
        assert_eq!(settings("").unwrap(), SandboxSettings::default());
        let text = r#"
            [sandbox]
            require = "none"
            network = "host"
            writable = ["~/.gradle", "/srv"]
            hidden = ["~/notes"]
            protect = ["scripts/release.sh"]
            max_processes = 9000
            max_memory = 512
            max_tmp = 1024
            [policy]
            shell = "ask"
            edits = "sandboxed"
        "#;
        let expected = SandboxSettings {
            require: SandboxLevel::None,
            host_network: true,
            writable: vec!["/home/me/.gradle".into(), "/srv".into()],
            hidden: vec!["/home/me/notes".into()],
            protect: vec!["scripts/release.sh".into()],
            unreadable: Vec::new(),
            environment: Vec::new(),
            limits: CommandLimits { processes: 9000, memory: 512 << 20, tmp: 1 << 30 },
            shell: Unasked::Nothing,
            edits: Unasked::Sandboxed,
        };
        assert_eq!(settings(text).unwrap(), expected);
    }

    #[test]
    fn paths_that_lead_elsewhere_and_limits_of_nothing_are_refused() {
        for (text, key) in [
            ("writable = [\"build\"]", "sandbox.writable"),
            ("hidden = [\"../x\"]", "sandbox.hidden"),
            ("protect = [\"/etc\"]", "sandbox.protect"),
            ("protect = [\"../x\"]", "sandbox.protect"),
            ("protect = [\"./x\"]", "sandbox.protect"),
            ("max_processes = 0", "sandbox.max_processes"),
            ("max_memory = 0", "sandbox.max_memory"),
            ("max_tmp = 0", "sandbox.max_tmp"),
        ] {
            let problem = Config::parse(&format!("[sandbox]\n{text}")).unwrap_err();
            assert!(problem.to_string().contains(key), "{problem}");
        }
        assert!(Config::parse("[sandbox]\nrequire = \"most\"").is_err());
    }
}
