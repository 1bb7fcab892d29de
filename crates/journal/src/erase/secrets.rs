//! Which entries hold something that the present redactor takes out.
//!
//! Owns the joining of a model's text, which comes in pieces that may cut a secret anywhere. Reads page by page,
//! none of them in a long transaction. Memory: a page, and the last bytes of the texts under way.

use std::collections::{BTreeMap, VecDeque};

use palyra_ports::maintain_journal::Progress;
use palyra_ports::{ErasurePlan, Redactor};
use palyra_types::event::{JournalEvent, ModelEvent, RunEvent, TapeEvent, ToolEvent, ToolFinished};
use palyra_types::{EffectId, RunId, Seq};
use rusqlite::Connection;

use super::find::plan_of;
use super::ranges::{Gathered, joined};
use super::texts::{Text, texts_of};
use crate::entry::{ENTRY_COLUMNS, StoredEntry};
use crate::fault::ReadFault;
use crate::sql::seq_to_sql;

/// Entries read at once.
const PAGE_ENTRIES_MAX: usize = 256;
/// How far back a text's pieces are joined: no secret that is known by its shape is longer.
const WINDOW_BYTES_MAX: usize = 16 * 1024;
/// Texts under way at once that are joined.
const TEXTS_UNDER_WAY_MAX: usize = 256;

/// Returns the entries whose content would be another one if it came in now.
pub(crate) fn find_secrets(
    connection: &Connection,
    redactor: &dyn Redactor,
    progress: &Progress,
) -> Result<ErasurePlan, ReadFault> {
    let total: i64 =
        connection.query_row("SELECT coalesce(max(seq) + 1, 0) FROM entry", [], |row| row.get(0))?;
    let total = total.cast_unsigned();
    let mut search = Search { redactor, under_way: BTreeMap::new(), found: Gathered::default() };
    let mut next = Seq(0);
    while let Some(last) = search_page(connection, next, &mut search)? {
        next = last.next();
        progress(next.0.min(total), total);
    }
    progress(total, total);
    let ranges = joined(search.found.done().0);
    Ok(plan_of(connection, &ranges)?)
}

/// Searches one page; returns its last entry.
fn search_page(
    connection: &Connection,
    from: Seq,
    search: &mut Search<'_>,
) -> Result<Option<Seq>, ReadFault> {
    let sql = format!(
        "SELECT {ENTRY_COLUMNS} FROM payload p JOIN entry e ON e.seq = p.seq
        WHERE p.seq >= ?1 ORDER BY p.seq LIMIT {PAGE_ENTRIES_MAX}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([seq_to_sql(from)])?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        let entry = StoredEntry::read(connection, row)?;
        let seq = entry.envelope.seq;
        search.look_at(seq, entry.envelope.run.map(|(run, _)| run), &entry.event()?);
        last = Some(seq);
    }
    Ok(last)
}

struct Search<'a> {
    redactor: &'a dyn Redactor,
    /// The last pieces of what models and tools are saying, by run and kind of text.
    under_way: BTreeMap<(RunId, Said), Window>,
    found: Gathered,
}

/// What a piece is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Answer,
    Reasoning,
    Printed(EffectId),
}

#[derive(Default)]
struct Window {
    pieces: VecDeque<(Seq, String)>,
    bytes: usize,
}

impl Search<'_> {
    fn look_at(&mut self, seq: Seq, run: Option<RunId>, event: &JournalEvent) {
        let texts = texts_of(event);
        let holds = texts.iter().any(|text| match text {
            Text::Plain(text) => self.redactor.redact((*text).into()).text.expose() != text,
            Text::Json(text) => self.redactor.redact_json((*text).into()).text.expose() != text,
        });
        if holds {
            self.found.take(seq);
        }
        let (Some(run), JournalEvent::Tape(event)) = (run, event) else { return };
        if let TapeEvent::Model(ModelEvent::Text { text, .. }) = event {
            self.join(seq, (run, Said::Answer), text.expose());
        } else if let TapeEvent::Model(ModelEvent::Reasoning { text, .. }) = event {
            self.join(seq, (run, Said::Reasoning), text.expose());
        } else if let TapeEvent::Tool(ToolEvent::Output(output)) = event {
            self.join(seq, (run, Said::Printed(output.effect)), output.text.expose());
        } else if let TapeEvent::Tool(
            ToolEvent::Finished(ToolFinished { effect, .. }) | ToolEvent::OutcomeUnknown { effect, .. },
        ) = event
        {
            self.under_way.remove(&(run, Said::Printed(*effect)));
        } else if matches!(event, TapeEvent::Run(RunEvent::Finished(_))) {
            self.under_way.remove(&(run, Said::Answer));
            self.under_way.remove(&(run, Said::Reasoning));
        }
    }

    /// Looks at a piece together with those before it.
    fn join(&mut self, seq: Seq, text: (RunId, Said), piece: &str) {
        if self.under_way.len() >= TEXTS_UNDER_WAY_MAX && !self.under_way.contains_key(&text) {
            self.under_way.pop_first();
        }
        let window = self.under_way.entry(text).or_default();
        for concerned in window.across(self.redactor, piece) {
            self.found.take(concerned);
            self.found.take(seq);
        }
        window.push(seq, piece);
    }
}

impl Window {
    fn push(&mut self, seq: Seq, piece: &str) {
        self.pieces.push_back((seq, piece.to_owned()));
        self.bytes += piece.len();
        while self.bytes > WINDOW_BYTES_MAX && self.pieces.len() > 1 {
            if let Some((_, gone)) = self.pieces.pop_front() {
                self.bytes -= gone.len();
            }
        }
    }

    /// Returns the pieces that hold a secret together with the one that follows them: the fewest that do.
    fn across(&self, redactor: &dyn Redactor, piece: &str) -> Vec<Seq> {
        let clean = |text: &str| redactor.redact(text.into()).text.into_exposed();
        let is_across = |before: &str| clean(&format!("{before}{piece}")) != clean(before) + &clean(piece);
        let all: String = self.pieces.iter().map(|(_, text)| text.as_str()).collect();
        if all.is_empty() || !is_across(&all) {
            return Vec::new();
        }
        let mut before = String::new();
        let mut concerned = Vec::new();
        for (seq, text) in self.pieces.iter().rev() {
            before.insert_str(0, text);
            concerned.push(*seq);
            if is_across(&before) {
                break;
            }
        }
        concerned
    }
}

#[cfg(test)]
mod tests {
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
}
