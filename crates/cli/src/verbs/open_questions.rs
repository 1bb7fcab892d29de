//! Questions that models asked and that wait for a person's words.

use palyra_client::Client;
use palyra_types::RunId;
use palyra_wire::v1;

use crate::failure::Failure;
use palyra_run_view::{how_to_go_on, open_question_of, waits_for_words};
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
    Ok(open_question_of(&page.entries))
}

/// Says where nothing waits for an approval or for words: which run waits for something else, newest first.
fn otherwise_waiting(runs: &[v1::Run]) -> String {
    let led_on = |run: &v1::Run| {
        let waits = run.phase() == v1::RunPhase::Waiting && run.waiting_for() != v1::WaitReason::Approval;
        let words = how_to_go_on(run).filter(|_| waits)?;
        Some(format!("{NOTHING_TO_APPROVE}; run {} waits, and {words}", short_id(&run.run_id)))
    };
    runs.iter().find_map(led_on).unwrap_or_else(|| NOTHING_TO_APPROVE.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_waits_for_a_budget_is_named_where_nothing_waits_for_an_approval() {
        let run = |reason: v1::WaitReason| v1::Run {
            run_id: "01M84HKZ5N8HY3ARZ2DB96C5QJ".to_owned(),
            phase: v1::RunPhase::Waiting.into(),
            waiting_for: reason.into(),
            ..Default::default()
        };
        let said = otherwise_waiting(&[run(v1::WaitReason::ClientTool), run(v1::WaitReason::Budget)]);
        assert!(said.ends_with("`palyra budget go-on 96C5QJ` lets it go on once"), "{said}");
        assert_eq!(otherwise_waiting(&[run(v1::WaitReason::ClientTool)]), NOTHING_TO_APPROVE);
    }
}
