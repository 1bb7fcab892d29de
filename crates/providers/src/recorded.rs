//! What every recorded stream has to stand, whatever its wire format: any cut, any end, noise and damage.
//!
//! The recordings lie in `tests/recorded`, with a page that says what each of them is. A wire format lists
//! its own in a [`Recordings`] and runs [`stands_everything`](Recordings::stands_everything).

use palyra_types::model::{ModelFailure, ModelFailureClass, ModelPiece, UsageSource};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::wire_format::answer_reader::{AnswerAssembly, AnswerReader, PieceQueue};

/// What came out of a stream.
pub(crate) type Given = Vec<Result<ModelPiece, ModelFailure>>;

/// The recordings of a wire format, by name.
pub(crate) struct Recordings<A: AnswerAssembly> {
    /// Begins to read an answer.
    pub(crate) assembly: fn() -> A,
    /// Names and bytes.
    pub(crate) streams: &'static [(&'static str, &'static str)],
}

impl<A: AnswerAssembly> Recordings<A> {
    /// Returns a recording.
    pub(crate) fn stream(&self, name: &str) -> &'static str {
        self.streams.iter().find(|(known, _)| *known == name).expect("a recording").1
    }

    /// Reads chunks and a proper end.
    pub(crate) fn read(&self, chunks: &[&[u8]]) -> Given {
        let mut reader = AnswerReader::new((self.assembly)());
        let mut out = PieceQueue::new();
        for chunk in chunks {
            reader.feed(chunk, &mut out);
        }
        reader.end(&mut out);
        assert!(reader.has_ended());
        assert_lawful(out.make_contiguous());
        out.into()
    }

    /// Reads bytes behind which the connection breaks.
    fn read_torn(&self, bytes: &[u8]) -> Given {
        let mut reader = AnswerReader::new((self.assembly)());
        let mut out = PieceQueue::new();
        reader.feed(bytes, &mut out);
        out.into()
    }

    /// Compares what a recording gives with what is expected, one piece a line.
    pub(crate) fn check(&self, name: &str, expect: &str) {
        assert_eq!(show(&self.read(&[self.stream(name).as_bytes()])), expect, "{name}");
    }

    /// Runs every trial on every recording.
    pub(crate) fn stands_everything(&self) {
        for (name, stream) in self.streams {
            let whole = self.read(&[stream.as_bytes()]);
            self.stands_any_split(name, stream.as_bytes(), &whole);
            self.stands_any_end(name, stream.as_bytes(), &whole);
            self.stands_a_repetition(name, stream, &whole);
            if !stream.starts_with('{') {
                self.stands_strangers(name, stream, &whole);
                self.stands_damage(name, stream, &whole);
            }
        }
        self.stands_random_splits_and_damage();
    }

    fn stands_any_split(&self, name: &str, bytes: &[u8], whole: &Given) {
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(&self.read(&[head, tail]), whole, "{name} in two at {cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(&self.read(&single), whole, "{name} byte by byte");
    }

    /// A broken connection is never an answer; a proper end before the end of the answer neither.
    fn stands_any_end(&self, name: &str, bytes: &[u8], whole: &Given) {
        let (end, texts) = whole.split_last().expect("an end");
        for cut in 0..bytes.len() {
            let broken = self.read_torn(&bytes[..cut]);
            let answered = broken.len() == whole.len();
            assert!(whole.starts_with(&broken), "{name} broken at {cut}");
            let rest = String::from_utf8_lossy(&bytes[cut..]);
            assert!(!answered || rest.trim().is_empty() || end.is_err(), "{name} broken at {cut}: {rest}");

            let ended = self.read(&[&bytes[..cut]]);
            let (torn_end, torn_texts) = ended.split_last().expect("an end");
            assert!(texts.starts_with(torn_texts), "{name} ended at {cut}");
            match (torn_end, end) {
                (Err(failure), Ok(_)) => {
                    assert_eq!(failure.class, ModelFailureClass::Malformed, "{name} {cut}");
                }
                (Err(_), Err(_)) => {}
                // Nothing is missing but a mark or the usage, which not every server sends.
                (Ok(ModelPiece::Answer(torn)), Ok(ModelPiece::Answer(answer))) => {
                    assert_eq!(torn_texts, texts, "{name} ended at {cut}");
                    assert_eq!((&torn.proposals, torn.finish), (&answer.proposals, answer.finish));
                }
                _ => panic!("{name} ended at {cut}: {}", show(&ended)),
            }
        }
    }

    /// What comes after the end is no part of the answer, or breaks it where the end was not marked.
    fn stands_a_repetition(&self, name: &str, stream: &str, whole: &Given) {
        let twice = self.read(&[stream.as_bytes(), b"\n\n", stream.as_bytes()]);
        let is_malformed =
            matches!(twice.last(), Some(Err(failure)) if failure.class == ModelFailureClass::Malformed);
        assert!(&twice == whole || is_malformed, "{name} twice: {}", show(&twice));
    }

    /// Events, comments and fields that nobody knows change nothing.
    fn stands_strangers(&self, name: &str, stream: &str, whole: &Given) {
        let mut noisy = String::new();
        for event in events(stream) {
            noisy.push_str(": comment\n\nevent: x_new\nretry: 7\ndata: {\"type\":\"x_new\",\"index\":0}\n\n");
            noisy.push_str("data:\n\n");
            noisy.push_str(&event.replacen("data: {", "data: {\"x_new\":{\"a\":[null,\"\u{2028}\"]},", 1));
            noisy.push_str("\n\n");
        }
        assert_eq!(&self.read(&[noisy.as_bytes()]), whole, "{name} with strangers");
    }

    /// A broken event ends the answer there, as malformed.
    fn stands_damage(&self, name: &str, stream: &str, whole: &Given) {
        let events = events(stream);
        for damaged in 0..events.len() {
            let before = events[..damaged].iter().map(|event| format!("{event}\n\n")).collect::<String>();
            if !events[damaged].contains("data: {") || self.read_torn(before.as_bytes()).len() == whole.len()
            {
                continue;
            }
            let said = self.read_torn(before.as_bytes());
            let no_json = events[damaged].replacen("data: {", "data: {]", 1).into_bytes();
            let mut no_text = events[damaged].clone().into_bytes();
            let last = no_text.iter().rposition(|byte| *byte == b'"').expect("a string");
            no_text.insert(last, 0xff);
            for broken in [no_json, no_text] {
                let after = events[damaged + 1..].join("\n\n");
                let found = self.read(&[before.as_bytes(), &broken, b"\n\n", after.as_bytes()]);
                let (end, pieces) = found.split_last().expect("an end");
                assert_eq!(pieces, &said[..], "{name} broken in event {damaged}");
                let Err(failure) = end else { panic!("{name} broken in event {damaged}: {}", show(&found)) };
                assert_eq!(failure.class, ModelFailureClass::Malformed, "{name} event {damaged}");
            }
        }
    }

    fn stands_random_splits_and_damage(&self) {
        let any_index = any::<prop::sample::Index>;
        let trial = (
            0..self.streams.len(),
            prop::collection::vec(any_index(), 0..40),
            prop::collection::vec((any_index(), any::<u8>()), 0..8),
        );
        let mut runner = TestRunner::default();
        let outcome = runner.run(&trial, |(which, cuts, damage)| {
            let mut bytes = self.streams[which].1.as_bytes().to_vec();
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(self.read(&chunks), self.read(&[&bytes]));
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{error}"));
    }
}

/// The events of a stream, without the blank lines behind them.
fn events(stream: &str) -> Vec<String> {
    let stream = stream.replace("\r\n", "\n");
    stream.split("\n\n").filter(|event| !event.trim().is_empty()).map(str::to_owned).collect()
}

/// Texts and reasoning, none of them empty, then one answer or failure.
fn assert_lawful(pieces: &[Result<ModelPiece, ModelFailure>]) {
    let (end, before) = pieces.split_last().expect("an end");
    assert!(matches!(end, Err(_) | Ok(ModelPiece::Answer(_))), "{}", show(pieces));
    for piece in before {
        match piece {
            Ok(ModelPiece::Text(text) | ModelPiece::Reasoning(text)) => assert!(!text.expose().is_empty()),
            _ => panic!("something follows an end: {}", show(pieces)),
        }
    }
}

/// Shows what came out, one piece a line.
pub(crate) fn show(pieces: &[Result<ModelPiece, ModelFailure>]) -> String {
    pieces.iter().map(show_piece).collect::<Vec<_>>().join("\n")
}

fn show_piece(piece: &Result<ModelPiece, ModelFailure>) -> String {
    let answer = match piece {
        Ok(ModelPiece::Reasoning(text)) => return format!("reasoning {:?}", text.expose()),
        Ok(ModelPiece::Text(text)) => return format!("text {:?}", text.expose()),
        Err(failure) => return format!("{:?}: {}", failure.class, failure.detail.expose()),
        Ok(ModelPiece::Answer(answer)) => answer,
    };
    let usage = answer.usage.map_or("no usage".to_owned(), |usage| {
        assert_eq!(usage.source, UsageSource::Reported);
        let (read, cached) = (usage.input_tokens, usage.cached_input_tokens);
        format!("{:?}", [read, cached, usage.output_tokens, usage.reasoning_tokens])
    });
    let calls = answer
        .proposals
        .iter()
        .map(|call| format!("\n  {} {} {}", call.model_call_id.expose(), call.tool, call.arguments.expose()));
    let calls: String = calls.collect();
    let kept = answer.continuation.as_ref().map(|kept| format!("\n  keeps {}", sorted(kept.body.expose())));
    let (finish, by, id) = (answer.finish, &answer.answered_by, answer.response_id.expose());
    format!("{finish:?} by {by} {id:?} {usage}{calls}{}", kept.unwrap_or_default())
}

/// Writes JSON with its keys in order, so that a table tells nothing of the order in which they came.
fn sorted(json: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(json).expect("what is kept is JSON");
    value.sort_all_objects();
    value.to_string()
}
