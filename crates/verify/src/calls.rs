//! Whether what tools did is what was decided before: the attestations of their outcomes against the log.
//!
//! Owns docs/journal-format.md, section 8, "calls". Knows facts alone, so that erasures take nothing away. Memory is
//! bounded: a run's calls are forgotten at its end, and a log with too many open ones is refused.
//! Begin at [`OpenCalls::entry`].

use std::collections::HashMap;

use crate::digest::Hash;
use crate::envelope::Envelope;
use crate::facts::{
    self, ApprovalFacts, CallFacts, DecidedBy, DecidedFacts, DecisionVerdict, GrantFacts, ProposedFacts,
    ResolvedFacts,
};
use crate::fault::{FaultCode, FaultCount};
use crate::limits::OPEN_CALLS_MAX;

type Id = [u8; 16];

/// How much of a log is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LogExtent {
    /// Every entry.
    #[default]
    Whole,
    /// The entries of single runs: what other runs and nobody's runs say is not known.
    Runs,
}

/// What is known of the calls of open runs, and of the stored grants.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    extent: LogExtent,
    runs: HashMap<[u8; 16], Run>,
    grants: HashMap<Id, Grant>,
    kept: usize,
    is_full: bool,
}

#[derive(Debug, Default)]
struct Run {
    calls: HashMap<u32, OpenCall>,
    approvals: HashMap<Id, Approval>,
}

#[derive(Debug, Default)]
struct OpenCall {
    /// As it was proposed, or as it was edited since.
    digest: Hash,
    verdict: Option<DecisionVerdict>,
    grant: Option<Id>,
    /// The entry of its start.
    started: Option<u64>,
}

#[derive(Debug)]
struct Approval {
    effect: u32,
    /// The entry that decided it, and what it said.
    decided: Option<(u64, facts::ApprovalAnswer)>,
}

#[derive(Debug)]
struct Grant {
    uses: u32,
    uses_max: Option<u32>,
    is_revoked: bool,
}

type CallObjection = Option<&'static str>;

impl OpenCalls {
    pub(crate) fn new(extent: LogExtent) -> Self {
        Self { extent, ..Self::default() }
    }

    /// Takes in the next entry.
    pub(crate) fn entry(&mut self, envelope: &Envelope<'_>, faults: &mut FaultCount) {
        if self.is_full {
            return;
        }
        let seq = envelope.seq;
        let objection = if envelope.has_run() {
            self.on_tape(envelope)
        } else {
            self.outside(envelope);
            None
        };
        if let Some(what) = objection {
            faults.add(seq, FaultCode::Attestation, || format!("entry {seq} {what}"));
        }
        if self.kept > OPEN_CALLS_MAX {
            self.is_full = true;
            let what = || "the log has more open calls and grants than a verifier keeps".to_owned();
            faults.add(seq, FaultCode::Malformed, what);
        }
    }

    fn outside(&mut self, envelope: &Envelope<'_>) {
        if envelope.kind == facts::GRANT_REVOKED
            && let Some(revoked) = GrantFacts::parse(envelope.facts)
            && let Some(grant) = self.grants.get_mut(&revoked.grant)
        {
            grant.is_revoked = true;
        }
    }

    /// Facts that cannot be read say nothing; what builds upon them is objected to.
    fn on_tape(&mut self, envelope: &Envelope<'_>) -> CallObjection {
        let (run, all) = (envelope.run, envelope.facts);
        match envelope.kind {
            facts::TOOL_PROPOSED => self.proposed(run, &ProposedFacts::parse(all)?),
            facts::TOOL_DECIDED => self.decided(run, &DecidedFacts::parse(all)?),
            facts::TOOL_STARTED => self.started(run, &CallFacts::parse(all)?, envelope.seq),
            facts::TOOL_FINISHED => self.finished(run, &CallFacts::parse(all)?),
            facts::APPROVAL_REQUESTED => self.on_requested(run, &ApprovalFacts::parse(all)?),
            facts::APPROVAL_RESOLVED => self.resolved(run, &ResolvedFacts::parse(all)?, envelope.seq),
            facts::GRANT_STORED => self.granted(&GrantFacts::parse(all)?),
            facts::RUN_FINISHED => {
                let ended = self.runs.remove(&run)?;
                self.kept -= ended.calls.len() + ended.approvals.len();
                None
            }
            _ => None,
        }
    }

    fn proposed(&mut self, run: [u8; 16], proposed: &ProposedFacts) -> CallObjection {
        let call = self.call(run, proposed.effect);
        if call.verdict.is_none() {
            call.digest = proposed.digest;
        }
        None
    }

