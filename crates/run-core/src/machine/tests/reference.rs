//! A second run machine, slow and simple: it keeps nothing and looks everything up in the tape, each time.
//!
//! Written from the specification as rules that are tried in order until none applies. Where it and the real
//! machine differ, one of them is wrong.

use std::time::Duration;

use palyra_types::approval::{ApprovalState, ApprovalTerms};
use palyra_types::effect::OutputRest;
use palyra_types::event::{
    AbandonCause, ApprovalAsk, ApprovalEvent, ContentDigest, DecidedBy, ModelEvent, NextAttempt, RunEvent,
    TapeEvent, ToolEvent,
};
use palyra_types::model::{FinishReason, ModelFailureClass, ModelRef};
use palyra_types::run::{CancelReason, IdempotencyDigest, InputDelivery, RunLimits, TerminationReason};
use palyra_types::tool::{EffectContract, Parallelism, ToolConduct, ToolVerdict};
use palyra_types::{ApprovalId, Attempt, EffectId, PrincipalId, Redacted, Timestamp};
use proptest::prelude::*;

use crate::scenario::ScenarioDriver;
use crate::scenario::asks::PolicyNow;
use crate::scenario::references::{ScriptedReferences, expanded};
use crate::scenario::world::{PastInput, ScenarioWorld, moves, small_limits};
use crate::{ExpandedInput, ItemMeans, JudgedCall, RunError, RunInput};

mod asks;

/// What an entry says, as far as it matters.
#[derive(Debug, Clone, PartialEq)]
enum Fact {
    Accepted(RunLimits, usize),
    ModelRequested { attempt: u32, turn: u32, model: usize, tokens: u64, at: Timestamp },
    Said { attempt: u32, bytes: usize },
    Thought { attempt: u32, bytes: usize },
    Answered { attempt: u32, tokens: u64 },
    GaveUp { attempt: u32, cause: AbandonCause, next: NextAttempt, waits: bool, at: Timestamp },
    Proposed { effect: u32, call: ContentDigest },
    Judged(Judged),
    AskedPerson(AskedPerson),
    Voted { approval: ApprovalId, by: PrincipalId },
    Resolved { approval: ApprovalId, effect: u32, state: ApprovalState, edited: bool },
    GaveGrant,
    Settled { effect: u32 },
    Began { effect: u32 },
    Printed { effect: u32, upto: u64, rest: OutputRest },
    Ended { effect: u32, failed: bool, output: ContentDigest },
    Lost { effect: u32 },
    Circling,
    InputReceived { answer: bool, key: Option<IdempotencyDigest> },
    Expanded { input: u32, items: usize, calls: Vec<u32> },
    StopWanted(CancelReason),
    Over(TerminationReason),
    Foreign,
    Skipped,
    Switched { attempt: u32, model: usize, passed_over: usize },
}

/// A verdict on a call.
#[derive(Debug, Clone, PartialEq)]
struct Judged {
    effect: u32,
    verdict: ToolVerdict,
    by: DecidedBy,
    contract: EffectContract,
    alone: bool,
    conduct: ToolConduct,
    version: u32,
    ask: Option<ApprovalAsk>,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq)]
struct AskedPerson {
    approval: ApprovalId,
    effect: u32,
    binding: ContentDigest,
    terms: ApprovalTerms,
    expires: Option<Timestamp>,
    again: bool,
}

fn said(attempt: Attempt, text: &Redacted<String>) -> Fact {
    Fact::Said { attempt: attempt.0, bytes: text.expose().len() }
}

fn thought(attempt: Attempt, text: &Redacted<String>) -> Fact {
    Fact::Thought { attempt: attempt.0, bytes: text.expose().len() }
}

