//! The simple machine's rules about whose turn it is, and about calls that ask.

use palyra_types::approval::{ApprovalDecision, ApprovalState, ApprovalTerms, AtExpiry, SeparationRule};
use palyra_types::event::{ApprovalAsk, ContentDigest, DecidedBy};
use palyra_types::tool::{Parallelism, ToolConduct, ToolDecision, ToolVerdict};
use palyra_types::{ApprovalId, PrincipalId};

use super::{AskedPerson, Fact, Judged, Reference};
use crate::scenario::asks::{PolicyNow, approval, person};
use crate::{AnswerStage, JudgedAnswer, PrepareRefusal, PreparedEffect, RunError};

/// Where a call stands, by the last that was said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    AwaitingPrompt,
    AwaitingApproval,
    Allowed,
    Running,
    Gone,
}

impl Reference {
    fn stage(&self, wanted: u32) -> Stage {
        let mut stages = self.tape.iter().rev().filter_map(|fact| match fact {
            Fact::Judged(Judged { effect, verdict, .. }) if *effect == wanted => Some(match verdict {
                ToolVerdict::Allow => Stage::Allowed,
                ToolVerdict::Ask => Stage::AwaitingPrompt,
                ToolVerdict::Deny => Stage::Gone,
            }),
            Fact::AskedPerson(AskedPerson { effect, .. }) if *effect == wanted => {
                Some(Stage::AwaitingApproval)
            }
            Fact::Resolved { effect, .. } if *effect == wanted => Some(Stage::AwaitingPrompt),
            Fact::Began { effect } if *effect == wanted => Some(Stage::Running),
            Fact::Ended { effect, .. } | Fact::Lost { effect } if *effect == wanted => Some(Stage::Gone),
            _ => None,
        });
        stages.next().expect("a judged call")
    }

    /// Returns the last verdict on a call.
    pub(super) fn judged(&self, wanted: u32) -> &Judged {
        let judged = self.tape.iter().rev().find_map(|fact| match fact {
            Fact::Judged(judged) if judged.effect == wanted => Some(judged),
            _ => None,
        });
        judged.expect("a judged call")
    }

    pub(super) fn open(&self) -> Vec<u32> {
        self.proposed().into_iter().filter(|effect| self.stage(*effect) != Stage::Gone).collect()
    }

    pub(super) fn running(&self) -> Vec<u32> {
        self.open().into_iter().filter(|effect| self.stage(*effect) == Stage::Running).collect()
    }

    fn is_question(&self, effect: u32) -> bool {
        self.judged(effect).conduct == ToolConduct::Question
    }

    /// Returns what tools are at.
    pub(super) fn at_work(&self) -> Vec<u32> {
        self.running().into_iter().filter(|effect| !self.is_question(*effect)).collect()
    }

    fn may_go(&self, effect: u32) -> bool {
        match self.stage(effect) {
            Stage::Allowed => true,
            Stage::AwaitingPrompt => self.judged(effect).conduct == ToolConduct::Prepared,
            Stage::AwaitingApproval | Stage::Running | Stage::Gone => false,
        }
    }

    fn is_its_turn(&self, effect: u32) -> bool {
        let before: Vec<u32> = self.open().into_iter().filter(|other| *other < effect).collect();
        if self.judged(effect).alone {
            return before.is_empty() && self.at_work().is_empty();
        }
        let ahead = before.iter().filter(|other| self.may_go(**other) && !self.is_question(**other)).count();
        let room = self.at_work().len() + ahead < self.limits().parallel_tools_max.max(1) as usize;
        (room || self.is_question(effect)) && !before.iter().any(|other| self.judged(*other).alone)
    }

    /// Returns the calls that can go on now.
    pub(super) fn turns(&self) -> Vec<u32> {
        let over = self.any(|fact| matches!(fact, Fact::Over(_)));
        let held = self.held_back() || self.stop_wanted().is_some() || self.open_attempt().is_some();
        if over || held || self.pausing().is_some() {
            return Vec::new();
        }
        self.open().into_iter().filter(|effect| self.may_go(*effect) && self.is_its_turn(*effect)).collect()
    }

    pub(super) fn preparing(&self) -> Vec<u32> {
        let prepared = |effect: &u32| self.judged(*effect).conduct == ToolConduct::Prepared;
        self.turns().into_iter().filter(prepared).collect()
    }

    fn is_approved(&self, effect: u32) -> bool {
        matches!(self.judged(effect).by, DecidedBy::Approval(_))
    }

