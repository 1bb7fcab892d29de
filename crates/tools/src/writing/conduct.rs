//! Prepares a call, and carries it out as it was prepared.

use palyra_ports::PreparedCall;
use palyra_tool_kit::ExecutionAttempt;
use palyra_tool_kit::ToolResult;
use palyra_types::Content;

use super::change::{FileChange, work_out};
use super::end::WriteEnd;
use super::order::{WriteOrder, WritePurpose};
use super::pace::CallPace;
use super::plan::{WritePlan, describe, pre_images};
use super::preview::preview;
use super::resume::resume;
use super::rollout::Rollout;
use super::twins::twin_note;
use crate::failure::ToolFailure;
use crate::workspace::{SlotContent, Workspace};

/// Works out what a call would do; changes nothing.
pub(crate) fn prepare(workspace: &Workspace, order: &WriteOrder) -> Result<PreparedCall, ToolFailure> {
    let changes = work_out(workspace, order.tasks())?;
    let shown = preview(&changes, &twin_notes(workspace, &changes));
    let unchanged = match order.purpose() {
        WritePurpose::Change => unchanged_text(&changes),
        WritePurpose::Rehearse => String::new(),
    };
    let (changes, summary) = match order.purpose() {
        WritePurpose::Change => (changes, shown.summary),
        WritePurpose::Rehearse => (Vec::new(), format!("changes nothing; it would be: {}", shown.summary)),
    };
    Ok(PreparedCall {
        body: Content::new(order.plan_of(&changes).body()),
        pre_images: pre_images(changes),
        summary: Content::new(summary),
        preview: Content::new(shown.diff),
        unchanged: Content::new(unchanged),
        ..PreparedCall::default()
    })
}

/// Says that every file has its content already; nothing where one would change.
fn unchanged_text(changes: &[FileChange]) -> String {
    match changes {
        [only] if only.is_none() => {
            format!("`{}` has this content already; nothing was changed", only.path.show())
        }
        [_, _, ..] if changes.iter().all(FileChange::is_none) => {
            format!("all {} files have this content already; nothing was changed", changes.len())
        }
        _ => String::new(),
    }
}

fn twin_notes(workspace: &Workspace, changes: &[FileChange]) -> Vec<String> {
    let made = changes.iter().filter(|change| change.before == SlotContent::Absent);
    made.filter_map(|change| workspace.slot(&change.path).ok().flatten().and_then(|slot| twin_note(&slot)))
        .collect()
}

/// Does what a call was prepared to do, or finishes it.
pub(crate) fn execute(
    workspace: &Workspace,
    order: &WriteOrder,
    recorded: &str,
    execution: ExecutionAttempt,
    key: &[u8; 32],
    pace: &CallPace<'_>,
) -> Result<ToolResult, WriteEnd> {
    let Some(plan) = WritePlan::read(recorded) else {
        return Err(match execution {
            ExecutionAttempt::First => {
                ToolFailure::System("the call was not prepared; nothing was done".to_owned()).into()
            }
            ExecutionAttempt::Again => WriteEnd::Lost,
        });
    };
    if order.purpose() == WritePurpose::Rehearse {
        let changes = work_out(workspace, order.tasks())?;
        return Ok(output(format!(
            "nothing was changed; the patch applies: {}",
            preview(&changes, &[]).summary
        )));
    }
    match execution {
        ExecutionAttempt::First => {
            let changes = work_out(workspace, order.tasks())?;
            if order.plan_of(&changes) != plan {
                return Err(drifted(&plan, &changes).into());
            }
            Rollout::with(Vec::new(), pace).run(workspace, changes, key)?;
        }
        ExecutionAttempt::Again => resume(workspace, order, &plan, key, pace)?,
    }
    Ok(output(describe(&plan)))
}

fn drifted(plan: &WritePlan, changes: &[FileChange]) -> ToolFailure {
    let differs = changes.iter().find(|change| {
        let path = change.path.as_path().to_string_lossy();
        !plan.files.iter().any(|file| file.path == path && file.was(change.before_sha256()))
    });
    let named = differs.map_or("what it depends on".to_owned(), |change| format!("`{}`", change.path.show()));
    ToolFailure::Conflict(format!(
        "{named} changed since this call was prepared, so nothing was done; read it again"
    ))
}

fn output(text: String) -> ToolResult {
    ToolResult { text, ..ToolResult::default() }
}

#[cfg(test)]
mod tests;