fn fact(event: &TapeEvent, at: Timestamp) -> Fact {
    match event {
        TapeEvent::Run(event) => run_fact(event),
        TapeEvent::Model(ModelEvent::Requested(asked)) => Fact::ModelRequested {
            attempt: asked.attempt.0,
            turn: asked.turn,
            model: asked.model.expose().as_ref().map_or(0, place_of),
            tokens: asked.context.tokens_estimated,
            at,
        },
        TapeEvent::Model(ModelEvent::Switched { attempt, passed_over, model }) => Fact::Switched {
            attempt: attempt.0,
            model: model.expose().as_ref().map_or(0, place_of),
            passed_over: *passed_over as usize,
        },
        TapeEvent::Model(ModelEvent::Text { attempt, text }) => said(*attempt, text),
        TapeEvent::Model(ModelEvent::Reasoning { attempt, text }) => thought(*attempt, text),
        TapeEvent::Model(ModelEvent::Message(message)) => {
            Fact::Answered { attempt: message.attempt.0, tokens: message.usage.output_tokens }
        }
        TapeEvent::Model(ModelEvent::AttemptAbandoned { attempt, cause, next, retry_at, .. }) => {
            Fact::GaveUp { attempt: attempt.0, cause: *cause, next: *next, waits: retry_at.is_some(), at }
        }
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
            Fact::Proposed { effect: proposed.effect.0, call: proposed.call_digest }
        }
        TapeEvent::Tool(ToolEvent::Decided(decided)) => Fact::Judged(Judged {
            effect: decided.effect.0,
            verdict: decided.verdict,
            by: decided.decided_by,
            contract: decided.contract,
            alone: decided.parallelism == Parallelism::Exclusive,
            conduct: decided.conduct,
            version: decided.tool_version,
            ask: decided.ask,
        }),
        TapeEvent::Approval(ApprovalEvent::Requested(asked)) => Fact::AskedPerson(AskedPerson {
            approval: asked.approval,
            effect: asked.effect.0,
            binding: asked.binding,
            terms: asked.terms,
            expires: asked.expires,
            again: !asked.prompt.asked_again.expose().is_empty(),
        }),
        TapeEvent::Approval(ApprovalEvent::Voted(voted)) => {
            Fact::Voted { approval: voted.approval, by: voted.by }
        }
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => Fact::Resolved {
            approval: resolved.approval,
            effect: resolved.effect.0,
            state: resolved.state,
            edited: resolved.edited.is_some(),
        },
        TapeEvent::Approval(ApprovalEvent::GrantStored(_)) => Fact::GaveGrant,
        TapeEvent::Tool(ToolEvent::EffectResolved { effect, .. }) => Fact::Settled { effect: effect.0 },
        TapeEvent::Tool(ToolEvent::Started(begun)) => Fact::Began { effect: begun.effect.0 },
        TapeEvent::Tool(ToolEvent::Output(output)) => {
            Fact::Printed { effect: output.effect.0, upto: output.shown_bytes, rest: output.rest }
        }
        TapeEvent::Tool(ToolEvent::Finished(finished)) => Fact::Ended {
            effect: finished.effect.0,
            failed: finished.failure.is_some(),
            output: finished.output_digest,
        },
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => Fact::Lost { effect: effect.0 },
        TapeEvent::Unknown { kind } if *kind < 0x8000 => Fact::Foreign,
        TapeEvent::Unknown { .. } => Fact::Skipped,
    }
}

fn run_fact(event: &RunEvent) -> Fact {
    match event {
        RunEvent::Started(started) => Fact::Accepted(started.limits, 1 + started.fallbacks.expose().len()),
        RunEvent::InputReceived { delivery, idempotency, .. } => {
            Fact::InputReceived { answer: *delivery == InputDelivery::Queue, key: *idempotency }
        }
        RunEvent::LoopDetected { .. } => Fact::Circling,
        RunEvent::Held { .. } => unreachable!("no machine holds a run by itself"),
        RunEvent::ClientToolsOffered(_)
        | RunEvent::ClientToolsCalled(_)
        | RunEvent::ClientToolsAnswered(_) => unreachable!("these runs have tools"),
        RunEvent::BudgetReached { .. } | RunEvent::SoftLimitNoted { .. } => {
            unreachable!("these runs have no budgets")
        }
        RunEvent::ReferencesExpanded(expanded) => Fact::Expanded {
            input: expanded.input.0,
            items: expanded.items.len(),
            calls: expanded.calls().map(|effect| effect.0).collect(),
        },
        RunEvent::CancelRequested { reason, .. } => Fact::StopWanted(*reason),
        RunEvent::Finished(finished) => Fact::Over(finished.reason),
    }
}

/// Returns the place in the chain of a scenario's model.
fn place_of(model: &ModelRef) -> usize {
    model.model.as_str().strip_prefix("fallback-").map_or(0, |number| number.parse().expect("a number"))
}

/// The tape, and what is added to it now.
struct Reference {
    /// Which inputs have references.
    scripted: Vec<ScriptedReferences>,
    tape: Vec<Fact>,
    before: usize,
    now: Timestamp,
    work: Vec<String>,
    /// What policy says in this step to calls that waited.
    policy: PolicyNow,
    /// Calls that policy was asked about again in this step, and that stand.
    looked: Vec<u32>,
}

impl Reference {
    fn any(&self, wanted: impl Fn(&Fact) -> bool) -> bool {
        self.tape.iter().any(wanted)
    }

    fn count(&self, wanted: impl Fn(&Fact) -> bool) -> usize {
        self.tape.iter().filter(|fact| wanted(fact)).count()
    }

    fn last(&self, wanted: impl Fn(&Fact) -> bool) -> Option<usize> {
        self.tape.iter().rposition(wanted)
    }

    fn limits(&self) -> RunLimits {
        let limits = self.tape.iter().find_map(|fact| match fact {
            Fact::Accepted(limits, _) => Some(*limits),
            _ => None,
        });
        limits.expect("an accepted run")
    }

    fn attempts(&self) -> u32 {
        u32::try_from(self.count(|fact| matches!(fact, Fact::ModelRequested { .. }))).expect("few")
    }

