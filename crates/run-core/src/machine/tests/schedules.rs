//! The cycle around a run's machine under every order of threads that a scheduler comes up with.
//!
//! Real are the machine, its grants and the naive driver's step. Modelled, after `run::actor` of the runtime, are a
//! mailbox that closes and can then still be read, one commit for a batch of inputs, performing after it, and
//! leaving. Held to it: nothing is performed that is not recorded, nothing twice, nobody waits in vain, and what a
//! person was told is what the tape says. A thread that waits for ever is told by the scheduler.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use palyra_types::EffectId;
use palyra_types::event::{ModelEvent, RunEvent, TapeEvent, ToolEvent, UnknownOutcomeCause};
use palyra_types::run::RunLifecycleState;
use shuttle::sync::{Condvar, Mutex, mpsc};
use shuttle::thread;

use crate::scenario::{
    ScenarioAct, ScenarioDriver, answer, begin, calls, cancel, done, lost, prints, read, replay, start,
    steer, text,
};
use crate::{Effect, RunError, RunInput};

const SCHEDULES: usize = 800;
/// How often a schedule changes its mind against priorities (probabilistic concurrency testing).
const CHANGES: usize = 3;
/// Inputs decided in one step, at most: few, so that batches end between any two.
const BATCH_MAX: usize = 2;

type Answer = Result<RunLifecycleState, RunError>;

struct Command {
    input: RunInput,
    reply: Option<mpsc::Sender<Answer>>,
}

impl Command {
    fn answer(self, answer: Answer) {
        if let Some(reply) = self.reply {
            // A caller that left does not want to know.
            let _ = reply.send(answer);
        }
    }
}

/// What the runtime's channel promises: who is refused knows it, and what was taken is handed out, closed or not.
#[derive(Default)]
struct Mailbox {
    state: Mutex<(VecDeque<Command>, Closed)>,
    arrived: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Closed {
    #[default]
    No,
    Yes,
}

impl Mailbox {
    /// Returns whether the command was taken.
    fn send(&self, command: Command) -> bool {
        let mut state = self.state.lock().unwrap();
        let open = state.1 == Closed::No;
        if open {
            state.0.push_back(command);
            self.arrived.notify_one();
        }
        open
    }

    fn tell(&self, act: ScenarioAct) {
        // A run that has left hears nothing.
        self.send(Command { input: input_of(act), reply: None });
    }

    fn is_empty(&self) -> bool {
        self.state.lock().unwrap().0.is_empty()
    }

    /// Waits for a command, then takes what is there.
    fn take(&self) -> Vec<Command> {
        let mut state = self.state.lock().unwrap();
        while state.0.is_empty() {
            state = self.arrived.wait(state).unwrap();
        }
        let taken = state.0.len().min(BATCH_MAX);
        state.0.drain(..taken).collect()
    }

    fn close(&self) -> VecDeque<Command> {
        let mut state = self.state.lock().unwrap();
        state.1 = Closed::Yes;
        std::mem::take(&mut state.0)
    }
}

/// What everybody may look at.
#[derive(Default)]
struct World {
    mailbox: Mailbox,
    committed: Mutex<Vec<TapeEvent>>,
    stopped: Mutex<bool>,
    executed: Mutex<BTreeMap<EffectId, u32>>,
}

fn input_of(act: ScenarioAct) -> RunInput {
    match act {
        ScenarioAct::Take(input) => input,
        ScenarioAct::Wait(_)
        | ScenarioAct::Restart
        | ScenarioAct::Answer(_)
        | ScenarioAct::Prepared { .. } => {
            unreachable!("only inputs enter a mailbox")
        }
    }
}

/// Says something to the run and waits for what becomes of it.
fn ask(world: &Arc<World>, act: ScenarioAct) -> thread::JoinHandle<Answer> {
    let world = Arc::clone(world);
    thread::spawn(move || {
        let (reply, answer) = mpsc::channel();
        if world.mailbox.send(Command { input: input_of(act), reply: Some(reply) }) {
            answer.recv().expect("everybody is answered")
        } else {
            Err(RunError::Finished)
        }
    })
}

/// A model that wants two tools, then speaks; it does not know that nobody listens any more.
fn model(world: &Arc<World>, attempt: u32) {
    let world = Arc::clone(world);
    thread::spawn(move || match attempt {
        1 => world.mailbox.tell(calls(1, &[read("a"), read("b")])),
        attempt => {
            world.mailbox.tell(text(attempt, "so"));
            world.mailbox.tell(answer(attempt));
        }
    });
}

/// A tool that prints something and ends, or notices first that it is to stop.
fn tool(world: &Arc<World>, effect: EffectId) {
    let world = Arc::clone(world);
    thread::spawn(move || {
        let started = |event: &TapeEvent| matches!(event, TapeEvent::Tool(ToolEvent::Started(started)) if started.effect == effect);
        assert!(world.committed.lock().unwrap().iter().any(started), "it runs before it is recorded");
        *world.executed.lock().unwrap().entry(effect).or_default() += 1;
        world.mailbox.tell(prints(effect.0, "so far"));
        let stopped = *world.stopped.lock().unwrap();
        let cause = UnknownOutcomeCause::Cancelled;
        world.mailbox.tell(if stopped { lost(effect.0, cause) } else { done(effect.0) });
    });
}

struct Actor {
    world: Arc<World>,
    driver: ScenarioDriver,
    held: VecDeque<Command>,
    tools: BTreeSet<EffectId>,
}

impl Actor {
    /// Decides what is held, records it in one commit, and performs what follows.
    fn step(&mut self) {
        let mut draft = self.driver.clone();
        let mut effects = Vec::new();
        let mut answers = Vec::new();
        let batch: Vec<Command> = self.held.drain(..self.held.len().min(BATCH_MAX)).collect();
        for command in &batch {
            answers.push(draft.take(&command.input).map(|commit| effects.extend(commit.effects)));
        }
        if effects.contains(&Effect::AbortTools) {
            *self.world.stopped.lock().unwrap() = true;
        }
        let recorded = draft.tape[self.driver.tape.len()..].iter().map(|(event, _)| event.clone());
        self.world.committed.lock().unwrap().extend(recorded);
        self.driver = draft;
        let state = self.driver.machine.state();
        for (command, answer) in batch.into_iter().zip(answers) {
            command.answer(answer.map(|()| state));
        }
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        let machine = &self.driver.machine;
        self.tools.retain(|effect| machine.is_tool_running(*effect));
        for effect in effects {
            match effect {
                Effect::CallModel { attempt } if machine.open_attempt() == Some(attempt) => {
                    model(&self.world, attempt.0);
                }
                Effect::Execute(grant) if machine.is_tool_running(grant.effect()) => {
                    self.tools.insert(grant.effect());
                    tool(&self.world, grant.effect());
                }
                Effect::CallModel { .. }
                | Effect::Execute(_)
                | Effect::Prepare(_)
                | Effect::AssembleContext { .. }
                | Effect::Judge(_)
                | Effect::AbortModel { .. }
                | Effect::AbortTools
                | Effect::RetryAt { .. }
                | Effect::End => {}
            }
        }
    }

