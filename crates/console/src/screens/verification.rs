//! A check of every entry of the journal, made as the page is loaded.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_types::ErrorCode;
use palyra_wire::v1;
use palyra_wire::v1::verify_journal_response::Step;

use super::ScreenSpec;
use crate::screen_call::ScreenCall;
use crate::wording::{StateMark, command, line, line_or};

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/proofs/check",
    title: "Verification",
    navigation: None,
    operation: "VerifyJournal",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: None,
};

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let last = call.call_to_end("VerifyJournal", &v1::VerifyJournalRequest {}).await?;
    match last {
        v1::VerifyJournalResponse { step: Some(Step::Report(report)) } => Ok(view(&report)),
        v1::VerifyJournalResponse { step: Some(Step::Progress(_)) | None } => {
            Err(ApiError::new(ErrorCode::Internal, "the check ended without its report".to_owned()))
        }
    }
}

fn view(report: &v1::JournalReport) -> Markup {
    let mark = if report.ok {
        StateMark::new("✓", "Every entry verified.", "positive")
    } else {
        StateMark::new("✕", "The journal does not verify.", "danger")
    };
    html! {
        p role="status" { strong { (mark.markup()) } }
        dl.facts {
            dt { "Entries checked" } dd { (report.entries) }
            @if !report.ok {
                dt { "First bad entry" } dd { (report.first_bad_seq) ": " (line_or(&report.fault, "no reason given")) }
            }
            dt { "Signed heads compared" } dd {
                (report.signed_heads)
                @if report.signed_heads > 0 { "; the newest covers " (report.signed_entries) " entries" }
            }
            dt { "Last entry" } dd { code { (line(&report.head)) } }
        }
        @if !report.ok {
            p.notice.danger { "Stop the daemon, keep a copy of its state directory, and compare it with a backup." }
        }
        p { a href="/console/proofs/check" { "Verify again" } " - " a href="/console/proofs" { "Back to the proof" } }
        (command("A journal that takes longer than a minute", "palyra journal verify"))
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    view(&v1::JournalReport { fault: text.to_owned(), head: text.to_owned(), ..Default::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_first_bad_entry_and_a_whole_journal_none() {
        let bad = v1::JournalReport { first_bad_seq: 812, fault: "leaf".to_owned(), ..Default::default() };
        let bad = view(&bad).into_string();
        assert!(bad.contains("812: leaf") && bad.contains("does not verify"), "{bad}");
        let whole = view(&v1::JournalReport { ok: true, entries: 5, ..Default::default() }).into_string();
        assert!(whole.contains("Every entry verified.") && !whole.contains("First bad entry"), "{whole}");
    }
}
