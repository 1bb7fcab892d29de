//! A run driven by chance: a naive runtime that answers, forgets, repeats itself and dies.
//!
//! Owns what is under way outside the machine in this life of the daemon, and what was ever executed.
//! Invariant: after each step all of [`ScenarioWorld::inspect`] holds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use palyra_types::effect::OutputRest;
use palyra_types::event::{
    AbandonCause, ModelEvent, RunEvent, TapeEvent, ToolDecided, ToolEvent, UnknownOutcomeCause,
};
use palyra_types::model::{FinishReason, ModelFailureClass};
use palyra_types::run::{CancelReason, IdempotencyDigest, RunLimits, RunPhase, WaitReason};
use palyra_types::tool::{EffectContract, Parallelism, ToolConduct};
use palyra_types::{Attempt, EffectId, PrincipalId, Redacted, Timestamp};
use proptest::prelude::*;

use super::asks::{PolicyNow, asking, edit, question, send, stamp};
use super::references::some_references;
use super::{ScenarioAct, ScenarioDriver, ScriptedCall, StepCommit, effect_line};
use super::{
    answer_input, denied, failure_input, outcome_input, post, read, replay, scan, shell,
    start_with_fallbacks, unknown,
};
use crate::failure_table::{ASKED_PAUSE_MAX, ATTEMPTS_PER_TURN_MAX, CLASSES};
use crate::{Effect, RunError, RunInput};

/// Steps after which a run driven by good will must be over.
const STEPS_TO_END_MAX: usize = 60;

/// What chance does next. Moves that do not fit are nonsense, and meant.
#[derive(Debug, Clone)]
pub(crate) enum RandomMove {
    Begin,
    Text,
    Answer,
    Calls(Vec<u8>),
    ModelFails(u8, u8),
    RetryDue,
    Reasoning,
    ToolEnds(u8, u8),
    ToolPrints(u8, u8),
    Input,
    Steer(u8),
    Cancel(u8),
    Broken,
    Wait(u16),
    /// A restart with nothing lost but what was under way.
    Restart,
    /// The next commit happens, and the daemon dies before it performs anything of it.
    DieAfterNextCommit,
    /// A newer version wrote an entry that this one does not know, and this one takes over.
    Unknown(u8),
    /// An input with numbers out of the blue.
    Nonsense(u8, u8),
    /// An earlier input once more.
    Again(u8),
    /// A tool says what a call would do, or that it cannot work.
    Prepared(u8, u8),
    /// Somebody answers an approval.
    Decide(u8, u8),
    /// The time of an approval is over, or is said to be.
    Expire(u8),
    /// What calls depend on changes.
    Mutate,
    /// A person says what became of an effect.
    Settle(u8),
    /// The rules change.
    Policy(u8),
}

/// A sequence of up to `count` moves; most of them begin the run at once.
pub(crate) fn moves(count: usize) -> impl Strategy<Value = Vec<RandomMove>> {
    let first = prop_oneof![9 => Just(RandomMove::Begin), 1 => one_move()];
    (first, proptest::collection::vec(one_move(), 1..count)).prop_map(|(first, mut rest)| {
        rest.insert(0, first);
        rest
    })
}

/// Limits that short runs reach now and then.
pub(crate) fn small_limits() -> impl Strategy<Value = RunLimits> {
    (0..16_u32, 0..40_u32, 0..6_u32, 0..200_u64).prop_map(|(turns, calls, parallel, tokens)| RunLimits {
        turns_max: turns,
        tool_calls_max: calls,
        active_time_max: Duration::from_secs(1_000),
        parallel_tools_max: parallel,
        output_tokens_max: tokens,
    })
}

