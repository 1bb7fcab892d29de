//! Ctrl-C: once cancels, twice leaves.

use std::io::BufReader;
use std::process::{Child, ChildStdout};

use palyra_client::FollowEvent;
use palyra_model_server::{Behaviour, Reply};
use rustix::process::{Signal, kill_process};

use crate::home::{Home, ended, read_until, signal};
use crate::openai_server::{home_with, runtime, serve};

/// Waits until the answer begins; its reader stays. Only JSON tells so before it is complete.
fn after_the_first_text(child: &mut Child) -> BufReader<ChildStdout> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    read_until(&mut out, "\"model_text\"");
    out
}

#[test]
fn the_first_ctrl_c_cancels_the_run() {
    let home = Home::new();
    let mut child = home.command(&["run", "--json", "[pace=1000] what can you do"]).spawn().unwrap();
    let _out = after_the_first_text(&mut child);
    signal(&child, Signal::INT);
    let ended = ended(child).expect(130);
    assert!(ended.err.contains("· cancelling the run"), "{}", ended.err);
    let run = &home.palyra(&["runs", "show", "last", "--json"]).expect(0).json()[0];
    assert_eq!(run["state"], "RUN_STATE_CANCELLED");
}

#[test]
fn the_second_ctrl_c_leaves_even_when_the_daemon_is_stuck() {
    let home = Home::new();
    let mut child = home.command(&["run", "--json", "[pace=1000] what can you do"]).spawn().unwrap();
    let _out = after_the_first_text(&mut child);
    let daemon = home.daemon_pid();
    kill_process(daemon, Signal::STOP).unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    signal(&child, Signal::INT);
    read_until(&mut err, "cancelling the run");
    signal(&child, Signal::INT);
    let parting = read_until(&mut err, "left; ");
    assert!(parting.contains("`palyra runs tail "), "{parting}");
    assert_eq!(ended(child).code, 130);
    kill_process(daemon, Signal::CONT).unwrap();
}

#[test]
fn a_cancel_is_seen_while_the_model_says_nothing() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::silent()));
    let home = home_with(&server);
    let child = home.command(&["run", "hello"]).spawn().unwrap();
    runtime.block_on(server.wait_until(|counts| counts.requests >= 1));
    signal(&child, Signal::INT);
    ended(child).expect(130);
    runtime.block_on(server.wait_until(|counts| counts.aborted >= 1));
}

#[test]
fn a_run_can_be_cancelled_from_elsewhere() {
    let home = Home::new();
    let mut child = home.command(&["run", "--json", "[pace=1000] what can you do"]).spawn().unwrap();
    let _out = after_the_first_text(&mut child);
    home.palyra(&["runs", "cancel", "last"]).expect(0);
    ended(child).expect(130);
    let again = home.palyra(&["runs", "cancel", "last"]).expect(0);
    assert!(again.err.contains("the run had finished already: cancelled"), "{}", again.err);
    let runtime = runtime();
    runtime.block_on(async {
        let client = home.client().await;
        let runs = client.call(palyra_wire::v1::ListRunsRequest::default()).await.unwrap().runs;
        let run = runs[0].run_id.parse().unwrap();
        let mut follower = palyra_client::RunFollower::attach(&client, run, runs[0].last_tape_seq);
        let mut last = None;
        while let Some(event) = follower.next().await.unwrap() {
            last = Some(event);
        }
        assert!(matches!(last, Some(FollowEvent::Ended(_))), "a finished run ends its stream at once");
    });
}