    fn open_attempt(&self) -> Option<u32> {
        let last = self.attempts();
        let closed = self.any(|fact| match fact {
            Fact::Answered { attempt, .. } | Fact::GaveUp { attempt, .. } => *attempt == last,
            _ => false,
        });
        (last > 0 && !closed).then_some(last)
    }

    /// Returns what happened since the last answer: all that the next request's turn has seen.
    fn turn_so_far(&self) -> &[Fact] {
        let answer = self.last(|fact| matches!(fact, Fact::Answered { .. })).map_or(0, |at| at + 1);
        &self.tape[answer..]
    }

    /// Returns how long each request of this turn that a restart caught was open, since a person looked last.
    fn caught_by_restarts(&self) -> Vec<Duration> {
        let turn = self.turn_so_far();
        let looked = turn.iter().rposition(|fact| *fact == Fact::Circling).map_or(0, |at| at + 1);
        let asked_at = |wanted: u32| {
            self.tape.iter().find_map(|fact| match fact {
                Fact::ModelRequested { attempt, at, .. } if *attempt == wanted => Some(*at),
                _ => None,
            })
        };
        let span = |fact: &Fact| match fact {
            Fact::GaveUp { attempt, cause: AbandonCause::Restart, at, .. } => {
                Some(at.since(asked_at(*attempt)?))
            }
            _ => None,
        };
        turn[looked..].iter().filter_map(span).collect()
    }

    /// Returns how many requests of this turn a model may have failed.
    fn counted_in_turn(&self) -> usize {
        let restarted = |fact: &&Fact| matches!(fact, Fact::GaveUp { cause: AbandonCause::Restart, .. });
        self.attempts_in_turn() - self.turn_so_far().iter().filter(restarted).count()
    }

    /// Returns whether the run has left the queue.
    fn has_begun(&self) -> bool {
        self.any(|fact| matches!(fact, Fact::ModelRequested { .. } | Fact::Expanded { .. }))
    }

    fn attempts_in_turn(&self) -> usize {
        self.turn_so_far().iter().filter(|fact| matches!(fact, Fact::ModelRequested { .. })).count()
    }

    /// Returns the attempt after which the run pauses.
    fn pausing(&self) -> Option<u32> {
        let asked = self.last(|fact| matches!(fact, Fact::ModelRequested { .. }))?;
        // References that came in the pause are expanded at its end.
        if self.tape[asked..].iter().any(|fact| matches!(fact, Fact::Expanded { .. })) {
            return None;
        }
        self.tape[asked..].iter().find_map(|fact| match fact {
            Fact::GaveUp { attempt, waits: true, .. } => Some(*attempt),
            _ => None,
        })
    }

    /// Returns the model to ask next, by its place in the chain.
    fn model(&self) -> usize {
        self.count(|fact| matches!(fact, Fact::GaveUp { next: NextAttempt::NextModel, .. }))
    }

    /// Returns how large the next request will be: half of each one that was too large for this model.
    fn tokens_of_next(&self) -> u64 {
        let mut sent = 100;
        let mut requested = 100;
        for fact in &self.tape {
            match fact {
                Fact::ModelRequested { tokens, .. } => sent = *tokens,
                Fact::GaveUp { next: NextAttempt::ShorterContext, .. } => requested = sent / 2,
                Fact::GaveUp { next: NextAttempt::NextModel, .. } => requested = 100,
                _ => {}
            }
        }
        requested
    }

    fn after_failure(&self, class: ModelFailureClass, asked: Option<Duration>) -> NextAttempt {
        use ModelFailureClass as Class;
        let turn = self.turn_so_far();
        let said = turn.iter().position(|fact| matches!(fact, Fact::Said { .. }));
        let again = |fact: &&Fact| {
            matches!(fact, Fact::GaveUp { next: NextAttempt::SameModel | NextAttempt::ShorterContext, .. })
        };
        let again_after_words = said.map_or(0, |at| turn[at..].iter().filter(again).count());
        if self.counted_in_turn() == 6 || again_after_words == 1 {
            return NextAttempt::None;
        }
        let is = |wanted: NextAttempt| move |fact: &Fact| matches!(fact, Fact::GaveUp { next, .. } if *next == wanted);
        let switched = turn.iter().rposition(is(NextAttempt::NextModel)).map_or(0, |at| at + 1);
        let repeats = turn[switched..].iter().filter(|fact| is(NextAttempt::SameModel)(fact)).count();
        let shortened = turn.iter().filter(|fact| is(NextAttempt::ShorterContext)(fact)).count();
        let chain = self.tape.iter().find_map(|fact| match fact {
            Fact::Accepted(_, models) => Some(*models),
            _ => None,
        });
        let another = said.is_none() && Some(self.model() + 1) < chain;
        let patience = Duration::from_secs(if another { 5 } else { 60 });
        let too_long = asked.is_some_and(|asked| asked > patience);
        let may_repeat = match class {
            Class::RateLimit | Class::Transient => repeats < 2 && !too_long,
            Class::Network => repeats < 2,
            Class::Timeout | Class::Malformed => repeats < 1,
            _ => false,
        };
        match class {
            _ if may_repeat => NextAttempt::SameModel,
            Class::ContentPolicy => NextAttempt::None,
            Class::ContextExceeded if shortened < 2 => NextAttempt::ShorterContext,
            Class::ContextExceeded => NextAttempt::None,
            _ if another => NextAttempt::NextModel,
            _ => NextAttempt::None,
        }
    }