fn one_move() -> impl Strategy<Value = RandomMove> {
    prop_oneof![
        4 => Just(RandomMove::Begin),
        20 => Just(RandomMove::Text),
        3 => Just(RandomMove::Answer),
        60 => proptest::collection::vec(any::<u8>(), 1..6).prop_map(RandomMove::Calls),
        20 => (any::<u8>(), any::<u8>()).prop_map(|(class, asked)| RandomMove::ModelFails(class, asked)),
        30 => Just(RandomMove::RetryDue),
        4 => Just(RandomMove::Reasoning),
        150 => (any::<u8>(), any::<u8>()).prop_map(|(which, how)| RandomMove::ToolEnds(which, how)),
        30 => (any::<u8>(), any::<u8>()).prop_map(|(which, how)| RandomMove::ToolPrints(which, how)),
        30 => Just(RandomMove::Input),
        12 => any::<u8>().prop_map(RandomMove::Steer),
        2 => any::<u8>().prop_map(RandomMove::Cancel),
        1 => Just(RandomMove::Broken),
        20 => any::<u16>().prop_map(RandomMove::Wait),
        12 => Just(RandomMove::Restart),
        12 => Just(RandomMove::DieAfterNextCommit),
        3 => any::<u8>().prop_map(RandomMove::Unknown),
        16 => (any::<u8>(), any::<u8>()).prop_map(|(kind, number)| RandomMove::Nonsense(kind, number)),
        10 => any::<u8>().prop_map(RandomMove::Again),
        60 => (any::<u8>(), any::<u8>()).prop_map(|(which, how)| RandomMove::Prepared(which, how)),
        70 => (any::<u8>(), any::<u8>()).prop_map(|(which, how)| RandomMove::Decide(which, how)),
        6 => any::<u8>().prop_map(RandomMove::Expire),
        8 => Just(RandomMove::Mutate),
        8 => any::<u8>().prop_map(RandomMove::Settle),
        10 => any::<u8>().prop_map(RandomMove::Policy),
    ]
}

/// A run and all that is under way for it.
#[derive(Debug, Clone)]
pub(crate) struct ScenarioWorld {
    pub(crate) driver: ScenarioDriver,
    asked: Option<Attempt>,
    pausing: Option<Attempt>,
    running: BTreeSet<EffectId>,
    executed_in_life: BTreeSet<EffectId>,
    executed_ever: BTreeMap<EffectId, u32>,
    pub(crate) history: Vec<PastInput>,
    life: RunLife,
    pub(super) preparing: BTreeSet<EffectId>,
    /// How often that changed on which calls depend.
    found: u32,
}

/// One input of the past: how long the tape was before it, and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct PastInput {
    pub(crate) entries_before: usize,
    pub(crate) now: Timestamp,
    pub(crate) input: RunInput,
    /// What policy said then to calls that had waited.
    pub(crate) policy: PolicyNow,
    pub(crate) outcome: Result<(Vec<TapeEvent>, Vec<String>), RunError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunLife {
    Sound,
    /// The next commit is the last deed.
    Doomed,
}

impl ScenarioWorld {
    pub(crate) fn new(limits: RunLimits) -> Self {
        let mut world = Self {
            driver: ScenarioDriver::new(),
            asked: None,
            pausing: None,
            running: BTreeSet::new(),
            executed_in_life: BTreeSet::new(),
            executed_ever: BTreeMap::new(),
            history: Vec::new(),
            life: RunLife::Sound,
            preparing: BTreeSet::new(),
            found: 0,
        };
        // Half of the runs with small limits have inputs with references.
        if limits.turns_max < 16 && limits.turns_max % 2 == 1 {
            world.driver.references = some_references(limits.turns_max / 2);
        }
        // Some runs may ask other models, most may not.
        let fallbacks = (limits.tool_calls_max % 5).saturating_sub(2);
        let ScenarioAct::Take(start) = start_with_fallbacks(limits, fallbacks) else {
            unreachable!("a start is an input")
        };
        world.feed(&start).expect("an empty tape takes a start");
        world
    }

