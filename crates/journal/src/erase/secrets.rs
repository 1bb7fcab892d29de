//! Which entries hold something that the present redactor takes out.
//!
//! Owns the joining of a model's text, which comes in pieces that may cut a secret anywhere. Reads page by page,
//! none of them in a long transaction. Memory: a page, and the last bytes of the texts under way.

use std::collections::{BTreeMap, VecDeque};

use palyra_ports::maintain_journal::ProgressCallback;
use palyra_ports::redactor::CleanedText;
use palyra_ports::{ErasurePlan, Redactor};
use palyra_types::event::content::ContentLeaf;
use palyra_types::event::{JournalEvent, ModelEvent, RunEvent, TapeEvent, ToolEvent, ToolFinished};
use palyra_types::{Content, EffectId, RunId, Seq};
use rusqlite::Connection;

use super::find::plan_of;
use crate::entry::{SELECT_ENTRIES, StoredEntry};
use crate::fault::ReadFault;
use crate::sql::seq_to_sql;
use palyra_journal_core::seq_ranges::{SeqRanges, joined};

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
    progress: &ProgressCallback,
) -> Result<ErasurePlan, ReadFault> {
    let total: i64 =
        connection.query_row("SELECT coalesce(max(seq) + 1, 0) FROM entry", [], |row| row.get(0))?;
    let total = total.cast_unsigned();
    let mut search = SecretSearch { redactor, under_way: BTreeMap::new(), found: SeqRanges::default() };
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
    search: &mut SecretSearch<'_>,
) -> Result<Option<Seq>, ReadFault> {
    let sql = format!("{SELECT_ENTRIES} WHERE p.seq >= ?1 ORDER BY p.seq LIMIT {PAGE_ENTRIES_MAX}");
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

struct SecretSearch<'a> {
    redactor: &'a dyn Redactor,
    /// The last pieces of what models and tools are saying, by run and kind of text.
    under_way: BTreeMap<StreamedText, PieceWindow>,
    found: SeqRanges,
}

/// A text that arrives in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct StreamedText {
    run: RunId,
    kind: TextKind,
}

/// What a piece is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TextKind {
    Answer,
    Reasoning,
    Printed(EffectId),
}

#[derive(Default)]
struct PieceWindow {
    pieces: VecDeque<(Seq, String)>,
    bytes: usize,
}

impl SecretSearch<'_> {
    fn look_at(&mut self, seq: Seq, run: Option<RunId>, event: &JournalEvent) {
        if holds_secret(self.redactor, event) {
            self.found.take(seq);
        }
        let (Some(run), JournalEvent::Tape(event)) = (run, event) else { return };
        let text_of = |kind| StreamedText { run, kind };
        if let TapeEvent::Model(ModelEvent::Text { text, .. }) = event {
            self.join(seq, text_of(TextKind::Answer), text.expose());
        } else if let TapeEvent::Model(ModelEvent::Reasoning { text, .. }) = event {
            self.join(seq, text_of(TextKind::Reasoning), text.expose());
        } else if let TapeEvent::Tool(ToolEvent::Output(output)) = event {
            self.join(seq, text_of(TextKind::Printed(output.effect)), output.text.expose());
        } else if let TapeEvent::Tool(
            ToolEvent::Finished(ToolFinished { effect, .. }) | ToolEvent::OutcomeUnknown { effect, .. },
        ) = event
        {
            self.under_way.remove(&text_of(TextKind::Printed(*effect)));
        } else if matches!(event, TapeEvent::Run(RunEvent::Finished(_))) {
            self.under_way.remove(&text_of(TextKind::Answer));
            self.under_way.remove(&text_of(TextKind::Reasoning));
        }
    }

    /// Looks at a piece together with those before it.
    fn join(&mut self, seq: Seq, text: StreamedText, piece: &str) {
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

/// Returns whether a text of an event would be another one if it came in now. Names of models are configuration.
fn holds_secret(redactor: &dyn Redactor, event: &JournalEvent) -> bool {
    let mut holds = false;
    event.for_each_content(&mut |_, leaf| {
        let clean: fn(&dyn Redactor, Content<String>) -> CleanedText = match leaf {
            ContentLeaf::Json(_) => |redactor, text| redactor.redact_json(text),
            ContentLeaf::Text(_) | ContentLeaf::Path(_) | ContentLeaf::Bytes(_) => {
                |redactor, text| redactor.redact(text)
            }
            ContentLeaf::Model(_) | ContentLeaf::Opaque(_) => return,
        };
        leaf.for_each_text(&mut |text| {
            holds = holds || clean(redactor, text.into()).text.expose() != text;
        });
    });
    holds
}

impl PieceWindow {
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
mod tests;