    /// Whether policy was asked about a call in this very step.
    pub(super) fn is_judged_now(&self, wanted: u32) -> bool {
        let mut fresh = self.tape[self.before..].iter();
        let judged = |fact: &Fact| matches!(fact, Fact::Judged(Judged { effect, .. }) if *effect == wanted);
        self.looked.contains(&wanted) || fresh.any(judged)
    }

    /// Judges a call again that waited, by the rules of now.
    pub(super) fn reprepare(&mut self, effect: u32) {
        let before = self.judged(effect).clone();
        match self.policy {
            PolicyNow::Denies | PolicyNow::OtherVersion => self.deny(effect, DecidedBy::Policy),
            PolicyNow::Asks if !self.is_approved(effect) => {
                let number = 700 + effect + 100 * u32::try_from(self.before).expect("few");
                let ask = ApprovalAsk { approval: approval(number), terms: self.terms_of(effect) };
                let by = DecidedBy::Policy;
                let judged = Judged { verdict: ToolVerdict::Ask, by, ask: Some(ask), ..before };
                self.tape.push(Fact::Judged(judged));
                self.ask_person(effect, (ask.approval, self.call_of(effect), true));
            }
            PolicyNow::Asks | PolicyNow::AsBefore | PolicyNow::Needs(_) => self.looked.push(effect),
        }
    }

    fn terms_of(&self, effect: u32) -> ApprovalTerms {
        let mut terms = self.tape.iter().rev().filter_map(|fact| match fact {
            Fact::Judged(Judged { effect: own, ask: Some(ask), .. }) if *own == effect => Some(ask.terms),
            _ => None,
        });
        terms.next().unwrap_or_default()
    }

    fn call_of(&self, effect: u32) -> ContentDigest {
        let call = self.tape.iter().find_map(|fact| match fact {
            Fact::Proposed { effect: own, call } if *own == effect => Some(*call),
            _ => None,
        });
        call.expect("proposed")
    }

    pub(super) fn begin(&mut self, effect: u32) {
        if !self.is_question(effect) {
            self.work.push(format!("execute {effect}"));
        }
        self.tape.push(Fact::Began { effect });
    }

    /// Returns the effects in doubt of which nobody said what became of them.
    pub(super) fn in_doubt(&self) -> Vec<u32> {
        let lost = self.tape.iter().filter_map(|fact| match fact {
            Fact::Lost { effect } => Some(*effect),
            _ => None,
        });
        lost.filter(|lost| !self.any(|fact| *fact == Fact::Settled { effect: *lost })).collect()
    }

    pub(super) fn held_back(&self) -> bool {
        let (mut doubts, mut waits, mut circles) = (0, false, false);
        for fact in &self.tape {
            match fact {
                Fact::Lost { .. } => (doubts, waits, circles) = (doubts + 1, true, false),
                Fact::Settled { .. } => {
                    doubts -= 1;
                    waits &= doubts > 0;
                }
                Fact::Circling => (waits, circles) = (false, true),
                Fact::InputReceived { answer: true, .. } => (waits, circles) = (false, false),
                _ => {}
            }
        }
        self.foreign() || waits || circles
    }

    pub(super) fn waits_for_input(&self) -> bool {
        let asks_something = self.running().iter().any(|effect| self.is_question(*effect));
        (self.held_back() || asks_something)
            && !self.foreign()
            && self.stop_wanted().is_none()
            && self.open_attempt().is_none()
            && self.at_work().is_empty()
            && self.preparing().is_empty()
    }

    pub(super) fn end_questions(&mut self, failed: bool) {
        for effect in
            self.running().into_iter().filter(|effect| self.is_question(*effect)).collect::<Vec<_>>()
        {
            self.tape.push(Fact::Ended { effect, failed, output: ContentDigest::default() });
        }
    }

    pub(super) fn judge(
        &mut self,
        effect: u32,
        says: &ToolDecision,
        (verdict, by, ask): (ToolVerdict, DecidedBy, Option<ApprovalAsk>),
    ) {
        self.tape.push(Fact::Judged(Judged {
            effect,
            verdict,
            by,
            contract: says.contract,
            alone: says.parallelism == Parallelism::Exclusive,
            conduct: says.conduct,
            version: says.tool_version,
            ask,
        }));
    }

    fn deny(&mut self, effect: u32, by: DecidedBy) {
        let judged = self.judged(effect).clone();
        self.tape.push(Fact::Judged(Judged { verdict: ToolVerdict::Deny, by, ask: None, ..judged }));
    }