    /// Takes over a tape after a crash: whatever it says was started may have run once.
    pub(crate) fn after_crash(tape: &[(TapeEvent, Timestamp)], now: Timestamp) -> Self {
        let mut world = Self::new(RunLimits::default());
        world.driver.tape = tape.to_vec();
        world.driver.now = now;
        for (event, _) in tape {
            if let TapeEvent::Tool(ToolEvent::Started(started)) = event {
                world.executed_ever.insert(started.effect, 1);
            }
        }
        world.restart();
        world
    }

    pub(crate) fn make(&mut self, a_move: &RandomMove) {
        match self.input_of(a_move) {
            Some(input) => {
                // Being refused is fine; what must hold is checked either way.
                let _ = self.feed(&input);
            }
            None => match a_move {
                RandomMove::Wait(secs) => {
                    self.driver.now = self.driver.now.after(Duration::from_secs(u64::from(*secs)));
                }
                RandomMove::Restart => self.restart(),
                RandomMove::DieAfterNextCommit => self.life = RunLife::Doomed,
                RandomMove::Mutate => self.found += 1,
                RandomMove::Policy(which) => {
                    let all = [PolicyNow::Denies, PolicyNow::Asks, PolicyNow::OtherVersion];
                    self.driver.policy =
                        all.get(usize::from(*which % 8)).copied().unwrap_or(PolicyNow::AsBefore);
                }
                RandomMove::Unknown(kind) => {
                    let kind = if kind % 8 == 0 { 0x7000 } else { 0x9000 };
                    if !self.driver.machine.state().is_terminal() {
                        self.driver.tape.push((TapeEvent::Unknown { kind }, self.driver.now));
                        self.restart();
                    }
                }
                _ => {}
            },
        }
    }

    /// Lets a benign model, benign tools and a benign person bring the run to its end.
    pub(crate) fn drive_to_end(&mut self) {
        self.life = RunLife::Sound;
        for _ in 0..STEPS_TO_END_MAX {
            let input = match self.driver.phase() {
                RunPhase::Finished => return,
                RunPhase::Queued => RunInput::Begin,
                RunPhase::Waiting(WaitReason::UnknownKind) => cancel_by(CancelReason::User),
                RunPhase::Waiting(WaitReason::Approval) => self.yes(),
                RunPhase::Waiting(_) => super::answer_of_person(),
                // Also one that is not awaited any more, because another took its place meanwhile.
                RunPhase::Running if !self.preparing.is_empty() => {
                    let late = self.prepared(0, 1);
                    match self.feed(&late) {
                        Ok(()) | Err(RunError::Stale) => continue,
                        Err(error) => panic!("a preparation is refused: {error}"),
                    }
                }
                RunPhase::Running => match (self.asked.or(self.pausing), self.running.first()) {
                    (Some(attempt), _) if self.asked.is_none() => RunInput::RetryDue { attempt },
                    (Some(attempt), _) => answer_input(attempt.0, &[], FinishReason::Stop),
                    (None, Some(effect)) => outcome_input(effect.0, None, &format!("late {effect}")),
                    (None, None) => panic!("running, and nobody runs it: {}", self.driver.tape_line()),
                },
            };
            self.feed(&input).expect("what the phase asks for is taken");
        }
        panic!("the run does not end: {}", self.driver.tape_line());
    }

