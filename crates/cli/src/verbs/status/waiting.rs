//! What waits for a person: approvals, questions and unknown outcomes, in this folder and elsewhere.

use std::collections::BTreeSet;
use std::ops::Add;
use std::path::Path;

use palyra_client::Client;
use palyra_wire::v1;

use crate::failure::Failure;
use crate::verbs::open_questions::{open_question, waits_for_words};
use palyra_screen_text::short_id;

/// Things of one kind that are counted, at most.
const PAGE_SIZE_MAX: u32 = 500;

/// How much waits in one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WaitingCounts {
    pub(super) approvals: u64,
    /// Runs that wait for input or for a decision.
    pub(super) questions: u64,
    /// Effects with an unknown outcome.
    pub(super) doubts: u64,
}

impl WaitingCounts {
    pub(super) fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

impl Add for WaitingCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            approvals: self.approvals + other.approvals,
            questions: self.questions + other.questions,
            doubts: self.doubts + other.doubts,
        }
    }
}

/// What waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WaitingWork {
    pub(super) here: WaitingCounts,
    pub(super) elsewhere: WaitingCounts,
    /// Runs that wait, for any reason.
    pub(super) waiting_runs: u64,
    /// The newest run that waits for words, and what it asks.
    pub(super) question: Option<(String, String)>,
}

/// What kind of thing waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitingKind {
    Approval,
    Question,
    UnknownOutcome,
}

impl WaitingWork {
    /// Asks the daemon. Without a folder, as over TCP, all of it is elsewhere.
    pub(super) async fn look(client: &Client, folder: Option<&Path>) -> Result<Self, Failure> {
        let approvals = v1::ListApprovalsRequest { page_size: PAGE_SIZE_MAX, ..Default::default() };
        let open = v1::RunFilter::Open.into();
        let runs = v1::ListRunsRequest { only: open, page_size: PAGE_SIZE_MAX, ..Default::default() };
        let unknown = v1::EffectFilter::Unknown.into();
        let effects =
            v1::ListEffectsRequest { only: unknown, page_size: PAGE_SIZE_MAX, ..Default::default() };
        let (approvals, runs, effects) =
            tokio::join!(client.call(approvals), client.call(runs), client.call(effects));
        let waiting_runs: Vec<v1::Run> =
            runs?.runs.into_iter().filter(|run| run.phase() == v1::RunPhase::Waiting).collect();
        let mut items: Vec<(String, WaitingKind)> = approvals?
            .approvals
            .into_iter()
            .map(|approval| (approval.run_id, WaitingKind::Approval))
            .collect();
        // What waits for an approval or an outcome is counted as that.
        let others = waiting_runs.iter().filter(|run| waits_for_words(run));
        items.extend(others.map(|run| (run.run_id.clone(), WaitingKind::Question)));
        items.extend(effects?.effects.into_iter().map(|effect| (effect.run_id, WaitingKind::UnknownOutcome)));
        let here = match folder {
            Some(folder) => runs_here(client, &items, folder).await?,
            None => BTreeSet::new(),
        };
        let newest = waiting_runs.iter().find(|run| run.waiting_for() == v1::WaitReason::Question);
        let question = match newest {
            Some(run) => open_question(client, run).await?.map(|asked| (short_id(&run.run_id), asked)),
            None => None,
        };
        Ok(Self { question, ..Self::counted(&items, &here, waiting_runs.len() as u64) })
    }

    fn counted(items: &[(String, WaitingKind)], here: &BTreeSet<String>, waiting_runs: u64) -> Self {
        let mut waiting = Self { waiting_runs, ..Self::default() };
        for (run, item) in items {
            let place = if here.contains(run) { &mut waiting.here } else { &mut waiting.elsewhere };
            match item {
                WaitingKind::Approval => place.approvals += 1,
                WaitingKind::Question => place.questions += 1,
                WaitingKind::UnknownOutcome => place.doubts += 1,
            }
        }
        waiting
    }
}

/// Returns the runs of the items that work in this folder.
async fn runs_here(
    client: &Client,
    items: &[(String, WaitingKind)],
    folder: &Path,
) -> Result<BTreeSet<String>, Failure> {
    let mut here = runs_in(client, v1::RunFilter::Open, folder).await?;
    // An outcome may stay unknown after its run has finished.
    if items.iter().any(|(run, kind)| *kind == WaitingKind::UnknownOutcome && !here.contains(run)) {
        here.extend(runs_in(client, v1::RunFilter::Finished, folder).await?);
    }
    Ok(here)
}

async fn runs_in(client: &Client, only: v1::RunFilter, folder: &Path) -> Result<BTreeSet<String>, Failure> {
    let request = v1::ListRunsRequest {
        only: only.into(),
        page_size: PAGE_SIZE_MAX,
        workspace_root: folder.display().to_string(),
        ..Default::default()
    };
    Ok(client.call(request).await?.runs.into_iter().map(|run| run.run_id).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_by_place() {
        let items = [
            ("a", WaitingKind::Approval),
            ("a", WaitingKind::UnknownOutcome),
            ("b", WaitingKind::Question),
            ("c", WaitingKind::Approval),
        ];
        let items = items.map(|(run, item)| (run.to_owned(), item));
        let here = BTreeSet::from(["a".to_owned()]);
        let waiting = WaitingWork::counted(&items, &here, 3);
        assert_eq!(waiting.here, WaitingCounts { approvals: 1, questions: 0, doubts: 1 });
        assert_eq!(waiting.elsewhere, WaitingCounts { approvals: 1, questions: 1, doubts: 0 });
        assert!(!(waiting.here + waiting.elsewhere).is_nothing() && waiting.waiting_runs == 3);
    }
}
