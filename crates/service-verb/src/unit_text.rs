//! The text of the unit: the one that ships in contrib, for one program, state directory and file of keys.
//!
//! Hardening and restarts are those of the shipped unit, word for word. Paths are quoted and escaped as systemd.unit(5) and
//! systemd.service(5) say. Invariant: the third line has the digest of all lines below it, so an edit shows.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::ServiceVerbError;

/// The unit that packages ship.
const SHIPPED: &str = include_str!("../../../contrib/systemd/palyrad.service");
const HEADER: &str = "# Written by `palyra admin service install`; `palyra admin service uninstall` removes it.\n\
                      # Own settings belong into a drop-in file: `systemctl --user edit palyrad`.\n";
const DIGEST_LINE: &str = "# sha256 of the lines below: ";
/// systemd ignores sections with this beginning.
const OWN_SECTION: &str = "[X-Palyra]\nStateDirectory=";

/// What a unit is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnitParts {
    pub(crate) program: PathBuf,
    pub(crate) state_dir: PathBuf,
    /// The file that was named on the command line.
    pub(crate) config: Option<PathBuf>,
    pub(crate) environment_file: PathBuf,
}

/// What can be read from a unit that is as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenUnit {
    pub(crate) state_dir: PathBuf,
}

impl UnitParts {
    /// Returns the text of the unit.
    pub(crate) fn text(&self) -> Result<String, ServiceVerbError> {
        let body = self.body()?;
        Ok(format!("{HEADER}{DIGEST_LINE}{}\n{body}", digest(&body)))
    }

    fn body(&self) -> Result<String, ServiceVerbError> {
        let program = startable(&self.program)?;
        let state_dir = plain(&self.state_dir)?;
        let mut place = format!("--state-dir {}", argument(state_dir));
        if let Some(config) = &self.config {
            let _ = write!(place, " --config {}", argument(plain(config)?));
        }
        let program = quoted(program);
        let environment_file = glob_pattern(plain(&self.environment_file)?);
        let mut body = String::new();
        let lines = SHIPPED.lines().skip_while(|line| *line != "[Unit]");
        for line in lines {
            match line.split_once('=').map_or(line, |parts| parts.0) {
                // systemd 252 knows no `notify-reload`, and this works with each.
                "Type" => {
                    body.push_str("Type=notify\n");
                    let _ = writeln!(body, "ExecReload={program} --no-start {place} config reload");
                }
                "ExecStart" => {
                    let _ = writeln!(body, "ExecStart={program} serve {place}");
                }
                "EnvironmentFile" => {
                    body.push_str("# Keys that `palyra.toml` names as env:NAME, mode 0600.\n");
                    let _ = writeln!(body, "EnvironmentFile=-{environment_file}");
                }
                // The manual page may be missing, and the line about versions is of `notify-reload`.
                "Documentation" => {}
                _ if line.starts_with("# Needs systemd 253") => {}
                _ => {
                    body.push_str(line);
                    body.push('\n');
                }
            }
        }
        let _ = write!(body, "\n{OWN_SECTION}{state_dir}\n");
        Ok(body)
    }
}

/// Reads a unit; `None` where it is not as it was written.
pub(crate) fn read_unit(text: &str) -> Option<WrittenUnit> {
    let rest = text.strip_prefix(HEADER)?.strip_prefix(DIGEST_LINE)?;
    let (written, body) = rest.split_once('\n')?;
    let is_whole = written == digest(body);
    let state_dir = body.rsplit_once(OWN_SECTION)?.1.strip_suffix('\n')?;
    is_whole.then(|| WrittenUnit { state_dir: state_dir.into() })
}

fn digest(body: &str) -> String {
    Sha256::digest(body).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns a path as text, where a line of a unit can have it.
fn plain(path: &Path) -> Result<&str, ServiceVerbError> {
    let refused = |why| ServiceVerbError::PathUnsuitable { path: path.to_owned(), why };
    let text = path.to_str().ok_or_else(|| refused("its name is not text"))?;
    if text.contains(char::is_control) {
        return Err(refused("it has a control character"));
    }
    if !path.is_absolute() {
        return Err(refused("it is not absolute"));
    }
    if text.ends_with(char::is_whitespace) {
        return Err(refused("it ends with a blank"));
    }
    Ok(text)
}

/// Returns the path of a program as text, where systemd starts a program with this path.
fn startable(program: &Path) -> Result<&str, ServiceVerbError> {
    let text = plain(program)?;
    if text.contains(['"', '\'', '\\']) {
        let why = "systemd starts no program whose path has a quote or a backslash";
        return Err(ServiceVerbError::PathUnsuitable { path: program.to_owned(), why });
    }
    Ok(text)
}

/// Quotes a word of a command line, and escapes specifiers.
fn quoted(word: &str) -> String {
    let mut text = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '%' => text.push_str("%%"),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

/// Quotes an argument, in which variables are replaced too.
fn argument(word: &str) -> String {
    quoted(word).replace('$', "$$")
}

/// Escapes the path of a file that systemd takes for a pattern, and does not unquote.
fn glob_pattern(path: &str) -> String {
    let mut text = String::new();
    for c in path.chars() {
        match c {
            '*' | '?' | '[' | '\\' => text.extend(['\\', c]),
            '%' => text.push_str("%%"),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests;
