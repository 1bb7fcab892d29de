//! What happens on the way to a daemon, in lines for a person.

use std::path::Path;

use palyra_client::{DaemonNotice, KeptEntries};
use palyra_explain::variables_not_used;
use palyra_screen_text::span;
use palyra_terminal::NoteKind;

/// What to do about policies that cannot be used.
const POLICY_MEND: &str =
    "`palyra policy check` names each mistake; once it passes, `palyra config reload` applies the policies";

/// Returns the lines about something that happened; `file` is the configuration file of the command line.
#[must_use]
pub fn notice_notes(notice: &DaemonNotice, file: Option<&Path>) -> Vec<(NoteKind, String)> {
    let note = match notice {
        DaemonNotice::Starting { .. } => (NoteKind::Info, "starting the daemon".to_owned()),
        DaemonNotice::Rebuilding { done, total } => (
            NoteKind::Info,
            format!("the daemon rebuilds the records of its journal: {done} of {total} entries"),
        ),
        DaemonNotice::Started { model, took } => {
            (NoteKind::Info, format!("the daemon is ready in {}, model {model}", span(*took)))
        }
        DaemonNotice::DeniesAll { why } => {
            return vec![(NoteKind::Doubt, why.clone()), (NoteKind::Info, POLICY_MEND.to_owned())];
        }
        DaemonNotice::NotAnswering { pid } => {
            (NoteKind::Doubt, format!("the daemon (process {pid}) does not answer; waiting for it"))
        }
        DaemonNotice::ReplacingOtherBuild => {
            (NoteKind::Info, "the daemon that runs is of another build and idle; replacing it".to_owned())
        }
        DaemonNotice::ReplacingOtherModel { in_force, own } => (
            NoteKind::Info,
            format!("replacing the idle daemon, which uses {in_force}: this environment selects {own}"),
        ),
        DaemonNotice::OtherModel { in_force, own } => (
            NoteKind::Doubt,
            format!("the daemon came back with {in_force}, while this environment selects {own}"),
        ),
        DaemonNotice::VariablesNotUsed { variables, in_force, place } => {
            (NoteKind::Doubt, variables_not_used(variables, in_force, place, file))
        }
        DaemonNotice::OtherLog { before, now, entries, kept: KeptEntries::All } => (
            NoteKind::Info,
            format!(
                "the journal was opened again as log {now}, and proves that it continues all {entries} entries that were \
                 seen of log {before}"
            ),
        ),
        DaemonNotice::OtherLog { before, now, entries, kept: KeptEntries::NotAll } => (
            NoteKind::Doubt,
            format!(
                "the journal here is log {now}; this daemon served log {before} before, of which {entries} \
                 entries were seen, and does not continue all of them: it is older, or another one. If you did not restore, \
                 replace or reopen it, another person did"
            ),
        ),
        DaemonNotice::HeadNotKept { cause } => {
            (NoteKind::Doubt, format!("the journal's newest head could not be kept: {cause}"))
        }
        DaemonNotice::OtherBuildKept { open_runs } => {
            let why = match open_runs {
                Some(0) | None => "it does not make room".to_owned(),
                Some(open) => format!("it has {open} open"),
            };
            let text = format!(
                "the daemon that runs is of another build; using it, since {why} (`palyra admin stop`)"
            );
            (NoteKind::Doubt, text)
        }
    };
    vec![note]
}
