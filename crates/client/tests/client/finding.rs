//! Finding or starting the daemon, and what is said when that fails.

use std::path::Path;
use std::time::Duration;

use palyra_client::{Client, ClientError, ConnectOptions, DaemonNotice, StartPolicy};
use palyra_types::ErrorCode;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::scripted_daemon::{
    Script, ScriptedDaemon, ScriptedRequest, announce, options, own_build, program,
};

fn starting(state: &Path, script: &str) -> (ConnectOptions, UnboundedReceiver<DaemonNotice>) {
    let (mut options, notices) = options(state);
    options.start = StartPolicy::Allowed;
    options.program = program(state, script);
    (options, notices)
}

async fn failure(options: ConnectOptions) -> ClientError {
    match Client::connect(options).await {
        Ok(client) => panic!("connected to {}", client.endpoint()),
        Err(error) => error,
    }
}

fn ready_line(state: &Path) -> String {
    let socket = state.join("palyrad.sock");
    format!(
        r#"echo '{{"ready":true,"socket":"{}","pid":1,"build_id":"b","model":"demo"}}'"#,
        socket.display()
    )
}

#[tokio::test]
async fn a_serving_daemon_is_found_by_its_lock_file() {
    let state = tempfile::tempdir().unwrap();
    let (script, _asked) = Script::new(vec![]);
    let (options, mut notices) = options(state.path());
    let _daemon = ScriptedDaemon::serve(state.path(), &script, &own_build(&options));
    let client = Client::connect(options).await.unwrap();
    assert_eq!(client.status().await.unwrap().open_runs, 0);
    assert!(notices.try_recv().is_err());
}

#[tokio::test]
async fn where_none_serves_and_none_may_be_started_that_is_said() {
    let state = tempfile::tempdir().unwrap();
    let (options, _notices) = options(state.path());
    announce(state.path(), &state.path().join("stale.sock"), "old");
    let error = failure(options).await;
    assert!(matches!(error, ClientError::NotRunning { .. }), "{error:?}");
    assert_eq!((error.code(), error.is_unreachable()), (ErrorCode::DaemonUnreachable, true));
}

#[tokio::test]
async fn a_daemon_is_started_and_waited_for_by_its_ready_line() {
    let state = tempfile::tempdir().unwrap();
    let (script, _asked) = Script::new(vec![]);
    let _daemon = ScriptedDaemon::serve_unannounced(state.path(), &script);
    let arguments = format!("echo \"$@\" > {0}/arguments\nexec 2>/dev/null\n", state.path().display());
    let (options, mut notices) = starting(state.path(), &(arguments + &ready_line(state.path())));
    let client = Client::connect(options).await.unwrap();
    assert_eq!(client.status().await.unwrap().open_runs, 0);
    assert_eq!(notices.recv().await, Some(DaemonNotice::Starting { state_dir: state.path().to_owned() }));
    assert!(matches!(notices.recv().await, Some(DaemonNotice::Started { model, .. }) if model == "demo"));
    let said = std::fs::read_to_string(state.path().join("arguments")).unwrap();
    assert_eq!(said, format!("serve --auto-started --state-dir {}\n", state.path().display()));
}

#[tokio::test]
async fn a_daemon_that_denies_every_call_says_so_behind_its_start() {
    let state = tempfile::tempdir().unwrap();
    let (script, _asked) = Script::new(vec![]);
    let _daemon = ScriptedDaemon::serve_unannounced(state.path(), &script);
    let line = ready_line(state.path()).replace("\"pid\":1", "\"pid\":1,\"denies_all\":\"mine.cedar:2:24\"");
    let (options, mut notices) = starting(state.path(), &format!("exec 2>/dev/null\n{line}"));
    Client::connect(options).await.unwrap();
    notices.recv().await;
    assert!(matches!(notices.recv().await, Some(DaemonNotice::Started { .. })));
    let why = "mine.cedar:2:24".to_owned();
    assert_eq!(notices.recv().await, Some(DaemonNotice::DeniesAll { why }));
}