    fn fail(&mut self, attempt: u32, class: ModelFailureClass, asked: Option<Duration>) {
        let next = self.after_failure(class, asked);
        let waits = next == NextAttempt::SameModel;
        self.tape.push(Fact::GaveUp {
            attempt,
            cause: AbandonCause::Failure(class),
            next,
            waits,
            at: self.now,
        });
        if waits {
            self.work.push(format!("pause after {attempt}"));
        }
        if next == NextAttempt::None {
            self.end(match class {
                ModelFailureClass::ContextExceeded => TerminationReason::ContextExhausted,
                ModelFailureClass::ContentPolicy => TerminationReason::ContentPolicy,
                _ => TerminationReason::ProviderError,
            });
        }
    }

    fn last_turn(&self) -> u32 {
        self.tape
            .iter()
            .fold(0, |last, fact| if let Fact::ModelRequested { turn, .. } = fact { *turn } else { last })
    }

    fn proposed(&self) -> Vec<u32> {
        let effects = self.tape.iter().filter_map(|fact| match fact {
            Fact::Proposed { effect, .. } => Some(*effect),
            _ => None,
        });
        effects.collect()
    }

    fn foreign(&self) -> bool {
        self.any(|fact| *fact == Fact::Foreign)
    }

    fn stop_wanted(&self) -> Option<CancelReason> {
        self.tape.iter().find_map(|fact| match fact {
            Fact::StopWanted(reason) => Some(*reason),
            _ => None,
        })
    }

    fn has_heard(&self, wanted: Option<IdempotencyDigest>) -> bool {
        wanted.is_some() && self.any(|fact| matches!(fact, Fact::InputReceived { key, .. } if *key == wanted))
    }

    fn unanswered(&self) -> usize {
        let since = self.last(|fact| matches!(fact, Fact::ModelRequested { .. })).map_or(0, |at| at + 1);
        self.tape[since..].iter().filter(|fact| matches!(fact, Fact::InputReceived { .. })).count()
    }

    fn tokens(&self) -> u64 {
        let cost = |fact: &Fact| match fact {
            Fact::Answered { tokens, .. } => *tokens,
            Fact::GaveUp { attempt, .. } => {
                let said = |fact: &Fact| matches!(fact, Fact::Said { attempt: of, .. } if of == attempt);
                let from = self.tape.iter().position(said);
                let entries = from.zip(self.last(said)).map_or(0, |(from, to)| to - from + 1);
                6 * entries as u64
            }
            _ => 0,
        };
        self.tape.iter().map(cost).sum()
    }

    /// Ends an answer that is longer than what the run may write, a token for each four bytes begun.
    fn cut_off(&mut self, open: u32) {
        let (mut said, mut thought) = (0, 0);
        for fact in &self.tape {
            match fact {
                Fact::Said { attempt, bytes } if *attempt == open => said += bytes,
                Fact::Thought { attempt, bytes } if *attempt == open => thought += bytes,
                _ => {}
            }
        }
        let tokens = (said.div_ceil(4) + thought.div_ceil(4)) as u64;
        if self.tokens() + tokens > self.limits().output_tokens_max {
            self.work.push(format!("hang up {open}"));
            self.tape.push(Fact::Answered { attempt: open, tokens });
            self.end(TerminationReason::TurnLimit);
        }
    }

    fn circles(&self) -> bool {
        let since = self.last(|fact| matches!(fact, Fact::InputReceived { .. })).map_or(0, |at| at + 1);
        let recent = &self.tape[since..];
        let referenced = |wanted: u32| {
            self.any(|fact| matches!(fact, Fact::Expanded { calls, .. } if calls.contains(&wanted)))
        };
        let call_of = |wanted: u32| {
            if referenced(wanted) {
                return None;
            }
            recent.iter().find_map(|fact| match fact {
                Fact::Proposed { effect, call } if *effect == wanted => Some(*call),
                _ => None,
            })
        };
        let mut results = Vec::new();
        let mut failures = Vec::new();
        for fact in recent {
            match fact {
                Fact::Ended { effect, failed, output } => {
                    let Some(call) = call_of(*effect) else { continue };
                    match (failed, *output == ContentDigest::default()) {
                        (false, _) => results.push((call, *output)),
                        (true, true) => failures.push(call),
                        (true, false) => failures.push(*output),
                    }
                }
                Fact::Judged(Judged { effect, verdict: ToolVerdict::Deny, .. }) => {
                    failures.extend(call_of(*effect));
                }
                _ => {}
            }
        }
        results.iter().any(|one| results.iter().filter(|other| *other == one).count() >= 3)
            || failures.iter().any(|one| failures.iter().filter(|other| *other == one).count() >= 5)
    }

