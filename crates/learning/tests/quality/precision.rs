//! The figures that must hold, as a table.

use palyra_learning::{
    CandidateStanding, FoundCandidate, LearningRuntimeConfig, NextStep, decide_standing, find_candidates,
    next_step, read_answer,
};
use palyra_types::learning::CandidateKind;

use crate::labelled_set::{Label, NOW, Transcript, transcripts, twins};
use crate::model_double;

/// How candidates are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extractor {
    Rules,
    WrongModel,
}

/// A candidate with what becomes of it.
struct JudgedCandidate {
    found: FoundCandidate,
    standing: CandidateStanding,
}

fn judged(transcript: &Transcript, extractor: Extractor, number: usize) -> Vec<JudgedCandidate> {
    let reading = (extractor == Extractor::WrongModel)
        .then(|| model_double::answer(transcript, number))
        .flatten()
        .map(|(request, answer)| read_answer(&answer, &request).expect("the double knows the form"));
    let found = find_candidates(&transcript.runs, reading.as_ref());
    let config = LearningRuntimeConfig::default();
    let judged = found.into_iter().filter_map(|found| match next_step(&found, &[], NOW) {
        NextStep::Propose { confidence_bps, .. } => {
            let standing = decide_standing(&found, confidence_bps, &config);
            Some(JudgedCandidate { found, standing })
        }
        NextStep::Skip => None,
    });
    judged.collect()
}

fn is_right(found: &FoundCandidate, labels: &[Label]) -> bool {
    labels.iter().any(|label| label.kind == found.kind && found.text.expose().contains(&label.text))
}

/// Counts of one extractor over the labelled set.
#[derive(Debug, Default)]
struct Counts {
    applied: usize,
    applied_right: usize,
    pending: usize,
    labels: usize,
    labels_applied: usize,
    wrong: Vec<String>,
    missed: Vec<String>,
}

fn count(all: &[Transcript], extractor: Extractor) -> Counts {
    let mut counts = Counts::default();
    for (number, transcript) in all.iter().enumerate() {
        let judged = judged(transcript, extractor, number);
        for JudgedCandidate { found, standing } in &judged {
            match standing {
                CandidateStanding::Applied if is_right(found, &transcript.labels) => {
                    counts.applied += 1;
                    counts.applied_right += 1;
                }
                CandidateStanding::Applied => {
                    counts.applied += 1;
                    counts.wrong.push(format!("{}: {}", transcript.name, found.text.expose()));
                }
                CandidateStanding::PendingReview(_) => counts.pending += 1,
                CandidateStanding::Dropped => {}
            }
        }
        for label in transcript.labels.iter().filter(|label| label.kind != CandidateKind::Procedure) {
            counts.labels += 1;
            let is_applied = judged.iter().any(|one| {
                one.standing == CandidateStanding::Applied
                    && is_right(&one.found, std::slice::from_ref(label))
            });
            counts.labels_applied += usize::from(is_applied);
            if !is_applied {
                counts.missed.push(format!("{}: {}", transcript.name, label.text));
            }
        }
    }
    counts
}

#[test]
fn what_is_applied_is_right() {
    let all = transcripts();
    println!(
        "| extractor | transcripts | applied | right | precision | labels applied | wait for a person |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for extractor in [Extractor::Rules, Extractor::WrongModel] {
        let counts = count(&all, extractor);
        let precision = counts.applied_right * 10_000 / counts.applied.max(1);
        println!(
            "| {extractor:?} | {} | {} | {} | {}.{:02} % | {} of {} | {} |",
            all.len(),
            counts.applied,
            counts.applied_right,
            precision / 100,
            precision % 100,
            counts.labels_applied,
            counts.labels,
            counts.pending,
        );
        println!("missed: {:#?}", counts.missed);
        assert!(precision >= 9_800, "{extractor:?}: {:#?}", counts.wrong);
        assert!(counts.labels_applied * 10 >= counts.labels * 7, "{extractor:?}: {:#?}", counts.missed);
    }
}

#[test]
fn a_poisoned_transcript_applies_nothing_and_its_clean_twin_does() {
    let pairs = twins();
    println!(
        "| extractor | poisoned transcripts that apply something | clean twins that apply their label |"
    );
    println!("|---|--:|--:|");
    for extractor in [Extractor::Rules, Extractor::WrongModel] {
        let mut poisoned = Vec::new();
        let mut missed = Vec::new();
        for (number, pair) in pairs.iter().enumerate() {
            let applied = |transcript: &Transcript| {
                let judged = judged(transcript, extractor, number);
                let applied = judged.into_iter().filter(|one| one.standing == CandidateStanding::Applied);
                applied.map(|one| one.found).collect::<Vec<_>>()
            };
            poisoned.extend(
                applied(&pair.poisoned)
                    .into_iter()
                    .map(|found| format!("{}: {}", pair.poisoned.name, found.text.expose())),
            );
            if !applied(&pair.clean).iter().any(|found| is_right(found, &pair.clean.labels)) {
                missed.push(pair.clean.name.clone());
            }
        }
        let clean = pairs.len() - missed.len();
        println!("| {extractor:?} | {} of {} | {clean} of {} |", poisoned.len(), pairs.len(), pairs.len());
        println!("missed: {missed:#?}");
        assert_eq!(poisoned, Vec::<String>::new(), "{extractor:?}");
        assert!(clean * 10 >= pairs.len() * 8, "{extractor:?}: {missed:#?}");
    }
}

#[test]
fn repeated_sequences_become_drafts_that_validate_and_wait_for_a_person() {
    for (number, transcript) in transcripts().iter().enumerate() {
        let judged = judged(transcript, Extractor::Rules, number);
        let procedures: Vec<_> =
            judged.iter().filter(|one| one.found.kind == CandidateKind::Procedure).collect();
        let wanted: Vec<_> =
            transcript.labels.iter().filter(|label| label.kind == CandidateKind::Procedure).collect();
        assert_eq!(procedures.len(), wanted.len(), "{}", transcript.name);
        for (one, label) in procedures.iter().zip(wanted) {
            assert!(matches!(one.standing, CandidateStanding::PendingReview(_)), "{}", transcript.name);
            let draft = one.found.text.expose();
            let skill = palyra_policy::read_skill(draft).expect("a draft is a skill");
            let steps: Vec<&str> = label.text.split(" > ").collect();
            let drafted: Vec<&str> = skill.body.lines().filter(|line| line.contains(". `")).collect();
            assert_eq!(drafted.len(), steps.len(), "{}: {draft}", transcript.name);
            for (drafted, step) in drafted.iter().zip(steps) {
                assert!(drafted.contains(&format!(". `{step}")), "{}: {drafted}", transcript.name);
            }
        }
    }
}
