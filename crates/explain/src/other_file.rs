//! The running daemon reads another configuration file than the one of a command line.
//!
//! A daemon reads one file from its start on, while each command line can name another.

use std::path::PathBuf;

use palyra_screen_text::shell_word;

/// The two files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherFile {
    /// That of the command line.
    pub own: OwnFile,
    /// That of the daemon.
    pub read: PathBuf,
}

/// The configuration file of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnFile {
    /// `--config` names it.
    Named(PathBuf),
    /// It is at the usual place.
    Usual(PathBuf),
}

impl OwnFile {
    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &PathBuf {
        match self {
            Self::Named(path) | Self::Usual(path) => path,
        }
    }
}

impl OtherFile {
    /// Says which file is read instead of which.
    #[must_use]
    pub fn message(&self) -> String {
        format!("the running daemon reads {}, not {}", self.read.display(), self.own.path().display())
    }

    /// Says that an attempt to have the file read again did nothing.
    #[must_use]
    pub fn not_read(&self) -> String {
        format!("{} was not read again: {}", self.own.path().display(), self.message())
    }

    /// Returns what puts the file in force. The options in use are added to the command where it is printed.
    #[must_use]
    pub fn mend(&self) -> String {
        let file = self.own.path().display().to_string();
        match &self.own {
            OwnFile::Named(_) => format!(
                "`palyra admin stop`, and the next command with `--config {}` starts a daemon that reads it",
                shell_word(&file)
            ),
            OwnFile::Usual(_) => {
                format!("`palyra admin stop`, and the next command starts a daemon that reads {file}")
            }
        }
    }

    /// Says so before a run, which goes to the daemon as it is.
    #[must_use]
    pub fn not_used(&self) -> String {
        format!(
            "{} is not used: the running daemon reads {}; {}",
            self.own.path().display(),
            self.read.display(),
            self.mend()
        )
    }

    /// Says so after a command that was done all the same.
    #[must_use]
    pub fn note(&self) -> String {
        format!("{}; {}", self.message(), self.mend())
    }

    /// Says behind a list of rules that they are not in force.
    #[must_use]
    pub fn of_rules(&self) -> String {
        format!("; they are not in force, because {}", self.note())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_is_read_is_named_and_no_reload() {
        let read = PathBuf::from("/home/a/palyra.toml");
        let named = OtherFile { own: OwnFile::Named("/tmp/my o.toml".into()), read: read.clone() };
        let usual = OtherFile { own: OwnFile::Usual("/home/b/palyra.toml".into()), read };
        assert_eq!(
            named.note(),
            "the running daemon reads /home/a/palyra.toml, not /tmp/my o.toml; `palyra admin stop`, and the next command with \
             `--config '/tmp/my o.toml'` starts a daemon that reads it"
        );
        assert!(usual.mend().contains(", and the next command starts a daemon"), "{}", usual.mend());
        assert!(named.not_read().starts_with("/tmp/my o.toml was not read again: the running daemon reads"));
        for said in [named.of_rules(), usual.of_rules(), named.not_read()] {
            assert!(!said.contains("reload"), "{said}");
        }
    }
}
