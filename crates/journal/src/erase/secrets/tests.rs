//! A secret is found in any content field and across pieces of a text; the memory for a text is bounded.

use palyra_ports::redactor::{CleanedText, RedactStream, RedactionFindings};
use palyra_testkit::PassThrough;
use palyra_testkit::journal_suite::random_appends::RandomAppends;
use palyra_types::effect::{OutputRest, ToolOutput};
use palyra_types::event::ToolEvent;
use palyra_types::event::content::ContentLeaf;
use palyra_types::{Content, Redacted};

use super::*;

/// Takes out `key-` and the letters behind it.
struct Keys;

impl Redactor for Keys {
    fn ruleset(&self) -> u32 {
        1
    }

    fn redact(&self, text: Content<String>) -> CleanedText {
        let mut clean = String::new();
        let mut rest = text.expose().as_str();
        while let Some(at) = rest.find("key-") {
            let key = &rest[at + 4..];
            let end = key.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(key.len());
            clean += &rest[..at];
            clean += if end >= 6 { "<secret>" } else { &rest[at..at + 4 + end] };
            rest = &key[end..];
        }
        CleanedText { text: Redacted::cleaned(clean + rest), findings: RedactionFindings::default() }
    }

    fn redact_json(&self, text: Content<String>) -> CleanedText {
        self.redact(text)
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        PassThrough.begin()
    }
}

fn found(pieces: &[&str]) -> Vec<u64> {
    let mut window = PieceWindow::default();
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
    let mut search =
        SecretSearch { redactor: &Keys, under_way: BTreeMap::new(), found: SeqRanges::default() };
    let run = Some(RunId::from_parts(1, 1));
    let printed = |effect, text: &str| {
        let (effect, text, rest) =
            (EffectId(effect), Redacted::cleaned(text.to_owned()), OutputRest::Follows);
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
fn a_secret_is_found_in_any_text_of_an_entry() {
    let searched = |event: &JournalEvent| {
        let mut search =
            SecretSearch { redactor: &Keys, under_way: BTreeMap::new(), found: SeqRanges::default() };
        search.look_at(Seq(0), None, event);
        !search.found.done().0.is_empty()
    };
    let mut random = RandomAppends::new(7);
    let mut fields = std::collections::BTreeSet::new();
    for entry in (0..1_000).flat_map(|_| random.next_append().entries) {
        assert!(!searched(&entry.event), "{:?}", entry.event);
        let mut count = 0;
        entry.event.for_each_content(&mut |_, _| count += 1);
        for at in 0..count {
            let (mut event, mut next) = (entry.event.clone(), 0..);
            let mut planted = None;
            event.replace_content(&mut |field, leaf| {
                let is_text = !matches!(leaf, ContentLeaf::Model(_) | ContentLeaf::Opaque(_));
                let here = next.next() == Some(at) && is_text;
                planted = planted.or(here.then_some(field));
                here.then(|| "key-abcdefgh".to_owned())
            });
            if let Some(field) = planted {
                assert!(searched(&event), "a secret in {field} is not found");
                fields.insert(field.to_string());
            }
        }
    }
    for field in ["tool_proposed.model_call_id", "model_message.response_id", "tool_proposed.tool"] {
        assert!(fields.contains(field), "{field} was not made: {fields:?}");
    }
}

#[test]
fn what_is_remembered_of_a_text_is_bounded() {
    let mut window = PieceWindow::default();
    (0..100).for_each(|at| window.push(Seq(at), &"x".repeat(1_000)));
    assert!(window.bytes <= WINDOW_BYTES_MAX && window.pieces.len() == 16, "{}", window.pieces.len());
}
