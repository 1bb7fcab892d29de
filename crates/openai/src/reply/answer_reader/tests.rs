//! What a client sees of a tape.

use std::fmt::Write as _;
use std::time::Duration;

use palyra_types::ErrorCode;
use palyra_types::model::FinishReason;
use palyra_types::run::TerminationReason;
use palyra_types::tape::OrchestratorTapeRecord;
use proptest::prelude::*;

use super::*;
use crate::tape_fixture::TapeBuilder;

fn steps(tape: &[OrchestratorTapeRecord]) -> Vec<AnswerStep> {
    steps_of_part(tape, 0)
}

fn steps_of_part(tape: &[OrchestratorTapeRecord], part: u32) -> Vec<AnswerStep> {
    let mut reader = AnswerReader::new(part);
    tape.iter().flat_map(|entry| reader.read(entry)).collect()
}

/// One line a step, without the first and the last.
fn shown(tape: &[OrchestratorTapeRecord]) -> String {
    shown_of_part(tape, 0)
}

fn shown_of_part(tape: &[OrchestratorTapeRecord], part: u32) -> String {
    let mut text = String::new();
    for step in steps_of_part(tape, part) {
        match step {
            AnswerStep::Accepted { .. } | AnswerStep::Started | AnswerStep::Ended(_) => Ok(()),
            AnswerStep::ItemOpened { item } => writeln!(text, "{item} opened"),
            AnswerStep::FunctionCalled { item, call } => {
                writeln!(text, "{item} calls {} {} {}", call.index, call.name, call.arguments)
            }
            AnswerStep::TextAdded { item, text: added } => writeln!(text, "{item} + {added:?}"),
            AnswerStep::ItemClosed { item, text: whole, state } => {
                writeln!(text, "{item} = {whole:?} {state:?}")
            }
        }
        .unwrap();
    }
    text
}

fn outcome(tape: &[OrchestratorTapeRecord]) -> AnswerOutcome {
    match steps(tape).pop() {
        Some(AnswerStep::Ended(end)) => end.outcome,
        other => panic!("no end: {other:?}"),
    }
}

#[test]
fn words_are_shown_as_they_are_said() {
    let tape = TapeBuilder::new().asked().text("Hel").text("lo").done();
    assert_eq!(shown(&tape), "0 opened\n0 + \"Hel\"\n0 + \"lo\"\n0 = \"Hello\" Complete\n");
}

#[test]
fn each_turn_is_an_item_and_calls_between_them_are_not_shown() {
    let tape = TapeBuilder::new().asked().text("Let me look.").answered(2, FinishReason::ToolCalls);
    let tape = tape.asked().answered(1, FinishReason::ToolCalls).asked().text("Done.").done();
    let expected = "0 opened\n0 + \"Let me look.\"\n0 = \"Let me look.\" Complete\n\
                    1 opened\n1 + \"\\n\\nDone.\"\n1 = \"\\n\\nDone.\" Complete\n";
    assert_eq!(shown(&tape), expected);
}

#[test]
fn an_attempt_that_repeats_the_shown_words_goes_on_behind_them() {
    let tape = TapeBuilder::new().asked().text("Hello w").abandoned();
    let tape = tape.asked().text("Hel").text("lo wor").text("ld").done();
    let expected = "0 opened\n0 + \"Hello w\"\n0 + \"or\"\n0 + \"ld\"\n0 = \"Hello world\" Complete\n";
    assert_eq!(shown(&tape), expected);
}

#[test]
fn an_attempt_that_says_something_else_is_another_item() {
    let tape = TapeBuilder::new().asked().text("Hello").abandoned().asked().text("He").text("y").done();
    let expected = "0 opened\n0 + \"Hello\"\n0 = \"Hello\" Superseded\n\
                    1 opened\n1 + \"\\n\\nHey\"\n1 = \"\\n\\nHey\" Complete\n";
    assert_eq!(shown(&tape), expected);
}