    /// Applies the first rule that fits; returns whether one did.
    fn apply_a_rule(&mut self) -> bool {
        if self.open_attempt().is_some() || self.any(|fact| matches!(fact, Fact::Over(_))) {
            return false;
        }
        if let Some(reason) = self.stop_wanted() {
            if !self.running().is_empty() {
                return false;
            }
            let asked_about = |fact: &Fact| {
                matches!(fact, Fact::Circling | Fact::Lost { .. } | Fact::InputReceived { answer: true, .. })
            };
            let circling = self.last(asked_about).is_some_and(|at| self.tape[at] == Fact::Circling);
            return self.end(match reason {
                CancelReason::User if circling && !self.foreign() => TerminationReason::LoopStopped,
                CancelReason::User => TerminationReason::Cancelled,
                CancelReason::TimeLimit => TerminationReason::TimeLimit,
                CancelReason::Interrupted => TerminationReason::Interrupted,
                CancelReason::ClientToolExpired => unreachable!("these runs have tools"),
            });
        }
        if self.pausing().is_some() {
            return false;
        }
        let mut turns = self.turns();
        turns.retain(|effect| self.judged(*effect).conduct != ToolConduct::Prepared);
        if let Some(first) = turns.iter().find(|effect| self.is_judged_now(**effect)) {
            self.begin(*first);
            return true;
        }
        if !turns.is_empty() {
            turns.into_iter().for_each(|effect| self.reprepare(effect));
            return true;
        }
        if self.held_back() || !self.open().is_empty() {
            return false;
        }
        if self.circles() {
            self.tape.push(Fact::Circling);
            return true;
        }
        self.ask_or_end()
    }

    fn next_turn(&self) -> u32 {
        if self.attempts_in_turn() > 0 { self.last_turn() } else { self.last_turn() + 1 }
    }

    fn spent(&self) -> bool {
        self.next_turn() > self.limits().turns_max || self.tokens() >= self.limits().output_tokens_max
    }

    fn ask_or_end(&mut self) -> bool {
        if self.spent() {
            return self.end(TerminationReason::TurnLimit);
        }
        if self.expand_inputs() {
            return true;
        }
        self.ask(self.model(), self.tokens_of_next())
    }

    /// Returns the inputs that no request has shown and whose references did not become calls.
    fn unexpanded(&self) -> Vec<ScriptedReferences> {
        let shown = self.last(|fact| matches!(fact, Fact::ModelRequested { .. })).map_or(0, |at| at + 1);
        let due = self.scripted.iter().filter(|references| {
            let at = references.input as usize - 1;
            let is_input = matches!(self.tape.get(at), Some(Fact::Accepted(..) | Fact::InputReceived { .. }));
            let expanded =
                |fact: &Fact| matches!(fact, Fact::Expanded { input, .. } if *input == references.input);
            is_input && at >= shown && !self.any(expanded)
        });
        due.cloned().collect()
    }

    /// Lets the references of inputs become calls; returns whether there were any.
    fn expand_inputs(&mut self) -> bool {
        let due = self.unexpanded();
        for references in &due {
            let RunInput::ReferencesExpanded(inputs) = expanded(references.input, &references.items) else {
                unreachable!("it is the input of a runtime")
            };
            for ExpandedInput { input, items, .. } in inputs {
                let calls = items.iter().filter_map(|item| match &item.means {
                    ItemMeans::Call(call) => Some((**call).clone()),
                    ItemMeans::SameAs(_) | ItemMeans::Refused(_) => None,
                });
                let calls: Vec<JudgedCall> = calls.collect();
                let first = u32::try_from(self.proposed().len() + 1).expect("few");
                let effects = (first..).take(calls.len()).collect();
                self.tape.push(Fact::Expanded { input: input.0, items: items.len(), calls: effects });
                self.propose(&calls);
            }
        }
        !due.is_empty()
    }

    fn ask(&mut self, model: usize, tokens: u64) -> bool {
        let sent = self.tape.iter().rev().find_map(|fact| match fact {
            Fact::ModelRequested { tokens, .. } => Some(*tokens),
            _ => None,
        });
        let before = self.last(|fact| matches!(fact, Fact::ModelRequested { .. })).unwrap_or_default();
        let shortens = self.tape[before..]
            .iter()
            .any(|fact| matches!(fact, Fact::GaveUp { next: NextAttempt::ShorterContext, .. }));
        if shortens && Some(tokens) >= sent {
            return self.end(TerminationReason::ContextExhausted);
        }
        let (attempt, turn) = (self.attempts() + 1, self.next_turn());
        self.work.push(format!("ask {attempt}"));
        let before = self.tape.iter().rev().find_map(|fact| match fact {
            Fact::ModelRequested { model, .. } => Some(*model),
            _ => None,
        });
        if model > before.unwrap_or_default() {
            let passed_over = model - self.model();
            self.tape.push(Fact::Switched { attempt, model, passed_over });
        }
        self.tape.push(Fact::ModelRequested { attempt, turn, model, tokens, at: self.now });
        true
    }

