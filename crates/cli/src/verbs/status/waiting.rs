//! What waits for a person: approvals, questions and unknown outcomes, in this folder and elsewhere.

use std::collections::BTreeSet;
use std::ops::Add;
use std::path::Path;

use palyra_client::Client;
use palyra_wire::v1;

use crate::failure::Failure;
use crate::verbs::open_questions::open_question;
use palyra_screen_text::short_id;

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

impl WaitingWork {
    /// Asks the daemon. Without a folder, as over TCP, all of it is elsewhere.
    pub(super) async fn look(client: &Client, folder: Option<&Path>) -> Result<Self, Failure> {
        let workspace_root = folder.map(|folder| folder.display().to_string()).unwrap_or_default();
        let items = client.call(v1::ListAttentionRequest { workspace_root }).await?.items;
        let newest = items.iter().find(|item| item.kind() == v1::AttentionKind::Question);
        let question = match newest.and_then(|item| item.run_id.parse().ok()) {
            Some(id) => {
                let run = client.get_run(id).await?;
                open_question(client, &run).await?.map(|asked| (short_id(&run.run_id), asked))
            }
            None => None,
        };
        Ok(Self { question, ..Self::counted(&items) })
    }

    fn counted(items: &[v1::AttentionItem]) -> Self {
        let waiting_runs: BTreeSet<&str> =
            items.iter().filter(|item| item.run_waits).map(|item| item.run_id.as_str()).collect();
        let mut waiting = Self { waiting_runs: waiting_runs.len() as u64, ..Self::default() };
        for item in items {
            let place = if item.here { &mut waiting.here } else { &mut waiting.elsewhere };
            match item.kind() {
                v1::AttentionKind::Approval => place.approvals += 1,
                v1::AttentionKind::UnknownOutcome if item.effect_id > 0 => place.doubts += 1,
                // Without a call it is a run that goes on with words.
                v1::AttentionKind::UnknownOutcome
                | v1::AttentionKind::Question
                | v1::AttentionKind::Loop
                | v1::AttentionKind::UnknownEntry
                | v1::AttentionKind::Unspecified => place.questions += 1,
            }
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_by_place() {
        let item = |run: &str, kind: v1::AttentionKind, here, run_waits| v1::AttentionItem {
            run_id: run.to_owned(),
            kind: kind.into(),
            here,
            run_waits,
            effect_id: u32::from(kind == v1::AttentionKind::UnknownOutcome),
            ..Default::default()
        };
        let waiting = WaitingWork::counted(&[
            item("a", v1::AttentionKind::Approval, true, true),
            item("a", v1::AttentionKind::UnknownOutcome, true, true),
            item("b", v1::AttentionKind::Question, false, true),
            item("c", v1::AttentionKind::Approval, false, true),
            item("d", v1::AttentionKind::UnknownOutcome, false, false),
        ]);
        assert_eq!(waiting.here, WaitingCounts { approvals: 1, questions: 0, doubts: 1 });
        assert_eq!(waiting.elsewhere, WaitingCounts { approvals: 1, questions: 1, doubts: 1 });
        assert!(!(waiting.here + waiting.elsewhere).is_nothing() && waiting.waiting_runs == 3);
        let settled =
            v1::AttentionItem { effect_id: 0, ..item("e", v1::AttentionKind::UnknownOutcome, true, true) };
        let waiting = WaitingWork::counted(&[settled]);
        assert_eq!(waiting.here, WaitingCounts { approvals: 0, questions: 1, doubts: 0 });
    }
}
