//! Random wishes, failures, pauses and restarts from a seed; afterwards everything must be in order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use palyra_ports::{AppendError, ReadError};
use palyra_run_core::failure_table::CLASSES;
use palyra_runtime::runs::InputRequest;
use palyra_runtime::session::SubmitReceipt;
use palyra_runtime::tape::TapeFollowEvent;
use palyra_runtime::{GatewayRuntimeState, ModelDirectory, RequestError};
use palyra_testkit::scripted_tools::{ACT, COUNT, LOOK};
use palyra_testkit::{FixedEntropy, Script, ToolScript};
use palyra_types::event::{JournalEvent, ModelEvent, RunEvent, TapeEvent};
use palyra_types::model::{ModelFailureClass, ModelRef};
use palyra_types::run::InputDelivery;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{RunId, SessionId};
use tokio::task::JoinHandle;

use crate::faults::Refusal;
use crate::rig::{Rig, by_key, entries_of, request, settle, soon};
use crate::shapes::{check, shape};

/// Seeds tried on one thread; each is a story of its own, the same each time.
const SEEDS: u64 = 40;
/// Seeds tried on several threads, where the same story is told differently each time.
const THREADED_SEEDS: u64 = 60;
/// How often the runs still open are told to end, before they count as stuck.
const ENDINGS_MAX: usize = 500;
/// Random moves of one story.
const MOVES: usize = 80;

struct Story {
    rig: Rig,
    dice: FixedEntropy,
    runs: Vec<RunId>,
    callers: Vec<JoinHandle<Option<RunId>>>,
    followers: Vec<(RunId, JoinHandle<Vec<OrchestratorTapeRecord>>)>,
}

impl Story {
    fn roll(&self, sides: u64) -> u64 {
        self.dice.next_u64() % sides
    }

    fn some_run(&self) -> Option<RunId> {
        let sides = self.runs.len() as u64;
        (sides > 0).then(|| self.runs[usize::try_from(self.roll(sides)).unwrap()])
    }

    fn script(&self) -> Script {
        let n = self.roll(3);
        let arguments = format!("{{\"n\":{n}}}");
        match self.roll(16) {
            0 => Script::new().text("half").fail(ModelFailureClass::Network),
            12 => Script::new().text("half").fail(self.class()),
            13 | 14 => Script::new().reasoning("hm").fail(self.class()),
            15 => Script::new().reasoning("so").text("thought").reasoning("and").text(" over"),
            1 => Script::new().text("half").panic(),
            2 => Script::new().end_silently(),
            3 => Script::new().text("waits").hang(),
            4 => Script::new().text("slow").pause(Duration::from_millis(700)).text(" but sure"),
            5 | 6 => Script::new().call(LOOK, &arguments).call(COUNT, "{}").call(LOOK, "{}"),
            7 | 8 => Script::new().text("a tool").call(LOOK, &arguments),
            9 => Script::new().call(ACT, "{}").call("no_such", "{"),
            _ => Script::new().texts(&["one ", "two ", "three"]),
        }
    }

    fn class(&self) -> ModelFailureClass {
        CLASSES[usize::try_from(self.roll(CLASSES.len() as u64)).unwrap()]
    }

    fn tool_script(&self) -> ToolScript {
        match self.roll(8) {
            0 => ToolScript::Hang,
            1 => ToolScript::Panic,
            2 => ToolScript::PanicAtOnce,
            3 => ToolScript::Lose,
            4 => ToolScript::Fail("no".to_owned()),
            _ => ToolScript::Say("same".to_owned()),
        }
    }

    fn load(&self) {
        self.rig.model.otherwise(Script::new().text("ok"));
        for _ in 0..12 {
            self.rig.model.push(self.script());
            self.rig.tools.push(if self.roll(2) == 0 { LOOK } else { COUNT }, self.tool_script());
        }
    }

    fn ask(&mut self, asking: impl Future<Output = Option<RunId>> + Send + 'static) {
        self.callers.push(tokio::spawn(asking));
    }

