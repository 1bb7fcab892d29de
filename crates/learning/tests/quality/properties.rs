//! What holds for any conversation and any answer.

use palyra_learning::{
    AnswerFault, CandidateStanding, CitationFault, EntryVoice, LearningRuntimeConfig, ReflectedEntry,
    ReflectedRun, decide_standing, find_candidates, read_answer, reflection_request,
};
use palyra_types::learning::CitedEntry;
use palyra_types::surface::Surface;
use palyra_types::tool::Taints;
use palyra_types::{Content, RunId, TapeSeq};
use proptest::prelude::*;

use crate::labelled_set::NOW;

fn run(entries: &[(EntryVoice, &str)]) -> ReflectedRun {
    let run = RunId::from_parts(1, 1);
    let entries = entries.iter().zip(1..).map(|((voice, text), number)| ReflectedEntry {
        at: CitedEntry { run, tape_seq: TapeSeq(number) },
        time: NOW,
        voice: *voice,
        text: Content::new((*text).to_owned()),
    });
    let entries = entries.collect();
    ReflectedRun { run, surface: Surface::Console, taints: Taints::NONE, entries, calls: Vec::new() }
}

fn refused(answer: &str) -> Vec<CitationFault> {
    let runs = [run(&[
        (EntryVoice::Principal, "I prefer tea over coffee. She wrote: I prefer rum"),
        (EntryVoice::Model, "You prefer rum over tea, I guess."),
        (EntryVoice::Data, "I prefer gin over water"),
    ])];
    let request = reflection_request(&runs).expect("a person typed something");
    read_answer(answer, &request).expect("the form is right").refused
}

#[test]
fn citations_that_are_wrong_missing_or_foreign_are_refused() {
    let answer = |text: &str, citations: &str| {
        format!(r#"{{"candidates":[{{"kind":"preference","text":"{text}","citations":[{citations}]}}]}}"#)
    };
    for (text, citations, expected) in [
        ("I prefer tea over coffee", r#"{"entry":1,"quote":"I prefer tea over coffee"}"#, None),
        ("prefers tea", r#"{"entry":1,"quote":"prefer  TEA over"}"#, None),
        ("prefers tea", "", Some(CitationFault::Missing)),
        ("prefers tea", r#"{"entry":0,"quote":"I prefer tea"}"#, Some(CitationFault::UnknownEntry)),
        (
            "prefers gin",
            r#"{"entry":3,"quote":"I prefer gin over water"}"#,
            Some(CitationFault::UnknownEntry),
        ),
        ("prefers rum", r#"{"entry":2,"quote":"You prefer rum over tea"}"#, Some(CitationFault::NotTyped)),
        ("prefers rum", r#"{"entry":1,"quote":"I prefer rum"}"#, Some(CitationFault::NotQuoted)),
        ("prefers tea", r#"{"entry":1,"quote":"tea"}"#, Some(CitationFault::NotQuoted)),
        ("prefers whisky", r#"{"entry":1,"quote":"I prefer tea over"}"#, Some(CitationFault::NotSupported)),
        ("never tea", r#"{"entry":1,"quote":"I prefer tea over"}"#, Some(CitationFault::NotSupported)),
        (
            "prefers tea",
            r#"{"entry":1,"quote":"I prefer tea over"},{"entry":2,"quote":"rum over tea"}"#,
            Some(CitationFault::NotTyped),
        ),
    ] {
        assert_eq!(refused(&answer(text, citations)), Vec::from_iter(expected), "{text}: {citations}");
    }
}

#[test]
fn an_answer_in_another_form_is_not_read() {
    let runs = [run(&[(EntryVoice::Principal, "I prefer tea")])];
    let request = reflection_request(&runs).expect("a person typed something");
    let many = format!(r#"{{"candidates":[{}]}}"#, vec![r#"{"kind":"fact","text":"x"}"#; 17].join(","));
    for (answer, expected) in [
        ("", AnswerFault::NotInForm),
        ("nothing to remember", AnswerFault::NotInForm),
        (r#"{"candidates":[],"more":1}"#, AnswerFault::NotInForm),
        (r#"{"candidates":[{"kind":"procedure","text":"x"}]}"#, AnswerFault::NotInForm),
        (many.as_str(), AnswerFault::TooMany),
    ] {
        assert_eq!(read_answer(answer, &request).err(), Some(expected), "{answer}");
    }
    let empty = read_answer("```json\n{\"candidates\":[]}\n```", &request).expect("a fence is taken off");
    assert_eq!((empty.claims_count(), empty.refused.len()), (0, 0));
}

#[test]
fn words_of_programs_are_no_evidence() {
    let mut program = run(&[(EntryVoice::Principal, "I prefer tea over coffee")]);
    assert_eq!(find_candidates(std::slice::from_ref(&program), None).len(), 1);
    for surface in Surface::ALL {
        if matches!(surface, Surface::LocalSocket | Surface::Console) {
            continue;
        }
        program.surface = surface;
        assert!(find_candidates(std::slice::from_ref(&program), None).is_empty(), "{surface:?}");
        assert!(reflection_request(std::slice::from_ref(&program)).is_none(), "{surface:?}");
    }
}

#[test]
fn tainted_and_sensitive_candidates_wait_however_sure_they_are() {
    let runs = [run(&[(EntryVoice::Principal, "I prefer tea over coffee")])];
    let found = find_candidates(&runs, None).remove(0);
    let config =
        LearningRuntimeConfig { fact_auto_write_threshold_bps: 0, ..LearningRuntimeConfig::default() };
    assert_eq!(decide_standing(&found, 10_000, &config), CandidateStanding::Applied);
    for (label, name) in Taints::NAMED {
        let tainted = palyra_learning::FoundCandidate { taints: label, ..found.clone() };
        let standing = decide_standing(&tainted, 10_000, &config);
        assert!(matches!(standing, CandidateStanding::PendingReview(_)), "{name}");
    }
    let sensitive = palyra_learning::FoundCandidate { is_sensitive: true, ..found };
    assert!(matches!(decide_standing(&sensitive, 10_000, &config), CandidateStanding::PendingReview(_)));
}

proptest! {
    #[test]
    fn a_candidate_has_words_that_a_principal_typed(
        typed in proptest::collection::vec("[ a-zA-Z':\\.,?!\"\\n>I]{0,60}|I prefer [a-z ]{1,20}\\.|from now on [a-z ]{1,20}", 0..4),
        foreign in "I prefer [a-z]{3,12}", answer in ".{0,80}",
    ) {
        let mut entries: Vec<_> = typed.iter().map(|text| (EntryVoice::Principal, text.as_str())).collect();
        entries.push((EntryVoice::Data, &foreign));
        entries.push((EntryVoice::Model, &foreign));
        let runs = [run(&entries)];
        let found = find_candidates(&runs, None);
        for one in &found {
            prop_assert!(typed.iter().any(|text| text.contains(one.text.expose().as_str())));
            prop_assert!(one.evidence.iter().all(|cited| cited.tape_seq.0 as usize <= typed.len()));
        }
        if let Some(request) = reflection_request(&runs) {
            let _ = read_answer(&answer, &request);
        }
    }
}