    fn end(&mut self, reason: TerminationReason) -> bool {
        self.withdraw_all();
        self.tape.push(Fact::Over(reason));
        self.work.push("end".into());
        true
    }

    fn give_up(&mut self, cause: AbandonCause) {
        if let Some(attempt) = self.open_attempt() {
            let (next, at) = (NextAttempt::None, self.now);
            self.tape.push(Fact::GaveUp { attempt, cause, next, waits: false, at });
        }
    }

    fn hang_up(&mut self) {
        if let Some(attempt) = self.open_attempt() {
            self.work.push(format!("hang up {attempt}"));
        }
        self.give_up(AbandonCause::Cancelled);
    }

    fn write_off_running(&mut self) {
        for effect in self.at_work() {
            self.lose(effect);
        }
        self.end_questions(true);
    }

    fn lose(&mut self, effect: u32) {
        let safe = [EffectContract::Pure, EffectContract::Local].contains(&self.judged(effect).contract);
        let nothing = ContentDigest::default();
        self.tape.push(if safe {
            Fact::Ended { effect, failed: true, output: nothing }
        } else {
            Fact::Lost { effect }
        });
    }

    fn refusal(&self, input: &RunInput) -> Option<RunError> {
        if self.any(|fact| matches!(fact, Fact::Over(_))) {
            let answers = matches!(input, RunInput::ApprovalAnswered(_));
            return Some(if answers { RunError::ApprovalDecided } else { RunError::Finished });
        }
        let accepted = self.any(|fact| matches!(fact, Fact::Accepted(..)));
        let begun = self.has_begun();
        let received = |attempt: u32| !self.foreign() && self.open_attempt() == Some(attempt);
        let runs = |effect: &EffectId| !self.foreign() && self.at_work().contains(&effect.0);
        let idle = self.stop_wanted().is_none()
            && self.open_attempt().is_none()
            && self.open().is_empty()
            && !self.held_back()
            && !self.circles();
        match input {
            RunInput::Start(_) => accepted.then_some(RunError::OutOfPlace),
            _ if !accepted => Some(RunError::OutOfPlace),
            RunInput::Begin => begun.then_some(RunError::OutOfPlace),
            RunInput::ContextReady { .. } | RunInput::ContextTooLarge => {
                let awaited = !begun || self.pausing().is_some();
                let other =
                    matches!(input, RunInput::ContextReady { model, .. } if place_of(model) != self.model());
                (other || !awaited || self.spent() || !idle).then_some(RunError::OutOfPlace)
            }
            RunInput::RetryDue { attempt } => {
                let due = !self.foreign() && self.pausing() == Some(attempt.0);
                (!due).then_some(RunError::Stale)
            }
            RunInput::Text { attempt, .. }
            | RunInput::Reasoning { attempt, .. }
            | RunInput::Answered { attempt, .. }
            | RunInput::ModelFailed { attempt, .. } => (!received(attempt.0)).then_some(RunError::Stale),
            RunInput::ToolPrinted { effect, .. }
            | RunInput::ToolFinished { effect, .. }
            | RunInput::ToolOutcomeLost { effect, .. } => (!runs(effect)).then_some(RunError::Stale),
            RunInput::ToolPrepared { effect, .. } if !self.preparing().contains(&effect.0) => {
                Some(RunError::Stale)
            }
            RunInput::ToolPrepared { prepared, judged, .. } => {
                (prepared.is_ok() && judged.is_none()).then_some(RunError::OutOfPlace)
            }
            // It is asked for within a step, and answered there.
            RunInput::Judged(_) => Some(RunError::OutOfPlace),
            RunInput::OfferClientTools(_)
            | RunInput::ClientToolsAnswered(_)
            | RunInput::ClientWaitExpired => unreachable!("these runs have tools"),
            RunInput::OverBudget(_) | RunInput::SoftLimitsPassed(_) | RunInput::BudgetDue(_) => {
                unreachable!("these runs have no budgets")
            }
            // It answers a request for a context within a step; later it is out of place.
            RunInput::ReferencesExpanded(_) => Some(RunError::OutOfPlace),
            RunInput::ApprovalAnswered(answer) => self.refuses_answer(answer),
            RunInput::ApprovalExpired { approval } => {
                let due = self.pending(*approval).is_some_and(|asked| self.is_late(&asked));
                (!due || self.foreign()).then_some(RunError::Stale)
            }
            RunInput::EffectResolved { effect, .. } => {
                let doubted = !self.foreign() && self.in_doubt().contains(&effect.0);
                (!doubted).then_some(RunError::EffectNotUnknown)
            }
            RunInput::Input { idempotency, .. } => {
                (!self.has_heard(*idempotency) && !self.waits_for_input()).then_some(RunError::NotWaiting)
            }
            RunInput::Steer { idempotency, .. } if self.has_heard(*idempotency) => None,
            RunInput::Steer { .. } if self.stop_wanted().is_some() => Some(RunError::Finished),
            RunInput::Steer { .. } => {
                (!begun || self.foreign() || self.unanswered() >= 64).then_some(RunError::NotWaiting)
            }
            RunInput::Cancel { .. } | RunInput::Recovered | RunInput::Broken => None,
        }
    }

