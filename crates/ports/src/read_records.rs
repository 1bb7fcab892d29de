//! Which sessions and runs to read; `journal-core` reads them.

use palyra_types::surface::Surface;
use palyra_types::{Content, PrincipalId, Redacted, Seq, SessionId};

/// Rows of one page, at most.
pub const RECORD_PAGE_ROWS_MAX: usize = 500;

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunQuery {
    /// Whose.
    pub principal: PrincipalId,
    /// Of this session only.
    pub session: Option<SessionId>,
    /// Which states.
    pub only: RunFilter,
    /// Keyset cursor: runs whose first entry is before this seq.
    pub before: Option<Seq>,
    /// At most so many, capped at [`RECORD_PAGE_ROWS_MAX`].
    pub limit: usize,
}

/// Which states of runs to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunFilter {
    /// All.
    #[default]
    All,
    /// Not terminal.
    Open,
    /// Terminal.
    Finished,
}

/// Which sessions to list, by whether they are put away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SessionFilter {
    /// Those that take input.
    #[default]
    Current,
    /// Those that are archived.
    Archived,
    /// All.
    All,
}

/// Which sessions to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionQuery {
    /// Whose.
    pub principal: PrincipalId,
    /// Keyset cursor: the last row of the page before, as (updated, id).
    pub after: Option<(palyra_types::Timestamp, SessionId)>,
    /// Only those whose key, title or beginning of an input holds this text; compared in lower case.
    pub search: Option<Content<String>>,
    /// Which of them.
    pub only: SessionFilter,
    /// Only those whose first run came from here.
    pub surface: Option<Surface>,
    /// At most so many, capped at [`RECORD_PAGE_ROWS_MAX`].
    pub limit: usize,
}

/// What a session is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionTexts {
    /// The beginning of its first input.
    pub first_input: Redacted<String>,
    /// The beginning of the latest input that holds the text that is searched for.
    pub matched: Redacted<String>,
}
