//! Reading projections: sessions, runs, agents, skills, components, postures, principals, tokens.

use futures::future::BoxFuture;
use palyra_types::access::{PrincipalRecord, TokenRecord};
use palyra_types::agent::AgentRecord;
use palyra_types::component::ComponentRecord;
use palyra_types::id_name::IdFragment;
use palyra_types::posture::PostureRecord;
use palyra_types::run::{IdempotencyDigest, RunRecord};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::shadow::ShadowCounts;
use palyra_types::skill::SkillRecord;
use palyra_types::{PrincipalId, Redacted, RunId, Seq, SessionId};

use crate::read_tape::ReadError;

/// Rows of one page, at most.
pub const RECORD_PAGE_ROWS_MAX: usize = 500;

/// Runs that recovery takes up at one start, at most; the rest wait in the journal.
pub const OPEN_RUNS_MAX: usize = 100_000;

/// Skills that are read at once, at most; removed ones are left out first.
pub const SKILL_RECORDS_MAX: usize = 10_000;

/// Components that are read at once, at most; removed ones are left out first.
pub const COMPONENT_RECORDS_MAX: usize = 10_000;

/// Reads what is derived from the log. Every row agrees with some committed prefix of it.
pub trait ReadRecords: Send + Sync {
    /// Returns a run whoever owns it; callers check the principal.
    fn run(&self, run: RunId) -> BoxFuture<'static, Result<Option<RunRecord>, ReadError>>;

    /// Returns the run that was started, or given an input, with this key.
    fn run_by_idempotency(
        &self,
        principal: PrincipalId,
        digest: IdempotencyDigest,
    ) -> BoxFuture<'static, Result<Option<RunId>, ReadError>>;

    /// Returns runs, newest first.
    fn runs(&self, query: RunQuery) -> BoxFuture<'static, Result<Vec<RunRecord>, ReadError>>;

    /// Returns every run that is not terminal, oldest first, at most [`OPEN_RUNS_MAX`].
    fn open_runs(&self) -> BoxFuture<'static, Result<Vec<RunRecord>, ReadError>>;

    /// Returns a session.
    fn session(
        &self,
        session: SessionRef,
    ) -> BoxFuture<'static, Result<Option<OrchestratorSessionRecord>, ReadError>>;

    /// Returns the session that a principal calls by this key.
    fn session_by_key(
        &self,
        principal: PrincipalId,
        key: String,
    ) -> BoxFuture<'static, Result<Option<OrchestratorSessionRecord>, ReadError>>;

    /// Returns the latest reset of a session before `seq`.
    fn reset_before(
        &self,
        session: SessionRef,
        seq: Seq,
    ) -> BoxFuture<'static, Result<Option<Seq>, ReadError>>;

    /// Returns sessions of a principal, most recently used first.
    fn sessions(
        &self,
        query: SessionQuery,
    ) -> BoxFuture<'static, Result<Vec<OrchestratorSessionRecord>, ReadError>>;

    /// Returns what sessions are about, in the order in which they are named; one that does not exist has no texts.
    fn session_texts(
        &self,
        query: SessionTextQuery,
    ) -> BoxFuture<'static, Result<Vec<SessionTexts>, ReadError>>;

    /// Returns ids that begin or end with a text, the highest (which is the newest) first.
    fn ids(&self, query: IdQuery) -> BoxFuture<'static, Result<Vec<[u8; 16]>, ReadError>>;

    /// Returns all agents, archived ones too, in order of id.
    fn agents(&self) -> BoxFuture<'static, Result<Vec<AgentRecord>, ReadError>>;

    /// Returns all skills, those that were removed too, in the order in which they were installed; of the removed ones
    /// only the newest, at most [`SKILL_RECORDS_MAX`] together.
    fn skills(&self) -> BoxFuture<'static, Result<Vec<SkillRecord>, ReadError>>;

    /// Returns all components, those that were removed too, in the order in which they were added; of the removed ones
    /// only the newest, at most [`COMPONENT_RECORDS_MAX`] together.
    fn components(&self) -> BoxFuture<'static, Result<Vec<ComponentRecord>, ReadError>>;

    /// Returns the standing settings of tools that hold, oldest first.
    fn postures(&self) -> BoxFuture<'static, Result<Vec<PostureRecord>, ReadError>>;

    /// Returns the newest count of a candidate, by the digest of its files; of any where none is named.
    fn shadow(
        &self,
        candidate: Option<[u8; 32]>,
    ) -> BoxFuture<'static, Result<Option<ShadowCounts>, ReadError>>;

    /// Returns all principals, in order of id.
    fn principals(&self) -> BoxFuture<'static, Result<Vec<PrincipalRecord>, ReadError>>;

    /// Returns all tokens, in order of id.
    fn tokens(&self) -> BoxFuture<'static, Result<Vec<TokenRecord>, ReadError>>;
}

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
    pub search: Option<Redacted<String>>,
    /// Which of them.
    pub only: SessionFilter,
    /// At most so many, capped at [`RECORD_PAGE_ROWS_MAX`].
    pub limit: usize,
}

/// Which texts of which sessions to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTextQuery {
    /// The sessions, at most [`RECORD_PAGE_ROWS_MAX`]; the rest is left out.
    pub sessions: Vec<SessionRef>,
    /// The text that an input is to hold; compared in lower case.
    pub search: Option<Redacted<String>>,
}

/// What a session is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionTexts {
    /// The beginning of its first input.
    pub first_input: Redacted<String>,
    /// The beginning of the latest input that holds the text that is searched for.
    pub matched: Redacted<String>,
}

/// Where to look for ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdTable {
    /// Runs.
    Runs,
    /// Sessions.
    Sessions,
    /// Approvals.
    Approvals,
}

/// Which ids to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdQuery {
    /// Where.
    pub table: IdTable,
    /// Whose; `None` for everybody's, which callers check one by one.
    pub principal: Option<PrincipalId>,
    /// What they begin or end with.
    pub fragment: IdFragment,
    /// Keyset cursor: ids below this one.
    pub below: Option<[u8; 16]>,
    /// At most so many, capped at [`RECORD_PAGE_ROWS_MAX`].
    pub limit: usize,
}
