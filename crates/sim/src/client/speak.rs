//! What a client asks of the daemon, and what it makes of the answers.

use palyra_runtime::RequestError;
use palyra_runtime::runs::InputRequest;
use palyra_runtime::session::{BranchRequest, ResetMode, SessionChange, SessionSelector, SubmitRequest};
use palyra_types::recall::RecallSwitch;
use palyra_types::run::{InputDelivery, UserInput};
use palyra_types::{Content, RunId, SessionId, TapeSeq};

use super::follow;
use super::open_input::{InputOutcome, InputRefusal, InputTarget, OpenInput, refusal};
use super::{Client, ConnectedClient, SESSIONS};
use crate::dice::ScenarioRandom;
use crate::fault::{Fault, Phase};
use crate::world::turns;

/// Attempts after which a client gives a wish up that is refused.
const ATTEMPTS_MAX: u32 = 4;
/// Turns that a client waits before it is gone, at most.
pub(super) const PATIENCE_TURNS_MAX: u64 = 60;

/// Takes an input out that waits to be said again.
pub(super) fn take_unanswered(client: &Client, dice: &ScenarioRandom) -> Option<OpenInput> {
    let mut mind = client.mind();
    let idle = mind.acts_left == 0;
    // What has no key is said once.
    let keyed: Vec<usize> = mind
        .unanswered
        .iter()
        .enumerate()
        .filter(|(_, open_input)| open_input.is_keyed())
        .map(|(at, _)| at)
        .collect();
    if keyed.is_empty() || (!idle && dice.below(2) == 0) {
        return None;
    }
    Some(mind.unanswered.remove(keyed[dice.index(keyed.len())]))
}

