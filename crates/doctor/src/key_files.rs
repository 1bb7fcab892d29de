//! Key files that settings name: whether other users of this machine may read them.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use palyra_screen_text::shell_word;
use palyra_wire::v1;

use crate::{OK, WARNING, check};

/// The setting whose value is the path of a key.
const TLS_KEY: &str = "http.tls_key";
/// What the value of another setting begins with that names a file with a key.
const KEY_FILE: &str = "file:";
/// What others may do with a file, by its mode.
const OTHERS: u32 = 0o077;

/// Names the key files of settings that others may use; `None` where no setting names one that is there.
pub(crate) fn key_files(settings: &[v1::ConfigValue]) -> Option<v1::Check> {
    let name = "key_files";
    let files = settings.iter().filter_map(|setting| Some((setting.key.as_str(), path_of(setting)?)));
    // A link is followed: what counts is the file that has the key.
    let modes = files.filter_map(|(key, path)| {
        let found = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        Some((key, path, found.mode()))
    });
    let modes: Vec<_> = modes.collect();
    let open: Vec<_> = modes.iter().filter(|(_, _, mode)| mode & OTHERS != 0).collect();
    if modes.is_empty() {
        return None;
    }
    if open.is_empty() {
        return Some(check(name, OK, "the key files of settings are readable by their owner only", ""));
    }
    let found: Vec<_> = open
        .iter()
        .map(|(key, path, mode)| format!("{path} of `{key}` has the mode {:03o}", mode & 0o777))
        .collect();
    let found = format!("others may use a key: {}", found.join(", "));
    let mut paths: Vec<_> = open.iter().map(|(_, path, _)| shell_word(path)).collect();
    paths.sort_unstable();
    paths.dedup();
    Some(check(name, WARNING, found, &format!("`chmod 600 {}`", paths.join(" "))))
}

/// Returns the path of the key file that a setting names.
fn path_of(setting: &v1::ConfigValue) -> Option<String> {
    // The text of a short value is the same in TOML and in JSON.
    let value: String = serde_json::from_str(&setting.value).ok()?;
    let path = match setting.key.as_str() {
        TLS_KEY => value.as_str(),
        key if key.ends_with(".key") => value.trim().strip_prefix(KEY_FILE)?,
        _ => return None,
    };
    Path::new(path).is_absolute().then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::os::unix::fs::PermissionsExt;

    use crate::{OK, WARNING};

    fn setting(key: &str, value: &str) -> v1::ConfigValue {
        v1::ConfigValue {
            key: key.to_owned(),
            value: serde_json::to_string(value).unwrap(),
            ..Default::default()
        }
    }

    #[test]
    fn a_key_file_that_others_may_use_is_named_with_its_setting_and_its_mend() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::write(&path, "key").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path.display().to_string()
        };
        let (own, open, group) = (file("own", 0o600), file("an open one", 0o644), file("group", 0o640));
        let of = |key: &str, path: &str| setting(key, &format!("file:{path}"));
        for settings in [vec![], vec![of("providers.a.key", "/nowhere/key")], vec![setting("model.key", "")]]
        {
            assert_eq!(key_files(&settings), None);
        }
        let is_own = key_files(&[of("providers.a.key", &own), setting("http.tls_key", "")]).unwrap();
        assert_eq!((is_own.level(), is_own.mend.as_str()), (OK, ""));
        let settings =
            [of("providers.a.key", &own), of("providers.b.key", &open), setting("http.tls_key", &group)];
        let found = key_files(&settings).unwrap();
        assert_eq!(found.level(), WARNING);
        assert_eq!(found.mend, format!("`chmod 600 '{open}' {group}`"));
        assert!(found.found.contains("of `providers.b.key` has the mode 644"), "{}", found.found);
        assert!(found.found.contains("of `http.tls_key` has the mode 640"), "{}", found.found);
        assert!(!found.found.contains("/own"), "{}", found.found);
    }
}