#[tokio::test]
async fn the_loser_of_a_race_connects_to_the_winner() {
    let state = tempfile::tempdir().unwrap();
    let (script, _asked) = Script::new(vec![]);
    let lost = r#"echo '{"ready":false,"code":"PLY-1402","message":"taken"}'; exit 1"#;
    let (options, mut notices) = starting(state.path(), lost);
    let build = own_build(&options);
    let connecting = tokio::spawn(Client::connect(options));
    assert!(matches!(notices.recv().await, Some(DaemonNotice::Starting { .. })));
    let _winner = ScriptedDaemon::serve(state.path(), &script, &build);
    let client = connecting.await.unwrap().unwrap();
    assert_eq!(client.status().await.unwrap().open_runs, 0);
}

#[tokio::test]
async fn a_daemon_that_says_why_it_does_not_start_is_quoted() {
    let state = tempfile::tempdir().unwrap();
    let said = r#"echo '{"ready":false,"code":"PLY-1301","message":"palyra.toml:3: unknown key"}'; exit 1"#;
    let (options, _notices) = starting(state.path(), said);
    let error = failure(options).await;
    assert_eq!(error.code(), ErrorCode::ConfigInvalid);
    assert!(error.is_unreachable());
    assert_eq!(error.to_string(), "the daemon did not start: palyra.toml:3: unknown key");
}