    /// Works until the run is over; whoever came too late is told so.
    fn run(mut self) -> ScenarioDriver {
        loop {
            if !self.held.is_empty() {
                self.step();
            }
            let is_over = self.driver.machine.state().is_terminal() && self.tools.is_empty();
            if self.held.is_empty() && self.world.mailbox.is_empty() && is_over {
                for late in self.world.mailbox.close() {
                    late.answer(Err(RunError::Finished));
                }
                return self.driver;
            }
            if self.held.is_empty() {
                self.held.extend(self.world.mailbox.take());
            }
        }
    }
}

/// What a story came to: was the run cancelled, and was the steering input taken.
type Ending = (RunLifecycleState, bool);

fn story() -> Ending {
    let world = Arc::new(World::default());
    let told = |act| Command { input: input_of(act), reply: None };
    let held = [start(), begin()].into_iter().map(told).collect();
    let actor =
        Actor { world: Arc::clone(&world), driver: ScenarioDriver::new(), held, tools: BTreeSet::new() };
    let acting = thread::spawn(move || actor.run());
    let (steering, cancelling) = (ask(&world, steer()), ask(&world, cancel()));
    let [steered, cancelled] = [steering, cancelling].map(|asking| asking.join().unwrap());
    let driver = acting.join().unwrap();
    let tape: Vec<TapeEvent> = driver.tape.iter().map(|(event, _)| event.clone()).collect();
    assert_eq!(*world.committed.lock().unwrap(), tape);
    assert_eq!(replay(&driver.tape), driver.machine);
    let place = |wanted: fn(&TapeEvent) -> bool| tape.iter().position(wanted);
    let count = |wanted: fn(&TapeEvent) -> bool| tape.iter().filter(|event| wanted(event)).count();
    assert_eq!(place(|event| matches!(event, TapeEvent::Run(RunEvent::Finished(_)))), Some(tape.len() - 1));
    let requested = count(|event| matches!(event, TapeEvent::Run(RunEvent::CancelRequested { .. })));
    assert_eq!(requested, usize::from(cancelled.is_ok()), "{}", driver.tape_line());
    let state = driver.machine.state();
    let expected = if cancelled.is_ok() { RunLifecycleState::Cancelled } else { RunLifecycleState::Done };
    assert_eq!(state, expected, "{}", driver.tape_line());
    let received = count(|event| matches!(event, TapeEvent::Run(RunEvent::InputReceived { .. })));
    assert_eq!(received, usize::from(steered.is_ok()), "{}", driver.tape_line());
    if let Some(received) = place(|event| matches!(event, TapeEvent::Run(RunEvent::InputReceived { .. }))) {
        let shown =
            tape[received..].iter().any(|event| matches!(event, TapeEvent::Model(ModelEvent::Requested(_))));
        assert!(shown || cancelled.is_ok(), "a model never saw it: {}", driver.tape_line());
    }
    let started = count(|event| matches!(event, TapeEvent::Tool(ToolEvent::Started { .. })));
    let executed = world.executed.lock().unwrap();
    assert!(executed.len() <= started && executed.values().all(|times| *times == 1), "{executed:?}");
    let ended = count(|event| {
        matches!(event, TapeEvent::Tool(ToolEvent::Finished(_) | ToolEvent::OutcomeUnknown { .. }))
    });
    assert_eq!(started, ended, "{}", driver.tape_line());
    let printed = count(|event| matches!(event, TapeEvent::Tool(ToolEvent::Output(_))));
    assert_eq!(
        printed,
        executed.len(),
        "shown before the outcome, which comes after it: {}",
        driver.tape_line()
    );
    (state, steered.is_ok())
}

#[test]
fn a_stop_an_input_and_the_end_meet_in_every_order() {
    let seen: Arc<std::sync::Mutex<BTreeSet<Ending>>> = Arc::default();
    let told = Arc::clone(&seen);
    let story = move || {
        let ending = story();
        told.lock().unwrap().insert(ending);
    };
    shuttle::check_random(story.clone(), SCHEDULES);
    shuttle::check_pct(story, SCHEDULES, CHANGES);
    let states = [RunLifecycleState::Cancelled, RunLifecycleState::Done];
    let all = states.into_iter().flat_map(|state| [(state, false), (state, true)]).collect();
    assert_eq!(*seen.lock().unwrap(), all, "each ending was seen");
}
