//! One story: several lives of one daemon under one seed, then calm, then judgement.
//!
//! Begin at [`tell`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use palyra_ports::{Clock, ReadTape};
use palyra_runtime::GatewayRuntimeConfigSnapshot;
use palyra_testkit::FixedEntropy;
use palyra_testkit::JournalReads;
use palyra_types::run::RunLimits;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{RunId, TapeSeq};
use tokio::sync::watch;

use crate::client::{Client, OpenDoubts};
use crate::daemon_process::{self, LifeEnd, LifePurpose, LifeSetup};
use crate::dice::ScenarioRandom;
use crate::fault::{FaultMatrix, Phase};
use crate::journal::SimJournal;
use crate::mutation::Mutation;
use crate::oracle::{IdleState, RunView};
use crate::rules;
use crate::world::{SimWorld, StoryFeatures, TraceMode};

/// Lives with faults, at most.
const LIVES_MAX: u32 = 8;
/// Lives without faults until everything is over, at most.
const CALM_LIVES_MAX: u32 = 60;
/// How long the daemon is gone, at most.
const AWAY_MAX: Duration = Duration::from_secs(20);
/// Within so much time everything is over once the faults have stopped.
const REST_WITHIN: Duration = Duration::from_secs(4 * 60 * 60);
/// The same where runs wait for windows of budgets.
const REST_WITHIN_WINDOWS: Duration = Duration::from_secs(20 * 24 * 60 * 60);

/// What a story came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its seed.
    pub seed: u64,
    /// What is wrong, if anything; the first is what matters.
    pub findings: Vec<String>,
    /// What was done to it.
    pub matrix: FaultMatrix,
    /// Polls of tasks.
    pub steps: u64,
    /// Entries of its journal.
    pub entries: u64,
    /// Runs.
    pub runs: u64,
    /// Lives of the daemon.
    pub lives: u64,
    /// Digest of everything that happened, every entry included.
    pub digest: u64,
    /// Everything that happened, in words, if it was asked for.
    pub trace: Vec<String>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, steps, entries, runs, lives, digest, .. } = self;
        let faults = self.matrix.faults();
        write!(
            f,
            "seed {seed}: {steps} steps, {faults} faults, {lives} lives, {runs} runs, {entries} entries, digest {digest:016x}"
        )
    }
}

/// Tells the story of a seed, with a mistake on purpose if one is named.
#[must_use]
pub fn tell(seed: u64, mutation: Option<Mutation>, chronicled: TraceMode) -> Outcome {
    let world = SimWorld::new(seed, mutation, chronicled);
    let (fault, phase) = world.fault_rates().sought();
    world.note(format_args!("seed {seed} looks for {} while {}", fault.name(), phase.name()));
    let dice = world.dice.apart();
    let clients = clients(&world, &dice);
    let entropy = Arc::new(FixedEntropy::new(dice.below(u64::MAX)));
    let (policy, _) = watch::channel(Arc::clone(&rules::all()[0]));
    let birth = LifeSetup {
        world: Arc::clone(&world),
        clients,
        config: config(&dice, world.features()),
        entropy,
        policy,
    };
    let mut telling = ScenarioRun { journal: SimJournal::new(Arc::clone(&world)), birth, lives: 0 };
    telling.storm(&dice);
    telling.calm(&dice);
    telling.judge();
    let (findings, entries, runs) = {
        let oracle = world.oracle();
        (oracle.findings().to_vec(), oracle.entries(), oracle.runs().count() as u64)
    };
    let digest = world.digest();
    let mut trace = world.trace();
    Outcome {
        seed,
        findings,
        matrix: trace.matrix.clone(),
        steps: trace.steps,
        entries,
        runs,
        lives: telling.lives,
        digest,
        trace: trace.lines.take().unwrap_or_default(),
    }
}

fn acts(dice: &ScenarioRandom, features: StoryFeatures) -> u32 {
    let beside = u32::from(features.has_budgets) * 3 + u32::from(features.has_content) * 6;
    8 + beside + u32::try_from(dice.below(16)).unwrap_or(0)
}

/// Makes the clients: up to four of the owner, and one of another principal in stories with content of theirs.
fn clients(world: &Arc<SimWorld>, dice: &ScenarioRandom) -> Vec<Client> {
    let mut clients: Vec<Client> =
        (0..=dice.below(3)).map(|number| Client::new(world, number, acts(dice, world.features()))).collect();
    if world.features().has_content {
        clients.push(Client::stranger(world, 0, acts(dice, world.features())));
    }
    clients
}

fn config(dice: &ScenarioRandom, features: StoryFeatures) -> GatewayRuntimeConfigSnapshot {
    let limits = RunLimits {
        turns_max: 3 + u32::try_from(dice.below(6)).unwrap_or(0),
        tool_calls_max: 4 + u32::try_from(dice.below(10)).unwrap_or(0),
        active_time_max: Duration::from_secs(30 + dice.below(100)),
        parallel_tools_max: 1 + u32::try_from(dice.below(4)).unwrap_or(0),
        output_tokens_max: 200 + dice.below(100_000),
    };
    let session_queue_max = if dice.below(4) == 0 { 2 } else { 64 };
    GatewayRuntimeConfigSnapshot {
        limits,
        session_queue_max,
        instructions: "short".into(),
        recalls_memory: features.has_content,
        compacts: features.has_small_window,
        ..GatewayRuntimeConfigSnapshot::default()
    }
}

