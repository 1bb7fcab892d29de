//! Following a run while the daemon dies, comes back, lies, or refuses.

use std::path::Path;
use std::time::Duration;

use palyra_client::{Client, ClientError, FollowEvent, RunFollower};
use palyra_types::ErrorCode;
use palyra_wire::v1;
use tonic::Status;

use crate::scripted_daemon::{
    STREAMS_MAX, Script, ScriptedDaemon, ScriptedRequest, Step, caught_up, end, entry, opened, options,
    own_build, refusal, run_id,
};

async fn client(state: &Path, script: &Script) -> (Client, ScriptedDaemon) {
    let (options, _notices) = options(state);
    let daemon = ScriptedDaemon::serve(state, script, &own_build(&options));
    (Client::connect(options).await.unwrap(), daemon)
}

fn start(client: &Client) -> RunFollower {
    RunFollower::start(client, v1::StartRunRequest { input: "hello".to_owned(), ..Default::default() })
}

/// Tells an event in a word, entries by number.
fn told(event: &FollowEvent) -> String {
    match event {
        FollowEvent::Opened(_) => "opened".to_owned(),
        FollowEvent::Entry(entry) => entry.tape_seq.to_string(),
        FollowEvent::CaughtUp => "caught_up".to_owned(),
        FollowEvent::Lost => "lost".to_owned(),
        FollowEvent::Reattached => "reattached".to_owned(),
        FollowEvent::CancelTaken => "cancelling".to_owned(),
        FollowEvent::InputAccepted(_) => "input".to_owned(),
        FollowEvent::Ended(_) => "ended".to_owned(),
    }
}

/// Follows to the end, or to the first error.
async fn follow(follower: &mut RunFollower) -> (String, Option<ClientError>) {
    let mut words = Vec::new();
    loop {
        match tokio::time::timeout(Duration::from_secs(30), follower.next()).await.expect("something happens")
        {
            Ok(Some(event)) => words.push(told(&event)),
            Ok(None) => return (words.join(" "), None),
            Err(error) => return (words.join(" "), Some(error)),
        }
    }
}

async fn check(streams: Vec<Vec<Step>>, expect: &str) -> Option<ClientError> {
    let state = tempfile::tempdir().unwrap();
    let (script, _asked) = Script::new(streams);
    let (client, _daemon) = client(state.path(), &script).await;
    let (words, error) = follow(&mut start(&client)).await;
    assert_eq!(words, expect);
    error
}

#[tokio::test]
async fn a_whole_tape_is_yielded_to_its_end() {
    let stream = vec![opened(), entry(1), caught_up(1), entry(2), entry(3), end(3)];
    assert!(check(vec![stream], "opened 1 caught_up 2 3 ended").await.is_none());
}

#[tokio::test]
async fn a_daemon_that_dies_and_comes_back_costs_no_entry() {
    let state = tempfile::tempdir().unwrap();
    let (script, mut asked) = Script::new(vec![
        vec![opened(), entry(1), entry(2), Step::Hold],
        vec![opened(), entry(3), caught_up(3), entry(4), end(4)],
    ]);
    let (client, daemon) = client(state.path(), &script).await;
    let mut follower = start(&client);
    for expect in ["opened", "1", "2"] {
        assert_eq!(told(&follower.next().await.unwrap().unwrap()), expect);
    }
    daemon.kill();
    assert_eq!(follower.next().await.unwrap(), Some(FollowEvent::Lost));
    let (script_build, _) = options(state.path());
    let _again = ScriptedDaemon::serve(state.path(), &script, &own_build(&script_build));
    let (words, error) = follow(&mut follower).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(words, "reattached 3 caught_up 4 ended");
    assert!(matches!(asked.recv().await, Some(ScriptedRequest::Start(_))));
    assert_eq!(asked.recv().await, Some(ScriptedRequest::Attach(2)));
    assert!(client.status().await.is_ok(), "clones of the client got the new connection");
}

#[tokio::test]
async fn streams_that_are_left_make_room_for_others() {
    let state = tempfile::tempdir().unwrap();
    let streams = 3 * STREAMS_MAX as usize;
    let (script, _asked) = Script::new((0..streams).map(|_| vec![opened(), Step::Hold]).collect());
    let (client, _daemon) = client(state.path(), &script).await;
    for _ in 0..streams {
        let mut follower = start(&client);
        // A stream for which there is no room waits for half a minute, until it counts as lost.
        let first = tokio::time::timeout(Duration::from_secs(15), follower.next()).await;
        let first = first.expect("there is room").expect("no error");
        assert_eq!(first.as_ref().map(told).as_deref(), Some("opened"));
    }
}

