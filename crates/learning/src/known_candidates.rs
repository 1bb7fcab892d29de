//! What becomes of a found candidate beside those that are known already: nothing is proposed twice, and a refusal of a person is final.

use palyra_types::learning::{CANDIDATE_EVIDENCE_MAX, CandidateKind, CandidateState, CitedEntry};
use palyra_types::{CandidateId, Timestamp};

use crate::confidence::{SupportingEvidence, confidence_bps};
use crate::find_candidates::FoundCandidate;
use crate::statement_words::{contradicts, says_the_same};

/// A candidate that was proposed earlier.
#[derive(Debug, Clone)]
pub struct KnownCandidate {
    /// Its id.
    pub candidate: CandidateId,
    /// What it is.
    pub kind: CandidateKind,
    /// Its state.
    pub state: CandidateState,
    /// Its words; empty once erased.
    pub text: String,
    /// How sure it was.
    pub confidence_bps: u32,
    /// When its words were typed.
    pub time: Timestamp,
    /// What it was concluded from.
    pub evidence: Vec<CitedEntry>,
}

/// What to do with a found candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    /// Nothing: it is known, or a person refused it.
    Skip,
    /// Propose it.
    Propose {
        /// How sure it is with what is known.
        confidence_bps: u32,
        /// The open candidate that says the same with less evidence.
        supersedes: Option<CandidateId>,
        /// The one in use that it contradicts; it takes its place when it is applied.
        replaces: Option<CandidateId>,
        /// All evidence, the entry that has its words first.
        evidence: Vec<CitedEntry>,
    },
}

/// Decides what to do with a found candidate.
#[must_use]
pub fn next_step(found: &FoundCandidate, known: &[KnownCandidate], now: Timestamp) -> NextStep {
    let of_kind = || known.iter().filter(|known| known.kind == found.kind && !known.text.is_empty());
    if of_kind().any(|one| is_settled(one.state) && is_same(found, one)) {
        return NextStep::Skip;
    }
    let open = of_kind().find(|one| one.state.is_open() && is_same(found, one));
    if open.is_some_and(|open| found.evidence.iter().all(|cited| open.evidence.contains(cited))) {
        return NextStep::Skip;
    }
    let mut supporting = found.supporting.clone();
    let mut evidence = found.evidence.clone();
    if let Some(open) = open {
        evidence.extend(open.evidence.iter().copied().filter(|cited| !found.evidence.contains(cited)));
        evidence.truncate(CANDIDATE_EVIDENCE_MAX);
        supporting.extend(support_of(open, found));
    }
    let contradicted = of_kind()
        .filter(|one| one.kind != CandidateKind::Procedure && one.state.is_in_use())
        .find(|one| contradicts(found.text.expose(), &one.text));
    let against = contradicted.and_then(|one| Some(as_evidence(one, one.evidence.first()?)));
    let against: Vec<SupportingEvidence> = against.into_iter().collect();
    NextStep::Propose {
        confidence_bps: confidence_bps(&supporting, &against, now),
        supersedes: open.map(|open| open.candidate),
        replaces: contradicted.map(|one| one.candidate),
        evidence,
    }
}

/// Returns whether it was decided about a candidate.
fn is_settled(state: CandidateState) -> bool {
    state.is_in_use() || matches!(state, CandidateState::Rejected | CandidateState::Undone)
}

/// Returns what an open candidate adds to one that says the same: what it was sure of, by a run that the other one does not cite.
fn support_of(open: &KnownCandidate, found: &FoundCandidate) -> Option<SupportingEvidence> {
    let cited = open.evidence.iter().find(|cited| found.evidence.iter().all(|own| own.run != cited.run))?;
    Some(as_evidence(open, cited))
}

fn as_evidence(known: &KnownCandidate, cited: &CitedEntry) -> SupportingEvidence {
    SupportingEvidence { run: cited.run, time: known.time, strength_bps: known.confidence_bps }
}

fn is_same(found: &FoundCandidate, known: &KnownCandidate) -> bool {
    match found.kind {
        // A draft changes with each further run, its name does not.
        CandidateKind::Procedure => second_line(found.text.expose()) == second_line(&known.text),
        CandidateKind::Fact | CandidateKind::Preference => says_the_same(found.text.expose(), &known.text),
    }
}

fn second_line(text: &str) -> Option<&str> {
    text.lines().nth(1)
}