    fn submit(&mut self) {
        let (gateway, me) = (self.rig.gateway.clone(), self.rig.me());
        let (key, text) = (format!("k{}", self.roll(3)), format!("say {}", self.roll(1_000)));
        let mut submit = request(by_key(&key), &text);
        if self.roll(4) == 0 {
            submit.idempotency_key = Some(format!("once {}", self.roll(4)).as_str().into());
        }
        match self.roll(10) {
            0..=2 => submit.delivery = InputDelivery::Steer,
            3 => submit.delivery = InputDelivery::Interrupt,
            _ => {}
        }
        if self.roll(12) == 0 && submit.delivery != InputDelivery::Steer {
            submit.session.reset = palyra_runtime::session::ResetMode::Reset;
        }
        self.ask(async move { started(gateway.sessions.submit(me, submit).await) });
    }

    fn speak(&mut self) {
        let Some(run) = self.some_run() else { return };
        let (GatewayRuntimeState { runs, .. }, me) = (self.rig.gateway.clone(), self.rig.me());
        if self.roll(3) == 0 {
            self.ask(async move {
                expected(runs.cancel(me, run).await.err().as_ref());
                None
            });
        } else {
            self.ask(async move {
                match runs.send_input(me, run, InputRequest::text("more".into())).await {
                    Ok(receipt) => Some(receipt.run),
                    Err(error) => {
                        expected(Some(&error));
                        None
                    }
                }
            });
        }
    }

    async fn follow(&mut self) {
        let Some(run) = self.some_run() else { return };
        let Ok(mut follower) =
            self.rig.gateway.tapes.follow(self.rig.me(), run, palyra_types::TapeSeq(0)).await
        else {
            return;
        };
        let following = tokio::spawn(async move {
            let mut seen = Vec::new();
            loop {
                match follower.next().await {
                    Ok(Some(TapeFollowEvent::Entry(entry))) => seen.push((*entry).clone()),
                    // A read that failed is asked again.
                    Ok(Some(TapeFollowEvent::CaughtUp(_))) | Err(_) => {}
                    Ok(None) => return seen,
                }
            }
        });
        self.followers.push((run, following));
    }

    fn break_something(&self) {
        match self.roll(8) {
            0 => self.rig.faults.refuse(Refusal::All(AppendError::Busy)),
            1 => self.rig.faults.refuse(Refusal::All(AppendError::DiskFull)),
            2 | 3 => self.rig.faults.refuse(Refusal::NewWork(AppendError::DiskFull)),
            4 => self.rig.memory.lose_next_answer(),
            5 => self.rig.memory.fail_next(AppendError::Unknown),
            6 => self.rig.memory.fail_next(AppendError::Invalid { what: "for the test" }),
            _ => self.rig.faults.fail_next_read(ReadError::Busy),
        }
    }

    async fn restart(&mut self) {
        self.collect().await;
        for (_, following) in self.followers.drain(..) {
            following.abort();
        }
        self.rig = self.rig.restarted().await;
        self.load();
    }

    /// Waits for every caller: each one is answered, whatever happened.
    async fn collect(&mut self) {
        self.rig.faults.mend();
        for caller in std::mem::take(&mut self.callers) {
            let clock = self.rig.clock.clone();
            let passing = async move {
                while !caller.is_finished() {
                    settle().await;
                    clock.advance(Duration::from_secs(1));
                }
                caller.await.unwrap()
            };
            self.runs.extend(soon("the answer to a caller", passing).await);
        }
        self.runs.sort_unstable();
        self.runs.dedup();
    }

    async fn take_a_turn(&mut self) {
        match self.roll(20) {
            0..=5 => self.submit(),
            6..=9 => self.speak(),
            10 => self.follow().await,
            11..=12 => self.break_something(),
            13..=14 => self.rig.faults.mend(),
            15 => self.collect().await,
            16 => {
                if self.roll(3) == 0 {
                    self.restart().await;
                }
            }
            17 => self.rig.clock.advance(Duration::from_secs(self.roll(90))),
            _ => self.rig.clock.advance(Duration::from_millis(self.roll(400))),
        }
        if self.roll(3) == 0 {
            settle().await;
        }
    }

