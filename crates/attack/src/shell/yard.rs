//! Where commands are tried: a workspace, what lies outside, and the tools that start programs.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use palyra_commands::{CommandSettings, CommandTools};
use palyra_sandbox::Sandbox;
use serde_json::json;
use tokio::process::Command;
use tokio::time::timeout;

use crate::calls::{CallOutcome, SystemClock, call};
use crate::trial_folder::{SECRET, TrialFolder};

/// How long a control may take.
const SPAN: Duration = Duration::from_secs(20);
/// What a person's login gives every program; GNU make runs nothing from its flags without it.
pub(crate) const SHELL: &str = "/bin/sh";
/// The file that says that something was run.
pub(crate) const RAN: &str = "ran";

/// One attempt at a workspace; gone when dropped.
pub(crate) struct ShellYard {
    pub(crate) trial_folder: TrialFolder,
    before: String,
}

impl ShellYard {
    /// Makes a workspace with files that tell when they were reached.
    pub(crate) fn new() -> io::Result<Self> {
        let trial_folder = TrialFolder::new()?;
        fs::write(trial_folder.outside().join("file"), SECRET)?;
        let mut yard = Self { trial_folder, before: String::new() };
        yard.before = yard.look();
        Ok(yard)
    }

    /// Returns the workspace.
    pub(crate) fn work(&self) -> PathBuf {
        self.trial_folder.work()
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, text)
    }

    /// Writes a program of the workspace.
    pub(crate) fn program(&self, name: &str, text: &str) -> io::Result<()> {
        self.write(name, text)?;
        fs::set_permissions(self.work().join(name), fs::Permissions::from_mode(0o755))
    }

    /// Puts the paths of this yard where a word has placeholders.
    pub(crate) fn word(&self, word: &str) -> String {
        let work = self.work().display().to_string();
        word.replace("{OUT}", &self.trial_folder.outside().display().to_string()).replace("{WORK}", &work)
    }

    /// Returns the tools that start programs, as a daemon without configuration has them.
    pub(crate) fn tools(&self, sandbox: &Sandbox) -> CommandTools {
        tools(&self.trial_folder, sandbox)
    }

    /// Runs a command as a tool, with nothing of our own environment in its way.
    pub(crate) async fn as_tool(&self, sandbox: &Sandbox, argv: &[String]) -> CallOutcome {
        call(&self.tools(sandbox), "run_command", &json!({ "argv": argv }), &self.work()).await
    }

    /// Runs a command as anything is started; `None` when there is no such program.
    pub(crate) async fn as_is(
        &self,
        argv: &[String],
        variables: &[(String, String)],
    ) -> io::Result<Option<String>> {
        let Some((program, arguments)) = argv.split_first() else { return Ok(None) };
        let mut plain = Command::new(program);
        plain
            .args(arguments)
            .env("HOME", self.trial_folder.scratch())
            .env("SHELL", SHELL)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.work())
            .kill_on_drop(true);
        let started = plain.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = match started {
            Ok(child) => child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let output = timeout(SPAN, child.wait_with_output()).await.map_err(io::Error::other)??;
        let text = [output.stdout, output.stderr].concat();
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Says what was touched, given what was printed.
    pub(crate) fn touched(&self, printed: &str) -> Vec<String> {
        let mut touched = Vec::new();
        if self.work().join(RAN).exists() {
            touched.push("it was run".to_owned());
        }
        if self.look() != self.before {
            touched.push("the folder outside changed".to_owned());
        }
        if printed.contains(SECRET) {
            touched.push("the secret was seen".to_owned());
        }
        touched
    }

    fn look(&self) -> String {
        let mut lines = Vec::new();
        for entry in fs::read_dir(self.trial_folder.outside()).into_iter().flatten().flatten() {
            lines.push(format!("{:?} {:?}", entry.file_name(), fs::read(entry.path()).unwrap_or_default()));
        }
        lines.sort();
        lines.join("\n")
    }
}

/// Makes them.
pub(crate) fn tools(trial_folder: &TrialFolder, sandbox: &Sandbox) -> CommandTools {
    let settings = CommandSettings::new(trial_folder.scratch().join("aside"));
    CommandTools::new(settings, Arc::new(sandbox.clone()), Arc::new(SystemClock), None)
}

/// Turns words that were written down into owned ones.
pub(crate) fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