#[test]
fn an_attempt_that_says_less_is_another_item() {
    let tape = TapeBuilder::new().asked().text("Hello").abandoned().asked().text("Hell").done();
    let expected = "0 opened\n0 + \"Hello\"\n0 = \"Hello\" Superseded\n\
                    1 opened\n1 + \"\\n\\nHell\"\n1 = \"\\n\\nHell\" Complete\n";
    assert_eq!(shown(&tape), expected);
}

#[test]
fn words_that_no_attempt_completed_are_closed_at_the_end() {
    let tape = TapeBuilder::new().asked().text("Hello").abandoned();
    let tape = tape.finished(TerminationReason::ProviderError, Some(ErrorCode::ModelQuota)).entries();
    assert_eq!(shown(&tape), "0 opened\n0 + \"Hello\"\n0 = \"Hello\" Superseded\n");
    assert_eq!(
        outcome(&tape),
        AnswerOutcome::Failed { code: ErrorCode::ModelQuota, pause: Some(Duration::ZERO) }
    );
}

#[test]
fn an_answer_by_a_schema_is_shown_whole_and_alone() {
    let tape = TapeBuilder::structured().asked().text("I look.").answered(1, FinishReason::ToolCalls);
    let tape = tape.asked().text("{bad").abandoned().asked().text("{\"a\"").text(":1}").done();
    let expected = "0 opened\n0 + \"{\\\"a\\\":1}\"\n0 = \"{\\\"a\\\":1}\" Complete\n";
    assert_eq!(shown(&tape), expected);
}

#[test]
fn ends_are_told_apart() {
    let ended = |finish, reason, error| {
        outcome(&TapeBuilder::new().asked().text("x").answered(0, finish).finished(reason, error).entries())
    };
    let final_answer = TerminationReason::FinalAnswer;
    assert_eq!(ended(FinishReason::Stop, final_answer, None), AnswerOutcome::Complete);
    assert_eq!(ended(FinishReason::Length, final_answer, None), AnswerOutcome::Length);
    assert_eq!(ended(FinishReason::Length, TerminationReason::TurnLimit, None), AnswerOutcome::Length);
    let filtered = ended(FinishReason::ContentFilter, TerminationReason::ContentPolicy, None);
    assert_eq!(filtered, AnswerOutcome::ContentFilter);
    assert_eq!(ended(FinishReason::Stop, TerminationReason::Cancelled, None), AnswerOutcome::Cancelled);
    let limit = ended(FinishReason::Stop, TerminationReason::TurnLimit, Some(ErrorCode::TurnLimit));
    assert_eq!(limit, AnswerOutcome::Failed { code: ErrorCode::TurnLimit, pause: None });
}

#[test]
fn a_part_ends_with_calls_and_the_next_one_begins_with_their_results() {
    let tape = TapeBuilder::new().asked().text("I look.").called(&["f", "g"]).brought(&["1", "2"]);
    let tape = tape.asked().called(&["f"]).brought(&["3"]).asked().text("Done.").done();
    let first = "0 opened\n0 + \"I look.\"\n0 = \"I look.\" Complete\n\
                 1 calls 0 f {\"x\":1}\n2 calls 1 g {\"x\":1}\n";
    assert_eq!(shown_of_part(&tape, 0), first);
    assert_eq!(shown_of_part(&tape, 1), "0 calls 0 f {\"x\":1}\n");
    assert_eq!(shown_of_part(&tape, 2), "0 opened\n0 + \"Done.\"\n0 = \"Done.\" Complete\n");
    assert_eq!(steps_of_part(&tape, 3), []);
    let outcome = |part| match steps_of_part(&tape, part).pop() {
        Some(AnswerStep::Ended(end)) => end.outcome,
        other => panic!("no end: {other:?}"),
    };
    assert_eq!(
        [0, 1, 2].map(outcome),
        [AnswerOutcome::FunctionCalls, AnswerOutcome::FunctionCalls, AnswerOutcome::Complete]
    );
    let mut ids: Vec<u32> = Vec::new();
    for step in (0..2).flat_map(|part| steps_of_part(&tape, part)) {
        if let AnswerStep::FunctionCalled { call, .. } = step {
            ids.push(call.id.number);
        }
    }
    assert_eq!(ids, [1, 2, 3], "no id comes twice");
}

