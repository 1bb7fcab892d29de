//! Approvals, for callers: looking, deciding, watching.
//!
//! Owns who may see a question and who may answer it. What an answer does is the run machine's; nothing that runs on
//! behalf of a run has this handle. Begin at [`ApprovalsHandle::resolve`].

use std::sync::Arc;
use std::time::Duration;

use palyra_admin::{Caller, check_identity};
use palyra_journal_core::families::approvals;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::SecretFound;
use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_run_core::{AnswerStage, ApprovalAnswer, RunInput};
use palyra_types::access::AccessScope;
use palyra_types::approval::{
    ApprovalDecision, ApprovalRecord, ApprovalState, ArgumentRule, ArgumentShape, GrantScope,
    StoredGrantRequest,
};
use palyra_types::event::ContentDigest;
use palyra_types::session::SessionRef;
use palyra_types::{ApprovalId, Content, PrincipalId, RunId, StoredGrantId, Timestamp};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::fresh_approval;
use crate::session::SessionsHandle;
use palyra_admin::pending_approvals::ApprovalChange;

pub(crate) mod expiry;

mod repeated;
mod watch;

pub use palyra_admin::approval_page::{APPROVAL_PAGE_BYTES_MAX, ApprovalPage, read_approval_page};
pub use palyra_admin::pending_approvals::{OPEN_APPROVALS_PRINCIPAL_MAX, OPEN_APPROVALS_RUN_MAX};
use repeated::repeated;
pub use watch::{ApprovalUpdate, ApprovalWatcher};

/// Characters of what a person says with a decision, at most.
pub const APPROVAL_NOTE_CHARS_MAX: usize = 2_000;
/// Bytes of edited arguments, at most.
pub const EDITED_ARGUMENTS_BYTES_MAX: usize = 1024 * 1024;
/// How long a grant for every session lasts when nobody says.
pub const GRANT_SPAN_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a grant may last.
pub const GRANT_SPAN_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What waits for a person, and the way to answer it.
#[derive(Clone)]
pub struct ApprovalsHandle {
    engine: Arc<Engine>,
    sessions: SessionsHandle,
    owner: PrincipalId,
}

/// A person's answer.
#[derive(Debug, Clone)]
pub struct ApprovalReply {
    /// The answer.
    pub decision: ApprovalDecision,
    /// What they say with it.
    pub note: Content<String>,
    /// The arguments that shall run instead: a JSON object.
    pub edited: Option<Content<String>>,
    /// What shall be remembered beyond the call; only with a yes.
    pub remember: Option<RememberRequest>,
    /// The run that it is believed to belong to.
    pub run: Option<RunId>,
}

impl ApprovalReply {
    /// Says yes or no, and nothing else.
    #[must_use]
    pub fn plain(decision: ApprovalDecision) -> Self {
        Self { decision, note: Content::default(), edited: None, remember: None, run: None }
    }
}

/// What shall be remembered beyond a call.
#[derive(Debug, Clone)]
pub struct RememberRequest {
    /// For which calls.
    pub scope: RememberScope,
    /// When it ends; `None` for no end within a session, else for [`GRANT_SPAN_DEFAULT`].
    pub expires: Option<Timestamp>,
    /// How often it may be used.
    pub uses_max: Option<u32>,
    /// What arguments have to look like; those not named have to be equal to those of the call.
    pub rules: Vec<ArgumentRule<Content<String>>>,
}

/// For which calls something is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RememberScope {
    /// Those of the run's session.
    Session,
    /// Those of every session of its principal, in the workspace of the run.
    Principal,
    /// The same, in every workspace.
    Everywhere,
}

/// Where an approval stands after an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedApproval {
    /// The approval.
    pub record: ApprovalRecord,
    /// Whether this answer, or an equal one of the same person before, decided it or counted.
    pub counted: AnswerCounted,
    /// The approval that asks again instead, when what would run has changed.
    pub asked_again: Option<ApprovalId>,
    /// The stored grant that was made.
    pub grant: Option<StoredGrantId>,
}

/// Whether an answer counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerCounted {
    /// It did.
    Yes,
    /// It was decided otherwise: by policy, by time, or because what would run has changed.
    No,
}

impl ApprovalsHandle {
    pub(crate) fn new(engine: Arc<Engine>, sessions: SessionsHandle, owner: PrincipalId) -> Self {
        Self { engine, sessions, owner }
    }

