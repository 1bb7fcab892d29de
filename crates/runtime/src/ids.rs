//! Finding what a person names, for callers: by a beginning or an ending of an id, or as the last of its kind in a folder.
//!
//! Owns the one resolver of every kind in [`IdKind`]. Invariant: it only ever looks at what the caller may see, by the same
//! handles through which the thing itself is read; what belongs to somebody else neither matches nor makes a name
//! ambiguous.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_admin::grants::GrantsHandle;
use palyra_admin::{AdminError, Caller};
use palyra_journal_core::families::id_query::{IdQuery, IdTable};
use palyra_journal_core::families::runs::SessionTextQuery;
use palyra_journal_core::families::{ids, runs, sessions, tokens};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_approvals::{ApprovalQuery, GrantFilter};
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery, SessionFilter, SessionQuery};
use palyra_types::approval::ApprovalRecord;
use palyra_types::id_name::{IdFragment, IdKind, IdName};
use palyra_types::run::RunRecord;
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::surface::WorkspaceRootSource;
use palyra_types::{ApprovalId, Redacted, RunId, SessionId, Timestamp};

use crate::approvals::ApprovalsHandle;
use crate::engine::Engine;
use crate::error::RequestError;
use crate::run_location::{RunLocation, run_location};

/// Matches that are returned, at most.
pub const ID_MATCHES_MAX: usize = 10;
/// Things that are looked at for one name, at most.
const LOOKED_AT_MAX: usize = 2_000;

/// Finds what people name.
#[derive(Clone)]
pub struct IdsHandle {
    engine: Arc<Engine>,
    approvals: ApprovalsHandle,
    grants: GrantsHandle,
}

/// What a name fits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IdMatches {
    /// Newest first; at least one.
    pub matches: Vec<IdMatch>,
    /// Whether there are more.
    pub more: bool,
}

/// An id of any kind, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WrittenId(String);

impl WrittenId {
    fn of(id: impl std::fmt::Display) -> Self {
        Self(id.to_string())
    }

    /// Returns its characters.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Something that a name fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdMatch {
    /// Its id.
    pub id: WrittenId,
    /// What it is about.
    pub about: Redacted<String>,
    /// When it was made, where that is known.
    pub created: Option<Timestamp>,
}

impl IdsHandle {
    /// Makes one of the handles that look at approvals and at stored grants.
    #[must_use]
    pub fn of(approvals: &ApprovalsHandle, grants: &GrantsHandle) -> Self {
        Self { engine: approvals.engine(), approvals: approvals.clone(), grants: grants.clone() }
    }

    /// Finds what a name of this kind fits; `folder` is where `last` counts, for callers that have folders.
    ///
    /// # Errors
    /// The kind's own "not found", also for what the caller may not see; [`RequestError::Read`].
    pub async fn resolve(
        &self,
        caller: Caller,
        kind: IdKind,
        name: &IdName,
        folder: Option<PathBuf>,
    ) -> Result<IdMatches, RequestError> {
        let folder =
            folder.filter(|_| caller.actor.surface.profile().workspace_root == WorkspaceRootSource::Client);
        let mut found = match name {
            IdName::Fragment(fragment) => self.by_fragment(caller, kind, fragment).await?,
            IdName::Last(back) => self.last(caller, kind, *back, folder.as_deref()).await?,
        };
        let more = found.len() > ID_MATCHES_MAX;
        found.truncate(ID_MATCHES_MAX);
        if found.is_empty() { Err(not_found(kind)) } else { Ok(IdMatches { matches: found, more }) }
    }

    async fn by_fragment(
        &self,
        caller: Caller,
        kind: IdKind,
        fragment: &IdFragment,
    ) -> Result<Vec<IdMatch>, RequestError> {
        match kind {
            IdKind::Run => self.search_table(caller, IdTable::Runs, fragment).await,
            IdKind::Session => self.search_table(caller, IdTable::Sessions, fragment).await,
            IdKind::Approval => self.search_table(caller, IdTable::Approvals, fragment).await,
            IdKind::Grant => {
                let mut grants = self.grants.list(caller, GrantFilter::All).await?;
                grants.retain(|record| fragment.matches(record.stored.grant.to_bytes()));
                let found = grants.iter().rev().map(|record| IdMatch {
                    id: WrittenId::of(record.stored.grant),
                    about: record.stored.tool.clone(),
                    created: Some(record.created),
                });
                Ok(found.take(ID_MATCHES_MAX + 1).collect())
            }
            IdKind::Agent => {
                let agents = self.engine.views.agents.snapshot();
                let fits = agents.iter().filter(|agent| fragment.matches(agent.id.to_bytes()));
                let found = fits.map(|agent| IdMatch {
                    id: WrittenId::of(agent.id),
                    about: agent.profile.name.clone(),
                    created: None,
                });
                Ok(newest_first(found.collect()))
            }
            IdKind::Token if caller.is_owner() => {
                let tokens = self.engine.ports.families.query(|rows, _| tokens::all(rows)).await?;
                let fits = tokens.iter().filter(|token| fragment.matches(token.id.to_bytes()));
                let found = fits.map(|token| IdMatch {
                    id: WrittenId::of(token.id),
                    about: token.label.clone(),
                    created: Some(token.created),
                });
                Ok(newest_first(found.collect()))
            }
            IdKind::Token => Ok(Vec::new()),
        }
    }