    /// Asks about what was just judged and needs no preparation.
    pub(super) fn ask_at_once(&mut self) {
        for effect in self.open() {
            let judged = self.judged(effect).clone();
            let unprepared = judged.conduct != ToolConduct::Prepared;
            if let (Stage::AwaitingPrompt, true, Some(ask)) = (self.stage(effect), unprepared, judged.ask) {
                self.ask_person(effect, (ask.approval, self.call_of(effect), false));
            }
        }
    }

    fn ask_person(&mut self, effect: u32, (approval, binding, again): (ApprovalId, ContentDigest, bool)) {
        let terms = self.terms_of(effect);
        let expires = (terms.at_expiry == AtExpiry::Deny).then(|| self.now.after(terms.span));
        self.tape.push(Fact::AskedPerson(AskedPerson { approval, effect, binding, terms, expires, again }));
    }

    fn last_asked(&self, wanted: u32) -> Option<&AskedPerson> {
        self.tape.iter().rev().find_map(|fact| match fact {
            Fact::AskedPerson(asked) if asked.effect == wanted => Some(asked),
            _ => None,
        })
    }

    pub(super) fn take_prepared(
        &mut self,
        effect: u32,
        prepared: &Result<PreparedEffect, PrepareRefusal>,
        judged: Option<&ToolDecision>,
        fresh: ApprovalId,
    ) {
        let (Ok(prepared), Some(judged)) = (prepared, judged) else {
            return self.deny(effect, DecidedBy::Policy);
        };
        let now = prepared.plan.binding;
        if judged.verdict == ToolVerdict::Deny {
            return self.judge(effect, judged, (ToolVerdict::Deny, DecidedBy::Policy, None));
        }
        if judged.tool_version != self.judged(effect).version {
            return self.deny(effect, DecidedBy::Policy);
        }
        let allowed = self.stage(effect) == Stage::Allowed;
        if allowed && judged.verdict == ToolVerdict::Ask && !self.is_approved(effect) {
            let ask = ApprovalAsk { approval: fresh, terms: judged.approval };
            self.judge(effect, judged, (ToolVerdict::Ask, DecidedBy::Policy, Some(ask)));
            return self.ask_person(effect, (fresh, now, true));
        }
        if self.stage(effect) == Stage::AwaitingPrompt {
            let ask = self.judged(effect).ask.expect("it wants an approval");
            return self.ask_person(effect, (ask.approval, now, false));
        }
        let edited = self
            .any(|fact| matches!(fact, Fact::Resolved { effect: own, edited: true, .. } if *own == effect));
        let edited_last = edited && self.edited_since_asked(effect);
        match self.last_asked(effect) {
            Some(asked) if edited_last || asked.binding != now => {
                self.ask_person(effect, (fresh, now, true));
            }
            _ => self.begin(effect),
        }
    }

    fn edited_since_asked(&self, effect: u32) -> bool {
        let asked = self.last(|fact| matches!(fact, Fact::AskedPerson(asked) if asked.effect == effect));
        self.tape[asked.unwrap_or(0)..]
            .iter()
            .any(|fact| matches!(fact, Fact::Resolved { effect: own, edited: true, .. } if *own == effect))
    }

    pub(super) fn pending(&self, wanted: ApprovalId) -> Option<AskedPerson> {
        let resolved = |fact: &Fact| matches!(fact, Fact::Resolved { approval, .. } if *approval == wanted);
        let asked = self.tape.iter().find_map(|fact| match fact {
            Fact::AskedPerson(asked) if asked.approval == wanted => Some(asked.clone()),
            _ => None,
        });
        asked.filter(|_| !self.any(resolved))
    }

    pub(super) fn is_late(&self, asked: &AskedPerson) -> bool {
        asked.expires.is_some_and(|expires| expires <= self.now)
    }

    fn votes(&self, wanted: ApprovalId) -> Vec<PrincipalId> {
        let votes = self.tape.iter().filter_map(|fact| match fact {
            Fact::Voted { approval, by } if *approval == wanted => Some(*by),
            _ => None,
        });
        votes.collect()
    }

