//! Following runs: attaching, looking on, looking away, and coming back with a gap or an overlap.

use std::sync::Arc;

use palyra_ports::Clock;
use palyra_runtime::tape::{TapeError, TapeFollowEvent, TapeFollower};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{RunId, TapeSeq};

use super::{Client, ConnectedClient};
use crate::fault::Fault;
use crate::mutation::Mutation;
use crate::world::turns;

/// Runs that a client follows at once, at most.
const FOLLOWING_MAX: usize = 3;
/// How often a read that failed is asked again before a follower gives up.
const READS_AGAIN_MAX: u32 = 40;

/// Begins to follow some run, beside everything else.
pub(super) fn look(connected: &ConnectedClient) {
    let client = &connected.client;
    let Some(run) = run_to_follow(client) else { return };
    client.mind().following += 1;
    let connected = connected.clone();
    tokio::spawn(async move {
        let dice = connected.client.dice();
        // Usually from where it stopped; now and then from further back, or from the end that the journal has.
        let seen = connected.client.seen(run).len();
        let after = match dice.below(6) {
            0 if seen > 0 => dice.index(seen),
            1 => connected.client.world.oracle().run(run).map_or(0, |view| view.tape().len()),
            _ => seen,
        };
        follow(&connected, run, after, FollowInterest::Fickle).await;
        let mut mind = connected.client.mind();
        mind.following = mind.following.saturating_sub(1);
    });
}

fn run_to_follow(client: &Client) -> Option<RunId> {
    if client.mind().following >= FOLLOWING_MAX {
        return None;
    }
    let dice = client.dice();
    let oracle = client.world.oracle();
    let open = oracle.open_runs_of(client.principal());
    if !open.is_empty() && dice.below(4) > 0 {
        return Some(open[dice.index(open.len())]);
    }
    let all: Vec<RunId> = oracle.runs_of(client.principal());
    (!all.is_empty()).then(|| all[dice.index(all.len())])
}

/// Sees every run to its end.
pub(super) async fn see_all(connected: &ConnectedClient) {
    let all = connected.client.world.oracle().runs_of(connected.client.principal());
    for run in all {
        let seen = connected.client.seen(run).len();
        follow(connected, run, seen, FollowInterest::Faithful).await;
        let (own, whole) = (connected.client.seen(run), {
            let oracle = connected.client.world.oracle();
            oracle.run(run).map(|view| view.tape().to_vec()).unwrap_or_default()
        });
        let is_erased = connected.client.world.oracle().is_erased(run);
        let is_same = own.iter().map(|entry| &**entry).eq(whole.iter());
        if own.len() != whole.len() || !(is_same || is_erased) {
            let what = format!("{} saw another tape of {run} than the journal has", connected.client.name());
            connected.client.world.oracle().find(what);
        }
    }
}

/// Whether a follower may leave before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FollowInterest {
    Fickle,
    Faithful,
}

async fn follow(connected: &ConnectedClient, run: RunId, after: usize, interest: FollowInterest) {
    let client = &connected.client;
    let after = TapeSeq(u32::try_from(after).unwrap_or(u32::MAX));
    let mut again = READS_AGAIN_MAX;
    let follower = loop {
        match connected.gateway.tapes.follow(connected.caller, run, after).await {
            Ok(follower) => break follower,
            Err(TapeError::Read(_)) if again > 0 => again -= 1,
            Err(TapeError::Read(_)) => return,
            Err(error) => {
                let what = format!("{} cannot follow {run} after {}: {error:?}", client.name(), after.0);
                client.world.oracle().find(what);
                return;
            }
        }
        turns(2).await;
    };
    client.world.note(format_args!("> {} follows {run} after {}", client.name(), after.0));
    look_on(client, run, follower, interest).await;
}

/// Follows a run that began with what was just said, from its first entry on.
pub(super) async fn from_the_first(client: &Client, run: RunId, follower: TapeFollower) {
    client.world.note(format_args!("> {} follows {run} from before its first entry", client.name()));
    look_on(client, run, follower, FollowInterest::Fickle).await;
}

async fn look_on(client: &Client, run: RunId, mut follower: TapeFollower, interest: FollowInterest) {
    let mut again = READS_AGAIN_MAX;
    let mut last = follower.last();
    let mut once_more = None;
    loop {
        if interest == FollowInterest::Fickle {
            let phase = client.world.oracle().phase_of(run);
            if client.world.strikes(Fault::FollowerGone, phase) {
                return;
            }
        }
        match next(client, &mut follower, &mut once_more).await {
            Ok(Some(TapeFollowEvent::Entry(entry))) => take(client, run, &mut last, &entry),
            Ok(Some(TapeFollowEvent::CaughtUp(_))) => {}
            Ok(None) => return over(client, run, last),
            Err(TapeError::Read(_)) if again > 0 => {
                again -= 1;
                let clock = &client.world.clock;
                clock.sleep_until(clock.boot().after(std::time::Duration::from_millis(50))).await;
            }
            Err(TapeError::Read(_) | TapeError::Append(_)) => return,
            Err(error) => {
                client.world.oracle().find(format!("{} follows {run} into {error:?}", client.name()));
                return;
            }
        }
    }
}

/// Returns what comes next, with the mistakes that a story makes on purpose.
async fn next(
    client: &Client,
    follower: &mut TapeFollower,
    once_more: &mut Option<TapeFollowEvent>,
) -> Result<Option<TapeFollowEvent>, TapeError> {
    if let Some(again) = once_more.take() {
        return Ok(Some(again));
    }
    let dice = client.dice();
    let mut followed = follower.next().await?;
    if client.world.mutates(Mutation::DropsLiveEntry) && dice.below(8) == 0 {
        followed = follower.next().await?;
    }
    if client.world.mutates(Mutation::RepeatsLiveEntry) && dice.below(8) == 0 {
        once_more.clone_from(&followed);
    }
    Ok(followed)
}

fn take(client: &Client, run: RunId, last: &mut TapeSeq, entry: &Arc<OrchestratorTapeRecord>) {
    let name = client.name();
    let mut oracle = client.world.oracle();
    if entry.tape_seq <= *last {
        oracle.find(format!("{name} sees entry {} of {run} a second time", entry.tape_seq.0));
    } else if entry.tape_seq != last.next() {
        oracle.find(format!("{name} sees a gap in {run}: {} comes after {}", entry.tape_seq.0, last.0));
    }
    *last = entry.tape_seq;
    oracle.shown(&name, entry);
    drop(oracle);
    let mut mind = client.mind();
    let seen = mind.seen.entry(run).or_default();
    if seen.len() + 1 == usize::try_from(entry.tape_seq.0).unwrap_or(0) {
        seen.push(Arc::clone(entry));
    }
}

/// A follower that came to the end has seen all there is.
fn over(client: &Client, run: RunId, last: TapeSeq) {
    let mut oracle = client.world.oracle();
    let Some(view) = oracle.run(run) else { return };
    let all = view.tape().len() == usize::try_from(last.0).unwrap_or(0);
    if !all || !view.state().is_terminal() {
        oracle.find(format!("{} is told that {run} is over after {}", client.name(), last.0));
    }
}