    /// Looks where there may be very many; what belongs to others is left out there, or one by one.
    async fn search_table(
        &self,
        caller: Caller,
        table: IdTable,
        fragment: &IdFragment,
    ) -> Result<Vec<IdMatch>, RequestError> {
        let principal = (table != IdTable::Approvals).then_some(caller.actor.principal);
        let limit = RECORD_PAGE_ROWS_MAX;
        let mut query = IdQuery { table, principal, fragment: fragment.clone(), below: None, limit };
        let (mut found, mut looked_at) = (Vec::new(), 0);
        loop {
            let of_page = query.clone();
            let page = self.engine.ports.families.query(move |rows, _| ids(rows, &of_page)).await?;
            let is_last = page.len() < limit;
            query.below = page.last().copied();
            for id in page {
                looked_at += 1;
                found.extend(self.visible(caller, table, id).await?);
                if found.len() > ID_MATCHES_MAX || looked_at >= LOOKED_AT_MAX {
                    return Ok(found);
                }
            }
            if is_last {
                return Ok(found);
            }
        }
    }

    /// Returns one thing, if the caller may see it.
    async fn visible(
        &self,
        caller: Caller,
        table: IdTable,
        id: [u8; 16],
    ) -> Result<Option<IdMatch>, RequestError> {
        match table {
            IdTable::Runs => {
                let run = RunId::from_bytes(id);
                let run = self.engine.ports.run(run).await?;
                Ok(run.filter(|run| run.principal == caller.actor.principal).as_ref().map(run_match))
            }
            IdTable::Sessions => {
                let session = SessionRef { principal: caller.actor.principal, id: SessionId::from_bytes(id) };
                match self.engine.ports.session(session).await? {
                    Some(record) => Ok(Some(self.session_match(&record).await?)),
                    None => Ok(None),
                }
            }
            IdTable::Approvals => match self.approvals.get(caller, ApprovalId::from_bytes(id)).await {
                Ok(record) => Ok(Some(approval_match(&record))),
                Err(RequestError::ApprovalNotFound) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }

    async fn last(
        &self,
        caller: Caller,
        kind: IdKind,
        back: u32,
        folder: Option<&Path>,
    ) -> Result<Vec<IdMatch>, RequestError> {
        let back = usize::try_from(back).unwrap_or(usize::MAX);
        match kind {
            IdKind::Run => self.last_run(caller, back, folder).await,
            IdKind::Session => self.last_session(caller, back, folder).await,
            // Which of several is meant by `last` alone is for the person to say; with a number it is counted.
            IdKind::Approval if back == 0 => self.waiting(caller, folder, ID_MATCHES_MAX + 1).await,
            IdKind::Approval => {
                let found = self.waiting(caller, folder, back.saturating_add(1)).await?;
                Ok(found.into_iter().nth(back).into_iter().collect())
            }
            IdKind::Grant | IdKind::Agent | IdKind::Token => Err(RequestError::InvalidArgument {
                what: format!(
                    "`last` names runs, sessions and approvals; name the {} by its id",
                    kind.as_str()
                ),
            }),
        }
    }

    async fn last_run(
        &self,
        caller: Caller,
        back: usize,
        folder: Option<&Path>,
    ) -> Result<Vec<IdMatch>, RequestError> {
        let (principal, limit) = (caller.actor.principal, 100);
        let families = &self.engine.ports.families;
        let mut query = RunQuery { principal, session: None, only: RunFilter::All, before: None, limit };
        // Runs whose folder was erased with their content: which of them ran here is not known, so they are not counted.
        let mut unknown = Vec::new();
        let mut elsewhere = false;
        let (mut left, mut looked_at) = (back, 0);
        loop {
            let of_page = query.clone();
            let page = families.query(move |rows, _| runs::records(rows, &of_page)).await?;
            for run in &page {
                match run_location(&self.engine.ports, run, folder).await? {
                    RunLocation::Here if left == 0 => return Ok(vec![run_match(run)]),
                    RunLocation::Here => left -= 1,
                    RunLocation::Unknown if unknown.len() <= ID_MATCHES_MAX => unknown.push(run_match(run)),
                    RunLocation::Unknown => {}
                    RunLocation::Elsewhere => elsewhere = true,
                }
            }
            looked_at += page.len();
            query.before = page.last().map(|run| run.first_seq);
            if page.len() < limit || looked_at >= LOOKED_AT_MAX {
                // Where no run of another folder is left either, they are all that can be meant.
                return Ok(if back == 0 && !elsewhere { unknown } else { Vec::new() });
            }
        }
    }

    async fn last_session(
        &self,
        caller: Caller,
        back: usize,
        folder: Option<&Path>,
    ) -> Result<Vec<IdMatch>, RequestError> {
        let (principal, limit) = (caller.actor.principal, RECORD_PAGE_ROWS_MAX);
        let query = SessionQuery {
            principal,
            after: None,
            search: None,
            only: SessionFilter::All,
            surface: None,
            limit,
        };
        let mut left = back;
        let families = &self.engine.ports.families;
        let sessions = families.query(move |rows, _| sessions::records(rows, &query, runs::has_input));
        for session in sessions.await? {
            let is_here = self.is_here(session.last_run, folder).await?;
            if is_here && left == 0 {
                return Ok(vec![self.session_match(&session).await?]);
            }
            left -= usize::from(is_here);
        }
        Ok(Vec::new())
    }

    /// Returns what waits in a folder, newest first, up to a number.
    async fn waiting(
        &self,
        caller: Caller,
        folder: Option<&Path>,
        limit: usize,
    ) -> Result<Vec<IdMatch>, RequestError> {
        let mut query = ApprovalQuery { limit: RECORD_PAGE_ROWS_MAX, ..ApprovalQuery::default() };
        let (mut found, mut looked_at) = (Vec::new(), 0);
        loop {
            let page = self.approvals.list(caller, query.clone()).await?;
            looked_at += page.records.len();
            for record in &page.records {
                let is_here = self.is_here(Some(record.run), folder).await?;
                found.extend(is_here.then(|| approval_match(record)));
                if found.len() >= limit {
                    return Ok(found);
                }
            }
            query.before = page.next;
            if page.next.is_none() || looked_at >= LOOKED_AT_MAX {
                return Ok(found);
            }
        }
    }

    /// Returns whether a run works in a folder; without a run, whether no folder is named.
    async fn is_here(&self, run: Option<RunId>, folder: Option<&Path>) -> Result<bool, RequestError> {
        let Some(run) = run else { return Ok(folder.is_none()) };
        match self.engine.ports.run(run).await? {
            Some(run) => Ok(run_location(&self.engine.ports, &run, folder).await? == RunLocation::Here),
            None => Ok(folder.is_none()),
        }
    }

    async fn session_match(&self, record: &OrchestratorSessionRecord) -> Result<IdMatch, RequestError> {
        let about = match (&record.label, &record.key) {
            (Some(text), _) | (None, Some(text)) => text.clone(),
            (None, None) => {
                let query = SessionTextQuery { sessions: vec![record.session], search: None };
                let families = &self.engine.ports.families;
                let texts = families.query(move |rows, _| runs::session_texts(rows, &query)).await?;
                texts.into_iter().next().unwrap_or_default().first_input
            }
        };
        Ok(IdMatch { id: WrittenId::of(record.session.id), about, created: Some(record.created) })
    }
}

fn run_match(run: &RunRecord) -> IdMatch {
    IdMatch { id: WrittenId::of(run.run), about: run.input_preview.clone(), created: Some(run.created) }
}

fn approval_match(record: &ApprovalRecord) -> IdMatch {
    let call = record.prompt.tool.clone().zip(record.prompt.summary.clone());
    let about = call.map(|(tool, summary)| [tool, summary].join(" ").trim().to_owned());
    IdMatch { id: WrittenId::of(record.approval), about, created: Some(record.created) }
}

/// Ids begin with the time at which they were made.
fn newest_first(mut found: Vec<IdMatch>) -> Vec<IdMatch> {
    found.sort_by(|a, b| b.id.cmp(&a.id));
    found
}

fn not_found(kind: IdKind) -> RequestError {
    match kind {
        IdKind::Run => RequestError::RunNotFound,
        IdKind::Session => RequestError::SessionNotFound,
        IdKind::Approval => RequestError::ApprovalNotFound,
        IdKind::Grant => AdminError::GrantNotFound.into(),
        IdKind::Agent => AdminError::AgentNotFound.into(),
        IdKind::Token => RequestError::InvalidArgument {
            what: "no such token; `palyra admin tokens list` lists them".to_owned(),
        },
    }
}