struct ScenarioRun {
    birth: LifeSetup,
    journal: SimJournal,
    lives: u64,
}

impl ScenarioRun {
    fn live(&mut self, purpose: LifePurpose) -> LifeEnd {
        self.lives += 1;
        daemon_process::live(&self.birth, &self.journal, purpose)
    }

    /// The daemon is gone; the next life finds what is left of this one.
    fn reopen(&mut self) {
        self.birth.clients.iter().for_each(Client::cut_off);
        self.journal = self.journal.reopened();
    }

    fn storm(&mut self, dice: &ScenarioRandom) {
        for _ in 0..LIVES_MAX {
            match self.live(LifePurpose::Storm) {
                LifeEnd::Gone => {
                    self.reopen();
                    self.birth.world.clock.advance(dice.span(AWAY_MAX));
                }
                LifeEnd::Finished | LifeEnd::AtRest | LifeEnd::Found => break,
            }
        }
    }

    /// Ends all faults, lets everything come to rest, and answers whoever waits for a person.
    fn calm(&mut self, dice: &ScenarioRandom) {
        let world = Arc::clone(&self.birth.world);
        world.calm_down();
        self.birth.clients.iter().for_each(Client::settle_down);
        let began = world.clock.boot();
        // The storm ended in the middle of a life.
        self.reopen();
        for _ in 0..CALM_LIVES_MAX {
            match self.live(LifePurpose::Rest) {
                LifeEnd::Found => return,
                LifeEnd::Gone | LifeEnd::Finished => {}
                LifeEnd::AtRest => {
                    if self.birth.clients.iter().any(|client| !client.is_done()) {
                        world.oracle().find("a client never gets an answer".to_owned());
                        return;
                    }
                    let rest = world.oracle().rest();
                    match rest {
                        IdleState::Over => break,
                        IdleState::Waiting(runs) => {
                            runs.into_iter().for_each(|run| self.answer(run, dice));
                        }
                    }
                }
            }
            self.reopen();
        }
        let rest_within = if world.features().has_budgets { REST_WITHIN_WINDOWS } else { REST_WITHIN };
        if !world.oracle().open_runs().is_empty() || world.clock.boot().since(began) > rest_within {
            let open = world.oracle().open_runs();
            world.oracle().find(format!("a run is never over, whoever answers it: {open:?}"));
        }
    }

    /// Lets one of the clients of a run's principal answer it.
    fn answer(&self, run: RunId, dice: &ScenarioRandom) {
        let oracle = self.birth.world.oracle();
        let Some(view) = oracle.run(run) else { return };
        let principal = view.principal();
        let waits_for_budget = view.waits_for_budget();
        let is_asked = oracle.phase_of(run) == Phase::Asked;
        let doubted = oracle.doubts().any(|(other, _)| other == run);
        drop(oracle);
        // Budgets are the owner's.
        let clients = self.birth.clients.iter().filter(|client| {
            if waits_for_budget { !client.is_stranger() } else { client.principal() == principal }
        });
        let clients: Vec<&Client> = clients.collect();
        let client = clients[dice.index(clients.len())];
        if waits_for_budget {
            client.will_help(run);
        } else if is_asked {
            client.will_decide(run);
        } else {
            client.will_answer(run, if doubted { OpenDoubts::Some } else { OpenDoubts::None });
        }
    }

    /// Compares what everybody saw with what the journal has.
    fn judge(&mut self) {
        if !self.birth.world.oracle().findings().is_empty() {
            return;
        }
        self.reopen();
        let _ = self.live(LifePurpose::Look);
        let runs: Vec<RunId> = self.birth.world.oracle().runs().map(|(run, _)| run).collect();
        for run in runs {
            let tape = self.tape(run);
            let record = self.journal.memory().run(run).now_or_never();
            let record = record.and_then(Result::ok).flatten();
            let mut oracle = self.birth.world.oracle();
            oracle.compare(run, record.as_ref(), &tape);
            let principal = oracle.run(run).map(RunView::principal);
            let is_erased = oracle.is_erased(run);
            for client in self.birth.clients.iter().filter(|client| Some(client.principal()) == principal) {
                let seen = client.seen(run);
                let is_same = is_erased || seen.iter().map(|entry| &**entry).eq(tape.iter());
                if seen.len() != tape.len() || !is_same {
                    oracle.find(format!("a client did not see {run} as the journal has it"));
                }
            }
        }
    }

    fn tape(&self, run: RunId) -> Vec<OrchestratorTapeRecord> {
        let mut entries: Vec<OrchestratorTapeRecord> = Vec::new();
        loop {
            let after = entries.last().map_or(TapeSeq(0), |entry| entry.tape_seq);
            match self.journal.memory().tape(run, after, 1_000).now_or_never() {
                Some(Ok(page)) if !page.entries.is_empty() => entries.extend(page.entries),
                Some(Ok(_) | Err(_)) | None => return entries,
            }
        }
    }
}
