//! What a client asks of the daemon, and what it makes of the answers.

use palyra_runtime::RequestError;
use palyra_runtime::runs::InputRequest;
use palyra_runtime::session::{BranchWish, ResetWish, SessionChange, SessionSelector, SubmitRequest};
use palyra_types::run::{InputDelivery, UserInput};
use palyra_types::{Redacted, RunId, SessionId, TapeSeq};

use super::follow;
use super::wish::{Addressee, Outcome, Refusal, Wish, refusal};
use super::{Client, Connected, SESSIONS};
use crate::dice::Dice;
use crate::fault::{Fault, Phase};
use crate::world::turns;

/// Attempts after which a client gives a wish up that is refused.
const ATTEMPTS_MAX: u32 = 4;
/// Turns that a client waits before it is gone, at most.
pub(super) const PATIENCE_TURNS_MAX: u64 = 60;

/// Takes an input out that waits to be said again.
pub(super) fn take_unanswered(client: &Client, dice: &Dice) -> Option<Wish> {
    let mut mind = client.mind();
    let idle = mind.acts_left == 0;
    // What has no key is said once.
    let keyed: Vec<usize> =
        mind.unanswered.iter().enumerate().filter(|(_, wish)| wish.is_keyed()).map(|(at, _)| at).collect();
    if keyed.is_empty() || (!idle && dice.below(2) == 0) {
        return None;
    }
    Some(mind.unanswered.remove(keyed[dice.index(keyed.len())]))
}

/// Does one of the things that clients do.
pub(super) async fn act(connected: &Connected) {
    let dice = connected.client.dice();
    match dice.below(100) {
        0..=43 => {
            let wish = new_wish(connected, &dice, Addressee::Session(dice.below(SESSIONS)));
            say(connected, wish).await;
        }
        44..=61 => {
            let Some(run) = some_run(connected, &dice) else { return };
            let wish = new_wish(connected, &dice, Addressee::Run(run));
            say(connected, wish).await;
        }
        62..=81 => {
            if let Some(run) = some_run(connected, &dice) {
                cancel(connected, run).await;
            }
        }
        82..=93 => change(connected, &dice).await,
        94 | 95 => branch(connected, &dice).await,
        _ => resolve(connected, &dice).await,
    }
}

fn new_wish(connected: &Connected, dice: &Dice, to: Addressee) -> Wish {
    let (name, number) = {
        let mut mind = connected.client.mind();
        mind.said += 1;
        (mind.name.clone(), mind.said)
    };
    let delivery = match dice.below(10) {
        0..=4 => InputDelivery::Queue,
        5..=7 => InputDelivery::Steer,
        _ => InputDelivery::Interrupt,
    };
    let key = (dice.below(4) > 0).then(|| format!("{name} {number}"));
    Wish { text: format!("{name} says {number}"), key, to, delivery, open: Outcome::Refused, attempts: 0 }
}

/// Answers a run that waits for a person.
pub(super) async fn answer(connected: &Connected, run: RunId) {
    let dice = connected.client.dice();
    let wish = Wish { delivery: InputDelivery::Queue, ..new_wish(connected, &dice, Addressee::Run(run)) };
    say(connected, wish).await;
}

/// Picks a run, rather one that is not over.
fn some_run(connected: &Connected, dice: &Dice) -> Option<RunId> {
    let oracle = connected.client.world.oracle();
    let open = oracle.open_runs();
    if !open.is_empty() && dice.below(5) > 0 {
        return Some(open[dice.index(open.len())]);
    }
    let all: Vec<RunId> = oracle.runs().map(|(run, _)| run).collect();
    (!all.is_empty()).then(|| all[dice.index(all.len())])
}

