//! How clients live for weeks: some hours of work, then a break of up to two days and a half, in which questions wait.
//!
//! The client shows what waits all the time, as an open console does, so a person who may decide is reachable.

use std::time::Duration;

use palyra_runtime::GatewayRuntimeState;
use palyra_scheduler::{DraftAction, DraftTimes, ScheduleDraft};
use palyra_types::Content;
use palyra_types::schedule::{MissedRule, OverlapRule, ScheduleRules};

use super::{Client, ConnectedClient, act, decide, follow, settle, sleep, speak};

/// Things done between two breaks, at most.
const STRETCH_ACTS_MAX: u64 = 24;
/// The time between two of them, at most.
const PAUSE_MAX: Duration = Duration::from_secs(10 * 60);
/// How long a break is, at most.
const BREAK_MAX: Duration = Duration::from_secs(60 * 60 * 60);
/// When the schedules of a person are due: each two hours, on weekdays at eight, and a reminder each day.
const CRON_LINES: [&str; 3] = ["17 */2 * * *", "0 8 * * 1-5", "30 12 * * *"];

/// Lets a client work and rest until the daemon ends.
pub(crate) async fn live(client: Client, gateway: GatewayRuntimeState) {
    let caller = client.caller(&gateway);
    let shows_what_waits = gateway.admin.access.count_stream(caller);
    let connected = ConnectedClient { client, gateway, caller };
    if !connected.client.is_stranger() {
        make_schedules(&connected).await;
    }
    loop {
        let dice = connected.client.dice();
        for _ in 0..dice.below(STRETCH_ACTS_MAX) {
            sleep(&connected.client, dice.span(PAUSE_MAX)).await;
            do_something(&connected).await;
        }
        sleep(&connected.client, dice.span(BREAK_MAX)).await;
        if shows_what_waits.is_none() && !connected.client.is_stranger() {
            connected.client.world.oracle().find("an owner is not counted as reachable".to_owned());
        }
    }
}

async fn do_something(connected: &ConnectedClient) {
    let client = &connected.client;
    let dice = client.dice();
    if let Some(open_input) = speak::take_unanswered(client, &dice) {
        return speak::say(connected, open_input).await;
    }
    match dice.below(6) {
        0 => follow::look(connected),
        1 | 2 => decide::decide_something(connected).await,
        3 => drop(settle::settle_something(connected).await),
        _ => act(connected).await,
    }
}

/// Makes the schedules of a person, in its first life.
async fn make_schedules(connected: &ConnectedClient) {
    let client = &connected.client;
    if std::mem::replace(&mut client.mind().has_schedules, true) {
        return;
    }
    for (at, line) in CRON_LINES.into_iter().enumerate() {
        let text = Content::new(format!("{} at {line}", client.name()));
        let action =
            if at == 2 { DraftAction::Remind(text) } else { DraftAction::Run { prompt: text, agent: None } };
        let draft = ScheduleDraft {
            name: None,
            times: DraftTimes::Cron(line.to_owned()),
            zone: Some("Europe/Berlin".to_owned()),
            rules: ScheduleRules {
                missed: MissedRule::RunOnce,
                overlap: OverlapRule::Queue,
                jitter_seconds: 0,
            },
            action,
        };
        let made = connected.gateway.schedules.create(connected.caller, draft).await;
        client.world.note(format_args!("> {} schedules {line}: {}", client.name(), made.is_ok()));
        if let Err(error) = made {
            client.world.oracle().find(format!("a schedule is refused: {error}"));
        }
    }
}
