//! Where the daemon's state lives: the one rule that daemon and client share.

use std::ffi::OsString;
use std::path::PathBuf;

/// In the state directory: an order for the next start to begin a new log over what the journal holds.
pub const ACCEPT_ROLLBACK_FILE_NAME: &str = "accept-rollback";

/// The content of that order after a restore: also a log that could go on is replaced by a new one.
pub const ORDER_RESTORED: &str = "restored";

/// In the state directory: an order for the next start to rebuild everything that is derived from the log.
pub const REBUILD_FILE_NAME: &str = "rebuild-derived";

/// Returns the state directory for an environment, or `None` when it names no home at all.
///
/// `PALYRA_HOME` replaces the folder; else `XDG_STATE_HOME/palyra`; else `HOME/.local/state/palyra`.
/// Relative values of the XDG variable are ignored, as its specification asks.
pub fn state_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = path("PALYRA_HOME") {
        return Some(home);
    }
    if let Some(state) = path("XDG_STATE_HOME").filter(|path| path.is_absolute()) {
        return Some(state.join("palyra"));
    }
    path("HOME").map(|home| home.join(".local/state/palyra"))
}

/// Returns the configuration directory for an environment: `XDG_CONFIG_HOME/palyra`, else `HOME/.config/palyra`.
pub fn config_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(config) = path("XDG_CONFIG_HOME").filter(|path| path.is_absolute()) {
        return Some(config.join("palyra"));
    }
    path("HOME").map(|home| home.join(".config/palyra"))
}

/// Returns the directory of what a user's programs keep: `XDG_DATA_HOME/palyra`, else `HOME/.local/share/palyra`.
///
/// Never below the state directory by itself: what a client has seen of a daemon must survive the daemon's state.
pub fn data_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(data) = path("XDG_DATA_HOME").filter(|path| path.is_absolute()) {
        return Some(data.join("palyra"));
    }
    path("HOME").map(|home| home.join(".local/share/palyra"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_wins() {
        let with = |pairs: &'static [(&str, &str)]| {
            state_dir(move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
        };
        assert_eq!(with(&[("PALYRA_HOME", "/p"), ("HOME", "/h")]), Some("/p".into()));
        assert_eq!(with(&[("XDG_STATE_HOME", "/x"), ("HOME", "/h")]), Some("/x/palyra".into()));
        assert_eq!(with(&[("XDG_STATE_HOME", "rel"), ("HOME", "/h")]), Some("/h/.local/state/palyra".into()));
        assert_eq!(with(&[("HOME", "")]), None);
    }
}
