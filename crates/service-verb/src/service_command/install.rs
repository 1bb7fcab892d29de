//! Installing: the checks, the daemon that runs already, the file, and systemd, in this order.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use palyra_terminal::{NoteKind, ReportForm};
use serde_json::json;

use super::{ServiceCommand, service_pid, shown, unit_file};
use crate::error::{ServiceVerbError, path_word};
use crate::running_daemon::{DaemonStarter, RunningDaemon};
use crate::unit_file::{UNIT_NAME, UnitContent, UnitFile};
use crate::unit_text::UnitParts;
use crate::user_systemd::UserSystemd;

/// What others may do with a file, by its mode.
const OTHERS: u32 = 0o077;

/// What happens to a unit that `install` would not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptUnits {
    Refused,
    Replaced,
}

impl From<bool> for KeptUnits {
    fn from(force: bool) -> Self {
        if force { Self::Replaced } else { Self::Refused }
    }
}

/// Whether the unit in place is the one that would be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnitChange {
    Same,
    New,
}

impl ServiceCommand<'_> {
    pub(super) async fn install(&self, kept: KeptUnits, form: ReportForm) -> Result<(), ServiceVerbError> {
        let parts = self.parts()?;
        let text = parts.text()?;
        let unit = unit_file()?;
        let manager = UserSystemd::reach(&parts.state_dir).await?;
        let change = change_of(&unit, &parts, &text, kept)?;
        let stopped = self.stop_auto_started(&manager).await?;
        if change == UnitChange::New {
            unit.write(&text)?;
        }
        manager.act(&["daemon-reload"]).await?;
        manager.act(&["enable", UNIT_NAME]).await?;
        let start = if change == UnitChange::New { "restart" } else { "start" };
        manager.act(&[start, UNIT_NAME]).await?;
        let state = manager.property(UNIT_NAME, "ActiveState").await;
        if form == ReportForm::Json {
            let report = json!({
                "unit": shown(&unit.path),
                "state_dir": shown(&parts.state_dir),
                "program": shown(&parts.program),
                "environment_file": shown(&parts.environment_file),
                "variables_not_copied": self.variables_not_copied(),
                "was_changed": change == UnitChange::New,
                "stopped_daemon": stopped,
                "state": state,
            });
            return Ok(self.report(&report)?);
        }
        self.tell_installed(&unit, &parts, stopped);
        Ok(())
    }

    /// Stops a daemon that a command started: two daemons cannot serve one state directory.
    async fn stop_auto_started(&self, manager: &UserSystemd) -> Result<Option<u32>, ServiceVerbError> {
        let service = service_pid(manager).await;
        let Some(running) = RunningDaemon::find(self.daemon.clone(), service).await? else { return Ok(None) };
        match running.starter {
            DaemonStarter::Service => Ok(None),
            DaemonStarter::Person => {
                Err(ServiceVerbError::DaemonRuns { state_dir: self.state_dir.clone(), pid: running.pid })
            }
            DaemonStarter::Command => {
                running.client.stop_daemon().await?;
                Ok(Some(running.pid))
            }
        }
    }

    fn tell_installed(&self, unit: &UnitFile, parts: &UnitParts, stopped: Option<u32>) {
        let output = self.output;
        if let Some(pid) = stopped {
            let note = format!("the daemon that a command had started (process {pid}) was stopped first");
            output.note(NoteKind::Info, &note);
        }
        let place = parts.state_dir.display();
        output.note(NoteKind::Good, &format!("the service serves {place}, now and from each login on"));
        output.note(NoteKind::Info, &format!("its unit is {}", unit.path.display()));
        let linger = "`loginctl enable-linger` lets it run while you are not logged in";
        output.note(NoteKind::Info, linger);
        output.note(NoteKind::Info, &keys_note(&self.variables_not_copied(), &parts.environment_file));
        if is_open_to_others(&parts.environment_file) {
            let file = path_word(&parts.environment_file);
            output.note(NoteKind::Doubt, &format!("others may use {file}: `chmod 600 {file}`"));
        }
    }
}

/// Says where keys belong.
fn keys_note(names: &[String], file: &Path) -> String {
    let copied = match names {
        [] => "keys of an environment are not copied".to_owned(),
        names => format!("not copied from this environment: {}", names.join(", ")),
    };
    format!(
        "{copied}; a key that `palyra.toml` names as env:NAME belongs into {}, a line NAME=value, mode 0600, then \
         `systemctl --user restart palyrad`",
        file.display()
    )
}

fn is_open_to_others(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & OTHERS != 0)
}

/// Compares the unit in place with the one that is to be written, and refuses to replace a person's.
fn change_of(
    unit: &UnitFile,
    parts: &UnitParts,
    text: &str,
    kept: KeptUnits,
) -> Result<UnitChange, ServiceVerbError> {
    let path = unit.path.clone();
    match unit.read()? {
        UnitContent::Written { text: before, .. } if before == text => Ok(UnitChange::Same),
        _ if kept == KeptUnits::Replaced => Ok(UnitChange::New),
        UnitContent::Absent => Ok(UnitChange::New),
        UnitContent::Written { unit: before, .. } if before.state_dir == parts.state_dir => {
            Ok(UnitChange::New)
        }
        UnitContent::Written { unit: before, .. } => {
            Err(ServiceVerbError::OtherStateDir { unit: path, state_dir: before.state_dir })
        }
        UnitContent::Foreign => {
            let mend = "`palyra admin service install --force` replaces it, `--print` shows the new one; own settings belong into a \
                        drop-in file (`systemctl --user edit palyrad`)";
            Err(ServiceVerbError::UnitEdited { unit: path, mend: mend.to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(state_dir: &str) -> UnitParts {
        UnitParts {
            program: "/usr/bin/palyra".into(),
            state_dir: state_dir.into(),
            config: None,
            environment_file: "/config/environment".into(),
        }
    }

    #[test]
    fn a_unit_is_replaced_only_where_it_is_ours_and_of_this_state_directory() {
        let folder = tempfile::tempdir().unwrap();
        let unit = UnitFile { path: folder.path().join(UNIT_NAME) };
        let text = parts("/here").text().unwrap();
        let change = |kept| change_of(&unit, &parts("/here"), &text, kept);
        assert_eq!(change(KeptUnits::Refused).unwrap(), UnitChange::New);
        unit.write(&text).unwrap();
        assert_eq!(change(KeptUnits::Refused).unwrap(), UnitChange::Same);
        let older = UnitParts { program: "/opt/palyra".into(), ..parts("/here") };
        unit.write(&older.text().unwrap()).unwrap();
        assert_eq!(change(KeptUnits::Refused).unwrap(), UnitChange::New);
        unit.write(&parts("/there").text().unwrap()).unwrap();
        let refused = change(KeptUnits::Refused);
        assert!(matches!(refused, Err(ServiceVerbError::OtherStateDir { .. })), "{refused:?}");
        unit.write(&text.replace("RestartSec=2", "RestartSec=9")).unwrap();
        let refused = change(KeptUnits::Refused);
        assert!(matches!(refused, Err(ServiceVerbError::UnitEdited { .. })), "{refused:?}");
        assert_eq!(change(KeptUnits::Replaced).unwrap(), UnitChange::New);
    }
}
