//! The manager of user services, by `systemctl --user`.

use std::path::Path;
use std::process::{Output, Stdio};

use tokio::process::Command;

use crate::error::ServiceVerbError;

const PROGRAM: &str = "systemctl";
const OF_USER: &str = "--user";
const WHY_CHARS_MAX: usize = 400;

/// A manager that answers.
#[derive(Debug)]
pub(crate) struct UserSystemd;

impl UserSystemd {
    /// Looks for the manager.
    ///
    /// # Errors
    /// [`ServiceVerbError::NoManager`] where there is none, such as in most containers.
    pub(crate) async fn reach(state_dir: &Path) -> Result<Self, ServiceVerbError> {
        let missing = |why| ServiceVerbError::NoManager { why, state_dir: state_dir.to_owned() };
        match call(&["show", "--property=Version"]).await {
            Ok(output) if output.status.success() => Ok(Self),
            Ok(output) => Err(missing(cause_of(&output))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(missing(format!("there is no program `{PROGRAM}`")))
            }
            Err(error) => Err(missing(format!("`{PROGRAM}` could not be started: {error}"))),
        }
    }

    /// Lets the manager do something.
    ///
    /// # Errors
    /// [`ServiceVerbError::Systemd`].
    pub(crate) async fn act(&self, arguments: &[&str]) -> Result<(), ServiceVerbError> {
        let failure = |why| ServiceVerbError::Systemd {
            command: format!("{PROGRAM} {OF_USER} {}", arguments.join(" ")),
            why,
        };
        let output = call(arguments).await.map_err(|error| failure(error.to_string()))?;
        if output.status.success() { Ok(()) } else { Err(failure(cause_of(&output))) }
    }

    /// Returns a property of a unit; empty where it is not known.
    pub(crate) async fn property(&self, unit: &str, name: &str) -> String {
        let property = format!("--property={name}");
        let output = call(&["show", "--value", &property, unit]).await;
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
    }
}

async fn call(arguments: &[&str]) -> std::io::Result<Output> {
    let mut command = Command::new(PROGRAM);
    command.arg(OF_USER).args(arguments).stdin(Stdio::null()).env("LC_ALL", "C.UTF-8");
    command.output().await
}

/// Returns what a program printed about its failure, as one line.
fn cause_of(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    let line: String = line.chars().filter(|c| !c.is_control()).take(WHY_CHARS_MAX).collect();
    if line.is_empty() { format!("it ended with {}", output.status) } else { line }
}
