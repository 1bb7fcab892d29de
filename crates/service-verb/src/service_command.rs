//! Carrying out the verb.

mod install;
mod status;
mod uninstall;

use std::path::{Path, PathBuf};

use palyra_client::ConnectOptions;
use palyra_terminal::{Output, OutputError, ReportForm};
use palyra_types::state_dir::config_dir;
use serde_json::Value;

use crate::error::ServiceVerbError;
use crate::service_verb::ServiceVerb;
use crate::unit_file::{UNIT_NAME, UnitFile};
use crate::unit_text::UnitParts;
use crate::user_systemd::UserSystemd;

const ENVIRONMENT_FILE: &str = "environment";
/// Variables that replace settings begin so.
const SETTING_PREFIX: &str = "PALYRA__";

/// What the verb needs of the process.
pub struct ServiceCommand<'c> {
    /// Where to print.
    pub output: &'c Output,
    /// The state directory.
    pub state_dir: PathBuf,
    /// The configuration file that was named on the command line.
    pub config: Option<PathBuf>,
    /// How to reach a daemon that runs.
    pub daemon: ConnectOptions,
    /// Names of variables of this environment that select a model.
    pub model_variables: Vec<&'static str>,
}

impl ServiceCommand<'_> {
    /// Does what was typed.
    ///
    /// # Errors
    /// [`ServiceVerbError`].
    pub async fn run(self, verb: ServiceVerb) -> Result<(), ServiceVerbError> {
        match verb {
            ServiceVerb::Install { print: true, json, .. } => self.print(json.into()),
            ServiceVerb::Install { force, json, .. } => self.install(force.into(), json.into()).await,
            ServiceVerb::Status { json } => self.status(json.into()).await,
            ServiceVerb::Uninstall { json } => self.uninstall(json.into()).await,
        }
    }

    fn print(&self, form: ReportForm) -> Result<(), ServiceVerbError> {
        let unit = unit_file()?;
        let text = self.parts()?.text()?;
        if form == ReportForm::Json {
            let report = serde_json::json!({ "unit": shown(&unit.path), "text": text });
            return Ok(self.output.json(&report)?);
        }
        Ok(self.output.verbatim(&text)?)
    }

    /// Returns what the unit is made of here.
    fn parts(&self) -> Result<UnitParts, ServiceVerbError> {
        let program = std::env::current_exe().map_err(|cause| ServiceVerbError::File {
            path: "/proc/self/exe".into(),
            act: "read",
            cause,
        })?;
        let folder = config_dir(|name| std::env::var_os(name));
        let folder = folder.ok_or(ServiceVerbError::NoHome { what: "file of keys" })?;
        Ok(UnitParts {
            program,
            state_dir: absolute(&self.state_dir),
            config: self.config.as_deref().map(absolute),
            environment_file: folder.join(ENVIRONMENT_FILE),
        })
    }

    /// Returns the names of the variables of this environment that a service does not have.
    fn variables_not_copied(&self) -> Vec<String> {
        let settings = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let settings = settings.filter(|name| name.starts_with(SETTING_PREFIX));
        let mut names: Vec<String> =
            settings.chain(self.model_variables.iter().map(|name| (*name).to_owned())).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn report(&self, report: &Value) -> Result<(), OutputError> {
        self.output.json(report)
    }
}

fn unit_file() -> Result<UnitFile, ServiceVerbError> {
    UnitFile::of(|name| std::env::var_os(name))
}

async fn service_pid(manager: &UserSystemd) -> Option<u32> {
    manager.property(UNIT_NAME, "MainPID").await.parse().ok().filter(|pid| *pid != 0)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
