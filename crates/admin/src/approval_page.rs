//! Pages of approvals, bounded by rows and by bytes.
//!
//! Owns where a page ends. Invariant: a page has whole rows, and at least one when there is any left.

use palyra_journal_core::families::approvals;
use palyra_journal_core::family::{LogView, QueryFamilies, ReadFamilies, RowStore, StoreFault};
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

/// Reads a page of those approvals that `sees` lets through; other readers get their turn in between.
///
/// # Errors
/// [`ReadError`].
pub async fn read_approval_page(
    families: &dyn ReadFamilies,
    query: ApprovalQuery,
    sees: impl Fn(&ApprovalRecord) -> bool,
) -> Result<ApprovalPage, ReadError> {
    let mut filling = FillingPage::of(&query);
    while let Some(part) = filling.wanted() {
        let read = families.query(move |rows, log| approvals::records(rows, log, &part)).await?;
        filling.take(read, &sees);
    }
    Ok(filling.page)
}

/// Reads such a page in one look, beside other records.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub(crate) fn approval_page(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    query: &ApprovalQuery,
    sees: &dyn Fn(&ApprovalRecord) -> bool,
) -> Result<ApprovalPage, StoreFault> {
    let mut filling = FillingPage::of(query);
    while let Some(part) = filling.wanted() {
        let read = approvals::records(rows, log, &part)?;
        filling.take(read, sees);
    }
    Ok(filling.page)
}

/// A page that is not full yet.
struct FillingPage {
    page: ApprovalPage,
    bytes: usize,
    rows_max: usize,
    next_part: Option<ApprovalQuery>,
}

impl FillingPage {
    fn of(query: &ApprovalQuery) -> Self {
        let rows_max = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
        let first = ApprovalQuery { principal: None, limit: ROWS_READ_MAX, ..query.clone() };
        Self { page: ApprovalPage::default(), bytes: 0, rows_max, next_part: Some(first) }
    }

    /// Returns the rows to be read next; `None` where the page is done.
    fn wanted(&self) -> Option<ApprovalQuery> {
        self.next_part.clone()
    }

    fn take(&mut self, read: Vec<ApprovalRecord>, sees: impl Fn(&ApprovalRecord) -> bool) {
        let Some(part) = self.next_part.take() else { return };
        let has_more_rows = read.len() == part.limit;
        let before = read.last().map(|record| record.seq);
        let page = &mut self.page;
        for record in read.into_iter().filter(|record| sees(record)) {
            self.bytes += bytes_of(&record);
            let has_room = page.records.len() < self.rows_max && self.bytes <= APPROVAL_PAGE_BYTES_MAX;
            if !has_room && !page.records.is_empty() {
                page.next = page.records.last().map(|record| record.seq);
                return;
            }
            page.records.push(record);
        }
        if has_more_rows && page.records.len() == self.rows_max {
            page.next = page.records.last().map(|record| record.seq);
        } else if has_more_rows {
            self.next_part = Some(ApprovalQuery { before, ..part });
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
