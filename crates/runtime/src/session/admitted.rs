//! A run that is ready to be accepted, with the session it opens if that is new.

use std::sync::Arc;

use palyra_admin::NoErasure;
use palyra_ports::{Guard, NewEntry};
use palyra_types::access::ActorIdentity;
use palyra_types::attachment::Blob;
use palyra_types::client_tool::ClientToolOffer;
use palyra_types::event::{JournalEvent, RunEvent, RunStarted, SessionEvent, TapeEvent};
use palyra_types::session::{BranchPoint, SessionRef};
use palyra_types::{AgentId, Redacted, RunId, TapeSeq, Timestamp};

use crate::run::RunAcceptance;
use crate::session::request::{AdmissionKind, ResetMode, SubmitReceipt};

/// A session about to be opened.
#[derive(Debug, Clone)]
pub(super) struct SessionOpening {
    pub(super) session: SessionRef,
    pub(super) agent: AgentId,
    pub(super) key: Option<Redacted<String>>,
    pub(super) label: Option<Redacted<String>>,
    pub(super) branched_from: Option<BranchPoint>,
}

impl SessionOpening {
    pub(super) fn entry(&self, now: Timestamp) -> NewEntry {
        let event = JournalEvent::Session(SessionEvent::Opened {
            session: self.session.id,
            agent: self.agent,
            key: self.key.clone(),
            label: self.label.clone(),
            branched_from: self.branched_from,
        });
        let session = Some(self.session.id);
        NewEntry { time: now, principal: self.session.principal, session, run: None, event }
    }

    pub(super) fn guard(&self) -> Guard {
        Guard::SessionAbsent { session: self.session, key: self.key.clone() }
    }
}

/// Everything that defines a run before it begins.
#[derive(Debug, Clone)]
pub(super) struct RunSpec {
    pub(super) run: RunId,
    pub(super) session: SessionRef,
    /// The first event of its tape. What its conversation has read is set once the session has taken it.
    pub(super) started: RunStarted,
    /// The second event of its tape, if its client performs functions of its own.
    pub(super) client_tools: Option<ClientToolOffer>,
}

impl RunSpec {
    /// Returns what is on the tape of a run that waits for its turn.
    pub(super) fn first_events(&self) -> Vec<TapeEvent> {
        let started = RunEvent::Started(self.started.clone());
        let offered = self.client_tools.clone().map(RunEvent::ClientToolsOffered);
        std::iter::once(started).chain(offered).map(TapeEvent::Run).collect()
    }
}

/// A run that is ready to be accepted.
#[derive(Debug, Clone)]
pub(super) struct AdmittedRun {
    pub(super) spec: RunSpec,
    pub(super) opening: Option<SessionOpening>,
    /// Whether its session, which exists, starts afresh with it.
    pub(super) reset: ResetMode,
    /// The files of its input that are not text, as their attachments number them.
    pub(super) blobs: Vec<Blob>,
    /// Who asked for it.
    pub(super) actor: ActorIdentity,
    pub(super) notes: Vec<String>,
    /// Keeps erasures away until the items that the run was given are recorded.
    pub(super) no_erasure: Option<Arc<NoErasure>>,
}

impl AdmittedRun {
    /// Returns the receipt for the caller.
    pub(super) fn receipt(&self, admission: AdmissionKind) -> SubmitReceipt {
        SubmitReceipt {
            run: self.spec.run,
            session: self.spec.session.id,
            session_created: self.opening.is_some(),
            admission,
            delivered: self.spec.started.delivery,
            model: self.spec.started.model.expose().clone(),
            begun_upto: None,
            notes: self.notes.clone(),
        }
    }

    /// Returns the conditions of the append that accepts the run.
    pub(super) fn guards(&self) -> Vec<Guard> {
        let spec = &self.spec;
        let mut guards = vec![Guard::RunAt { run: spec.run, tape_seq: TapeSeq::default() }];
        if let Some(digest) = spec.started.idempotency {
            guards.push(Guard::IdempotencyUnseen { principal: spec.session.principal, digest });
        }
        guards.extend(self.opening.as_ref().map(SessionOpening::guard));
        guards
    }

    /// Returns whether its first commit begins with a reset.
    pub(super) fn resets(&self) -> bool {
        self.opening.is_none() && self.reset == ResetMode::Reset
    }

    /// Returns what has to be appended before the run's own first entry.
    pub(super) fn entries_before(&self, now: Timestamp) -> Vec<NewEntry> {
        let reset = self.resets().then_some(NewEntry {
            time: now,
            principal: self.spec.session.principal,
            session: Some(self.spec.session.id),
            run: None,
            event: JournalEvent::Session(SessionEvent::Reset { session: self.spec.session.id }),
        });
        self.opening.iter().map(|opening| opening.entry(now)).chain(reset).collect()
    }

    /// Returns what accepts the run.
    pub(super) fn acceptance(&self, now: Timestamp) -> RunAcceptance {
        RunAcceptance {
            run: self.spec.run,
            started: self.spec.started.clone(),
            client_tools: self.spec.client_tools.clone(),
            guards: self.guards(),
            entries_before: self.entries_before(now),
            actor: Some(self.actor),
            blobs: self.blobs.clone(),
        }
    }
}