    fn input_of(&self, a_move: &RandomMove) -> Option<RunInput> {
        let attempt = self.asked.unwrap_or(Attempt(1));
        Some(match a_move {
            RandomMove::Begin => RunInput::Begin,
            RandomMove::Text => RunInput::Text { attempt, text: "words".into() },
            RandomMove::Answer => answer_input(attempt.0, &[], FinishReason::Stop),
            RandomMove::Calls(kinds) => {
                let calls: Vec<ScriptedCall> = kinds.iter().map(|kind| some_call(*kind)).collect();
                answer_input(attempt.0, &calls, FinishReason::ToolCalls)
            }
            RandomMove::ModelFails(class, asked) => {
                let class = CLASSES[usize::from(*class) % CLASSES.len()];
                failure_input(attempt.0, class, some_pause(*asked))
            }
            RandomMove::RetryDue => RunInput::RetryDue { attempt: self.pausing.unwrap_or(Attempt(1)) },
            RandomMove::Reasoning => RunInput::Reasoning { attempt, text: "hm".into() },
            RandomMove::ToolEnds(which, how) => some_end(self.some_running(*which), *how),
            RandomMove::ToolPrints(which, how) => some_output(self.some_running(*which), *how),
            RandomMove::Input => super::answer_of_person(),
            RandomMove::Steer(key) => {
                super::steering((key % 4 == 0).then_some(IdempotencyDigest([key % 16; 32])))
            }
            RandomMove::Cancel(why) if why % 3 == 0 => cancel_by(CancelReason::TimeLimit),
            RandomMove::Cancel(why) if why % 3 == 1 => cancel_by(CancelReason::Interrupted),
            RandomMove::Cancel(_) => cancel_by(CancelReason::User),
            RandomMove::Broken => RunInput::Broken,
            RandomMove::Nonsense(kind, number) => some_nonsense(*kind, u32::from(*number) % 9),
            RandomMove::Again(which) => {
                let past = self.history.get(usize::from(*which) % self.history.len().max(1))?;
                // Only a restart recovers.
                return (!matches!(past.input, RunInput::Recovered)).then(|| self.refreshed(&past.input));
            }
            RandomMove::Prepared(which, how) => self.prepared(*which, *how),
            RandomMove::Decide(which, how) => self.decision(*which, *how),
            RandomMove::Expire(which) => RunInput::ApprovalExpired { approval: self.some_approval(*which) },
            RandomMove::Settle(which) => self.settlement(*which),
            RandomMove::Wait(_)
            | RandomMove::Restart
            | RandomMove::DieAfterNextCommit
            | RandomMove::Unknown(_)
            | RandomMove::Mutate
            | RandomMove::Policy(_) => return None,
        })
    }

    fn some_running(&self, which: u8) -> EffectId {
        let at = usize::from(which) % self.running.len().max(1);
        self.running.iter().nth(at).copied().unwrap_or(EffectId(1))
    }

    fn feed(&mut self, input: &RunInput) -> Result<(), RunError> {
        let before = self.driver.machine.state();
        let taken = self.take(input);
        if before.is_terminal() {
            let over = matches!(taken, Err(RunError::Finished | RunError::ApprovalDecided));
            assert!(over, "something followed the end");
        }
        // What was prepared is told once, be it taken or too late; who needs it again has to ask again.
        if let (Err(RunError::Stale), RunInput::ToolPrepared { effect, .. }) = (&taken, input) {
            self.preparing.remove(effect);
        }
        let commit = taken?;
        assert_eq!(replay(&self.driver.tape), self.driver.machine, "{}", self.driver.tape_line());
        if self.life == RunLife::Doomed && !commit.events.is_empty() {
            self.life = RunLife::Sound;
            self.restart();
        } else {
            self.perform(input, &commit);
            self.inspect();
        }
        Ok(())
    }

    fn take(&mut self, input: &RunInput) -> Result<StepCommit, RunError> {
        let entries_before = self.driver.tape.len();
        let taken = self.driver.take(input);
        let outcome = match &taken {
            Ok(commit) => Ok((commit.events.clone(), commit.effects.iter().map(effect_line).collect())),
            Err(error) => Err(*error),
        };
        let (now, policy, input) = (self.driver.now, self.driver.policy, input.clone());
        self.history.push(PastInput { entries_before, now, input, policy, outcome });
        taken
    }

    fn restart(&mut self) {
        self.asked = None;
        self.pausing = None;
        self.running.clear();
        self.preparing.clear();
        self.executed_in_life.clear();
        self.driver.machine = replay(&self.driver.tape);
        let commit = match self.take(&RunInput::Recovered) {
            Ok(commit) => commit,
            Err(error) => {
                assert_eq!(error, RunError::Finished);
                return;
            }
        };
        self.perform(&RunInput::Recovered, &commit);
        self.inspect();
    }