    fn take(&mut self, input: &RunInput) {
        let known = if matches!(input, RunInput::Recovered) { Vec::new() } else { self.preparing() };
        match input {
            RunInput::Start(started) => {
                self.tape.push(Fact::Accepted(started.limits, 1 + started.fallbacks.expose().len()));
                return;
            }
            RunInput::Begin => {}
            RunInput::ContextReady { plan, model, routing: _ } => {
                self.ask(place_of(model), plan.tokens_estimated);
            }
            RunInput::RetryDue { .. } => {
                self.ask_or_end();
            }
            RunInput::Reasoning { attempt, text } => {
                self.tape.push(thought(*attempt, text));
                self.cut_off(attempt.0);
            }
            RunInput::ContextTooLarge => {
                self.end(TerminationReason::ContextExhausted);
            }
            RunInput::Text { attempt, text } => {
                self.tape.push(said(*attempt, text));
                self.cut_off(attempt.0);
            }
            RunInput::Answered { .. } => self.take_answer(input),
            RunInput::ModelFailed { attempt, class, retry_after, .. } => {
                self.fail(attempt.0, *class, *retry_after);
            }
            RunInput::ToolPrinted { effect, text, rest } => {
                self.take_printed(effect.0, text.expose().len() as u64, *rest);
            }
            RunInput::ToolFinished { effect, outcome, output_digest, .. } => self.tape.push(Fact::Ended {
                effect: effect.0,
                failed: outcome.failure.is_some(),
                output: *output_digest,
            }),
            RunInput::ToolOutcomeLost { effect, .. } => self.lose(effect.0),
            RunInput::Input { idempotency, .. } | RunInput::Steer { idempotency, .. } => {
                if self.has_heard(*idempotency) {
                    return;
                }
                let answer = self.waits_for_input();
                self.tape.push(Fact::InputReceived { answer, key: *idempotency });
                self.end_questions(false);
            }
            RunInput::ToolPrepared { effect, prepared, judged, fresh } => {
                self.take_prepared(effect.0, prepared, judged.as_deref(), *fresh);
            }
            RunInput::Judged(_)
            | RunInput::OfferClientTools(_)
            | RunInput::ClientToolsAnswered(_)
            | RunInput::ClientWaitExpired
            | RunInput::OverBudget(_)
            | RunInput::SoftLimitsPassed(_)
            | RunInput::BudgetDue(_) => {}
            RunInput::ApprovalAnswered(answer) => self.take_approval(answer),
            RunInput::ApprovalExpired { approval } => self.expire(*approval),
            RunInput::EffectResolved { effect, .. } => self.tape.push(Fact::Settled { effect: effect.0 }),
            RunInput::Cancel { reason, .. } => self.take_cancel(*reason),
            RunInput::Recovered => self.recover(),
            RunInput::Broken => self.take_broken(),
            RunInput::ReferencesExpanded(_) => {}
        }
        let queued =
            !self.has_begun() && matches!(input, RunInput::Recovered) && self.stop_wanted().is_none();
        while !queued && self.apply_a_rule() {}
        for effect in self.preparing().into_iter().filter(|effect| !known.contains(effect)) {
            self.work.push(format!("prepare {effect}"));
        }
    }

    fn take_broken(&mut self) {
        self.hang_up();
        if !self.at_work().is_empty() {
            self.work.push("stop tools".into());
        }
        self.write_off_running();
        self.end(TerminationReason::InternalError);
    }

    fn take_printed(&mut self, wanted: u32, bytes: u64, rest: OutputRest) {
        let mut before = self.tape.iter().filter_map(|fact| match fact {
            Fact::Printed { effect, upto, rest } if *effect == wanted => Some((*upto, *rest)),
            _ => None,
        });
        let pieces = before.clone().count();
        let (upto, was) = before.next_back().unwrap_or_default();
        let nothing = bytes == 0 && rest == OutputRest::Follows;
        if was == OutputRest::InOutcome || nothing {
            return;
        }
        let over = upto + bytes > 262_144 || pieces == 255;
        let rest = if over { OutputRest::InOutcome } else { rest };
        self.tape.push(Fact::Printed { effect: wanted, upto: (upto + bytes).min(262_144), rest });
    }

