//! A secret is found across pieces of a text, and what is remembered of a text is bounded.

use palyra_ports::redactor::{Cleaned, Findings, PassThrough, RedactStream};
use palyra_types::Redacted;
use palyra_types::effect::{OutputRest, ToolOutput};
use palyra_types::event::ToolEvent;

use super::*;

/// Takes out `key-` and the letters behind it.
struct Keys;

impl Redactor for Keys {
    fn ruleset(&self) -> u32 {
        1
    }

    fn redact(&self, text: Redacted<String>) -> Cleaned {
        let mut clean = String::new();
        let mut rest = text.expose().as_str();
        while let Some(at) = rest.find("key-") {
            let key = &rest[at + 4..];
            let end = key.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(key.len());
            clean += &rest[..at];
            clean += if end >= 6 { "<secret>" } else { &rest[at..at + 4 + end] };
            rest = &key[end..];
        }
        Cleaned { text: (clean + rest).into(), findings: Findings::default() }
    }

    fn redact_json(&self, text: Redacted<String>) -> Cleaned {
        self.redact(text)
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        PassThrough.begin()
    }
}

fn found(pieces: &[&str]) -> Vec<u64> {
    let mut window = Window::default();
    let mut found = std::collections::BTreeSet::new();
    for (at, piece) in (0..).zip(pieces) {
        let before = window.across(&Keys, piece);
        if !before.is_empty() {
            found.extend(before.iter().map(|seq| seq.0));
            found.insert(at);
        }
        window.push(Seq(at), piece);
    }
    found.into_iter().collect()
}

#[test]
fn a_secret_is_found_across_pieces_and_what_stands_around_it_is_not() {
    assert_eq!(found(&["it is ", "key-", "abc", "defgh. And", " so on", " for long"]), [1, 2, 3]);
    assert_eq!(found(&["key-abcdef ", "stands alone", " in a piece"]), [0u64; 0]);
    assert_eq!(found(&["key-abcdef", "ghi", "jkl more", "words"]), [0, 1, 2], "the rest of one goes too");
    assert_eq!(found(&["nothing ", "here"]), [0u64; 0]);
}

#[test]
fn what_a_call_printed_is_one_text_whatever_prints_beside_it() {
    let mut search = Search { redactor: &Keys, under_way: BTreeMap::new(), found: Gathered::default() };
    let run = Some(RunId::from_parts(1, 1));
    let printed = |effect, text: &str| {
        let (effect, text, rest) = (EffectId(effect), text.into(), OutputRest::Follows);
        JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Output(ToolOutput {
            effect,
            shown_bytes: 0,
            rest,
            text,
        })))
    };
    let pieces = [(1, "it is key-"), (2, "abcdef"), (1, "abcdef"), (2, " and no more"), (1, " so")];
    for (seq, (effect, text)) in (0..).zip(pieces) {
        search.look_at(Seq(seq), run, &printed(effect, text));
    }
    let found: Vec<u64> =
        search.found.done().0.iter().flat_map(|range| range.first.0..=range.last.0).collect();
    assert_eq!(found, [0, 2]);
}

#[test]
fn what_is_remembered_of_a_text_is_bounded() {
    let mut window = Window::default();
    (0..100).for_each(|at| window.push(Seq(at), &"x".repeat(1_000)));
    assert!(window.bytes <= WINDOW_BYTES_MAX && window.pieces.len() == 16, "{}", window.pieces.len());
}
