//! Questions that models asked and that wait for a person's words.

use palyra_client::Client;
use palyra_types::RunId;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use crate::failure::Failure;
use palyra_run_view::model_question;
use palyra_screen_text::{count, short_id};

/// As much of a tape's end as is looked through for a question.
const ENTRIES_READ_MAX: u32 = 400;
/// Runs that are looked through for those that wait.
const PAGE_SIZE_MAX: u32 = 500;
/// Said where no call waits.
pub(super) const NOTHING_TO_APPROVE: &str = "nothing waits for an approval";

/// Returns the question of the last call that asks one and has no answer.
pub(super) async fn open_question(client: &Client, run: &v1::Run) -> Result<Option<String>, Failure> {
    let Ok(id) = run.run_id.parse::<RunId>() else { return Ok(None) };
    if run.waiting_for() != v1::WaitReason::Question {
        return Ok(None);
    }
    let after = run.last_tape_seq.saturating_sub(ENTRIES_READ_MAX);
    let page = client.read_tape(id, after, ENTRIES_READ_MAX).await?;
    Ok(question_in(&page.entries))
}

fn question_in(entries: &[v1::TapeEntry]) -> Option<String> {
    let started = entries.iter().rev().find_map(|entry| match &entry.event {
        Some(Event::ToolStarted(started)) if started.contract() == v1::EffectContract::Local => {
            Some(started.effect_id)
        }
        _ => None,
    })?;
    entries.iter().find_map(|entry| match &entry.event {
        Some(Event::ToolProposed(proposed)) if proposed.effect_id == started => {
            model_question(&proposed.tool, &proposed.arguments)
        }
        _ => None,
    })
}

/// Says where nothing waits for an approval: which runs wait for words instead, newest first.
pub(super) async fn nothing_to_approve(client: &Client) -> Result<String, Failure> {
    let request = v1::ListRunsRequest {
        only: v1::RunFilter::Open.into(),
        page_size: PAGE_SIZE_MAX,
        ..Default::default()
    };
    let runs = client.call(request).await?.runs;
    let waiting: Vec<&v1::Run> = runs.iter().filter(|run| waits_for_words(run)).collect();
    let Some(newest) = waiting.first() else { return Ok(NOTHING_TO_APPROVE.to_owned()) };
    let run = short_id(&newest.run_id);
    let question = open_question(client, newest).await?.map(|asked| format!(" ({asked})"));
    let more = if waiting.len() > 1 { "; `palyra runs list --open` lists them" } else { "" };
    let verb = if waiting.len() > 1 { "wait" } else { "waits" };
    Ok(format!(
        "{NOTHING_TO_APPROVE}; {} {verb} for an answer: `palyra runs answer {run} TEXT`{}{more}",
        count(waiting.len() as u64, "run"),
        question.unwrap_or_default()
    ))
}

/// Returns whether a run waits for words of a person, and for no approval and no outcome.
pub(super) fn waits_for_words(run: &v1::Run) -> bool {
    run.phase() == v1::RunPhase::Waiting
        && !matches!(
            run.waiting_for(),
            v1::WaitReason::Approval | v1::WaitReason::OutcomeUnknown | v1::WaitReason::ClientTool
        )
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
            let contract = v1::EffectContract::Local.into();
            entry(Event::ToolStarted(v1::ToolStarted { effect_id, contract, ..Default::default() }))
        };
        let entries = [proposed(1, "first?"), started(1), proposed(2, "which\nfolder?"), started(2)];
        assert_eq!(question_in(&entries).as_deref(), Some("which folder?"));
        assert_eq!(question_in(&entries[..2]).as_deref(), Some("first?"));
        assert_eq!(question_in(&entries[..1]), None);
    }
}
