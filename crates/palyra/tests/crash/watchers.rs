//! Three clients that follow a run through every restart, and one that kills.

use std::time::Duration;

use palyra_client::{FollowEvent, RunFollower};
use palyra_types::RunId;
use palyra_wire::v1::{StartRunRequest, StreamEnd, TapeEntry};

use crate::kills::{Phase, Tally};
use crate::scene::Scene;

/// Twelve steps, slowed so that each can be caught.
const INPUT: &str = "[pace=15] read README.md then search for \"needle\" in tree then list . then read README.md \
    then search for \"needle 3\" in tree then list tree then find *.md then search for \"fox\" in tree/7 then read \
    tree/0/1.txt then search for \"needle 5\" in tree then list tree/3 then read tree/1/7.txt";

/// What three clients saw of one run.
pub(crate) struct WatchedRun {
    pub(crate) run: RunId,
    pub(crate) seen: Vec<Vec<TapeEntry>>,
    pub(crate) ends: Vec<StreamEnd>,
}

/// Starts a run, lets two more clients attach, and kills the daemon as the tally says.
pub(crate) async fn watch_one_run(scene: &Scene, tally: &mut Tally, number: usize) -> WatchedRun {
    tally.new_run();
    let client = scene.client().await;
    let key = format!("crash-{number}");
    let start = StartRunRequest {
        input: INPUT.to_owned(),
        idempotency_key: key.clone(),
        workspace_root: scene.workspace().display().to_string(),
        ..StartRunRequest::default()
    };
    let mut first = RunFollower::start(&client, start);
    if number.is_multiple_of(2) || tally.of(Phase::BeforeFirstCommit) < 3 {
        // Nothing was sent yet: the follower speaks only when it is asked.
        tally.count(Phase::BeforeFirstCommit);
        let pause = Duration::from_micros(tally.random() % 2_000);
        let (killed, _) = tokio::join!(kill_after(scene, pause), opened(&mut first));
        serve_again(scene, tally, killed).await;
    }
    let run = opened(&mut first).await;
    let others = (0..2).map(|_| {
        let follower = RunFollower::attach(&client, run, 0);
        tokio::spawn(to_the_end(follower))
    });
    let others: Vec<_> = others.collect();
    let (mut seen, mut ends) = (vec![Vec::new()], Vec::new());
    while let Some(event) = first.next().await.expect("the first client's tape") {
        match event {
            FollowEvent::Entry(entry) => {
                let kill = tally.look(&entry);
                seen[0].push(*entry);
                if let Some((_, pause)) = kill {
                    let killed = kill_after(scene, pause).await;
                    serve_again(scene, tally, killed).await;
                }
            }
            FollowEvent::Ended(end) => ends.push(end),
            _ => {}
        }
    }
    for other in others {
        let (entries, end) = other.await.expect("another client");
        seen.push(entries);
        ends.push(end);
    }
    WatchedRun { run, seen, ends }
}

async fn kill_after(scene: &Scene, pause: Duration) -> rustix::process::Pid {
    // The moment is random on purpose: this pause is the fault's, not a wait for something.
    tokio::time::sleep(pause).await;
    scene.kill().expect("a daemon to kill")
}

async fn serve_again(scene: &Scene, tally: &mut Tally, killed: rustix::process::Pid) {
    tally.was_gone_for(scene.back(killed).await);
}

/// Waits until the follower knows its run.
async fn opened(follower: &mut RunFollower) -> RunId {
    loop {
        if let Some(run) = follower.run() {
            return run;
        }
        follower.next().await.expect("a run").expect("a run that is open");
    }
}

async fn to_the_end(mut follower: RunFollower) -> (Vec<TapeEntry>, StreamEnd) {
    let mut entries = Vec::new();
    loop {
        match follower.next().await.expect("a tape") {
            Some(FollowEvent::Entry(entry)) => entries.push(*entry),
            Some(FollowEvent::Ended(end)) => return (entries, end),
            Some(_) => {}
            None => unreachable!("a follower ends with its end"),
        }
    }
}