    fn perform(&mut self, input: &RunInput, commit: &StepCommit) {
        let recovering = matches!(input, RunInput::Recovered);
        assert!(
            recovering || commit.effects.is_empty() || !commit.events.is_empty(),
            "an effect without event"
        );
        match input {
            RunInput::ToolFinished { effect, .. } | RunInput::ToolOutcomeLost { effect, .. } => {
                self.running.remove(effect);
            }
            RunInput::Answered { .. } | RunInput::ModelFailed { .. } => self.asked = None,
            RunInput::ToolPrepared { effect, .. } => {
                self.preparing.remove(effect);
            }
            _ => {}
        }
        let tells = |wanted: &dyn Fn(&TapeEvent) -> bool| commit.events.iter().any(wanted);
        if tells(&|e| matches!(e, TapeEvent::Run(RunEvent::ReferencesExpanded(_)))) {
            self.pausing = None;
        }
        for effect in &commit.effects {
            match effect {
                Effect::CallModel { attempt } => {
                    assert!(tells(
                        &|e| matches!(e, TapeEvent::Model(ModelEvent::Requested(r)) if r.attempt == *attempt)
                    ));
                    assert_eq!(self.asked.replace(*attempt), None, "two requests at once");
                    self.pausing = None;
                }
                Effect::RetryAt { attempt, at } => {
                    assert!(*at <= self.driver.now.after(ASKED_PAUSE_MAX), "a pause beyond its bound");
                    assert_eq!(self.pausing.replace(*attempt), None, "two pauses at once");
                }
                Effect::AbortModel { attempt } => {
                    assert!(tells(&|e| match e {
                        TapeEvent::Model(ModelEvent::AttemptAbandoned { attempt: a, .. }) => a == attempt,
                        // It was cut off at the limit of tokens.
                        TapeEvent::Model(ModelEvent::Message(message)) => message.attempt == *attempt,
                        _ => false,
                    }));
                    self.asked = None;
                }
                Effect::Prepare(intent) => {
                    self.preparing.insert(intent.effect());
                }
                Effect::Execute(grant) => {
                    let effect = grant.effect();
                    let starts = |e: &TapeEvent| matches!(e, TapeEvent::Tool(ToolEvent::Started(s)) if s.effect == effect);
                    assert!(recovering || tells(&starts), "executed without a start in the same decision");
                    self.inspect_permission(grant);
                    self.execute(effect, grant.contract());
                }
                Effect::AbortTools => assert!(tells(&|e| matches!(
                    e,
                    TapeEvent::Run(RunEvent::CancelRequested { .. } | RunEvent::Finished(_))
                ))),
                Effect::End => {
                    assert!(matches!(commit.events.last(), Some(TapeEvent::Run(RunEvent::Finished(_)))));
                    self.running.clear();
                    self.preparing.clear();
                    self.pausing = None;
                }
                Effect::AssembleContext { .. } | Effect::Judge(_) => panic!("it is answered within the step"),
            }
        }
    }

    fn execute(&mut self, effect: EffectId, contract: EffectContract) {
        assert!(self.started().contains(&effect), "executed without ToolStarted");
        assert!(self.executed_in_life.insert(effect), "executed twice in one life");
        assert!(self.running.insert(effect));
        let times = self.executed_ever.entry(effect).or_default();
        *times += 1;
        assert!(contract != EffectContract::Opaque || *times == 1, "an opaque call was executed again");
    }

