//! Which session a caller means, and opening it.
//!
//! Invariant: another principal's session behaves exactly like one that does not exist.

use std::sync::Arc;

use palyra_admin::Caller;
use palyra_admin::{check_identity, check_short_text};
use palyra_journal_core::families::sessions;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::AppendError;
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::{AgentId, Content, SessionId};
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::error::RequestError;
use crate::session::admitted::SessionOpening;
use crate::session::directory::{Command, Directory, SessionBinding};
use crate::session::request::{ExistingSession, ResetMode, ResolvedSession, SessionChange, SessionSelector};

/// Races for a new key are settled by the journal; the loser looks again, at most so often.
const RACES_MAX: u32 = 3;
/// Characters of a key, at most.
const KEY_CHARS_MAX: usize = 512;
/// Characters of a label, at most.
const LABEL_CHARS_MAX: usize = 200;

/// A session that exists, or the entry that would open it.
pub(super) enum FoundSession {
    Existing(OrchestratorSessionRecord),
    New(SessionOpening),
}

impl SessionTarget {
    /// Returns whose run it would be.
    pub(super) fn agent(&self) -> AgentId {
        match self {
            Self::Existing { binding, .. } => binding.agent,
            Self::New(opening) => opening.agent,
        }
    }
}

/// Where a run is wished: a session that exists, or the entry that would open it.
pub(super) enum SessionTarget {
    Existing { session: SessionRef, binding: SessionBinding },
    New(SessionOpening),
}

/// Finds where a run is wished. What is at work is known without a look into the journal.
pub(super) async fn place(
    engine: &Engine,
    directory: &Directory,
    caller: Caller,
    selector: &SessionSelector,
    agent: Option<&str>,
) -> Result<SessionTarget, RequestError> {
    if let SessionSelector { id: Some(id), key: None, .. } = selector {
        let session = SessionRef { principal: caller.actor.principal, id: *id };
        if let Some(binding) = directory.binding_of(session) {
            check_texts(selector)?;
            check_agent(engine, binding.agent, agent)?;
            return Ok(SessionTarget::Existing { session, binding });
        }
    }
    Ok(match find(engine, caller, selector, agent).await? {
        FoundSession::Existing(record) => {
            SessionTarget::Existing { session: record.session, binding: SessionBinding::of(&record) }
        }
        FoundSession::New(opening) => SessionTarget::New(opening),
    })
}

/// Finds a session or opens it; resets it if asked.
pub(super) async fn resolve_orchestrator_session(
    engine: &Arc<Engine>,
    directory: &Directory,
    caller: Caller,
    selector: SessionSelector,
    agent: Option<String>,
) -> Result<ResolvedSession, RequestError> {
    for _ in 0..RACES_MAX {
        match find(engine, caller, &selector, agent.as_deref()).await? {
            FoundSession::Existing(record) => {
                let reset_applied = selector.reset == ResetMode::Reset;
                let session = record.session;
                let record = if reset_applied {
                    change(engine, directory, session, SessionChange::Reset).await?
                } else {
                    record
                };
                return Ok(ResolvedSession { record, created: false, reset_applied });
            }
            FoundSession::New(opening) => {
                if let Some(resolved) = open(engine, directory, opening).await? {
                    return Ok(resolved);
                }
            }
        }
    }
    Err(AppendError::GuardFailed { index: 0 }.into())
}

