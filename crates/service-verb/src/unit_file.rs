//! The file of the unit: where it is, whose it is, and writing it whole.

use std::ffi::OsString;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::ServiceVerbError;
use crate::unit_text::{WrittenUnit, read_unit};

/// The name of the unit.
pub(crate) const UNIT_NAME: &str = "palyrad.service";
const FOLDER: &str = "systemd/user";
/// Below the folder: the link that `systemctl --user enable` makes.
const ENABLED_FOLDER: &str = "default.target.wants";
const MODE: u32 = 0o644;

/// The file of the unit, whether it exists or not.
#[derive(Debug, Clone)]
pub(crate) struct UnitFile {
    pub(crate) path: PathBuf,
}

/// What is in the place of the unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnitContent {
    /// Nothing.
    Absent,
    /// What `install` wrote.
    Written { text: String, unit: WrittenUnit },
    /// Anything else: an edited unit, another one, a link.
    Foreign,
}

impl UnitFile {
    /// Returns the file for an environment.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, ServiceVerbError> {
        let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let config = path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        let config = config.or_else(|| path("HOME").map(|home| home.join(".config")));
        let config = config.ok_or(ServiceVerbError::NoHome { what: "unit" })?;
        Ok(Self { path: config.join(FOLDER).join(UNIT_NAME) })
    }

    /// Reads what is there.
    pub(crate) fn read(&self) -> Result<UnitContent, ServiceVerbError> {
        match std::fs::symlink_metadata(&self.path) {
            Ok(found) if !found.is_file() => return Ok(UnitContent::Foreign),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(UnitContent::Absent),
            Err(error) => return Err(self.failure("read", error)),
        }
        let bytes = std::fs::read(&self.path).map_err(|error| self.failure("read", error))?;
        let text = String::from_utf8(bytes).ok();
        let read = text.and_then(|text| read_unit(&text).map(|unit| (text, unit)));
        Ok(read.map_or(UnitContent::Foreign, |(text, unit)| UnitContent::Written { text, unit }))
    }

    /// Writes the unit: the old one, or the whole new one, is there at each moment.
    pub(crate) fn write(&self, text: &str) -> Result<(), ServiceVerbError> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let draft = folder.join(format!(".{UNIT_NAME}.{}", std::process::id()));
        let written = std::fs::create_dir_all(folder).and_then(|()| {
            let mut options = std::fs::OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(MODE).open(&draft)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&draft, &self.path)
        });
        written.map_err(|error| {
            drop(std::fs::remove_file(&draft));
            self.failure("written", error)
        })
    }

    /// Removes the unit.
    pub(crate) fn remove(&self) -> Result<(), ServiceVerbError> {
        std::fs::remove_file(&self.path).map_err(|error| self.failure("removed", error))
    }

    /// Removes the link that makes a login start the unit, where systemd is not there to do it.
    pub(crate) fn remove_enabled_link(&self) -> Result<(), ServiceVerbError> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let link = folder.join(ENABLED_FOLDER).join(UNIT_NAME);
        let is_ours = std::fs::read_link(&link)
            .is_ok_and(|target| target == self.path || target == Path::new("..").join(UNIT_NAME));
        if !is_ours {
            return Ok(());
        }
        let failure = |cause| ServiceVerbError::File { path: link.clone(), act: "removed", cause };
        std::fs::remove_file(&link).map_err(failure)
    }

    fn failure(&self, act: &'static str, cause: std::io::Error) -> ServiceVerbError {
        ServiceVerbError::File { path: self.path.clone(), act, cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit_text::UnitParts;

    fn unit() -> String {
        let parts = UnitParts {
            program: "/usr/bin/palyra".into(),
            state_dir: "/state".into(),
            config: None,
            environment_file: "/config/environment".into(),
        };
        parts.text().unwrap()
    }

    #[test]
    fn the_folder_is_that_of_the_configuration() {
        let with = |pairs: &'static [(&str, &str)]| {
            let value =
                |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            UnitFile::of(value).map(|unit| unit.path).ok()
        };
        let at_home = Some(PathBuf::from("/h/.config/systemd/user/palyrad.service"));
        assert_eq!(with(&[("HOME", "/h")]), at_home);
        assert_eq!(with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "relative")]), at_home);
        let configured = Some(PathBuf::from("/c/systemd/user/palyrad.service"));
        assert_eq!(with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]), configured);
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn a_unit_is_ours_only_while_it_is_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = UnitFile { path: folder.path().join("systemd/user/palyrad.service") };
        assert_eq!(file.read().unwrap(), UnitContent::Absent);
        file.write(&unit()).unwrap();
        let UnitContent::Written { text, unit: written } = file.read().unwrap() else { panic!("ours") };
        assert_eq!((text, written.state_dir), (unit(), PathBuf::from("/state")));
        for edited in [unit() + "\n", unit().replace("Restart=on-failure", "Restart=no"), String::new()] {
            file.write(&edited).unwrap();
            assert_eq!(file.read().unwrap(), UnitContent::Foreign, "{edited}");
        }
        file.remove().unwrap();
        std::os::unix::fs::symlink("/dev/null", &file.path).unwrap();
        assert_eq!(file.read().unwrap(), UnitContent::Foreign, "a masked unit");
        let left: Vec<_> = std::fs::read_dir(file.path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "no draft stays: {left:?}");
    }

    #[test]
    fn only_the_link_to_the_unit_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = UnitFile { path: folder.path().join(UNIT_NAME) };
        let link = folder.path().join(ENABLED_FOLDER).join(UNIT_NAME);
        std::fs::create_dir(link.parent().unwrap()).unwrap();
        file.remove_enabled_link().unwrap();
        for (target, is_ours) in [(file.path.as_path(), true), (Path::new("/usr/lib/palyrad.service"), false)]
        {
            std::os::unix::fs::symlink(target, &link).unwrap();
            file.remove_enabled_link().unwrap();
            assert_eq!(link.is_symlink(), !is_ours);
        }
    }
}