    /// Checks what must hold between any two steps.
    fn inspect(&self) {
        let (machine, tape) = (&self.driver.machine, &self.driver.tape);
        let line = || self.driver.tape_line();
        let ends =
            tape.iter().filter(|(event, _)| matches!(event, TapeEvent::Run(RunEvent::Finished(_)))).count();
        assert_eq!(ends, usize::from(machine.state().is_terminal()), "{}", line());
        assert!(
            ends == 0 || matches!(tape.last(), Some((TapeEvent::Run(RunEvent::Finished(_)), _))),
            "{}",
            line()
        );
        assert_eq!(machine.phase() == RunPhase::Finished, ends == 1);
        assert_eq!(machine.finished_because().is_some(), ends == 1);
        assert_eq!(machine.last_tape_seq().0 as usize, tape.len());
        if machine.phase() == RunPhase::Running {
            assert_eq!(machine.open_attempt(), self.asked, "{}", line());
            assert_eq!(self.at_work(), self.running, "{}", line());
            self.inspect_preparing();
            let driven = self.asked.is_some()
                || !self.running.is_empty()
                || !self.preparing.is_empty()
                || self.pausing.is_some();
            assert!(driven, "nobody runs it: {}", line());
            assert_eq!(machine.pausing_after(), self.pausing, "{}", line());
        }
        self.inspect_limits();
        self.inspect_attempts();
        self.inspect_approvals();
    }

    /// Checks how the requests of each turn follow each other.
    fn inspect_attempts(&self) {
        let mut turn = (0, 0, None, false);
        for event in self.events() {
            match event {
                TapeEvent::Model(ModelEvent::Requested(requested)) => {
                    let model = requested.model.expose().clone();
                    if turn.0 != requested.turn {
                        turn = (requested.turn, 0, None, false);
                    }
                    turn.1 += 1;
                    assert!(turn.1 <= ATTEMPTS_PER_TURN_MAX, "{}", self.driver.tape_line());
                    let switched = turn.2.is_some() && turn.2 != model;
                    assert!(
                        !switched || !turn.3,
                        "another model took over words: {}",
                        self.driver.tape_line()
                    );
                    turn.2 = model;
                }
                TapeEvent::Model(ModelEvent::AttemptAbandoned { cause: AbandonCause::Restart, .. }) => {
                    turn.1 -= 1;
                }
                TapeEvent::Model(ModelEvent::Text { .. }) => turn.3 = true,
                _ => {}
            }
        }
    }

    fn inspect_limits(&self) {
        let limits = self.driver.machine.limits();
        let turns = self.events().filter_map(|event| match event {
            TapeEvent::Model(ModelEvent::Requested(requested)) => Some(requested.turn),
            _ => None,
        });
        assert!(turns.max().unwrap_or(0) <= limits.turns_max, "{}", self.driver.tape_line());
        let executed =
            self.events().filter(|event| matches!(event, TapeEvent::Tool(ToolEvent::Started(_)))).count();
        assert!(executed <= limits.tool_calls_max as usize);
        let running: Vec<Parallelism> =
            self.at_work().iter().map(|effect| self.terms(*effect).parallelism).collect();
        assert!(running.len() <= limits.parallel_tools_max.max(1) as usize, "{}", self.driver.tape_line());
        let alone = running.contains(&Parallelism::Exclusive);
        assert!(!alone || running.len() == 1, "not alone: {}", self.driver.tape_line());
        if let Some((TapeEvent::Run(RunEvent::Finished(finished)), _)) = self.driver.tape.last() {
            assert!(finished.turns <= limits.turns_max);
            assert!(finished.tool_calls <= limits.tool_calls_max);
            assert_eq!(finished.state, finished.reason.state());
        }
    }

    /// Returns how often that changed on which calls depend.
    pub(super) fn found(&self) -> u32 {
        self.found
    }

    pub(super) fn events(&self) -> impl Iterator<Item = &TapeEvent> {
        self.driver.tape.iter().map(|(event, _)| event)
    }

    /// Returns the calls that the tape knows as started and without outcome; none once the run is over.
    fn started(&self) -> BTreeSet<EffectId> {
        let (mut started, mut ever) = (BTreeSet::new(), BTreeSet::new());
        for event in self.events() {
            match event {
                TapeEvent::Tool(ToolEvent::Started(begun)) => {
                    assert!(ever.insert(begun.effect), "started twice");
                    started.insert(begun.effect);
                }
                TapeEvent::Tool(ToolEvent::Finished(finished)) => {
                    assert!(started.remove(&finished.effect), "finished without start");
                }
                TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => {
                    assert!(started.remove(effect), "unknown without start");
                }
                TapeEvent::Run(RunEvent::Finished(_)) => started.clear(),
                _ => {}
            }
        }
        started
    }