/// Opens a session; `None` when another one took its id or key meanwhile.
pub(super) async fn open(
    engine: &Engine,
    directory: &Directory,
    opening: SessionOpening,
) -> Result<Option<ResolvedSession>, RequestError> {
    let session = opening.session;
    let (reply, answer) = oneshot::channel();
    directory.send(session, Command::Open { opening: Box::new(opening), reply }).await;
    match answer.await.map_err(|_| directory.lost_answer())? {
        Ok(()) => {
            let record = engine.ports.session(session).await?.ok_or(RequestError::SessionNotFound)?;
            Ok(Some(ResolvedSession { record, created: true, reset_applied: false }))
        }
        Err(RequestError::Append(AppendError::GuardFailed { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Changes a session as a whole; returns it as it is once that is durable.
pub(super) async fn change(
    engine: &Engine,
    directory: &Directory,
    session: SessionRef,
    change: SessionChange,
) -> Result<OrchestratorSessionRecord, RequestError> {
    let change = match change {
        SessionChange::Rename(label) => {
            check_label(label.as_ref())?;
            SessionChange::Rename(label.map(|label| engine.ports.redactor.redact(label).text))
        }
        SessionChange::Reset => SessionChange::Reset,
        SessionChange::Archive => SessionChange::Archive,
        SessionChange::Restore => SessionChange::Restore,
        SessionChange::SetRecall(recall) => SessionChange::SetRecall(recall),
    };
    engine.ports.session(session).await?.ok_or(RequestError::SessionNotFound)?;
    let (reply, answer) = oneshot::channel();
    directory.send(session, Command::Change { change, reply }).await;
    answer.await.map_err(|_| directory.lost_answer())??;
    engine.ports.session(session).await?.ok_or(RequestError::SessionNotFound)
}

/// Finds the session a selector means, or what would open it.
pub(super) async fn find(
    engine: &Engine,
    caller: Caller,
    selector: &SessionSelector,
    agent: Option<&str>,
) -> Result<FoundSession, RequestError> {
    check_texts(selector)?;
    let recorder = &engine.ports.recorder;
    let check = |key: &Content<String>| {
        check_identity(recorder, caller.actor.principal, "the session key", key.expose())
    };
    let key = selector.key.as_ref().map(check).transpose()?;
    let families = &engine.ports.families;
    let label = selector.label.as_ref().map(|label| engine.ports.redactor.redact(label.clone()).text);
    let by_key = match &key {
        Some(key) => {
            let key = key.expose().clone();
            families.query(move |rows, _| sessions::record_by_key(rows, caller.actor.principal, &key)).await?
        }
        None => None,
    };
    let by_id = match selector.id {
        Some(id) => {
            let session = SessionRef { principal: caller.actor.principal, id };
            engine.ports.session(session).await?
        }
        None => None,
    };
    let existing = match (selector.id, by_id, by_key) {
        (None, _, by_key) => by_key,
        (Some(_), Some(by_id), by_key) => {
            let same = by_key.is_some_and(|by_key| by_key.session == by_id.session);
            if selector.key.is_some() && !same {
                return Err(RequestError::SessionMismatch);
            }
            Some(by_id)
        }
        (Some(_), None, Some(_)) => return Err(RequestError::SessionMismatch),
        (Some(_), None, None) => None,
    };
    if let Some(record) = existing {
        check_agent(engine, record.agent, agent)?;
        return Ok(FoundSession::Existing(record));
    }
    if selector.existing == ExistingSession::Required {
        return Err(RequestError::SessionNotFound);
    }
    let agent = engine.views.agents.by_name(agent)?;
    let id = selector.id.unwrap_or_else(|| new_session_id(engine));
    let session = SessionRef { principal: caller.actor.principal, id };
    Ok(FoundSession::New(SessionOpening { session, agent: agent.id, key, label, branched_from: None }))
}

/// A session is bound to one agent: naming another is an error, not a switch.
fn check_agent(engine: &Engine, bound_to: AgentId, agent: Option<&str>) -> Result<(), RequestError> {
    let Some(name) = agent else { return Ok(()) };
    if engine.views.agents.by_name(Some(name))?.id == bound_to {
        return Ok(());
    }
    let what =
        "the session is bound to another agent; leave the agent out, or use another session".to_owned();
    Err(RequestError::InvalidArgument { what })
}

fn check_texts(selector: &SessionSelector) -> Result<(), RequestError> {
    check_short_text("a session key", selector.key.as_ref(), KEY_CHARS_MAX)?;
    check_label(selector.label.as_ref())
}

fn check_label(label: Option<&Content<String>>) -> Result<(), RequestError> {
    Ok(check_short_text("a title", label, LABEL_CHARS_MAX)?)
}

fn new_session_id(engine: &Engine) -> SessionId {
    engine.ports.entropy.new_id(engine.ports.clock.wall())
}
