use std::collections::BTreeMap;

/// The part of an environment that a tool may have.
#[must_use]
pub fn allowed(environment: BTreeMap<String, String>) -> BTreeMap<String, String> {
    environment.into_iter().filter(|(name, _)| name == "PATH" || name == "HOME").collect()
}
