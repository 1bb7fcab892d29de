//! Questions that models asked and that wait for a person's words.

use palyra_client::Client;
use palyra_types::RunId;
use palyra_wire::v1;

use crate::failure::Failure;
pub(super) use palyra_run_view::NOTHING_TO_APPROVE;
use palyra_run_view::{open_question_of, otherwise_waiting, waits_for_words};
use palyra_screen_text::{count, short_id};

/// As much of a tape's end as is looked through for a question.
const ENTRIES_READ_MAX: u32 = 400;
/// Runs that are looked through for those that wait.
const PAGE_SIZE_MAX: u32 = 500;

/// Returns the question of the last call that asks one and has no answer.
pub(super) async fn open_question(client: &Client, run: &v1::Run) -> Result<Option<String>, Failure> {
    let Ok(id) = run.run_id.parse::<RunId>() else { return Ok(None) };
    if run.waiting_for() != v1::WaitReason::Question {
        return Ok(None);
    }
    let after = run.last_tape_seq.saturating_sub(ENTRIES_READ_MAX);
    let page = client.read_tape(id, after, ENTRIES_READ_MAX).await?;
    Ok(open_question_of(&page.entries))
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
    let Some(newest) = waiting.first() else { return Ok(otherwise_waiting(&runs)) };
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
