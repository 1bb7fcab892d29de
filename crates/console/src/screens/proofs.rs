//! The journal and its newest signed head, and how to check both.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{bytes, clean_text, shell_word};
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::paths::{CONSISTENCY_PATH, ENTRY_PROOF_PATH};
use crate::screen_call::ScreenCall;
use crate::wording::{StateMark, command, hex, line, line_or, now_seconds, spaced, time_tag};

const UNSIGNED: &str = "No head of the log is signed yet.";
/// What a line with a signature begins with, in a note of the C2SP format.
const SIGNATURE_MARK: &str = "— ";

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/proofs",
    title: "Proof",
    navigation: Some(NavigationRow::More),
    operation: "GetJournalStatus",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView {
        view: || view(&v1::GetJournalStatusResponse::default(), &HeadContext::default()),
        sentence: UNSIGNED,
    }),
};

/// What the page shows beside the state of the journal.
#[derive(Default)]
struct HeadContext {
    /// When the last entry was recorded that the signed head covers.
    covered: Option<prost_types::Timestamp>,
    /// Where the journal is; empty where it is not known.
    state_dir: String,
    now: i64,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let journal = call.call(v1::GetJournalStatusRequest {}).await?;
    let state_dir = call.call(v1::GetStatusRequest {}).await?.state_dir;
    let covered = match journal.checkpoint.as_ref().and_then(|head| head.size.checked_sub(1)) {
        Some(from_seq) => {
            let list = call.call(v1::ListEntriesRequest { from_seq, limit: 1 }).await?;
            list.entries.first().and_then(|entry| entry.time)
        }
        None => None,
    };
    Ok(view(&journal, &HeadContext { covered, state_dir, now: now_seconds() }))
}

fn view(journal: &v1::GetJournalStatusResponse, context: &HeadContext) -> Markup {
    html! {
        (health(journal))
        p { a.button href="/console/proofs/check" { "Verify every entry now" } }
        h2 { "Signed head" }
        @match &journal.checkpoint {
            Some(head) => {
                (signed_head(head, journal.entries, context))
                (in_this_browser(head))
            }
            None => {
                p { (UNSIGNED) }
                (command("Sign one now", "palyra journal checkpoint"))
            }
        }
        (without_the_daemon(&context.state_dir))
    }
}

fn health(journal: &v1::GetJournalStatusResponse) -> Markup {
    html! {
        dl.facts {
            dt { "Last check" } dd { (integrity_mark(journal).markup()) }
            @if journal.integrity() == v1::JournalIntegrity::Faulty {
                dt { "First bad entry" } dd { (journal.first_bad_seq) ": " (line(&journal.fault)) }
            }
            @if journal.integrity() == v1::JournalIntegrity::TableDiffers {
                dt { "Table" } dd { code { (line(&journal.fault)) } }
            }
            dt { "Accepts" } dd { (health_mark(journal).markup()) }
            @if journal.cause() != v1::ReadOnlyCause::Unspecified {
                dt { "Why" } dd { (spaced(journal.cause().short_name())) }
            }
            dt { "Entries" } dd { (journal.entries) }
            dt { "Log" } dd { code { (line_or(&journal.log_id, "not known")) } }
            dt { "Starts of the daemon" } dd { (journal.epoch) }
            dt { "On disk" } dd { (bytes(journal.database_bytes)) ", and " (bytes(journal.wal_bytes)) " of the write-ahead log" }
        }
    }
}