/// Says something; a keyed input that got no answer is kept to be said again.
pub(super) async fn say(connected: &Connected, mut wish: Wish) {
    let client = &connected.client;
    let dice = client.dice();
    let phase = phase_of(client, wish.to);
    if wish.attempts > 0 {
        client.mind().repeated.insert(wish.text.clone());
        client.world.struck(Fault::Repeat, phase);
    } else if wish.delivery != InputDelivery::Queue {
        let fault = if wish.delivery == InputDelivery::Steer { Fault::Steer } else { Fault::Interrupt };
        client.world.struck(fault, phase);
    }
    wish.attempts += 1;
    client.world.note(format_args!("> {} `{}` {:?} {:?}", client.name(), wish.text, wish.to, wish.delivery));
    // Until there is an answer it counts as unanswered, whatever becomes of this task.
    let in_flight = Wish { open: Outcome::Open, ..wish.clone() };
    client.mind().unanswered.push(in_flight);
    let patience = client.world.strikes(Fault::CallerGone, phase).then(|| dice.below(PATIENCE_TURNS_MAX));
    let answer = tokio::select! {
        biased;
        answer = ask(connected, &wish) => Some(answer),
        () = leave_after(patience) => None,
    };
    client.mind().unanswered.retain(|kept| kept.text != wish.text);
    if client.mind().repeated.contains(&wish.text) {
        // What another attempt came to is not known here.
        wish.now_open();
    }
    client.world.note(format_args!("< {} `{}` {answer:?}", client.name(), wish.text));
    let again = heed(client, &mut wish, answer, &dice);
    if again && wish.is_keyed() {
        client.mind().unanswered.push(wish);
    }
}

/// Where the thing stands that an input is said to.
fn phase_of(client: &Client, to: Addressee) -> Phase {
    let oracle = client.world.oracle();
    match to {
        Addressee::Run(run) => oracle.phase_of(run),
        Addressee::Session(number) => oracle.phase_of_session(&key_of(number)),
    }
}

fn key_of(session: u64) -> String {
    format!("s{session}")
}

pub(super) async fn leave_after(patience: Option<u64>) {
    match patience {
        Some(count) => turns(count).await,
        None => std::future::pending().await,
    }
}

/// Returns whether to say it again.
fn heed(client: &Client, wish: &mut Wish, answer: Option<Result<RunId, RequestError>>, dice: &Dice) -> bool {
    let name = client.name();
    match answer {
        None => {
            wish.now_open();
            true
        }
        Some(Ok(run)) => {
            client.world.oracle().acknowledged(&name, &wish.text, run);
            wish.now_open();
            // Now and then a client forgets that it was answered.
            dice.below(6) == 0 && wish.attempts < ATTEMPTS_MAX && !client.world.is_calm()
        }
        Some(Err(error)) => match refusal(&error) {
            Refusal::Open => {
                wish.now_open();
                true
            }
            Refusal::NotTaken => {
                let gives_up = wish.attempts >= ATTEMPTS_MAX || client.world.is_calm() || !wish.is_keyed();
                if wish.open == Outcome::Refused {
                    client.world.oracle().was_not_taken(&name, &wish.text);
                    if gives_up {
                        client.world.oracle().was_refused(&wish.text);
                    }
                }
                !gives_up
            }
            Refusal::Unexplained => {
                client.world.oracle().find(format!("{name} is told {error:?}, which nothing explains"));
                false
            }
        },
    }
}

async fn ask(connected: &Connected, wish: &Wish) -> Result<RunId, RequestError> {
    let gateway = &connected.gateway;
    let follows = connected.client.dice().below(3) == 0;
    let key: Option<Redacted<String>> = wish.key.clone().map(Redacted::new);
    match wish.to {
        Addressee::Session(number) => {
            let session = by_key(&key_of(number));
            let mut request = SubmitRequest::new(session, UserInput::text(wish.text.as_str().into()));
            request.delivery = wish.delivery;
            request.idempotency_key = key;
            if follows {
                let (submitted, follower) =
                    gateway.sessions.submit_followed(connected.caller, request).await?;
                if let Some(follower) = follower {
                    let (client, run) = (connected.client.clone(), submitted.run);
                    tokio::spawn(async move { follow::from_the_first(&client, run, follower).await });
                }
                return Ok(submitted.run);
            }
            Ok(gateway.sessions.submit(connected.caller, request).await?.run)
        }
        Addressee::Run(run) => {
            let mut said = InputRequest::text(wish.text.as_str().into());
            said.delivery = wish.delivery;
            said.idempotency_key = key;
            Ok(gateway.runs.send_input(connected.caller, run, said).await?.run)
        }
    }
}

fn by_key(key: &str) -> SessionSelector {
    SessionSelector { key: Some(key.into()), ..SessionSelector::default() }
}

