//! Real programs: one that answers, one that floods, one that hangs.

use std::time::Instant;

use super::*;

fn shell(script: &str, time_max: Duration) -> ProgramRun {
    let arguments = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    ProgramRun::new(arguments, BTreeMap::new(), time_max)
}

const LONG: Duration = Duration::from_secs(30);

fn is_alive(pid: &str) -> bool {
    // A process that ended and whose status was not taken yet is not alive.
    let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !status.is_empty() && !status.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

#[tokio::test]
async fn the_message_is_on_the_input_and_the_environment_is_clean() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let script = format!("cat > {0}; env | sort >> {0}; pwd >> {0}", out.display());
    shell(&script, LONG).feed("{\"a\":1}\n".to_owned()).await.unwrap();
    let written = std::fs::read_to_string(out).unwrap();
    let lines: Vec<&str> =
        written.lines().filter(|line| !line.starts_with('_') && !line.starts_with("SHLVL")).collect();
    assert_eq!(lines, ["{\"a\":1}", "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", "PWD=/", "/"]);
}

#[tokio::test]
async fn an_exit_code_says_whether_the_message_was_sent() {
    let why =
        |script: &'static str| async move { shell(script, LONG).feed("x".to_owned()).await.unwrap_err() };
    let not_sent = |why: &str| DeliverError::NotSent { why: why.to_owned() };
    assert_eq!(why("exit 3").await, not_sent("the program exited with 3"));
    assert_eq!(
        why("echo no  route >&2; echo now >&2; exit 7").await,
        not_sent("the program exited with 7: no route now")
    );
    let killed = DeliverError::InDoubt { why: "the program was ended by signal 9".to_owned() };
    assert_eq!(why("kill -9 $$").await, killed);
    let missing = ProgramRun::new(vec!["/does/not/exist".to_owned()], BTreeMap::new(), LONG);
    assert_eq!(missing.feed(String::new()).await, Err(not_sent("the program does not exist")));
    let folder = ProgramRun::new(vec!["/".to_owned()], BTreeMap::new(), LONG);
    assert_eq!(folder.feed(String::new()).await, Err(not_sent("the program may not be executed")));
}

#[tokio::test]
async fn a_flood_of_output_is_not_kept_and_does_not_block() {
    let flood = "head -c 3000000 /dev/zero | tr '\\0' e >&2; head -c 3000000 /dev/zero; exit 4";
    let DeliverError::NotSent { why } = shell(flood, LONG).feed("x".repeat(200_000)).await.unwrap_err()
    else {
        panic!("it exited")
    };
    assert_eq!(why, "the program exited with 4", "a word that is cut is left out");
}

#[tokio::test]
async fn the_beginning_of_a_long_word_behind_others_is_not_kept() {
    let script = "printf 'no route%285s' >&2; echo canary-of-a-secret >&2; exit 4";
    let DeliverError::NotSent { why } = shell(script, LONG).feed(String::new()).await.unwrap_err() else {
        panic!("it exited")
    };
    assert_eq!(why, "the program exited with 4: no route");
}

#[tokio::test]
async fn a_program_that_hangs_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script =
        format!("trap '' TERM INT HUP; sleep 600 & echo $! > {0}; echo $$ >> {0}; wait", pids.display());
    let began = Instant::now();
    let failure = shell(&script, Duration::from_secs(1)).feed("x".to_owned()).await.unwrap_err();
    assert!(matches!(failure, DeliverError::InDoubt { .. }), "{failure:?}");
    assert!(began.elapsed() < Duration::from_secs(20));
    let pids = std::fs::read_to_string(pids).unwrap();
    let pids: Vec<&str> = pids.lines().collect();
    assert_eq!(pids.len(), 2);
    wait_until_gone(&pids).await;
}

#[tokio::test]
async fn a_program_is_ended_when_nothing_waits_for_it_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script =
        format!("sleep 600 & echo $! > {0}.tmp; echo $$ >> {0}.tmp; mv {0}.tmp {0}; wait", pids.display());
    let mut run = Box::pin(shell(&script, LONG).feed("x".to_owned()));
    let written = loop {
        tokio::select! {
            ended = &mut run => panic!("{ended:?}"),
            () = tokio::task::yield_now() => {}
        }
        if let Ok(written) = std::fs::read_to_string(&pids) {
            break written;
        }
    };
    let pids: Vec<&str> = written.lines().collect();
    assert!(pids.iter().all(|pid| is_alive(pid)), "the control");
    drop(run);
    wait_until_gone(&pids).await;
}

async fn wait_until_gone(pids: &[&str]) {
    let began = Instant::now();
    while pids.iter().any(|pid| is_alive(pid)) {
        assert!(began.elapsed() < Duration::from_secs(20), "{pids:?}");
        tokio::task::yield_now().await;
    }
}
