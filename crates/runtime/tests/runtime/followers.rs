//! Following tapes: every entry after a number once, in order, from wherever one begins.

use std::sync::Arc;

use palyra_runtime::tape::{TapeError, TapeFollowEvent};
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script};
use palyra_types::TapeSeq;
use palyra_types::run::RunLifecycleState;
use palyra_types::tape::OrchestratorTapeRecord;

use crate::rig::{Rig, follow_to_end, settle, soon};

fn plain(entries: Vec<Arc<OrchestratorTapeRecord>>) -> Vec<OrchestratorTapeRecord> {
    entries.into_iter().map(|entry| (*entry).clone()).collect()
}

#[tokio::test]
async fn a_finished_tape_can_be_followed_from_every_number_and_ends() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().text("a").call(LOOK, "{}"));
    let run = rig.submit("k", "go").await.run;
    rig.finished(run).await;
    let tape = rig.tape(run).await;
    let last = u32::try_from(tape.len()).unwrap();
    for after in 0..=last {
        let mut follower = rig.follow(run, after).await;
        let (mut seen, mut caught_up) = (Vec::new(), 0);
        while let Some(followed) = soon("the next entry", follower.next()).await.unwrap() {
            match followed {
                TapeFollowEvent::Entry(entry) => seen.push(entry),
                TapeFollowEvent::CaughtUp(at) => {
                    assert_eq!(at, TapeSeq(last));
                    caught_up += 1;
                }
            }
        }
        assert_eq!((plain(seen), caught_up), (tape[after as usize..].to_vec(), 1), "after {after}");
        assert!(soon("still the end", follower.next()).await.unwrap().is_none());
    }
    let beyond = rig.gateway.tapes.follow(rig.me(), run, TapeSeq(last + 1)).await;
    assert!(matches!(beyond, Err(TapeError::AttachOutOfRange { last: at }) if at == last));
}

#[tokio::test]
async fn a_follower_from_the_middle_of_a_live_run_sees_the_rest_of_it() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("a").hold(&gate).text("b"));
    let run = rig.submit("k", "go").await.run;
    soon("the model pauses", gate.reached()).await;
    settle().await;
    let mut follower = rig.follow(run, 1).await;
    let mut numbers = Vec::new();
    while let Some(followed) = soon("the next entry", follower.next()).await.unwrap() {
        match followed {
            TapeFollowEvent::Entry(entry) => numbers.push(entry.tape_seq.0),
            TapeFollowEvent::CaughtUp(at) => {
                assert_eq!((at, numbers.as_slice()), (TapeSeq(3), &[2, 3][..]));
                gate.open();
            }
        }
    }
    assert_eq!(numbers, (2..=6).collect::<Vec<_>>());
    assert_eq!(rig.record(run).await.last_tape_seq, TapeSeq(6));
}

/// Ten thousand entries, while one follower looks at the first and then not again until all are there.
#[tokio::test]
async fn a_follower_that_falls_far_behind_misses_nothing() {
    let rig = Rig::start().await;
    rig.configure(|config| {
        config.limits.turns_max = 10_000;
        config.limits.tool_calls_max = 10_000;
    });
    let begin = Gate::closed();
    rig.model.push(Script::new().hold(&begin).call(LOOK, "{}"));
    for n in 0..200 {
        rig.model.push(Script::new().text("again").call(LOOK, &format!("{{\"n\":{n}}}")));
    }
    let run = rig.submit("k", "go").await.run;
    soon("the model is asked", begin.reached()).await;
    let mut slow = rig.follow(run, 0).await;
    for _ in 0..3 {
        soon("the first entries", slow.next()).await.unwrap();
    }
    // It is at the live end now, and stays there.
    assert!(futures::FutureExt::now_or_never(slow.next()).is_none());
    let quick = tokio::spawn(follow_to_end(rig.follow(run, 0).await));
    begin.open();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let tape = rig.tape(run).await;
    assert!(tape.len() > 1_000, "{} entries", tape.len());
    assert_eq!(plain(follow_to_end(slow).await), tape[2..]);
    assert_eq!(plain(soon("the quick follower's end", quick).await.unwrap()), tape);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_followers_that_come_and_go_see_the_same_tape() {
    let rig = Arc::new(Rig::start().await);
    rig.configure(|config| {
        config.limits.turns_max = 1_000;
        config.limits.tool_calls_max = 1_000;
    });
    for n in 0..100 {
        rig.model.push(Script::new().text("again").call(LOOK, &format!("{{\"n\":{n}}}")));
    }
    let run = rig.submit("k", "go").await.run;
    let followers = (1..=12_usize).map(|stride| {
        let rig = Arc::clone(&rig);
        tokio::spawn(async move {
            let mut seen: Vec<OrchestratorTapeRecord> = Vec::new();
            loop {
                let after = u32::try_from(seen.len()).unwrap();
                let mut follower = rig.follow(run, after).await;
                for _ in 0..stride {
                    match follower.next().await.unwrap() {
                        Some(TapeFollowEvent::Entry(entry)) => seen.push((*entry).clone()),
                        Some(TapeFollowEvent::CaughtUp(_)) => {}
                        None => return seen,
                    }
                }
                // Those that take one step at a time never get past the news that they caught up.
                if stride == 1 {
                    seen.extend(follow_to_end(follower).await.iter().map(|entry| (**entry).clone()));
                    return seen;
                }
            }
        })
    });
    let all = soon("all followers", futures::future::join_all(followers)).await;
    rig.finished(run).await;
    let tape = rig.tape(run).await;
    for seen in all {
        let seen = seen.unwrap();
        assert_eq!(seen.len(), tape.len());
        assert_eq!(seen, tape);
    }
}

#[tokio::test]
async fn a_read_that_fails_is_told_and_nothing_is_skipped_afterwards() {
    let rig = Rig::start().await;
    let run = rig.submit("k", "go").await.run;
    rig.finished(run).await;
    let mut follower = rig.follow(run, 0).await;
    rig.faults.fail_next_read(palyra_ports::ReadError::Busy);
    assert!(matches!(follower.next().await, Err(TapeError::Read(_))));
    assert_eq!(plain(follow_to_end(follower).await), rig.tape(run).await);
}

#[tokio::test]
async fn a_follower_of_a_queued_run_sees_it_begin() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    rig.submit("k", "first").await;
    let queued = rig.submit("k", "second").await.run;
    let following = tokio::spawn(follow_to_end(rig.follow(queued, 0).await));
    settle().await;
    gate.open();
    let seen = plain(soon("the follower's end", following).await.unwrap());
    assert_eq!(seen, rig.tape(queued).await);
}