    /// Returns those at which a tool works: not the questions.
    fn at_work(&self) -> BTreeSet<EffectId> {
        let mut started = self.started();
        started.retain(|effect| self.terms(*effect).conduct != ToolConduct::Question);
        started
    }

    fn terms(&self, effect: EffectId) -> &ToolDecided {
        let decided = self.events().find_map(|event| match event {
            TapeEvent::Tool(ToolEvent::Decided(decided)) if decided.effect == effect => Some(decided),
            _ => None,
        });
        decided.expect("a started call was decided")
    }
}

fn cancel_by(reason: CancelReason) -> RunInput {
    RunInput::Cancel { actor: PrincipalId::from_parts(1, 3), reason }
}

fn some_call(kind: u8) -> ScriptedCall {
    match kind % 12 {
        8 => [edit("a"), edit("b").parked(), edit("c").beside()][usize::from(kind / 12) % 3].clone(),
        9 => [send(), asking("write").needing(2)][usize::from(kind / 12) % 2].clone(),
        10 => [asking("look").beside().for_secs(600), asking("pay").by_another()][usize::from(kind / 12) % 2]
            .clone(),
        11 => [question(), stamp("d"), question().beside(), stamp("e").beside()][usize::from(kind / 12) % 4]
            .clone(),
        0 | 1 => read("a"),
        2 => read(["a", "b", "c", "d"][usize::from(kind / 12) % 4]),
        3 => scan(),
        4 => shell(),
        5 => post(),
        6 => denied("rm"),
        _ => [unknown("nope"), asking("write")][usize::from(kind / 12) % 2].clone(),
    }
}

fn some_pause(asked: u8) -> Option<Duration> {
    match asked % 8 {
        0 => Some(Duration::from_secs(u64::from(asked))),
        1 => Some(Duration::from_secs(7_200)),
        _ => None,
    }
}

fn some_end(effect: EffectId, how: u8) -> RunInput {
    match how % 6 {
        0 | 1 => outcome_input(effect.0, None, "same"),
        2 => outcome_input(effect.0, None, &format!("own {effect}")),
        3 => outcome_input(effect.0, Some(palyra_types::ErrorCode::ToolFailed), "same failure"),
        4 => RunInput::ToolOutcomeLost { effect, cause: UnknownOutcomeCause::Deadline },
        _ => RunInput::ToolOutcomeLost { effect, cause: UnknownOutcomeCause::ExecutorLost },
    }
}

/// A few words, many, or none; now and then all that is shown.
fn some_output(effect: EffectId, how: u8) -> RunInput {
    let text = "x".repeat(usize::from(how / 8) * 6_000);
    let rest = if how % 8 == 7 { OutputRest::InOutcome } else { OutputRest::Follows };
    RunInput::ToolPrinted { effect, text: Redacted::cleaned(text), rest }
}

fn some_nonsense(kind: u8, number: u32) -> RunInput {
    match kind % 9 {
        8 => RunInput::RetryDue { attempt: Attempt(number) },
        0 => RunInput::Text { attempt: Attempt(number), text: "late".into() },
        1 => answer_input(number, &[read("late")], FinishReason::ToolCalls),
        2 => answer_input(number, &[], FinishReason::Length),
        3 => outcome_input(number, None, "late"),
        4 => RunInput::ToolOutcomeLost { effect: EffectId(number), cause: UnknownOutcomeCause::Cancelled },
        5 => RunInput::ContextReady {
            plan: palyra_types::event::ContextPlan::default(),
            model: super::model(),
            routing: palyra_types::event::ModelRouting::default(),
        },
        6 => RunInput::ContextTooLarge,
        _ => failure_input(number, ModelFailureClass::Timeout, None),
    }
}
