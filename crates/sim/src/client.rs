//! People at their clients: they speak, repeat themselves, change their minds, look on and look away.
//!
//! Owns what a client remembers over the daemon's lives: what it saw, and what it said without an answer. Knows the
//! runtime only by its handles. Begin at [`live`].

mod follow;

mod speak;

mod decide;

mod settle;

mod open_input;

mod budgets;

mod content;

pub(crate) mod daily;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use palyra_ports::Clock;
use palyra_runtime::{Caller, GatewayRuntimeState};
use palyra_types::access::{Credential, CredentialKind, Role};
use palyra_types::surface::Surface;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{PrincipalId, RunId, TokenId};

use crate::dice::ScenarioRandom;
use crate::oracle::{OWNER, STRANGER};
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
    /// Whom it speaks for, once it is known.
    principal: PrincipalId,
    /// How often it helped a run that waits for a budget.
    budget_tries: BTreeMap<RunId, u32>,
    /// Whether it made its schedules.
    has_schedules: bool,
}

/// How a person answers a run that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PersonReply {
    Decision,
    /// What became of calls whose outcome nobody knew.
    Outcome,
    Words,
    Stop,
    /// More room under the budgets that it waits for.
    Room,
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
    /// Makes a client of the owner.
    pub(crate) fn new(world: &Arc<SimWorld>, number: u64, acts: u32) -> Self {
        Self::named(world, format!("{OWNER}{number}"), acts)
    }

    /// Makes a client of another principal, which has no part in what the owner does.
    pub(crate) fn stranger(world: &Arc<SimWorld>, number: u64, acts: u32) -> Self {
        let client = Self::named(world, format!("{STRANGER}{number}"), acts);
        client.mind().principal = PrincipalId::from_parts(number + 1, 99);
        client
    }

    fn named(world: &Arc<SimWorld>, name: String, acts: u32) -> Self {
        let mind = ClientMemory {
            name,
            dice: world.dice.apart(),
            acts_left: acts,
            said: 0,
            unanswered: Vec::new(),
            repeated: BTreeSet::new(),
            seen: BTreeMap::new(),
            following: 0,
            answered: BTreeSet::new(),
            to_answer: Vec::new(),
            principal: PrincipalId::NIL,
            budget_tries: BTreeMap::new(),
            has_schedules: false,
        };
        Self { world: Arc::clone(world), mind: Arc::new(Mutex::new(mind)) }
    }

    fn mind(&self) -> MutexGuard<'_, ClientMemory> {
        self.mind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dice(&self) -> ScenarioRandom {
        self.mind().dice.clone()
    }

    /// Returns whom it speaks for.
    pub(crate) fn principal(&self) -> PrincipalId {
        self.mind().principal
    }

    pub(crate) fn is_stranger(&self) -> bool {
        self.mind().name.starts_with(STRANGER)
    }

    /// Returns the caller that it is, and remembers whom it speaks for.
    fn caller(&self, gateway: &GatewayRuntimeState) -> Caller {
        if !self.is_stranger() {
            let caller = Caller::at_socket(gateway.admin.access.local_principal());
            self.mind().principal = caller.actor.principal;
            return caller;
        }
        let credential = Credential {
            principal: self.principal(),
            token: TokenId::from_parts(1, 99),
            kind: CredentialKind::PersonSession,
            scopes: Role::Member.scopes(),
        };
        Caller::with_credential(&credential, Surface::Console)
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

    /// It will help a run that waits for a budget.
    pub(crate) fn will_help(&self, run: RunId) {
        self.mind().to_answer.push((run, PersonReply::Room));
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
    let caller = client.caller(&gateway);
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
                    tokio::spawn(async move { act(&connected).await });
                } else {
                    act(&connected).await;
                }
            }
            None => {
                let reply = client.mind().to_answer.pop();
                match reply {
                    Some((run, PersonReply::Decision)) => decide::decide_all(&connected, run).await,
                    Some((run, PersonReply::Outcome)) => settle::settle_all(&connected, run).await,
                    Some((run, PersonReply::Words)) => speak::answer(&connected, run).await,
                    Some((run, PersonReply::Stop)) => speak::cancel(&connected, run).await,
                    Some((run, PersonReply::Room)) => budgets::help(&connected, run).await,
                    None => {}
                }
            }
        }
    }
}

/// Does one of the things that people do, as far as the story has them.
async fn act(connected: &ConnectedClient) {
    let client = &connected.client;
    let dice = client.dice();
    let features = client.world.features();
    if features.has_content && dice.below(4) == 0 {
        return content::act(connected).await;
    }
    if features.has_budgets && !client.is_stranger() && dice.below(5) == 0 {
        return budgets::act(connected).await;
    }
    speak::act(connected).await;
}

/// Sees to its end every run that it did not see to its end.
pub(crate) async fn look_at_everything(client: Client, gateway: GatewayRuntimeState) {
    let caller = client.caller(&gateway);
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