    pub(super) fn refuses_answer(&self, stage: &AnswerStage) -> Option<RunError> {
        let answer = stage.answer();
        let Some(asked) = self.pending(answer.approval) else { return Some(RunError::ApprovalDecided) };
        if self.foreign() {
            return Some(RunError::NotWaiting);
        }
        if self.is_late(&asked) {
            return None;
        }
        let stranger = asked.terms.separation == SeparationRule::AnyPerson || answer.by != person(3);
        if !stranger {
            return Some(RunError::NotEligible);
        }
        if answer.decision == ApprovalDecision::Deny {
            return None;
        }
        if self.votes(answer.approval).contains(&answer.by) {
            return Some(RunError::NotEligible);
        }
        let Some(JudgedAnswer { prepared, judged, .. }) = stage.judged() else {
            return Some(RunError::OutOfPlace);
        };
        let denied = judged.verdict == ToolVerdict::Deny;
        let unprepared = self.judged(asked.effect).conduct == ToolConduct::Prepared && prepared.is_none();
        if unprepared && !denied {
            return Some(RunError::OutOfPlace);
        }
        let fails = matches!(prepared, Some(Err(_)));
        let shared = self.people_needed(&asked, judged) > 1;
        (answer.edited.is_some() && (denied || fails || shared)).then_some(RunError::EditRefused)
    }

    fn people_needed(&self, asked: &AskedPerson, judged: &ToolDecision) -> u32 {
        let now = if judged.verdict == ToolVerdict::Ask { judged.approval.needed } else { 0 };
        asked.terms.needed.max(now)
    }

    fn resolve(&mut self, asked: &AskedPerson, state: ApprovalState, edited: bool) {
        let (approval, effect) = (asked.approval, asked.effect);
        self.tape.push(Fact::Resolved { approval, effect, state, edited });
    }

    pub(super) fn withdraw_all(&mut self) {
        let mut asked: Vec<ApprovalId> = self
            .tape
            .iter()
            .filter_map(|fact| match fact {
                Fact::AskedPerson(asked) => Some(asked.approval),
                _ => None,
            })
            .collect();
        asked.sort_unstable();
        for approval in asked {
            if let Some(asked) = self.pending(approval) {
                self.resolve(&asked, ApprovalState::Withdrawn, false);
            }
        }
    }

    pub(super) fn expire(&mut self, approval: ApprovalId) {
        let Some(asked) = self.pending(approval) else { return };
        self.resolve(&asked, ApprovalState::Expired, false);
        self.deny(asked.effect, DecidedBy::Approval(approval));
    }

    pub(super) fn take_approval(&mut self, stage: &AnswerStage) {
        let answer = stage.answer();
        let Some(asked) = self.pending(answer.approval) else { return };
        let effect = asked.effect;
        if self.is_late(&asked) {
            return self.expire(answer.approval);
        }
        if answer.decision == ApprovalDecision::Deny {
            self.resolve(&asked, ApprovalState::Denied, false);
            return self.deny(effect, DecidedBy::Approval(answer.approval));
        }
        let Some(JudgedAnswer { prepared, judged, .. }) = stage.judged() else { return };
        if judged.verdict == ToolVerdict::Deny {
            self.resolve(&asked, ApprovalState::Denied, false);
            return self.judge(effect, judged, (ToolVerdict::Deny, DecidedBy::Policy, None));
        }
        if judged.tool_version != self.judged(effect).version {
            self.resolve(&asked, ApprovalState::Withdrawn, false);
            return self.deny(effect, DecidedBy::Policy);
        }
        let binding = match prepared {
            Some(Err(_)) => {
                self.resolve(&asked, ApprovalState::Withdrawn, false);
                return self.deny(effect, DecidedBy::Policy);
            }
            Some(Ok(prepared)) => Some(prepared.plan.binding),
            None => None,
        };
        if binding.is_some_and(|now| now != asked.binding) && answer.edited.is_none() {
            self.resolve(&asked, ApprovalState::Withdrawn, false);
            return self.ask_person(effect, (answer.fresh, binding.unwrap_or_default(), true));
        }
        if self.votes(answer.approval).len() + 1 < self.people_needed(&asked, judged) as usize {
            self.tape.push(Fact::Voted { approval: answer.approval, by: answer.by });
            return;
        }
        self.resolve(&asked, ApprovalState::Approved, answer.edited.is_some());
        self.judge(effect, judged, (ToolVerdict::Allow, DecidedBy::Approval(answer.approval), None));
        if answer.remember.is_some() {
            self.tape.push(Fact::GaveGrant);
        }
        if binding.is_some() && self.turns().contains(&effect) {
            self.begin(effect);
        }
    }
}