/// Asks a run to stop.
pub(super) async fn cancel(connected: &Connected, run: RunId) {
    let client = &connected.client;
    let phase = client.world.oracle().phase_of(run);
    client.world.struck(Fault::Cancel, phase);
    client.world.oracle().asked_to_stop(run);
    let patience =
        client.world.strikes(Fault::CallerGone, phase).then(|| client.dice().below(PATIENCE_TURNS_MAX));
    let answer = tokio::select! {
        biased;
        answer = connected.gateway.runs.cancel(connected.caller, run) => answer,
        () = leave_after(patience) => return,
    };
    client.world.note(format_args!("< {} cancel {run} {answer:?}", client.name()));
    match answer {
        Ok(_) => client.world.oracle().stop_acknowledged(&client.name(), run),
        Err(error) => explain(client, &error),
    }
}

/// Finds an error that no story explains.
pub(super) fn explain(client: &Client, error: &RequestError) {
    if refusal(error) == Refusal::Unexplained {
        let what = format!("{} is told {error:?}, which nothing explains", client.name());
        client.world.oracle().find(what);
    }
}

/// Changes a session as a whole.
async fn change(connected: &Connected, dice: &Dice) {
    let client = &connected.client;
    let Some(session) = some_session(connected, dice) else { return };
    let wish = match dice.below(8) {
        0 => SessionChange::Archive,
        1..=4 => SessionChange::Restore,
        5 | 6 => SessionChange::Reset,
        _ => SessionChange::Rename(Some("title".into())),
    };
    client.world.note(format_args!("> {} {session} {wish:?}", client.name()));
    let outcome = if dice.below(12) == 0 {
        // Its runs are told to stop as well.
        let runs: Vec<RunId> = client.world.oracle().open_runs();
        runs.into_iter().for_each(|run| client.world.oracle().asked_to_stop(run));
        connected.gateway.sessions.clean_up(connected.caller, session).await.map(drop)
    } else {
        connected.gateway.sessions.change(connected.caller, session, wish).await.map(drop)
    };
    client.world.note(format_args!("< {} {session} {outcome:?}", client.name()));
    if let Err(error) = outcome {
        explain(client, &error);
    }
}

fn some_session(connected: &Connected, dice: &Dice) -> Option<SessionId> {
    let oracle = connected.client.world.oracle();
    let sessions: Vec<SessionId> = oracle.sessions().collect();
    (!sessions.is_empty()).then(|| sessions[dice.index(sessions.len())])
}

/// Opens a session that goes on from a place in a run.
async fn branch(connected: &Connected, dice: &Dice) {
    let client = &connected.client;
    let Some(run) = some_run(connected, dice) else { return };
    let last = client.world.oracle().run(run).map_or(0, |view| view.tape().len());
    let tape_seq =
        (last > 0 && dice.below(2) == 0).then(|| TapeSeq(u32::try_from(1 + dice.index(last)).unwrap_or(1)));
    let selector = by_key(&format!("b{}", dice.below(100_000)));
    let branching = connected.gateway.sessions.branch(
        connected.caller,
        selector.clone(),
        None,
        BranchWish { run, tape_seq },
    );
    let outcome = branching.await.map(drop);
    client.world.note(format_args!("< {} branches off {run}: {outcome:?}", client.name()));
    match outcome {
        Ok(()) => {
            let wish = new_wish(connected, dice, Addressee::Session(dice.below(SESSIONS)));
            say_in(connected, selector, &wish).await;
        }
        Err(error) => explain(client, &error),
    }
}

/// Says something once, in a session of its own.
async fn say_in(connected: &Connected, session: SessionSelector, wish: &Wish) {
    let request = SubmitRequest::new(session, UserInput::text(wish.text.as_str().into()));
    let answer = connected.gateway.sessions.submit(connected.caller, request).await;
    match answer {
        Ok(submitted) => {
            let name = connected.client.name();
            connected.client.world.oracle().acknowledged(&name, &wish.text, submitted.run);
        }
        Err(error) => explain(&connected.client, &error),
    }
}

/// Finds or opens a session, and may start it afresh.
async fn resolve(connected: &Connected, dice: &Dice) {
    let mut selector = by_key(&key_of(dice.below(SESSIONS)));
    if dice.below(3) == 0 {
        selector.reset = ResetWish::Reset;
    }
    let outcome = connected.gateway.sessions.resolve(connected.caller, selector, None).await;
    if let Err(error) = outcome {
        explain(&connected.client, &error);
    }
}