#[tokio::test]
async fn a_daemon_that_dies_without_a_word_leaves_its_last_lines() {
    let state = tempfile::tempdir().unwrap();
    let (options, _notices) = starting(state.path(), "echo first >&2; echo 'no such luck' >&2; exit 7");
    match failure(options).await {
        ClientError::StartFailed { code: ErrorCode::DaemonStartFailed, message, log } => {
            assert!(message.contains("exit status: 7"), "{message}");
            assert_eq!(log.lines, ["first", "no such luck"]);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_daemon_that_never_gets_ready_is_not_waited_for_for_ever() {
    let state = tempfile::tempdir().unwrap();
    let log = state.path().join("log");
    std::fs::create_dir(&log).unwrap();
    std::fs::write(log.join("palyrad.log"), "recovering 1 of 9\n").unwrap();
    // Waits until this test opens the other end.
    let gate = state.path().join("gate");
    let waits = format!("mkfifo {0}; read word < {0}", gate.display());
    let (mut options, _notices) = starting(state.path(), &waits);
    options.ready_within = Duration::from_millis(300);
    match failure(options).await {
        ClientError::StartFailed { code: ErrorCode::DaemonStartFailed, log, .. } => {
            assert_eq!(log.lines, ["recovering 1 of 9"]);
        }
        other => panic!("{other:?}"),
    }
    drop(std::fs::OpenOptions::new().write(true).open(gate).unwrap());
}

#[tokio::test]
async fn a_daemon_that_says_how_far_it_is_gets_more_time_and_each_tenth_is_a_notice() {
    let state = tempfile::tempdir().unwrap();
    let (script, _asked) = Script::new(vec![]);
    let _daemon = ScriptedDaemon::serve_unannounced(state.path(), &script);
    let line = |done: &str| format!(r#"echo '{{"rebuilding":{{"done":'{done}',"total":60}}}}'"#);
    // 3 s in all, each line well within the time that the one before it gave.
    let works = format!("for n in 0 1 2 12 13 24; do {}; sleep 0.5; done\n", line("$n"));
    let (mut options, mut notices) = starting(state.path(), &(works + &ready_line(state.path())));
    options.ready_within = Duration::from_millis(2_000);
    let client = Client::connect(options).await.unwrap();
    assert_eq!(client.status().await.unwrap().open_runs, 0);
    assert!(matches!(notices.recv().await, Some(DaemonNotice::Starting { .. })));
    for done in [0, 12, 24] {
        assert_eq!(notices.recv().await, Some(DaemonNotice::Rebuilding { done, total: 60 }));
    }
    assert!(matches!(notices.recv().await, Some(DaemonNotice::Started { .. })));
}

#[tokio::test]
async fn a_program_that_cannot_be_run_is_named() {
    let state = tempfile::tempdir().unwrap();
    let (mut options, _notices) = options(state.path());
    options.start = StartPolicy::Allowed;
    options.program = state.path().join("missing");
    let error = failure(options).await;
    assert!(error.to_string().contains("missing cannot be run"), "{error}");
}

#[tokio::test]
async fn an_idle_daemon_of_another_build_makes_room() {
    let state = tempfile::tempdir().unwrap();
    let (script, mut asked) = Script::new(vec![]);
    let old = ScriptedDaemon::serve(state.path(), &script, "0.0.9+1-1");
    let elsewhere = tempfile::tempdir().unwrap();
    let _new = ScriptedDaemon::serve_unannounced(elsewhere.path(), &script);
    let (options, mut notices) = starting(state.path(), &ready_line(elsewhere.path()));
    let connecting = tokio::spawn(Client::connect(options));
    assert_eq!(asked.recv().await, Some(ScriptedRequest::Shutdown));
    old.kill();
    let client = connecting.await.unwrap().unwrap();
    assert_eq!(client.status().await.unwrap().open_runs, 0);
    assert_eq!(notices.recv().await, Some(DaemonNotice::ReplacingOtherBuild));
}

#[tokio::test]
async fn a_busy_daemon_of_another_build_is_used_and_that_is_said() {
    let state = tempfile::tempdir().unwrap();
    let (mut script, mut asked) = Script::new(vec![]);
    script.open_runs = 2;
    let _old = ScriptedDaemon::serve(state.path(), &script, "0.0.9+1-1");
    let (options, mut notices) = starting(state.path(), "exit 1");
    Client::connect(options).await.unwrap();
    assert_eq!(notices.recv().await, Some(DaemonNotice::OtherBuildKept { open_runs: Some(2) }));
    assert!(asked.try_recv().is_err());
}

/// A process that listens where the lock file says, and never says a word.
fn silent(state: &Path) -> std::os::unix::net::UnixListener {
    let socket = state.join("palyrad.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    announce(state, &socket, "any");
    listener
}

#[tokio::test]
async fn a_process_that_holds_the_lock_and_says_nothing_is_named() {
    let state = tempfile::tempdir().unwrap();
    let _listener = silent(state.path());
    let (mut options, mut notices) = starting(state.path(), "exit 1");
    options.answers_within = Duration::from_millis(100);
    let error = failure(options).await;
    assert!(matches!(error, ClientError::NotAnswering { pid: 4_000_000, .. }), "{error:?}");
    assert_eq!((error.code(), error.is_unreachable()), (ErrorCode::DaemonUnreachable, true));
    assert_eq!(notices.try_recv(), Ok(DaemonNotice::NotAnswering { pid: 4_000_000 }));
    assert!(notices.try_recv().is_err(), "no other daemon is started beside it");
}

#[tokio::test]
async fn a_lock_that_is_held_without_a_word_is_not_raced_for_again_and_again() {
    let state = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    announce(state.path(), &state.path().join("palyrad.sock"), "any");
    let lost = r#"echo '{"ready":false,"code":"PLY-1402","message":"taken"}'; exit 1"#;
    // A daemon that loses opens and closes the lock file, which wakes whoever watches it.
    let counts = format!(
        "echo once >> {0}/starts; : >> {1}/lock; {lost}",
        elsewhere.path().display(),
        state.path().display()
    );
    let (mut options, _notices) = starting(state.path(), &counts);
    options.ready_within = Duration::from_millis(1_600);
    let error = failure(options).await;
    assert!(matches!(error, ClientError::NotAnswering { pid: 4_000_000, .. }), "{error:?}");
    let starts = std::fs::read_to_string(elsewhere.path().join("starts")).unwrap().lines().count();
    assert!((1..=3).contains(&starts), "{starts}");
}