fn integrity_mark(journal: &v1::GetJournalStatusResponse) -> StateMark {
    match journal.integrity() {
        v1::JournalIntegrity::Holds => StateMark::new("✓", "every entry verified", "positive"),
        v1::JournalIntegrity::Faulty => StateMark::new("✕", "an entry does not verify", "danger"),
        v1::JournalIntegrity::TableDiffers => {
            StateMark::new("!", "every entry verified; a derived table differs", "caution")
        }
        v1::JournalIntegrity::NotChecked => StateMark::new("○", "none since the daemon started", "muted"),
        v1::JournalIntegrity::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

fn health_mark(journal: &v1::GetJournalStatusResponse) -> StateMark {
    match journal.health() {
        v1::JournalHealth::Writable => StateMark::new("✓", "every entry", "positive"),
        v1::JournalHealth::EndingsOnly => {
            StateMark::new("!", "only entries that end something: space is low", "caution")
        }
        v1::JournalHealth::Quarantined => StateMark::new("✕", "nothing: it is read-only", "danger"),
        v1::JournalHealth::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

fn signed_head(head: &v1::Checkpoint, entries: u64, context: &HeadContext) -> Markup {
    html! {
        dl.facts {
            dt { "Covers" } dd { (head.size) " entries; " (entries.saturating_sub(head.size)) " came since" }
            dt { "Its last entry" } dd { (time_tag(context.covered.as_ref(), context.now)) }
            dt { "Root" } dd { code { (hex(&head.root)) } }
            dt { "Signed by" } dd {
                @for key in signers(&head.note) { div { code { (line(key)) } } }
            }
        }
        details { summary { "The note with its signatures" } pre { (clean_text(&head.note)) } }
        p.muted { "Keep a copy elsewhere: a journal that was cut or replaced later does not continue it." }
    }
}

/// Returns the place of what the browser checks by itself.
fn in_this_browser(head: &v1::Checkpoint) -> Markup {
    html! {
        section data-head data-log=(line(&head.log_id)) data-size=(head.size) data-root=(hex(&head.root))
            data-consistency=(CONSISTENCY_PATH) data-entry=(ENTRY_PROOF_PATH)
        {
            h2 { "Checked in this browser" }
            div.notice role="status" data-verdict { "A browser with scripts compares this head with the one that it saw before." }
            button type="button" data-forget hidden { "Remember this head instead" }
            form method="get" action="/console/proofs" hidden {
                label for="seq" { "Check one entry, by its number in the journal" }
                input type="text" id="seq" name="seq" inputmode="numeric" pattern="[0-9]{1,15}" required;
                div.actions { button type="submit" { "Check this entry" } }
                div role="status" data-verdict {}
            }
        }
    }
}

/// Returns the names of the keys that signed a note.
fn signers(note: &str) -> Vec<&str> {
    let lines = note.lines().filter_map(|line| line.strip_prefix(SIGNATURE_MARK));
    lines.map(|line| line.split(' ').next().unwrap_or(line)).collect()
}

fn without_the_daemon(state_dir: &str) -> Markup {
    let folder = if state_dir.is_empty() { "STATE" } else { state_dir };
    let journal = shell_word(&format!("{folder}/journal.db"));
    let folder = shell_word(folder);
    html! {
        h2 { "Check it without this daemon" }
        p { code { "palyra-verify" } " is a program of its own: it shares no code with the daemon, uses no network and writes nothing." }
        (command("The whole log", &format!("palyra-verify --db {journal} --keys {folder}")))
        (command("Keep a signed head", "palyra journal checkpoint > kept-checkpoint"))
        (command("Later, against it", &format!("palyra-verify --db {journal} --since kept-checkpoint")))
        (command("One run, for another person", "palyra journal export DIR --run RUN"))
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let note = format!("{text}\n\n{SIGNATURE_MARK}{text} c2ln\n");
    let checkpoint = v1::Checkpoint { size: 3, root: vec![1, 2], note, ..Default::default() };
    let journal = v1::GetJournalStatusResponse {
        integrity: v1::JournalIntegrity::Faulty.into(),
        log_id: text.to_owned(),
        fault: text.to_owned(),
        checkpoint: Some(checkpoint),
        ..Default::default()
    };
    let table = v1::GetJournalStatusResponse {
        integrity: v1::JournalIntegrity::TableDiffers.into(),
        ..journal.clone()
    };
    let context = HeadContext { state_dir: text.to_owned(), ..Default::default() };
    html! { (view(&journal, &context)) (view(&table, &HeadContext::default())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_head_says_how_much_it_covers_and_who_signed() {
        let note = "palyra/log\n7\nroot\n\n— palyra/log+key c2ln\n— witness d2l0\n".to_owned();
        let head = v1::Checkpoint { size: 7, root: vec![0xab, 1], note, ..Default::default() };
        let journal =
            v1::GetJournalStatusResponse { entries: 9, checkpoint: Some(head), ..Default::default() };
        let shown = view(&journal, &HeadContext::default()).into_string();
        for part in ["7 entries; 2 came since", "<code>ab01</code>", "palyra/log+key", "<code>witness</code>"]
        {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }
}
