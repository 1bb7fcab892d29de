//! What a tool's end of a call gives on, however the bytes come.

use palyra_ports::{CleanedText, RedactionFindings};
use palyra_testkit::PassThrough;
use palyra_types::Content;
use palyra_types::effect::OutputRest;
use palyra_types::event::{ContentDigest, UnknownOutcomeCause};
use palyra_types::tool::{Isolation, Taints, ToolExecutionOutcome, ToolExecutor};

use super::*;

const LATER: BootTime = BootTime(100_000);

fn call() -> (PrintingCalls, OutputSink) {
    let mut printing = PrintingCalls::default();
    let sink = printing.begin(EffectId(1), &(Arc::new(PassThrough) as Arc<dyn Redactor>));
    (printing, sink)
}

fn lost() -> RunInput {
    RunInput::ToolOutcomeLost { effect: EffectId(1), cause: UnknownOutcomeCause::ExecutorLost }
}

fn said(inputs: &mut InputQueue) -> Vec<String> {
    let count = inputs.batch().len();
    let text = |input| {
        if let RunInput::ToolPrinted { text, rest: OutputRest::Follows, .. } = input {
            text.into_exposed()
        } else {
            panic!("something else: {input:?}")
        }
    };
    inputs.take(count).map(|command| text(command.input)).collect()
}

/// Prints, lets a moment pass, and loses the call; returns what was shown by then, and at the end.
fn print_and_lose(pieces: &[&[u8]]) -> (String, String) {
    let (mut printing, sink) = call();
    let mut inputs = InputQueue::default();
    pieces.iter().for_each(|piece| sink.print(piece));
    printing.take_time(BootTime(0), &mut inputs);
    assert_eq!(said(&mut inputs), [""; 0], "nothing at once");
    printing.take_time(LATER, &mut inputs);
    let shown = said(&mut inputs).concat();
    printing.end(&lost(), LATER, &mut inputs);
    (shown, said(&mut inputs).concat())
}

#[test]
fn a_text_is_the_same_wherever_it_is_cut() {
    let text = "aä日🦀 b";
    let bytes = text.as_bytes();
    for first in 0..=bytes.len() {
        for second in first..=bytes.len() {
            let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
            assert_eq!(
                print_and_lose(&pieces),
                (text.to_owned(), String::new()),
                "cut at {first} and {second}"
            );
        }
    }
    assert_eq!(
        print_and_lose(&[&bytes[..2]]),
        ("a".to_owned(), "\u{FFFD}".to_owned()),
        "a character without end"
    );
    assert_eq!(
        print_and_lose(&[b"a\xff\xfe\x80b\xc0"]).0,
        "a\u{FFFD}\u{FFFD}\u{FFFD}b\u{FFFD}",
        "no text at all"
    );
}

#[test]
fn more_than_is_shown_is_forgotten_but_for_the_news_that_there_is_more() {
    let (mut printing, sink) = call();
    let max = usize::try_from(OUTPUT_SHOWN_BYTES_MAX).unwrap();
    for _ in 0..64 {
        sink.print(&[b'x'; 10 * PART_BYTES]);
    }
    let mut inputs = InputQueue::default();
    printing.take_time(BootTime(0), &mut inputs);
    printing.take_time(LATER, &mut inputs);
    let entries = said(&mut inputs);
    let bytes: usize = entries.iter().map(String::len).sum();
    assert!(bytes > max && bytes <= max + PART_BYTES, "{bytes}");
    assert!(entries.iter().all(|entry| entry.len() <= 8 * 1024), "and in entries of a bounded size");
}

#[test]
fn what_was_printed_is_shown_however_quick_the_call_was() {
    for (bytes_total, expected) in [(5, "words"), (6, "words")] {
        let (mut printing, sink) = call();
        sink.print(b"words");
        let outcome = ToolExecutionOutcome {
            failure: None,
            output: Redacted::cleaned("told.".to_owned()),
            output_bytes_total: bytes_total,
            executor: ToolExecutor::Process,
            isolation: Isolation::Isolated,
            taints: Taints::NONE,
        };
        let output_digest = ContentDigest([0; 32]);
        let duration = std::time::Duration::ZERO;
        let ended = RunInput::ToolFinished { effect: EffectId(1), outcome, output_digest, duration };
        let mut inputs = InputQueue::default();
        printing.end(&ended, LATER, &mut inputs);
        assert_eq!(said(&mut inputs).concat(), expected, "{bytes_total}");
    }
}

#[test]
fn nobody_listens_to_a_call_that_is_not_shown_any_more() {
    let (mut printing, sink) = call();
    sink.print(b"one");
    printing.retain(|_| false);
    sink.print(b"two");
    let mut inputs = InputQueue::default();
    printing.take_time(LATER, &mut inputs);
    printing.end(&lost(), LATER, &mut inputs);
    assert!(inputs.is_empty());
    assert_eq!(printing.deadline(), None);
}

/// Panics where a text begins, or where it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Broken {
    AtItsBeginning,
    AtItsEnd,
}

impl Redactor for Broken {
    fn ruleset(&self) -> u32 {
        0
    }

    fn redact(&self, text: Content<String>) -> CleanedText {
        CleanedText { text: Redacted::cleaned(text.into_exposed()), findings: RedactionFindings::default() }
    }

    fn redact_json(&self, text: Content<String>) -> CleanedText {
        self.redact(text)
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        assert!(*self != Self::AtItsBeginning, "a broken redactor");
        Box::new(*self)
    }
}

impl RedactStream for Broken {
    fn push(&mut self, _: Content<&str>) -> Redacted<String> {
        Redacted::default()
    }

    fn finish(&mut self) -> Redacted<String> {
        panic!("a broken redactor")
    }

    fn take_findings(&mut self) -> RedactionFindings {
        RedactionFindings::default()
    }
}

#[test]
fn a_redactor_that_panics_ends_the_showing_and_neither_the_tool_nor_its_run() {
    for broken in [Broken::AtItsBeginning, Broken::AtItsEnd] {
        let mut printing = PrintingCalls::default();
        let sink = printing.begin(EffectId(1), &(Arc::new(broken) as Arc<dyn Redactor>));
        sink.print(b"words");
        sink.print(b"more");
        let mut inputs = InputQueue::default();
        printing.end(&lost(), LATER, &mut inputs);
        assert!(inputs.is_empty(), "what was not cleaned is not shown");
    }
}
