//! The file of the configuration, as a daemon would read it that is started from here.

use std::path::Path;

use palyra_wire::v1;

use crate::{OK, WARNING, check};

/// A mistake of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigFault<'f> {
    /// What is wrong, with its place.
    pub message: &'f str,
    /// The setting that it is about.
    pub key: Option<&'f str>,
}

/// Reports the mistakes of the configuration, or that there are none.
#[must_use]
pub fn check_config_file(file: &Path, faults: &[ConfigFault<'_>]) -> v1::Check {
    let name = "config_file";
    let Some(first) = faults.first() else {
        let found = if file.is_file() {
            file.display().to_string()
        } else {
            format!("{} does not exist; defaults are used", file.display())
        };
        return check(name, OK, found, "");
    };
    let more = match faults.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let is_key = first.key.is_some_and(|key| key.starts_with("providers.") && key.ends_with(".key"));
    let mend = if is_key && !first.message.contains("is not set in") {
        "correct it: put the key into the file that it names, or name another place: `palyra config check` lists each mistake"
    } else if is_key {
        "set it here, then `palyra admin stop`; or name a file: key = \"file:PATH\""
    } else {
        // A daemon that runs goes on with the configuration that it has; one that cannot start says so itself.
        "correct it; `palyra config check` lists each mistake"
    };
    check(name, WARNING, format!("{}{more}", first.message), mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mistake_is_named_with_its_mend() {
        let file = Path::new("/nowhere/palyra.toml");
        let none = check_config_file(file, &[]);
        assert_eq!(none.level(), OK);
        assert!(none.found.contains("defaults are used"), "{none:?}");
        let no_file =
            ConfigFault { message: "the key file `/k` cannot be read", key: Some("providers.a.key") };
        assert!(!check_config_file(file, &[no_file]).mend.contains("set it here"));
        let key = ConfigFault { message: "`K` is not set in this environment", key: Some("providers.a.key") };
        let other = ConfigFault { message: "unknown key `modle`", key: Some("modle") };
        let found = check_config_file(file, &[key, other]);
        assert_eq!(
            (found.level(), found.found.as_str()),
            (WARNING, "`K` is not set in this environment (and 1 more)")
        );
        assert!(found.mend.contains("file:PATH"), "{found:?}");
        assert!(check_config_file(file, &[other]).mend.contains("config check"));
    }
}