/// Does one of the things that clients do.
pub(super) async fn act(connected: &ConnectedClient) {
    let dice = connected.client.dice();
    match dice.below(100) {
        0..=43 => {
            let open_input =
                new_input(connected, &dice, InputTarget::Session(dice.below(sessions(connected))));
            say(connected, open_input).await;
        }
        44..=61 => {
            let Some(run) = some_run(connected, &dice) else { return };
            let open_input = new_input(connected, &dice, InputTarget::Run(run));
            say(connected, open_input).await;
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

fn new_input(connected: &ConnectedClient, dice: &ScenarioRandom, to: InputTarget) -> OpenInput {
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
    // One of a few names material: a file, a file once more, and a folder, for which there is no tool.
    let references = if number % 5 == 3 { " @file:notes @file:notes @folder:." } else { "" };
    OpenInput {
        text: format!("{name} says {number}.{}{references}", filler(connected, dice)),
        key,
        to,
        delivery,
        open: InputOutcome::Refused,
        attempts: 0,
    }
}

/// Returns how many sessions there are: one where it has to outgrow a window.
fn sessions(connected: &ConnectedClient) -> u64 {
    if connected.client.world.features().has_small_window { 1 } else { SESSIONS }
}

/// Returns plain words where the window of the models is small, so that sessions fill it.
fn filler(connected: &ConnectedClient, dice: &ScenarioRandom) -> String {
    let has_small_window = connected.client.world.features().has_small_window;
    let words = if has_small_window { 10 + dice.index(60) } else { 0 };
    " Plain words.".repeat(words)
}

/// Answers a run that waits for a person.
pub(super) async fn answer(connected: &ConnectedClient, run: RunId) {
    let dice = connected.client.dice();
    let open_input =
        OpenInput { delivery: InputDelivery::Queue, ..new_input(connected, &dice, InputTarget::Run(run)) };
    say(connected, open_input).await;
}

/// Picks a run, rather one that is not over.
pub(super) fn some_run(connected: &ConnectedClient, dice: &ScenarioRandom) -> Option<RunId> {
    let oracle = connected.client.world.oracle();
    let open = oracle.open_runs_of(connected.client.principal());
    if !open.is_empty() && dice.below(5) > 0 {
        return Some(open[dice.index(open.len())]);
    }
    let all = oracle.runs_of(connected.client.principal());
    (!all.is_empty()).then(|| all[dice.index(all.len())])
}

/// Says something; a keyed input that got no answer is kept to be said again.
pub(super) async fn say(connected: &ConnectedClient, mut open_input: OpenInput) {
    let client = &connected.client;
    let dice = client.dice();
    let phase = phase_of(client, open_input.to);
    if open_input.attempts > 0 {
        client.mind().repeated.insert(open_input.text.clone());
        client.world.struck(Fault::Repeat, phase);
    } else if open_input.delivery != InputDelivery::Queue {
        let fault = if open_input.delivery == InputDelivery::Steer { Fault::Steer } else { Fault::Interrupt };
        client.world.struck(fault, phase);
    }
    open_input.attempts += 1;
    client.world.note(format_args!(
        "> {} `{}` {:?} {:?}",
        client.name(),
        open_input.text,
        open_input.to,
        open_input.delivery
    ));
    // Until there is an answer it counts as unanswered, whatever becomes of this task.
    let in_flight = OpenInput { open: InputOutcome::Open, ..open_input.clone() };
    client.mind().unanswered.push(in_flight);
    let patience = client.world.strikes(Fault::CallerGone, phase).then(|| dice.below(PATIENCE_TURNS_MAX));
    let answer = tokio::select! {
        biased;
        answer = ask(connected, &open_input) => Some(answer),
        () = leave_after(patience) => None,
    };
    client.mind().unanswered.retain(|kept| kept.text != open_input.text);
    if client.mind().repeated.contains(&open_input.text) {
        // What another attempt came to is not known here.
        open_input.now_open();
    }
    client.world.note(format_args!("< {} `{}` {answer:?}", client.name(), open_input.text));
    let again = note_reply(client, &mut open_input, answer, &dice);
    if again && open_input.is_keyed() {
        client.mind().unanswered.push(open_input);
    }
}

/// Where the thing stands that an input is said to.
fn phase_of(client: &Client, to: InputTarget) -> Phase {
    let oracle = client.world.oracle();
    match to {
        InputTarget::Run(run) => oracle.phase_of(run),
        InputTarget::Session(number) => oracle.phase_of_session(client.principal(), &key_of(number)),
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
fn note_reply(
    client: &Client,
    open_input: &mut OpenInput,
    answer: Option<Result<RunId, RequestError>>,
    dice: &ScenarioRandom,
) -> bool {
    let name = client.name();
    match answer {
        None => {
            open_input.now_open();
            true
        }
        Some(Ok(run)) => {
            client.world.oracle().acknowledged(&name, &open_input.text, run);
            open_input.now_open();
            // Now and then a client forgets that it was answered.
            dice.below(6) == 0 && open_input.attempts < ATTEMPTS_MAX && !client.world.is_calm()
        }
        Some(Err(error)) => match refusal(&error) {
            InputRefusal::Open => {
                open_input.now_open();
                true
            }
            InputRefusal::NotTaken => {
                let gives_up =
                    open_input.attempts >= ATTEMPTS_MAX || client.world.is_calm() || !open_input.is_keyed();
                if open_input.open == InputOutcome::Refused {
                    client.world.oracle().was_not_taken(&name, &open_input.text);
                    if gives_up {
                        client.world.oracle().was_refused(&open_input.text);
                    }
                }
                !gives_up
            }
            InputRefusal::Unexplained => {
                client.world.oracle().find(format!("{name} is told {error:?}, which nothing explains"));
                false
            }
        },
    }
}

async fn ask(connected: &ConnectedClient, open_input: &OpenInput) -> Result<RunId, RequestError> {
    let gateway = &connected.gateway;
    let follows = connected.client.dice().below(3) == 0;
    let key: Option<Content<String>> = open_input.key.clone().map(Content::new);
    match open_input.to {
        InputTarget::Session(number) => {
            let session = by_key(&key_of(number));
            let mut request = SubmitRequest::new(session, UserInput::text(open_input.text.as_str().into()));
            request.delivery = open_input.delivery;
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
        InputTarget::Run(run) => {
            let mut said = InputRequest::text(open_input.text.as_str().into());
            said.delivery = open_input.delivery;
            said.idempotency_key = key;
            Ok(gateway.runs.send_input(connected.caller, run, said).await?.run)
        }
    }
}

fn by_key(key: &str) -> SessionSelector {
    SessionSelector { key: Some(key.into()), ..SessionSelector::default() }
}

/// Asks a run to stop.
pub(super) async fn cancel(connected: &ConnectedClient, run: RunId) {
    let client = &connected.client;
    let phase = client.world.oracle().phase_of(run);
    client.world.struck(Fault::Cancel, phase);
    client.world.oracle().on_cancel_requested(run);
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
    if refusal(error) == InputRefusal::Unexplained {
        let what = format!("{} is told {error:?}, which nothing explains", client.name());
        client.world.oracle().find(what);
    }
}

/// Changes a session as a whole.
async fn change(connected: &ConnectedClient, dice: &ScenarioRandom) {
    let client = &connected.client;
    let Some(session) = some_session(connected, dice) else { return };
    let change = match dice.below(9) {
        0 => SessionChange::Archive,
        1..=4 => SessionChange::Restore,
        5 | 6 => SessionChange::Reset,
        7 => SessionChange::SetRecall(Some(RecallSwitch::Off)),
        _ => SessionChange::Rename(Some("title".into())),
    };
    client.world.note(format_args!("> {} {session} {change:?}", client.name()));
    let outcome = if dice.below(12) == 0 {
        // Its runs are told to stop as well.
        let runs: Vec<RunId> = client.world.oracle().open_runs();
        runs.into_iter().for_each(|run| client.world.oracle().on_cancel_requested(run));
        connected.gateway.sessions.clean_up(connected.caller, session).await.map(drop)
    } else {
        connected.gateway.sessions.change(connected.caller, session, change).await.map(drop)
    };
    client.world.note(format_args!("< {} {session} {outcome:?}", client.name()));
    if let Err(error) = outcome {
        explain(client, &error);
    }
}

pub(super) fn some_session(connected: &ConnectedClient, dice: &ScenarioRandom) -> Option<SessionId> {
    let oracle = connected.client.world.oracle();
    let sessions: Vec<SessionId> = oracle.sessions_of(connected.client.principal()).collect();
    (!sessions.is_empty()).then(|| sessions[dice.index(sessions.len())])
}

/// Opens a session that goes on from a place in a run.
async fn branch(connected: &ConnectedClient, dice: &ScenarioRandom) {
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
        BranchRequest { run, tape_seq },
    );
    let outcome = branching.await.map(drop);
    client.world.note(format_args!("< {} branches off {run}: {outcome:?}", client.name()));
    match outcome {
        Ok(()) => {
            let open_input =
                new_input(connected, dice, InputTarget::Session(dice.below(sessions(connected))));
            say_in(connected, selector, &open_input).await;
        }
        Err(error) => explain(client, &error),
    }
}

/// Says something once, in a session of its own.
async fn say_in(connected: &ConnectedClient, session: SessionSelector, open_input: &OpenInput) {
    let request = SubmitRequest::new(session, UserInput::text(open_input.text.as_str().into()));
    let answer = connected.gateway.sessions.submit(connected.caller, request).await;
    match answer {
        Ok(submitted) => {
            let name = connected.client.name();
            connected.client.world.oracle().acknowledged(&name, &open_input.text, submitted.run);
        }
        Err(error) => explain(&connected.client, &error),
    }
}

/// Finds or opens a session, and may start it afresh.
async fn resolve(connected: &ConnectedClient, dice: &ScenarioRandom) {
    let mut selector = by_key(&key_of(dice.below(sessions(connected))));
    if dice.below(3) == 0 {
        selector.reset = ResetMode::Reset;
    }
    let outcome = connected.gateway.sessions.resolve(connected.caller, selector, None).await;
    if let Err(error) = outcome {
        explain(&connected.client, &error);
    }
}
