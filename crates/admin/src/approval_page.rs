//! Pages of approvals, bounded by rows and by bytes.
//!
//! Owns where a page ends. Invariant: a page has whole rows, and at least one when there is any left.

use palyra_journal_core::families::approvals;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::ReadError;
use palyra_ports::read_approvals::ApprovalQuery;
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_types::Seq;
use palyra_types::approval::ApprovalRecord;

/// Bytes of what the approvals of one page say, at most; a single one may say more.
pub const APPROVAL_PAGE_BYTES_MAX: usize = 1024 * 1024;

/// Rows read from the journal at once: rows in memory beside a page are bounded, too.
const ROWS_READ_MAX: usize = 32;

/// Some approvals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovalPage {
    /// Newest first.
    pub records: Vec<ApprovalRecord>,
    /// What to ask for next, as [`ApprovalQuery::before`]; `None` when there is no more.
    pub next: Option<Seq>,
}

/// Reads a page of those approvals that `sees` lets through.
///
/// # Errors
/// [`ReadError`].
pub async fn read_approval_page(
    families: &dyn ReadFamilies,
    query: ApprovalQuery,
    sees: impl Fn(&ApprovalRecord) -> bool,
) -> Result<ApprovalPage, ReadError> {
    let rows_max = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let mut query = ApprovalQuery { principal: None, limit: ROWS_READ_MAX, ..query };
    let mut page = ApprovalPage::default();
    let mut bytes = 0;
    loop {
        let of_page = query.clone();
        let read = families.query(move |rows, log| approvals::records(rows, log, &of_page)).await?;
        let full = read.len() == query.limit;
        query.before = read.last().map(|record| record.seq);
        for record in read.into_iter().filter(&sees) {
            bytes += bytes_of(&record);
            let has_room = page.records.len() < rows_max && bytes <= APPROVAL_PAGE_BYTES_MAX;
            if !has_room && !page.records.is_empty() {
                page.next = page.records.last().map(|record| record.seq);
                return Ok(page);
            }
            page.records.push(record);
        }
        if !full {
            return Ok(page);
        }
        if page.records.len() == rows_max {
            page.next = page.records.last().map(|record| record.seq);
            return Ok(page);
        }
    }
}

/// Returns the bytes of what an approval says; all else of it is small.
fn bytes_of(record: &ApprovalRecord) -> usize {
    let prompt = &record.prompt;
    let texts = [
        &prompt.tool,
        &prompt.arguments,
        &prompt.summary,
        &prompt.preview,
        &prompt.reason,
        &prompt.unbound,
        &prompt.asked_again,
        &record.note,
    ];
    texts.iter().map(|text| text.expose().len()).sum()
}