    fn decided(&mut self, run: [u8; 16], decided: &DecidedFacts) -> CallObjection {
        let objection = match (decided.verdict, decided.by) {
            (DecisionVerdict::Allow, DecidedBy::Approval(approval)) => {
                let answered = self.runs.get(&run).and_then(|run| run.approvals.get(&approval));
                match answered {
                    Some(Approval { effect, decided: Some((_, facts::ApprovalAnswer::Yes)) })
                        if *effect == decided.effect =>
                    {
                        None
                    }
                    _ => Some("allows a call by an approval that was not given for it"),
                }
            }
            (DecisionVerdict::Allow, DecidedBy::Grant(grant)) => self.used(grant),
            (DecisionVerdict::Allow | DecisionVerdict::Ask | DecisionVerdict::Deny, _) => None,
        };
        let call = self.call(run, decided.effect);
        call.verdict = Some(decided.verdict);
        call.grant = match decided.by {
            DecidedBy::Grant(grant) => Some(grant),
            DecidedBy::Approval(_) | DecidedBy::Other => None,
        };
        objection
    }

    fn used(&mut self, grant: Id) -> CallObjection {
        match (self.grants.get_mut(&grant), self.extent) {
            (None, LogExtent::Runs) => None,
            (None, LogExtent::Whole) => Some("allows a call by a grant that was not given"),
            (Some(grant), extent) => {
                let is_used_up = grant.uses_max.is_some_and(|uses_max| grant.uses >= uses_max);
                grant.uses = grant.uses.saturating_add(1);
                match extent {
                    LogExtent::Runs => None,
                    LogExtent::Whole if grant.is_revoked => Some("allows a call by a grant that was revoked"),
                    LogExtent::Whole if is_used_up => Some("allows a call by a grant that was used up"),
                    LogExtent::Whole => None,
                }
            }
        }
    }

    fn started(&mut self, run: [u8; 16], started: &CallFacts, seq: u64) -> CallObjection {
        let call = self.call(run, started.effect);
        call.started = call.started.or(Some(seq));
        match call.verdict {
            Some(DecisionVerdict::Allow) => None,
            Some(DecisionVerdict::Deny) => Some("starts a call that was denied"),
            Some(DecisionVerdict::Ask) => Some("starts a call whose approval is not answered"),
            None => Some("starts a call without a decision"),
        }
    }

    fn finished(&mut self, run: [u8; 16], finished: &CallFacts) -> CallObjection {
        let tape = self.runs.get(&run);
        let call = tape.and_then(|tape| tape.calls.get(&finished.effect));
        let Some((call, started)) = call.and_then(|call| call.started.map(|started| (call, started))) else {
            return Some("ends a call that was not started");
        };
        let attested = finished.attested.as_ref()?;
        if let Some(approval) = attested.approval {
            match tape.and_then(|tape| tape.approvals.get(&approval)) {
                Some(Approval { effect, decided: Some((seq, facts::ApprovalAnswer::Yes)) })
                    if *effect == finished.effect && *seq < started => {}
                _ => return Some("names an approval that was not given for the call before its start"),
            }
        }
        if attested.grant.is_some() && attested.grant != call.grant {
            return Some("names another grant than the one that allowed the call");
        }
        (attested.digest != call.digest).then_some("attests another call than the one that was allowed")
    }

    fn on_requested(&mut self, run: [u8; 16], asked: &ApprovalFacts) -> CallObjection {
        let approvals = &mut self.runs.entry(run).or_default().approvals;
        if approvals.contains_key(&asked.approval) {
            return Some("asks for an approval a second time");
        }
        approvals.insert(asked.approval, Approval { effect: asked.effect, decided: None });
        self.kept += 1;
        None
    }

    fn resolved(&mut self, run: [u8; 16], resolved: &ResolvedFacts, seq: u64) -> CallObjection {
        let tape = self.runs.get_mut(&run);
        match tape.and_then(|tape| tape.approvals.get_mut(&resolved.asked.approval)) {
            None => Some("decides an approval that its run never asked for"),
            Some(Approval { decided: Some(_), .. }) => Some("decides an approval a second time"),
            Some(approval) if approval.effect != resolved.asked.effect => {
                Some("decides an approval for another call than it was asked for")
            }
            Some(approval) => {
                approval.decided = Some((seq, resolved.said));
                if resolved.said == facts::ApprovalAnswer::Yes && resolved.edited != [0; 32] {
                    self.edit(run, resolved);
                }
                None
            }
        }
    }

    /// An edited call is another one from there on, until it is started.
    fn edit(&mut self, run: [u8; 16], resolved: &ResolvedFacts) {
        let call = self.call(run, resolved.asked.effect);
        if call.started.is_none() {
            call.digest = resolved.edited;
        }
    }

    fn granted(&mut self, granted: &GrantFacts) -> CallObjection {
        let uses_max = granted.uses_max;
        if self.grants.contains_key(&granted.grant) {
            return Some("gives a grant a second time");
        }
        self.grants.insert(granted.grant, Grant { uses: 0, uses_max, is_revoked: false });
        self.kept += 1;
        None
    }

    fn call(&mut self, run: [u8; 16], effect: u32) -> &mut OpenCall {
        let calls = &mut self.runs.entry(run).or_default().calls;
        if !calls.contains_key(&effect) {
            self.kept += 1;
        }
        calls.entry(effect).or_default()
    }
}
