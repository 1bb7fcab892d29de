//! Candidates in finished runs: what rules find, and what a model found whose citations were checked.
//!
//! A candidate of a rule needs no model. A claim of a model about the same sentence adds nothing to it; a claim about another
//! sentence of the person is a candidate that is less sure, with the labels of all that the model may have read.

use palyra_types::learning::{CANDIDATE_EVIDENCE_MAX, CandidateAuthor, CandidateKind, CitedEntry};
use palyra_types::surface::Surface;
use palyra_types::tool::Taints;
use palyra_types::{Content, Timestamp};

use crate::confidence::SupportingEvidence;
use crate::model_answer::ReadAnswer;
use crate::procedures::{RepeatedSequence, RunSequences};
use crate::reflected_run::ReflectedRun;
use crate::rule_extraction::{statements_of, typed_entries};
use crate::sensitive_text::is_sensitive;
use crate::skill_draft::skill_draft;
use crate::statement_words::says_the_same;

/// How sure a claim of a model is which no rule finds.
const CLAIMED_BPS: u32 = 6_000;
/// How sure one run is of a sequence of calls.
const REPEATED_BPS: u32 = 5_000;

/// What a model answered, if one was asked.
pub type ModelReading<'a> = Option<&'a ReadAnswer>;

/// Something that was concluded from runs.
#[derive(Debug, Clone)]
pub struct FoundCandidate {
    /// What it is.
    pub kind: CandidateKind,
    /// Its words; of a procedure the draft of its file.
    pub text: Content<String>,
    /// Who found it.
    pub author: CandidateAuthor,
    /// What it was concluded from, the entry that has its words first.
    pub evidence: Vec<CitedEntry>,
    /// The same statements by run, with their strength.
    pub supporting: Vec<SupportingEvidence>,
    /// What the cited entries are marked with.
    pub taints: Taints,
    /// The surface of the first cited entry.
    pub via: Surface,
    /// Whether it may be a secret.
    pub is_sensitive: bool,
}

/// Returns the candidates in finished runs, the oldest run first. None is a normal result.
#[must_use]
pub fn find_candidates(runs: &[ReflectedRun], reading: ModelReading<'_>) -> Vec<FoundCandidate> {
    let mut found = Vec::new();
    for (run, entry) in typed_entries(runs) {
        for statement in statements_of(entry) {
            add(
                &mut found,
                FoundCandidate {
                    kind: statement.kind,
                    text: Content::new(statement.text.to_owned()),
                    author: CandidateAuthor::Rules,
                    evidence: vec![entry.at],
                    supporting: vec![support(entry.at, entry.time, statement.strength_bps)],
                    taints: Taints::NONE,
                    via: run.surface,
                    is_sensitive: is_sensitive(statement.text),
                },
            );
        }
    }
    add_claims(&mut found, runs, reading);
    add_procedures(&mut found, runs);
    found
}

fn support(at: CitedEntry, time: Timestamp, strength_bps: u32) -> SupportingEvidence {
    SupportingEvidence { run: at.run, time, strength_bps }
}

/// Adds a candidate, or its evidence to one that says the same. The newest words stay.
fn add(found: &mut Vec<FoundCandidate>, new: FoundCandidate) {
    let same = found
        .iter_mut()
        .find(|known| known.kind == new.kind && says_the_same(known.text.expose(), new.text.expose()));
    let Some(known) = same else { return found.push(new) };
    let mut evidence = new.evidence;
    evidence.extend(known.evidence.iter().copied());
    evidence.dedup();
    evidence.truncate(CANDIDATE_EVIDENCE_MAX);
    known.supporting.extend(new.supporting);
    known.is_sensitive |= new.is_sensitive;
    known.taints = known.taints.with(new.taints);
    known.text = new.text;
    known.via = new.via;
    known.evidence = evidence;
}

fn add_claims(found: &mut Vec<FoundCandidate>, runs: &[ReflectedRun], reading: ModelReading<'_>) {
    let all_taints = runs.iter().fold(Taints::NONE, |all, run| all.with(run.taints));
    for claim in reading.iter().flat_map(|reading| &reading.claims) {
        let is_found = claim.citations.iter().any(|citation| {
            found.iter().any(|known| {
                known.evidence.contains(&citation.at) && overlaps(known.text.expose(), &citation.quote)
            })
        });
        let Some(first) = claim.citations.first().filter(|_| !is_found) else { continue };
        let Some(run) = runs.iter().find(|run| run.run == first.at.run) else { continue };
        let quotes: Vec<&str> = claim.citations.iter().map(|citation| citation.quote.as_str()).collect();
        let supporting =
            claim.citations.iter().map(|citation| support(citation.at, citation.time, CLAIMED_BPS));
        add(
            found,
            FoundCandidate {
                kind: claim.kind,
                text: Content::new(claim.text.clone()),
                author: CandidateAuthor::Model,
                evidence: claim.citations.iter().map(|citation| citation.at).collect(),
                supporting: supporting.collect(),
                taints: all_taints,
                via: run.surface,
                is_sensitive: is_sensitive(&claim.text) || is_sensitive(&quotes.concat()),
            },
        );
    }
}

fn overlaps(text: &str, quote: &str) -> bool {
    let text = text.to_lowercase();
    let quote = quote.to_lowercase();
    text.contains(&quote) || quote.contains(&text)
}

fn add_procedures(found: &mut Vec<FoundCandidate>, runs: &[ReflectedRun]) {
    let sequences = RunSequences::new(runs);
    for sequence in sequences.repeated() {
        found.extend(procedure(&sequence, runs));
    }
}

fn procedure(sequence: &RepeatedSequence<'_>, runs: &[ReflectedRun]) -> Option<FoundCandidate> {
    let latest = sequence.occurrences.last()?;
    let run_of = |at: CitedEntry| runs.iter().find(|run| run.run == at.run);
    let firsts = sequence.occurrences.iter().rev().filter_map(|steps| Some(steps.first()?.call.at));
    let evidence: Vec<CitedEntry> = firsts.take(CANDIDATE_EVIDENCE_MAX).collect();
    let supporting = evidence.iter().filter_map(|at| {
        let time = run_of(*at)?.entries.iter().map(|entry| entry.time).max()?;
        Some(support(*at, time, REPEATED_BPS))
    });
    let supporting = supporting.collect();
    let taints =
        evidence.iter().filter_map(|at| run_of(*at)).fold(Taints::NONE, |all, run| all.with(run.taints));
    let draft = skill_draft(sequence);
    Some(FoundCandidate {
        kind: CandidateKind::Procedure,
        is_sensitive: is_sensitive(&draft),
        text: Content::new(draft),
        author: CandidateAuthor::Rules,
        via: run_of(latest.first()?.call.at)?.surface,
        evidence,
        supporting,
        taints,
    })
}
