//! What a run that waits asks.

use palyra_client::Client;
use palyra_types::RunId;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use crate::context::Context;
use crate::failure::Failure;
use crate::render::{Detail, question};
use palyra_screen_text::{clean_line, clean_text};

/// As much of a tape's end as is looked through for a question.
const ENTRIES_READ_MAX: u32 = 400;
const QUESTION_CHARS_MAX: usize = 400;
/// Approvals of one run that are shown; the rest is listed by `palyra approve list --run`.
const APPROVALS_SHOWN_MAX: u32 = 3;

/// Shows what a waiting run asks: its open approvals, or the question that its model asked.
pub(super) async fn show_question(context: &Context, client: &Client, run: &v1::Run) -> Result<(), Failure> {
    match run.waiting_for.as_str() {
        "approval" => show_approvals(context, client, run).await,
        "question" => {
            if let Some(asked) = open_question(client, run).await? {
                context.output.line(&format!("asks     {asked}"))?;
                context.output.line(&format!("answer   palyra runs answer {} \"...\"", run.run_id))?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

async fn show_approvals(context: &Context, client: &Client, run: &v1::Run) -> Result<(), Failure> {
    let request = v1::ListApprovalsRequest {
        run_id: run.run_id.clone(),
        page_size: APPROVALS_SHOWN_MAX,
        ..Default::default()
    };
    for approval in client.list_approvals(request).await?.approvals {
        let prompt = approval.prompt.clone().unwrap_or_default();
        let lines = question(&prompt, &approval.risk, Detail::Unattended);
        for (at, line) in lines.iter().flat_map(|line| line.text.split('\n')).enumerate() {
            let begin = if at == 0 { "asks     " } else { "         " };
            context.output.line(format!("{begin}{}", clean_text(line)).trim_end())?;
        }
        context.output.line(&format!("answer   palyra approve yes {}", approval.approval_id))?;
    }
    Ok(())
}

/// Returns the question of the last call that asks one and has no answer.
async fn open_question(client: &Client, run: &v1::Run) -> Result<Option<String>, Failure> {
    let Ok(id) = run.run_id.parse::<RunId>() else { return Ok(None) };
    let after = run.last_tape_seq.saturating_sub(ENTRIES_READ_MAX);
    let page = client.read_tape(id, after, ENTRIES_READ_MAX).await?;
    Ok(question_in(&page.entries))
}

fn question_in(entries: &[v1::TapeEntry]) -> Option<String> {
    let started = entries.iter().rev().find_map(|entry| match &entry.event {
        Some(Event::ToolStarted(started)) if started.contract == "local" => Some(started.effect_id),
        _ => None,
    })?;
    let arguments = entries.iter().find_map(|entry| match &entry.event {
        Some(Event::ToolProposed(proposed)) if proposed.effect_id == started => Some(&proposed.arguments),
        _ => None,
    })?;
    let arguments: serde_json::Value = serde_json::from_str(arguments).ok()?;
    Some(clean_line(arguments.get("question")?.as_str()?, QUESTION_CHARS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_is_that_of_the_call_that_waits() {
        let entry = |event| v1::TapeEntry { event: Some(event), ..Default::default() };
        let proposed = |effect_id, question: &str| {
            entry(Event::ToolProposed(v1::ToolProposed {
                effect_id,
                tool: "ask_user".to_owned(),
                arguments: serde_json::json!({ "question": question }).to_string(),
                ..Default::default()
            }))
        };
        let started = |effect_id| {
            let contract = "local".to_owned();
            entry(Event::ToolStarted(v1::ToolStarted { effect_id, contract, ..Default::default() }))
        };
        let entries = [proposed(1, "first?"), started(1), proposed(2, "which\nfolder?"), started(2)];
        assert_eq!(question_in(&entries).as_deref(), Some("which folder?"));
        assert_eq!(question_in(&entries[..2]).as_deref(), Some("first?"));
        assert_eq!(question_in(&entries[..1]), None);
    }
}
