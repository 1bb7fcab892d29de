//! Whether the running daemon reads the configuration file of a command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use palyra_client::Client;
use palyra_explain::{OtherFile, OwnFile, settings_not_used};
use palyra_wire::v1;

use crate::{WARNING, check};

/// Returns the file that a daemon of this machine reads, where that is another one than the one of this command line; `None`
/// as well where the daemon does not say it.
pub async fn other_file(client: &Client, own: OwnFile) -> Option<OtherFile> {
    let read = client.config().await.ok()?.config_file;
    if read.is_empty() { None } else { compared(own, read.into()) }
}

/// Says which settings of this process's environment a running daemon does not have from its own.
pub async fn unused_settings(client: &Client) -> Option<String> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let mut variables =
        std::env::vars_os().filter_map(text).filter(|(name, _)| name.starts_with("PALYRA__")).peekable();
    // Most environments have none, and the daemon is not asked.
    variables.peek()?;
    let config = client.config().await.ok()?;
    let in_force: Vec<_> =
        config.values.iter().map(|value| (value.value.as_str(), value.origin.as_str())).collect();
    settings_not_used(variables, &in_force)
}

/// Reports a daemon that reads another file.
#[must_use]
pub fn check_other_file(other: &OtherFile) -> v1::Check {
    check("daemon_file", WARNING, other.message(), &other.mend())
}

fn compared(own: OwnFile, read: PathBuf) -> Option<OtherFile> {
    (whole(own.path()) != whole(&read)).then_some(OtherFile { own, read })
}

/// Returns the one path of a file that has several; one that is not there has its place.
fn whole(path: &Path) -> PathBuf {
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    std::fs::canonicalize(path).unwrap_or_else(|_| absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_by_each_of_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.toml");
        let link = folder.path().join("b.toml");
        std::fs::write(&file, "").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        assert_eq!(compared(OwnFile::Named(link), file.clone()), None);
        let absent = folder.path().join("c.toml");
        assert_eq!(compared(OwnFile::Usual(absent.clone()), absent.clone()), None);
        let other = compared(OwnFile::Usual(absent), file).expect("another file");
        assert_eq!(check_other_file(&other).level(), WARNING);
    }
}
