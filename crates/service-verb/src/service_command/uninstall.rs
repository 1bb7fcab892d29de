//! Removing what `install` wrote, and nothing else.

use palyra_terminal::{NoteKind, ReportForm};
use palyra_types::ErrorCode;
use serde_json::json;

use super::{ServiceCommand, shown, unit_file};
use crate::error::{ServiceVerbError, path_word};
use crate::unit_file::{UNIT_NAME, UnitContent};
use crate::user_systemd::UserSystemd;

impl ServiceCommand<'_> {
    pub(super) async fn uninstall(&self, form: ReportForm) -> Result<(), ServiceVerbError> {
        let unit = unit_file()?;
        let was_there = match unit.read()? {
            UnitContent::Absent => false,
            UnitContent::Written { .. } => true,
            UnitContent::Foreign => {
                let path = path_word(&unit.path);
                let mend = format!(
                    "it is left alone; `systemctl --user disable --now palyrad` stops the service, `rm {path}` removes the unit"
                );
                return Err(ServiceVerbError::UnitEdited { unit: unit.path.clone(), mend });
            }
        };
        if was_there {
            match UserSystemd::reach(&self.state_dir).await {
                Ok(manager) => {
                    manager.act(&["disable", "--now", UNIT_NAME]).await?;
                    unit.remove()?;
                    manager.act(&["daemon-reload"]).await?;
                }
                Err(error) if error.code() == ErrorCode::ServiceManagerMissing => {
                    unit.remove_enabled_link()?;
                    unit.remove()?;
                }
                Err(error) => return Err(error),
            }
        }
        if form == ReportForm::Json {
            return Ok(self.report(&json!({ "unit": shown(&unit.path), "was_there": was_there }))?);
        }
        let path = unit.path.display();
        if was_there {
            self.output.note(NoteKind::Good, &format!("the service is stopped and {path} is removed"));
            let note =
                "state directory and configuration stay; the next command starts a daemon when it needs one";
            self.output.note(NoteKind::Info, note);
        } else {
            self.output.note(NoteKind::Info, &format!("there is no unit at {path}"));
        }
        Ok(())
    }
}