    pub(crate) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine)
    }

    /// Returns an approval.
    ///
    /// # Errors
    /// [`RequestError::ApprovalNotFound`], also for one that the caller may not see.
    pub async fn get(&self, caller: Caller, approval: ApprovalId) -> Result<ApprovalRecord, RequestError> {
        let record =
            self.engine.ports.families.query(move |rows, log| approvals::record(rows, log, approval)).await?;
        record.filter(|record| self.sees(caller, record)).ok_or(RequestError::ApprovalNotFound)
    }

    /// Lists approvals that the caller may see, newest first; the query's principal is ignored. A page ends by rows or by
    /// [`APPROVAL_PAGE_BYTES_MAX`], whatever comes first.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn list(&self, caller: Caller, query: ApprovalQuery) -> Result<ApprovalPage, RequestError> {
        let sees = |record: &ApprovalRecord| self.sees(caller, record);
        Ok(read_approval_page(&*self.engine.ports.families, query, sees).await?)
    }

    /// Answers an approval; returns once that is durable. Repeating an answer, with the same edit and the same wish to
    /// remember, changes nothing.
    ///
    /// # Errors
    /// [`RequestError::ApprovalNotFound`]; [`RequestError::ApprovalDecided`] when somebody else, or the same person
    /// otherwise, decided before; [`RequestError::ApproverNotEligible`]; [`RequestError::EditRefused`], where it still
    /// waits; [`RequestError::Append`], where repeating after [`palyra_ports::AppendError::Unknown`] tells.
    pub async fn resolve(
        &self,
        caller: Caller,
        approval: ApprovalId,
        reply: ApprovalReply,
    ) -> Result<ResolvedApproval, RequestError> {
        let record = self.get(caller, approval).await?;
        if reply.run.is_some_and(|run| run != record.run) {
            return Err(RequestError::ApprovalNotFound);
        }
        if !self.may_decide(caller, &record) {
            return Err(RequestError::ApproverNotEligible);
        }
        if let Some(repeated) = repeated(&self.engine, caller, &record, &reply).await? {
            return Ok(repeated);
        }
        self.engine.runs.until_clock_is_right(record.created).await?;
        let answer = self.answer(caller, &record, &reply)?;
        let grant = answer.remember.as_ref().map(|requested| requested.grant);
        let session = SessionRef { principal: record.principal, id: record.session };
        let input = RunInput::ApprovalAnswered(AnswerStage::Said(Box::new(answer)));
        let delivered = self.sessions.answer_approval(session, record.run, input, caller.actor).await;
        let record = self.get(caller, approval).await?;
        match delivered {
            Ok(_) => self.resolved(record, reply.decision, grant).await,
            // Somebody was quicker, or the run has ended; a repetition of one's own is the answer to itself.
            Err(RequestError::ApprovalDecided { .. } | RequestError::RunFinished) => {
                repeated(&self.engine, caller, &record, &reply).await?.ok_or(RequestError::ApprovalNotFound)
            }
            Err(error) => Err(error),
        }
    }

    async fn resolved(
        &self,
        record: ApprovalRecord,
        said: ApprovalDecision,
        grant: Option<StoredGrantId>,
    ) -> Result<ResolvedApproval, RequestError> {
        let counted = match (said, record.state) {
            (_, ApprovalState::Pending)
            | (ApprovalDecision::Approve, ApprovalState::Approved)
            | (ApprovalDecision::Deny, ApprovalState::Denied) => AnswerCounted::Yes,
            (_, ApprovalState::Expired | ApprovalState::Withdrawn)
            | (ApprovalDecision::Approve, ApprovalState::Denied)
            | (ApprovalDecision::Deny, ApprovalState::Approved) => AnswerCounted::No,
        };
        let is_withdrawn = record.state == ApprovalState::Withdrawn;
        let asked_again = if is_withdrawn { self.repeated_request(&record).await? } else { None };
        let grant = grant.filter(|_| record.state == ApprovalState::Approved);
        Ok(ResolvedApproval { record, counted, asked_again, grant })
    }

    /// Returns the approval that asks for the same call again.
    async fn repeated_request(&self, record: &ApprovalRecord) -> Result<Option<ApprovalId>, RequestError> {
        let query = ApprovalQuery {
            run: Some(record.run),
            only: ApprovalFilter::Pending,
            limit: RECORD_PAGE_ROWS_MAX,
            ..ApprovalQuery::default()
        };
        let waiting =
            self.engine.ports.families.query(move |rows, log| approvals::records(rows, log, &query)).await?;
        Ok(waiting.iter().find(|other| other.effect == record.effect).map(|other| other.approval))
    }

    /// Checks what a person says, and makes what the run is told of it.
    fn answer(
        &self,
        caller: Caller,
        record: &ApprovalRecord,
        reply: &ApprovalReply,
    ) -> Result<ApprovalAnswer, RequestError> {
        let wrong = |what: &str| RequestError::InvalidArgument { what: what.to_owned() };
        if reply.note.expose().chars().count() > APPROVAL_NOTE_CHARS_MAX {
            return Err(wrong("a note has at most 2,000 characters"));
        }
        let more = reply.edited.is_some() || reply.remember.is_some();
        if reply.decision == ApprovalDecision::Deny && more {
            return Err(wrong("a denial neither edits a call nor remembers anything"));
        }
        let redactor = &self.engine.ports.redactor;
        let edited = reply.edited.as_ref().map(|edited| {
            let refused = |what: &str| RequestError::EditRefused { what: what.to_owned() };
            if edited.expose().len() > EDITED_ARGUMENTS_BYTES_MAX {
                return Err(refused("the edited arguments have more than 1 MiB"));
            }
            let cleaned = redactor.redact_json(edited.clone());
            if cleaned.findings.changed() {
                let found = SecretFound { found: cleaned.findings };
                self.engine.ports.recorder.note_refused(caller.actor.principal, found);
                return Err(refused(
                    "the edited arguments hold a secret; secrets never reach a tool this way",
                ));
            }
            // The run knows the key of the digest.
            Ok((cleaned.text, ContentDigest::default()))
        });
        let edited = edited.transpose()?;
        let remember =
            reply.remember.as_ref().map(|requested| self.requested(caller, record, requested)).transpose()?;
        Ok(ApprovalAnswer {
            approval: record.approval,
            by: caller.actor.principal,
            via: caller.actor.surface,
            decision: reply.decision,
            note: redactor.redact(reply.note.clone()).text,
            edited,
            remember,
            fresh: fresh_approval(&self.engine.runs),
        })
    }

    /// Makes a grant of what a person wants remembered.
    fn requested(
        &self,
        caller: Caller,
        record: &ApprovalRecord,
        requested: &RememberRequest,
    ) -> Result<StoredGrantRequest, RequestError> {
        let refused = |what: &str| RequestError::InvalidArgument { what: what.to_owned() };
        if !self.engine.views.grants.has_room() {
            return Err(RequestError::QueueFull);
        }
        let matcher =
            requested.rules.iter().map(|rule| self.check_rule(caller, rule)).collect::<Result<_, _>>()?;
        let now = self.engine.ports.clock.wall();
        let expires = match (requested.expires, requested.scope) {
            (Some(expires), _) if expires <= now => return Err(refused("the grant would be over already")),
            (Some(expires), _) => Some(expires.min(now.after(GRANT_SPAN_MAX))),
            (None, RememberScope::Session) => None,
            (None, RememberScope::Principal | RememberScope::Everywhere) => {
                Some(now.after(GRANT_SPAN_DEFAULT))
            }
        };
        let scope = match requested.scope {
            RememberScope::Session => GrantScope::Session(record.session),
            RememberScope::Principal => GrantScope::Principal,
            RememberScope::Everywhere => GrantScope::Everywhere,
        };
        let grant = self.engine.ports.entropy.new_id(now);
        // The run adds what was not chosen, and sees whether it makes sense for the call.
        Ok(StoredGrantRequest { grant, scope, expires, uses_max: requested.uses_max, matcher })
    }

    /// A rule is compared with later calls as it is written.
    fn check_rule(
        &self,
        caller: Caller,
        rule: &ArgumentRule<Content<String>>,
    ) -> Result<ArgumentRule, RequestError> {
        let recorder = &self.engine.ports.recorder;
        let check = |field, text: &Content<String>| {
            check_identity(recorder, caller.actor.principal, field, text.expose())
        };
        let argument = check("the argument of a rule", &rule.argument)?;
        let shape = match &rule.shape {
            ArgumentShape::Equal(value) => ArgumentShape::Equal(check("the value of a rule", value)?),
            ArgumentShape::Beneath(path) => ArgumentShape::Beneath(check("the path of a rule", path)?),
            ArgumentShape::Origin(origin) => ArgumentShape::Origin(check("the address of a rule", origin)?),
            ArgumentShape::Any => ArgumentShape::Any,
        };
        Ok(ArgumentRule { argument, shape })
    }

    /// Follows approvals that the caller may see: those that wait first, then each change.
    #[must_use]
    pub fn watch(&self, caller: Caller, run: Option<RunId>) -> ApprovalWatcher {
        ApprovalWatcher::new(self.clone(), caller, run)
    }

    /// Returns whether the caller may see an approval, for readers of other records beside it.
    pub fn seen_by(&self, caller: Caller) -> impl Fn(&ApprovalRecord) -> bool + Send + use<> {
        let handle = self.clone();
        move |record| handle.sees(caller, record)
    }

    /// Returns whether the caller may see an approval: of an own run, as an owner, or as one who decides it.
    fn sees(&self, caller: Caller, record: &ApprovalRecord) -> bool {
        self.is_concerned(caller, record) || self.is_named(caller, record) == Some(true)
    }

    fn is_concerned(&self, caller: Caller, record: &ApprovalRecord) -> bool {
        [self.owner, record.principal].contains(&caller.actor.principal) || caller.is_owner()
    }

    /// Returns whether a rule names the caller; `None` where it names no one.
    fn is_named(&self, caller: Caller, record: &ApprovalRecord) -> Option<bool> {
        let approvers = record.terms.approvers?;
        Some(self.engine.views.access.borrow().is_one_of(caller.actor.principal, &approvers))
    }

    /// Named approvers decide, else the person of the run and owners, with a credential that may. The run itself checks that
    /// it is another person, or several, where a rule says so.
    fn may_decide(&self, caller: Caller, record: &ApprovalRecord) -> bool {
        let decides = self.is_named(caller, record).unwrap_or_else(|| self.is_concerned(caller, record));
        decides && caller.scopes.contains(AccessScope::Approve)
    }

    fn changes(&self) -> tokio::sync::broadcast::Receiver<ApprovalChange> {
        self.engine.asking.changes()
    }
}
