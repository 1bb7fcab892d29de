//! `MemoryService`: what was learned from the caller's conversations.
//!
//! Invariant: no request names a principal; the candidates are the caller's.

use palyra_admin::memories::candidate_evidence::{ShownEvidence, request_diff};
use palyra_admin::memories::learned::{CandidateReview, ReviewAct};
use palyra_runtime::Caller;
use palyra_types::Content;
use palyra_types::learning::{CandidateAuthor, CandidateKind, CandidateRecord, CandidateState, HoldReason};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::known_value::known;
use crate::operations::OperationHandlers;
use crate::translate;
use crate::translate::InvalidValue;

impl OperationHandlers {
    /// Answers `ListLearningCandidates`.
    pub async fn list_learning_candidates(
        &self,
        caller: Caller,
        message: v1::ListLearningCandidatesRequest,
    ) -> Result<v1::ListLearningCandidatesResponse, ApiError> {
        let before = translate::run_cursor(&message.page_token)?;
        let limit = translate::page_rows(message.page_size);
        let wanted: v1::LearningState = known(message.state, "state", v1::LearningState::SHORT_NAMES)?;
        let mut all = self.state.admin.memories.candidates(caller).await?;
        all.retain(|one| wanted == v1::LearningState::Unspecified || state(one.state) == wanted);
        all.retain(|one| before.is_none_or(|before| one.seq < before));
        let has_more = all.len() > limit;
        all.truncate(limit);
        let next = all.last().filter(|_| has_more).map(|last| last.seq.to_string());
        Ok(v1::ListLearningCandidatesResponse {
            candidates: all.into_iter().map(candidate).collect(),
            next_page_token: next.unwrap_or_default(),
        })
    }

    /// Answers `GetLearningCandidate`.
    pub async fn get_learning_candidate(
        &self,
        caller: Caller,
        message: v1::GetLearningCandidateRequest,
    ) -> Result<v1::GetLearningCandidateResponse, ApiError> {
        let id = translate::id("candidate_id", &message.candidate_id)?;
        let memories = &self.state.admin.memories;
        let record = memories.candidate(caller, id).await?;
        let shown = memories.evidence(&record).await?;
        Ok(v1::GetLearningCandidateResponse {
            evidence: shown.into_iter().map(evidence).collect(),
            request_diff: request_diff(&record),
            candidate: Some(candidate(record)),
        })
    }

    /// Answers `ReviewLearningCandidate`.
    pub async fn review_learning_candidate(
        &self,
        caller: Caller,
        message: v1::ReviewLearningCandidateRequest,
    ) -> Result<v1::ReviewLearningCandidateResponse, ApiError> {
        let act = match message.review() {
            v1::LearningReview::Accept => ReviewAct::Accept,
            v1::LearningReview::Reject => ReviewAct::Reject,
            v1::LearningReview::Edit => ReviewAct::Edit,
            v1::LearningReview::Undo => ReviewAct::Undo,
            v1::LearningReview::Unspecified => {
                return Err(InvalidValue::new("review", "`accept`, `reject`, `edit` or `undo`").into());
            }
        };
        let id = translate::id("candidate_id", &message.candidate_id)?;
        let text = (!message.text.is_empty()).then(|| Content::new(message.text));
        let review = CandidateReview { candidate: id, act, text };
        let record = self.state.admin.memories.review(caller, review).await?;
        Ok(v1::ReviewLearningCandidateResponse { candidate: Some(candidate(record)) })
    }
}

fn evidence(shown: ShownEvidence) -> v1::LearningEvidence {
    v1::LearningEvidence {
        run_id: shown.at.run.to_string(),
        tape_seq: shown.at.tape_seq.0,
        time: shown.time.and_then(translate::timestamp),
        text: shown.text.into_exposed(),
    }
}

fn state(state: CandidateState) -> v1::LearningState {
    match state {
        CandidateState::Proposed => v1::LearningState::Proposed,
        CandidateState::PendingReview => v1::LearningState::PendingReview,
        CandidateState::Applied => v1::LearningState::Applied,
        CandidateState::Accepted => v1::LearningState::Accepted,
        CandidateState::Edited => v1::LearningState::Edited,
        CandidateState::Rejected => v1::LearningState::Rejected,
        CandidateState::Superseded => v1::LearningState::Superseded,
        CandidateState::Undone => v1::LearningState::Undone,
    }
}

fn candidate(record: CandidateRecord) -> v1::LearningCandidate {
    let found = record.proposed;
    let kind = match found.kind {
        CandidateKind::Fact => v1::LearningKind::Fact,
        CandidateKind::Preference => v1::LearningKind::Preference,
        CandidateKind::Procedure => v1::LearningKind::Procedure,
    };
    let held_back = match found.held_back {
        None => v1::LearningHold::Unspecified,
        Some(HoldReason::Unsure) => v1::LearningHold::Unsure,
        Some(HoldReason::Tainted) => v1::LearningHold::Tainted,
        Some(HoldReason::Sensitive) => v1::LearningHold::Sensitive,
        Some(HoldReason::ByKind) => v1::LearningHold::ByKind,
    };
    v1::LearningCandidate {
        candidate_id: found.candidate.to_string(),
        kind: kind.into(),
        state: state(record.state).into(),
        text: found.text.into_exposed(),
        confidence_bps: found.confidence_bps,
        held_back: held_back.into(),
        by_model: found.author == CandidateAuthor::Model,
        taints: found.taints.names().map(str::to_owned).collect(),
        surface: translate::surface(found.via),
        memory_id: record.memory.map(|memory| memory.to_string()).unwrap_or_default(),
        supersedes: found.supersedes.map(|older| older.to_string()).unwrap_or_default(),
        created: translate::timestamp(record.created),
        updated: translate::timestamp(record.updated),
        evidence_count: u32::try_from(found.evidence.len()).unwrap_or(u32::MAX),
    }
}
