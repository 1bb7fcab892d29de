//! Pages of lists: how many rows, and where the next page begins.
//!
//! A page token is the keyset cursor written out. It gives no rights: every list is the caller's own.

use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_ports::read_tape::MAX_TAPE_ENTRIES_PER_RESPONSE;
use palyra_types::session::OrchestratorSessionRecord;
use palyra_types::{Seq, SessionId, Timestamp};

use super::ids::InvalidValue;

/// Rows of a list when the request names no number.
const PAGE_ROWS_DEFAULT: usize = 50;

const INVALID_TOKEN: InvalidValue =
    InvalidValue { field: "page_token", wanted: "empty or the next_page_token of the page before" };

/// Returns how many rows of a list are wanted.
pub(crate) fn page_rows(page_size: u32) -> usize {
    or_default(page_size, PAGE_ROWS_DEFAULT).min(RECORD_PAGE_ROWS_MAX)
}

/// Returns how many entries of a tape are wanted.
pub(crate) fn tape_rows(limit: u32) -> usize {
    or_default(limit, MAX_TAPE_ENTRIES_PER_RESPONSE).min(MAX_TAPE_ENTRIES_PER_RESPONSE)
}

fn or_default(wanted: u32, default: usize) -> usize {
    if wanted == 0 { default } else { usize::try_from(wanted).unwrap_or(usize::MAX) }
}

/// Reads where a page of runs begins.
pub(crate) fn run_cursor(token: &str) -> Result<Option<Seq>, InvalidValue> {
    if token.is_empty() {
        return Ok(None);
    }
    token.parse().map(|seq| Some(Seq(seq))).map_err(|_| INVALID_TOKEN)
}

/// Reads where a page of sessions begins.
pub(crate) fn session_cursor(token: &str) -> Result<Option<(Timestamp, SessionId)>, InvalidValue> {
    if token.is_empty() {
        return Ok(None);
    }
    let (time, session) = token.split_once('.').ok_or(INVALID_TOKEN)?;
    let time = time.parse().map_err(|_| INVALID_TOKEN)?;
    let session = session.parse().map_err(|_| INVALID_TOKEN)?;
    Ok(Some((Timestamp(time), session)))
}

/// Returns the token of the page after these sessions; empty when they were the last.
pub(crate) fn sessions_cursor_after(sessions: &[OrchestratorSessionRecord], limit: usize) -> String {
    let last = sessions.last().filter(|_| sessions.len() >= limit);
    last.map(|record| format!("{}.{}", record.updated.0, record.session.id)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_default_and_a_cap() {
        assert_eq!((page_rows(0), page_rows(7), page_rows(u32::MAX)), (50, 7, 500));
        assert_eq!((tape_rows(0), tape_rows(7), tape_rows(u32::MAX)), (1_000, 7, 1_000));
    }

    #[test]
    fn cursors_are_read_back_and_nothing_else_is() {
        let id = SessionId::from_parts(5, 6);
        assert_eq!(session_cursor(&format!("-12.{id}")), Ok(Some((Timestamp(-12), id))));
        assert_eq!(run_cursor("17"), Ok(Some(Seq(17))));
        assert_eq!((run_cursor(""), session_cursor("")), (Ok(None), Ok(None)));
        for bad in ["x", "-1", "1.2", ".", "9999999999999999999999", " 1"] {
            assert_eq!(run_cursor(bad), Err(INVALID_TOKEN), "{bad}");
            assert_eq!(session_cursor(bad), Err(INVALID_TOKEN), "{bad}");
        }
    }
}
