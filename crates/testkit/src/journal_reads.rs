//! Queries of families by the names that tests use.
//!
//! Owns no query: each method is a function of `journal-core`, run in one snapshot.

use futures::future::BoxFuture;
use palyra_journal_core::families::approvals::ExpiringApproval;
use palyra_journal_core::families::id_query::IdQuery;
use palyra_journal_core::families::runs::SessionTextQuery;
use palyra_journal_core::families::{self, approvals, effects, input_keys, runs, sessions, stored_grants};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::ReadError;
use palyra_ports::read_approvals::{ApprovalQuery, EffectQuery, GrantFilter};
use palyra_ports::read_records::{RunQuery, SessionQuery, SessionTexts};
use palyra_types::approval::{ApprovalRecord, StoredGrantRecord};
use palyra_types::effect::EffectRecord;
use palyra_types::job::JobNumber;
use palyra_types::run::{IdempotencyDigest, RunRecord};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::{ApprovalId, PrincipalId, RunId, StoredGrantId};

/// The answer of a query.
type ReadAnswer<T> = BoxFuture<'static, Result<T, ReadError>>;

/// Reads the records that many tests look at.
#[expect(missing_docs, reason = "each is the function of the family that it calls")]
pub trait JournalReads: ReadFamilies {
    fn run(&self, run: RunId) -> ReadAnswer<Option<RunRecord>> {
        self.query(move |rows, _| runs::record(rows, run))
    }

    fn run_by_idempotency(
        &self,
        principal: PrincipalId,
        digest: IdempotencyDigest,
    ) -> ReadAnswer<Option<RunId>> {
        self.query(move |rows, _| input_keys::run_of_key(rows, principal, digest))
    }

    fn runs(&self, query: RunQuery) -> ReadAnswer<Vec<RunRecord>> {
        self.query(move |rows, _| runs::records(rows, &query))
    }

    fn open_runs(&self) -> ReadAnswer<Vec<RunRecord>> {
        self.query(|rows, _| runs::open(rows))
    }

    fn session(&self, session: SessionRef) -> ReadAnswer<Option<OrchestratorSessionRecord>> {
        self.query(move |rows, _| sessions::record(rows, session))
    }

    fn session_by_key(
        &self,
        principal: PrincipalId,
        key: String,
    ) -> ReadAnswer<Option<OrchestratorSessionRecord>> {
        self.query(move |rows, _| sessions::record_by_key(rows, principal, &key))
    }

    fn sessions(&self, query: SessionQuery) -> ReadAnswer<Vec<OrchestratorSessionRecord>> {
        self.query(move |rows, _| sessions::records(rows, &query, runs::has_input))
    }

    fn session_texts(&self, query: SessionTextQuery) -> ReadAnswer<Vec<SessionTexts>> {
        self.query(move |rows, _| runs::session_texts(rows, &query))
    }

    fn ids(&self, query: IdQuery) -> ReadAnswer<Vec<[u8; 16]>> {
        self.query(move |rows, _| families::ids(rows, &query))
    }

    fn approval(&self, approval: ApprovalId) -> ReadAnswer<Option<ApprovalRecord>> {
        self.query(move |rows, log| approvals::record(rows, log, approval))
    }

    fn approvals(&self, query: ApprovalQuery) -> ReadAnswer<Vec<ApprovalRecord>> {
        self.query(move |rows, log| approvals::records(rows, log, &query))
    }

    fn waiting_approvals(&self) -> ReadAnswer<Vec<(PrincipalId, usize)>> {
        self.query(|rows, _| approvals::waiting(rows))
    }

    fn next_to_expire(&self, limit: usize) -> ReadAnswer<Vec<ExpiringApproval>> {
        self.query(move |rows, _| approvals::next_to_expire(rows, limit))
    }

    fn stored_grant(&self, grant: StoredGrantId) -> ReadAnswer<Option<StoredGrantRecord>> {
        self.query(move |rows, log| stored_grants::record(rows, log, grant))
    }

    fn stored_grants(&self, only: GrantFilter) -> ReadAnswer<Vec<StoredGrantRecord>> {
        self.query(move |rows, log| stored_grants::records(rows, log, only))
    }

    fn effects(&self, query: EffectQuery) -> ReadAnswer<Vec<EffectRecord>> {
        self.query(move |rows, _| effects::records(rows, &query))
    }

    fn last_job(&self) -> ReadAnswer<JobNumber> {
        self.query(|rows, _| effects::last_job(rows))
    }
}

impl<J: ReadFamilies + ?Sized> JournalReads for J {}