#[tokio::test]
async fn a_start_whose_answer_is_lost_is_repeated_with_its_key() {
    let state = tempfile::tempdir().unwrap();
    let (script, mut asked) = Script::new(vec![
        vec![Step::Fail(Status::unavailable("gone"))],
        vec![],
        vec![opened(), entry(1), end(1)],
    ]);
    let (client, _daemon) = client(state.path(), &script).await;
    let (words, error) = follow(&mut start(&client)).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(words, "lost opened 1 ended");
    let (first, second, third) = (asked.recv().await, asked.recv().await, asked.recv().await);
    assert!(matches!(&first, Some(ScriptedRequest::Start(key)) if key.len() == 32), "{first:?}");
    assert!(first == second && second == third);
}

#[tokio::test]
async fn a_daemon_that_is_shutting_down_counts_as_lost() {
    let streams =
        vec![vec![opened(), entry(1), Step::Fail(refusal("PLY-1407"))], vec![opened(), entry(2), end(2)]];
    assert!(check(streams, "opened 1 lost reattached 2 ended").await.is_none());
}

#[tokio::test]
async fn a_gap_a_repetition_and_a_short_end_are_errors() {
    for (stream, expect, fault) in [
        (vec![opened(), entry(1), entry(3)], "opened 1", (2, 3)),
        (vec![opened(), entry(1), entry(1)], "opened 1", (2, 1)),
        (vec![opened(), entry(1), end(2)], "opened 1", (1, 2)),
    ] {
        let error = check(vec![stream], expect).await.unwrap();
        assert!(
            matches!(error, ClientError::TapeOrder { expected, got, .. } if (expected, got) == fault),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn entries_of_before_the_loss_are_not_taken_twice() {
    let streams = vec![
        vec![opened(), entry(1), entry(2), Step::Fail(Status::unavailable("gone"))],
        vec![opened(), entry(2), end(2)],
    ];
    let error = check(streams, "opened 1 2 lost reattached").await.unwrap();
    assert!(matches!(error, ClientError::TapeOrder { expected: 3, got: 2, .. }), "{error:?}");
}

#[tokio::test]
async fn a_refusal_ends_the_following_with_its_code() {
    let error = check(vec![vec![Step::Fail(refusal("PLY-1103"))]], "").await.unwrap();
    assert_eq!(error.code(), ErrorCode::RunNotFound);
}

#[tokio::test]
async fn a_daemon_that_stays_away_is_given_up() {
    let state = tempfile::tempdir().unwrap();
    let (script, _asked) = Script::new(vec![vec![opened(), entry(1), Step::Hold]]);
    let (mut options, _notices) = options(state.path());
    options.reattach_within = Duration::from_millis(200);
    let daemon = ScriptedDaemon::serve(state.path(), &script, &own_build(&options));
    let client = Client::connect(options).await.unwrap();
    let mut follower = start(&client);
    for expect in ["opened", "1"] {
        assert_eq!(told(&follower.next().await.unwrap().unwrap()), expect);
    }
    daemon.kill();
    let (words, error) = follow(&mut follower).await;
    assert_eq!(words, "lost");
    assert!(matches!(error, Some(ClientError::GaveUp { .. })), "{error:?}");
    assert_eq!((follower.run(), follower.last_tape_seq()), (Some(run_id()), 1));
}

#[tokio::test]
async fn wishes_are_sent_again_on_the_next_connection() {
    let state = tempfile::tempdir().unwrap();
    let (script, mut asked) =
        Script::new(vec![vec![opened(), entry(1), Step::Hold], vec![opened(), caught_up(1), Step::Hold]]);
    *script.cancels_lost.lock().unwrap() = 1;
    let (client, _daemon) = client(state.path(), &script).await;
    let mut follower = start(&client);
    // Asked for before the run has a name.
    follower.request_cancel();
    follower.send_input("go on".to_owned()).unwrap();
    let mut words = Vec::new();
    while words.last().is_none_or(|last| last != "input") {
        words.push(told(&follower.next().await.unwrap().unwrap()));
    }
    let wishes: Vec<_> =
        words.iter().filter(|word| ["lost", "cancelling", "input"].contains(&word.as_str())).collect();
    assert_eq!(wishes, ["lost", "cancelling", "input"], "{words:?}");
    let mut heard = Vec::new();
    while let Ok(one) = asked.try_recv() {
        heard.push(one);
    }
    assert!(matches!(heard[0], ScriptedRequest::Start(_)));
    assert_eq!(
        heard[2..],
        [ScriptedRequest::Cancel, ScriptedRequest::Input("go on".to_owned())],
        "{heard:?}"
    );
}

#[tokio::test]
async fn a_file_comes_whole_or_not_at_all() {
    let state = tempfile::tempdir().unwrap();
    let (script, _asked) = Script::new(Vec::new());
    let (client, _daemon) = client(state.path(), &script).await;
    let (info, content) = client.read_attachment(run_id(), 1, 0).await.unwrap();
    assert_eq!((info.name.as_str(), content.as_slice()), ("a.txt", b"hello".as_slice()));
    for (index, what) in [(1, "did not come whole"), (2, "was not described")] {
        let error = client.read_attachment(run_id(), 1, index).await.unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}