#[test]
fn a_run_that_ends_while_its_client_is_waited_for_has_its_calls_as_its_answer() {
    let tape = TapeBuilder::new().asked().called(&["f"]).finished(TerminationReason::Cancelled, None);
    assert_eq!(outcome(&tape.entries()), AnswerOutcome::FunctionCalls);
}

#[test]
fn the_last_pause_of_a_provider_is_remembered() {
    let tape = TapeBuilder::new().asked().abandoned_for(Duration::from_secs(9));
    let tape = tape.finished(TerminationReason::ProviderError, Some(ErrorCode::ModelRateLimited)).entries();
    let pause = Some(Duration::from_secs(9));
    assert_eq!(outcome(&tape), AnswerOutcome::Failed { code: ErrorCode::ModelRateLimited, pause });
}

/// What can follow in a tape that a run writes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TapeMove {
    Text(&'static str),
    Abandon,
    Answer(u32),
    /// Two functions of the client, whose results it brings.
    Calls,
}

pub(crate) fn any_moves() -> impl Strategy<Value = Vec<TapeMove>> {
    let text = prop::sample::select(vec!["a", "b", "ab", "ba", "aab", "é", " "]);
    let one = prop_oneof![
        6 => text.prop_map(TapeMove::Text),
        1 => Just(TapeMove::Abandon),
        1 => (0_u32..2).prop_map(TapeMove::Answer),
        1 => Just(TapeMove::Calls),
    ];
    prop::collection::vec(one, 0..40)
}

pub(crate) fn tape_of(moves: &[TapeMove], structured: bool) -> Vec<OrchestratorTapeRecord> {
    let mut tape = if structured { TapeBuilder::structured() } else { TapeBuilder::new() }.asked();
    for step in moves {
        tape = match step {
            TapeMove::Text(text) => tape.text(text),
            TapeMove::Abandon => tape.abandoned().asked(),
            TapeMove::Calls => tape.called(&["f", "g"]).brought(&["1", "2"]).asked(),
            TapeMove::Answer(proposals) => tape.answered(*proposals, FinishReason::Stop).asked(),
        };
    }
    tape.done()
}

proptest! {
    #[test]
    fn a_cut_tape_gives_the_beginning_of_the_whole(moves in any_moves(), structured: bool, cut in 0_usize..60) {
        let tape = tape_of(&moves, structured);
        let cut = cut.min(tape.len());
        let (part, whole) = (steps(&tape[..cut]), steps(&tape));
        prop_assert!(whole.starts_with(&part));
    }

    #[test]
    fn the_pieces_of_an_item_are_its_words_and_items_do_not_overlap(moves in any_moves(), structured: bool) {
        let mut open: Option<(u32, String)> = None;
        let mut next = 0;
        for step in steps(&tape_of(&moves, structured)) {
            match step {
                AnswerStep::ItemOpened { item } => {
                    prop_assert!(open.is_none() && item == next);
                    next += 1;
                    open = Some((item, String::new()));
                }
                AnswerStep::TextAdded { item, text } => {
                    prop_assert!(!text.is_empty());
                    let (of, words) = open.as_mut().unwrap();
                    prop_assert_eq!(*of, item);
                    words.push_str(&text);
                }
                AnswerStep::ItemClosed { item, text, .. } => {
                    prop_assert_eq!(open.take(), Some((item, text)));
                }
                AnswerStep::FunctionCalled { item, .. } => {
                    prop_assert!(open.is_none() && item == next);
                    next += 1;
                }
                AnswerStep::Ended(_) => prop_assert!(open.is_none()),
                AnswerStep::Accepted { .. } | AnswerStep::Started => {}
            }
        }
    }
}
