//! Showing the unit and the state of the service.

use palyra_terminal::{NoteKind, ReportForm};
use serde_json::json;

use super::{ServiceCommand, service_pid, shown, unit_file};
use crate::error::ServiceVerbError;
use crate::unit_file::{UNIT_NAME, UnitContent};
use crate::user_systemd::UserSystemd;

/// What systemd says.
struct ManagerReport {
    enabled: String,
    state: String,
    pid: Option<u32>,
}

impl ServiceCommand<'_> {
    pub(super) async fn status(&self, form: ReportForm) -> Result<(), ServiceVerbError> {
        let unit = unit_file()?;
        let content = unit.read()?;
        let is_current = match &content {
            UnitContent::Written { text, .. } => self.parts()?.text().is_ok_and(|now| now == *text),
            UnitContent::Absent | UnitContent::Foreign => false,
        };
        let (word, state_dir) = match &content {
            UnitContent::Absent => ("absent", None),
            UnitContent::Foreign => ("edited", None),
            UnitContent::Written { unit, .. } => ("installed", Some(shown(&unit.state_dir))),
        };
        let manager = match UserSystemd::reach(&self.state_dir).await {
            Ok(manager) => Ok(ask(&manager).await),
            Err(error) => Err(error),
        };
        if form == ReportForm::Json {
            let found = manager.as_ref().ok();
            let report = json!({
                "unit": shown(&unit.path),
                "file": word,
                "is_current": is_current,
                "state_dir": state_dir,
                "has_manager": found.is_some(),
                "enabled": found.map(|found| found.enabled.clone()),
                "state": found.map(|found| found.state.clone()),
                "pid": found.and_then(|found| found.pid),
            });
            return Ok(self.report(&report)?);
        }
        self.output.line(&format!("unit       {} ({word})", unit.path.display()))?;
        if let Some(dir) = state_dir {
            self.output.line(&format!("serves     {dir}"))?;
        }
        match manager {
            Ok(found) => {
                let process = found.pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
                self.output.line(&format!("service    {}, {}{process}", found.state, found.enabled))?;
            }
            Err(error) => self.output.note(NoteKind::Doubt, &error.to_string()),
        }
        if word == "installed" && !is_current {
            let note = "`palyra admin service install` would write another unit: that of this program and state directory";
            self.output.note(NoteKind::Info, note);
        }
        Ok(())
    }
}

async fn ask(manager: &UserSystemd) -> ManagerReport {
    let known = |text: String, none: &str| if text.is_empty() { none.to_owned() } else { text };
    ManagerReport {
        enabled: known(manager.property(UNIT_NAME, "UnitFileState").await, "not installed"),
        state: known(manager.property(UNIT_NAME, "ActiveState").await, "unknown"),
        pid: service_pid(manager).await,
    }
}
