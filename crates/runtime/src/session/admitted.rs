//! A run that is ready to be accepted, with the session it opens if that is new.

use palyra_ports::{Guard, NewEntry};
use palyra_types::attachment::Blob;
use palyra_types::event::{JournalEvent, RunStarted, SessionEvent};
use palyra_types::run::RunSpec;
use palyra_types::session::{BranchPoint, SessionRef};
use palyra_types::skill::ActivatedSkill;
use palyra_types::tool::Taints;
use palyra_types::{AgentId, Redacted, TapeSeq, Timestamp};

use crate::run::Acceptance;
use crate::session::request::{Admission, ResetWish, Submitted};

/// A session about to be opened.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    pub(super) session: SessionRef,
    pub(super) agent: AgentId,
    pub(super) key: Option<Redacted<String>>,
    pub(super) label: Option<Redacted<String>>,
    pub(super) branched_from: Option<BranchPoint>,
}

impl Opening {
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

/// A run that is ready to be accepted.
#[derive(Debug, Clone)]
pub(super) struct Admitted {
    pub(super) spec: RunSpec,
    pub(super) opening: Option<Opening>,
    /// Whether its session, which exists, starts afresh with it.
    pub(super) reset: ResetWish,
    /// The files of its input that are not text, as their attachments number them.
    pub(super) blobs: Vec<Blob>,
    pub(super) notes: Vec<String>,
    /// What its conversation has read; known once the session has taken it.
    pub(super) taints: Taints,
    /// The skills that are switched on for its agent.
    pub(super) skills: Vec<ActivatedSkill>,
}

impl Admitted {
    /// Returns the first event of the run's tape.
    pub(super) fn started(&self) -> RunStarted {
        let spec = &self.spec;
        RunStarted {
            agent: spec.agent,
            surface: spec.surface,
            limits: spec.limits,
            config_digest: spec.config_digest,
            idempotency: spec.idempotency,
            delivery: spec.delivery,
            approvers: spec.approvers,
            taints: self.taints,
            skills: self.skills.clone(),
            input: spec.input.clone(),
            workspace_root: spec.workspace_root.clone(),
            model: Redacted::new(Some(spec.model.clone())),
            run_salt: spec.run_salt.clone(),
            fallbacks: Redacted::new(spec.fallbacks.clone()),
            response_format: spec.response_format.clone(),
        }
    }

    /// Returns the receipt for the caller.
    pub(super) fn receipt(&self, admission: Admission) -> Submitted {
        Submitted {
            run: self.spec.run,
            session: self.spec.session,
            session_created: self.opening.is_some(),
            admission,
            delivered: self.spec.delivery,
            model: Some(self.spec.model.clone()),
            begun_upto: None,
            notes: self.notes.clone(),
        }
    }

    /// Returns the conditions of the append that accepts the run.
    pub(super) fn guards(&self) -> Vec<Guard> {
        let spec = &self.spec;
        let mut guards = vec![Guard::RunAt { run: spec.run, tape_seq: TapeSeq::default() }];
        if let Some(digest) = spec.idempotency {
            guards.push(Guard::IdempotencyUnseen { principal: spec.principal, digest });
        }
        guards.extend(self.opening.as_ref().map(Opening::guard));
        guards
    }

    /// Returns whether its first commit begins with a reset.
    pub(super) fn resets(&self) -> bool {
        self.opening.is_none() && self.reset == ResetWish::Reset
    }

    /// Returns what has to be appended before the run's own first entry.
    pub(super) fn entries_before(&self, now: Timestamp) -> Vec<NewEntry> {
        let reset = self.resets().then_some(NewEntry {
            time: now,
            principal: self.spec.principal,
            session: Some(self.spec.session),
            run: None,
            event: JournalEvent::Session(SessionEvent::Reset { session: self.spec.session }),
        });
        self.opening.iter().map(|opening| opening.entry(now)).chain(reset).collect()
    }

    /// Returns what accepts the run.
    pub(super) fn acceptance(&self, now: Timestamp) -> Acceptance {
        Acceptance {
            run: self.spec.run,
            started: self.started(),
            guards: self.guards(),
            entries_before: self.entries_before(now),
            blobs: self.blobs.clone(),
        }
    }
}