    fn take_answer(&mut self, input: &RunInput) {
        let RunInput::Answered { attempt, answer, calls, .. } = input else { return };
        let tokens = answer.usage.map_or(0, |usage| usage.output_tokens);
        self.tape.push(Fact::Answered { attempt: attempt.0, tokens });
        let by_budget = self.propose(calls);
        if calls.is_empty() {
            if answer.finish == FinishReason::ContentFilter {
                self.end(TerminationReason::ContentPolicy);
            } else if self.unanswered() == 0 {
                let cut_off =
                    answer.finish == FinishReason::Length && self.tokens() >= self.limits().output_tokens_max;
                self.end(if cut_off { TerminationReason::TurnLimit } else { TerminationReason::FinalAnswer });
            }
        } else if by_budget {
            self.end(TerminationReason::ToolLimit);
        }
    }

    /// Adds proposals with their verdicts, and asks about them; returns whether the budget denied them.
    fn propose(&mut self, calls: &[JudgedCall]) -> bool {
        let used =
            self.proposed().iter().filter(|effect| self.judged(**effect).by != DecidedBy::Budget).count();
        let by_budget = used + calls.len() > self.limits().tool_calls_max as usize;
        for call in calls {
            let effect = u32::try_from(self.proposed().len() + 1).expect("few");
            self.tape.push(Fact::Proposed { effect, call: call.digest });
            let says = &call.decision;
            let (verdict, by) = match (by_budget, says.grant) {
                (true, _) => (ToolVerdict::Deny, DecidedBy::Budget),
                (false, Some(grant)) => (says.verdict, DecidedBy::Grant(grant)),
                (false, None) => (says.verdict, DecidedBy::Policy),
            };
            let ask = ApprovalAsk { approval: call.approval, terms: says.approval };
            let ask = (verdict == ToolVerdict::Ask).then_some(ask);
            self.judge(effect, says, (verdict, by, ask));
        }
        self.ask_at_once();
        by_budget
    }

    fn take_cancel(&mut self, reason: CancelReason) {
        if self.stop_wanted().is_some() {
            return;
        }
        self.withdraw_all();
        self.tape.push(Fact::StopWanted(reason));
        self.hang_up();
        self.end_questions(true);
        if self.foreign() {
            self.write_off_running();
        } else if !self.at_work().is_empty() {
            self.work.push("stop tools".into());
        }
    }

    fn recover(&mut self) {
        if self.stop_wanted().is_some() {
            self.give_up(AbandonCause::Cancelled);
            self.write_off_running();
            return;
        }
        if self.foreign() {
            return;
        }
        if let Some(attempt) = self.pausing() {
            self.work.push(format!("pause after {attempt}"));
            return;
        }
        if self.open_attempt().is_some() {
            self.give_up(AbandonCause::Restart);
            let caught = self.caught_by_restarts();
            let soon = caught.iter().filter(|span| **span <= Duration::from_secs(60)).count();
            if soon == 5 || caught.len() == 20 {
                self.tape.push(Fact::Circling);
            }
        }
        for effect in self.at_work() {
            match self.judged(effect).contract {
                EffectContract::Opaque => self.lose(effect),
                EffectContract::Pure => self.work.push(format!("execute {effect}")),
                _ => self.work.push(format!("execute {effect} again")),
            }
        }
    }
}

/// Says what the simple machine would do with an input of the past.
fn predict(driver: &ScenarioDriver, past: &PastInput) -> Result<(Vec<Fact>, Vec<String>), RunError> {
    let PastInput { input, now, policy, .. } = past;
    let (tape, now, policy) = (&driver.tape[..past.entries_before], *now, *policy);
    let scripted = driver.references.clone();
    let tape: Vec<Fact> = tape.iter().map(|(event, at)| fact(event, *at)).collect();
    let (before, work, looked) = (tape.len(), Vec::new(), Vec::new());
    let mut reference = Reference { scripted, before, tape, now, work, policy, looked };
    match reference.refusal(input) {
        Some(error) => Err(error),
        None => {
            reference.take(input);
            Ok((reference.tape.split_off(reference.before), reference.work))
        }
    }
}

fn compare(world: &ScenarioWorld) {
    for past in &world.history {
        let predicted = predict(&world.driver, past);
        let happened = past.outcome.clone().map(|(events, mut work)| {
            // What is prepared may be said before what starts beside it.
            work.sort_by_key(|line| line.starts_with("prepare"));
            (events.iter().map(|event| fact(event, past.now)).collect::<Vec<_>>(), work)
        });
        assert_eq!(
            predicted,
            happened,
            "\ninput {:?}\nafter entry {} of {}",
            past.input,
            past.entries_before,
            world.driver.tape_line()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_machine_does_what_the_simple_one_does(limits in small_limits(), moves in moves(60)) {
        let mut world = ScenarioWorld::new(limits);
        for a_move in &moves {
            world.make(a_move);
        }
        world.drive_to_end();
        compare(&world);
    }
}
