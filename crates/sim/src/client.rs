//! People at their clients: they speak, repeat themselves, change their minds, look on and look away.
//!
//! Owns what a client remembers over the daemon's lives: what it saw, and what it said without an answer. Knows the
//! runtime only by its handles. Begin at [`live`].

mod follow;

mod speak;

mod decide;

mod settle;

mod open_input;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use palyra_ports::Clock;
use palyra_runtime::{Caller, GatewayRuntimeState};
use palyra_types::RunId;
use palyra_types::tape::OrchestratorTapeRecord;

use crate::dice::ScenarioRandom;
use crate::world::{SimWorld, turns};
use open_input::OpenInput;

/// Sessions that the clients of a story share.
pub(crate) const SESSIONS: u64 = 3;
/// How long a client thinks before it acts again, at most, most of the time.
const THOUGHT_MAX: Duration = Duration::from_millis(1_500);
/// How long it stays away now and then, at most: longer than idle actors stay.
const ABSENCE_MAX: Duration = Duration::from_secs(130);

/// What a client remembers.
pub(crate) struct ClientMemory {
    pub(crate) name: String,
    dice: ScenarioRandom,
    acts_left: u32,
    said: u32,
    unanswered: Vec<OpenInput>,
    /// What was said more than once.
    repeated: BTreeSet<String>,
    /// What it saw of each run, from the first entry on and without a gap.
    seen: BTreeMap<RunId, Vec<Arc<OrchestratorTapeRecord>>>,
    following: usize,
    answered: BTreeSet<RunId>,
    to_answer: Vec<(RunId, PersonReply)>,
}

/// How a person answers a run that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PersonReply {
    Decision,
    /// What became of calls whose outcome nobody knew.
    Outcome,
    Words,
    Stop,
}

/// Whether a run has calls whose outcome nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenDoubts {
    None,
    Some,
}

/// A client; clones are the same one.
#[derive(Clone)]
pub(crate) struct Client {
    world: Arc<SimWorld>,
    mind: Arc<Mutex<ClientMemory>>,
}

impl Client {
    pub(crate) fn new(world: &Arc<SimWorld>, number: u64, acts: u32) -> Self {
        let mind = ClientMemory {
            name: format!("c{number}"),
            dice: world.dice.apart(),
            acts_left: acts,
            said: 0,
            unanswered: Vec::new(),
            repeated: BTreeSet::new(),
            seen: BTreeMap::new(),
            following: 0,
            answered: BTreeSet::new(),
            to_answer: Vec::new(),
        };
        Self { world: Arc::clone(world), mind: Arc::new(Mutex::new(mind)) }
    }

    fn mind(&self) -> MutexGuard<'_, ClientMemory> {
        self.mind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dice(&self) -> ScenarioRandom {
        self.mind().dice.clone()
    }

    fn name(&self) -> String {
        self.mind().name.clone()
    }

    /// Returns whether it has nothing left to do.
    pub(crate) fn is_done(&self) -> bool {
        let mind = self.mind();
        mind.acts_left == 0 && mind.unanswered.is_empty() && mind.to_answer.is_empty()
    }

    /// It does nothing new from now on.
    pub(crate) fn settle_down(&self) {
        self.mind().acts_left = 0;
    }

    /// It will decide what a run waits for.
    pub(crate) fn will_decide(&self, run: RunId) {
        self.mind().to_answer.push((run, PersonReply::Decision));
    }

    /// It will answer a run that waits for a person: with what it knows of calls in doubt, or with words, and if it
    /// was asked before, with a stop.
    pub(crate) fn will_answer(&self, run: RunId, doubts: OpenDoubts) {
        let mut mind = self.mind();
        let again = !mind.answered.insert(run);
        let reply = match (again, doubts) {
            (false, OpenDoubts::Some) if mind.dice.below(3) > 0 => PersonReply::Outcome,
            (false, OpenDoubts::Some | OpenDoubts::None) => PersonReply::Words,
            (true, OpenDoubts::Some | OpenDoubts::None) => PersonReply::Stop,
        };
        mind.to_answer.push((run, reply));
    }

    /// The daemon is gone, and with it every connection.
    pub(crate) fn cut_off(&self) {
        let mut mind = self.mind();
        mind.following = 0;
        // Without a key nobody can ask what became of it.
        mind.unanswered.retain(OpenInput::is_keyed);
        mind.unanswered.iter_mut().for_each(OpenInput::now_open);
    }

    /// Returns what was seen of a run.
    pub(crate) fn seen(&self, run: RunId) -> Vec<Arc<OrchestratorTapeRecord>> {
        self.mind().seen.get(&run).cloned().unwrap_or_default()
    }
}

/// Everything a client needs of a running daemon.
#[derive(Clone)]
struct ConnectedClient {
    client: Client,
    gateway: GatewayRuntimeState,
    caller: Caller,
}

/// Lets a client act until it has nothing left to do.
pub(crate) async fn live(client: Client, gateway: GatewayRuntimeState) {
    let caller = Caller::at_socket(gateway.admin.access.local_principal());
    let connected = ConnectedClient { client: client.clone(), gateway, caller };
    while !client.is_done() {
        let dice = client.dice();
        think(&client, &dice).await;
        if !client.world.is_calm() && dice.below(3) == 0 {
            follow::look(&connected);
        }
        let again = speak::take_unanswered(&client, &dice);
        match again {
            Some(open_input) => speak::say(&connected, open_input).await,
            None if !client.world.is_calm() && dice.below(3) == 0 => {
                let settles = dice.below(2) == 0 && settle::settle_something(&connected).await;
                if !settles {
                    decide::decide_something(&connected).await;
                }
            }
            None if client.mind().acts_left > 0 => {
                client.mind().acts_left -= 1;
                if dice.below(4) == 0 {
                    let connected = connected.clone();
                    tokio::spawn(async move { speak::act(&connected).await });
                } else {
                    speak::act(&connected).await;
                }
            }
            None => {
                let reply = client.mind().to_answer.pop();
                match reply {
                    Some((run, PersonReply::Decision)) => decide::decide_all(&connected, run).await,
                    Some((run, PersonReply::Outcome)) => settle::settle_all(&connected, run).await,
                    Some((run, PersonReply::Words)) => speak::answer(&connected, run).await,
                    Some((run, PersonReply::Stop)) => speak::cancel(&connected, run).await,
                    None => {}
                }
            }
        }
    }
}

/// Sees to its end every run that it did not see to its end.
pub(crate) async fn look_at_everything(client: Client, gateway: GatewayRuntimeState) {
    let caller = Caller::at_socket(gateway.admin.access.local_principal());
    let connected = ConnectedClient { client, gateway, caller };
    follow::see_all(&connected).await;
}

async fn think(client: &Client, dice: &ScenarioRandom) {
    match dice.below(12) {
        0..=4 => turns(dice.below(12)).await,
        5 => sleep(client, dice.span(ABSENCE_MAX)).await,
        _ => sleep(client, dice.span(THOUGHT_MAX)).await,
    }
}

async fn sleep(client: &Client, span: Duration) {
    let clock = &client.world.clock;
    clock.sleep_until(clock.boot().after(span)).await;
}