    /// Lets everything come to rest, then ends what is still open.
    async fn end(&mut self) {
        self.collect().await;
        for _ in 0..60 {
            settle().await;
            self.rig.clock.advance(Duration::from_secs(2));
        }
        for _ in 0..ENDINGS_MAX {
            let open = self.rig.open_runs().await;
            if open.is_empty() {
                return;
            }
            for run in open {
                let (runs, me) = (self.rig.gateway.runs.clone(), self.rig.me());
                self.ask(async move {
                    expected(runs.cancel(me, run).await.err().as_ref());
                    None
                });
            }
            self.collect().await;
            settle().await;
            self.rig.clock.advance(Duration::from_secs(2));
        }
    }

    async fn check(self, seed: u64) {
        let open = self.rig.open_runs().await;
        for run in &open {
            println_shape(seed, &shape(&self.rig.tape(*run).await));
        }
        assert!(open.is_empty(), "seed {seed}: {} runs are stuck", open.len());
        for run in &self.runs {
            check(&self.rig.tape(*run).await);
        }
        for (run, following) in self.followers {
            let seen = soon("the end of a follower", following).await.unwrap();
            assert_eq!(seen, self.rig.tape(run).await, "seed {seed}");
        }
        one_at_a_time(&self.rig, seed).await;
    }
}

fn started(result: Result<SubmitReceipt, RequestError>) -> Option<RunId> {
    match result {
        Ok(submitted) => Some(submitted.run),
        Err(error) => {
            expected(Some(&error));
            None
        }
    }
}

/// Fails unless an error is one that the failures of a story explain.
fn expected(error: Option<&RequestError>) {
    let explained = matches!(
        error,
        None | Some(
            RequestError::Append(
                AppendError::Unknown
                    | AppendError::DiskFull
                    | AppendError::Busy
                    | AppendError::Invalid { .. }
                    | AppendError::GuardFailed { .. }
            ) | RequestError::Read(ReadError::Busy)
                | RequestError::IdempotencyConflict
        )
    );
    assert!(explained, "nobody could expect: {error:?}");
}

fn println_shape(seed: u64, words: &[String]) {
    use std::io::Write;
    // Shown by the test runner when the story fails.
    let _ = writeln!(std::io::stderr(), "seed {seed}: {words:?}");
}

/// Between the beginning and the end of a run no other run of its session is in progress.
async fn one_at_a_time(rig: &Rig, seed: u64) {
    let mut busy: BTreeMap<SessionId, RunId> = BTreeMap::new();
    for entry in entries_of(&rig.memory).await {
        let (Some(session), Some((run, _))) = (entry.session, entry.run) else { continue };
        match entry.event {
            JournalEvent::Tape(TapeEvent::Model(ModelEvent::Requested(_))) => {
                let other = busy.insert(session, run).filter(|other| *other != run);
                assert_eq!(other, None, "seed {seed}: two runs of a session at once");
            }
            JournalEvent::Tape(TapeEvent::Run(RunEvent::Finished(_))) if busy.get(&session) == Some(&run) => {
                busy.remove(&session);
            }
            _ => {}
        }
    }
}

async fn tell(seed: u64) {
    let rig = Rig::start().await;
    let default = ModelRef::new("scripted", "scripted");
    let models = ModelDirectory::new(vec![Arc::new(rig.model.clone())], default, Vec::new());
    rig.replace_models(models.with_fallbacks(vec![ModelRef::new("scripted", "other")]));
    rig.configure(|config| config.limits.active_time_max = Duration::from_secs(100));
    let dice = FixedEntropy::new(seed);
    let mut story = Story { rig, dice, runs: Vec::new(), callers: Vec::new(), followers: Vec::new() };
    story.load();
    for _ in 0..MOVES {
        story.take_a_turn().await;
    }
    story.end().await;
    story.check(seed).await;
}

#[tokio::test]
async fn after_any_story_nobody_waits_and_every_tape_is_in_order() {
    for seed in 0..SEEDS {
        tell(seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn after_any_story_on_several_threads_too() {
    for seed in 0..THREADED_SEEDS {
        tell(10_000 + seed).await;
    }
}
