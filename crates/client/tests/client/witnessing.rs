//! The client as a witness of the daemon's journal.

use std::path::Path;

use palyra_client::{Client, ClientError, DaemonNotice, FollowEvent, KeptEntries, RunFollower};
use palyra_types::ErrorCode;
use palyra_wire::v1;
use palyra_wire::v1::run_stream_response::Frame;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::scripted_daemon::{
    Script, ScriptedDaemon, Step, caught_up, entry, opened, options, own_build, run_id,
};
use crate::signed_log::SignedLog;

struct Scene {
    state: TempDir,
    heads: TempDir,
    log: SignedLog,
    notices: UnboundedReceiver<DaemonNotice>,
    _daemon: ScriptedDaemon,
}

impl Scene {
    fn new(streams: Vec<Vec<Step>>) -> Self {
        let (state, heads) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (script, _) = Script::new(streams);
        let (options, notices) = options(state.path());
        let daemon = ScriptedDaemon::serve(state.path(), &script, &own_build(&options));
        Self { state, heads, log: script.log.clone(), notices, _daemon: daemon }
    }

    async fn connect(&mut self) -> Result<Client, ClientError> {
        let (mut options, notices) = options(self.state.path());
        options.heads = Some(self.heads.path().join("heads"));
        self.notices = notices;
        Client::connect(options).await
    }

    fn kept(&self) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(self.heads.path().join("heads")) else { return Vec::new() };
        let paths = files.map(|file| file.unwrap().path());
        let notes = paths.filter(|path| path.extension().is_some_and(|ending| ending == "note"));
        let mut sizes: Vec<String> = notes.map(|path| size_in(&path)).collect();
        sizes.sort();
        sizes
    }
}

fn size_in(note: &Path) -> String {
    std::fs::read_to_string(note).unwrap().lines().nth(1).unwrap().to_owned()
}

fn code(result: Result<Client, ClientError>) -> Option<ErrorCode> {
    result.err().map(|error| error.code())
}

#[tokio::test]
async fn a_log_that_grows_is_followed_and_its_newest_head_kept() {
    let mut scene = Scene::new(Vec::new());
    assert!(scene.connect().await.is_ok());
    assert_eq!(scene.kept(), [""; 0], "an empty log has nothing to keep");
    for entries in [1, 7, 7, 8, 300] {
        scene.log.serve(1, entries, u64::MAX);
        assert!(scene.connect().await.is_ok());
        assert_eq!(scene.kept(), [entries.to_string()]);
    }
}

#[tokio::test]
async fn a_log_that_was_cut_back_or_rewritten_is_refused_on_first_contact() {
    for (entries, honest, expected) in [
        (99, 99, ErrorCode::JournalRolledBack),
        (1, 1, ErrorCode::JournalRolledBack),
        (100, 99, ErrorCode::JournalForked),
        (100, 0, ErrorCode::JournalForked),
        (101, 50, ErrorCode::JournalForked),
        (128, 99, ErrorCode::JournalForked),
        (5_000, 99, ErrorCode::JournalForked),
    ] {
        let mut scene = Scene::new(Vec::new());
        scene.log.serve(1, 100, u64::MAX);
        assert!(scene.connect().await.is_ok());
        scene.log.serve(1, entries, honest);
        assert_eq!(code(scene.connect().await), Some(expected), "{entries} entries, {honest} of them honest");
        assert_eq!(scene.kept(), ["100"], "what was seen stays seen");
        scene.log.serve(1, 101, u64::MAX);
        assert!(scene.connect().await.is_ok(), "the true log is welcome again");
    }
}

#[tokio::test]
async fn a_daemon_that_shows_no_head_any_more_has_to_prove_itself_all_the_same() {
    let mut scene = Scene::new(Vec::new());
    scene.log.serve(1, 100, u64::MAX);
    assert!(scene.connect().await.is_ok());
    scene.log.fall_silent();
    assert!(scene.connect().await.is_ok());
    scene.log.serve(1, 40, u64::MAX);
    assert_eq!(code(scene.connect().await), Some(ErrorCode::JournalRolledBack));
    scene.log.serve(1, 140, 40);
    assert_eq!(code(scene.connect().await), Some(ErrorCode::JournalForked));
}

#[tokio::test]
async fn another_log_in_its_place_is_told() {
    let mut scene = Scene::new(Vec::new());
    scene.log.serve(1, 100, u64::MAX);
    assert!(scene.connect().await.is_ok());
    scene.log.serve(2, 5, u64::MAX);
    assert!(scene.connect().await.is_ok());
    let told = scene.notices.recv().await.unwrap();
    assert!(matches!(told, DaemonNotice::OtherLog { entries: 100, .. }), "{told:?}");
    assert_eq!(scene.kept(), ["100", "5"]);
    assert!(scene.connect().await.is_ok());
    assert!(scene.notices.try_recv().is_err(), "it is told once");
}

#[tokio::test]
async fn a_log_that_was_opened_again_over_the_entries_that_were_seen_proves_it() {
    for (entries, honest, expected) in [
        (103, u64::MAX, KeptEntries::All),
        (100, u64::MAX, KeptEntries::All),
        (100, 99, KeptEntries::NotAll),
        (99, u64::MAX, KeptEntries::NotAll),
        (140, 60, KeptEntries::NotAll),
    ] {
        let mut scene = Scene::new(Vec::new());
        scene.log.serve(1, 100, u64::MAX);
        assert!(scene.connect().await.is_ok());
        scene.log.serve(2, entries, honest);
        assert!(scene.connect().await.is_ok());
        let notice = scene.notices.recv().await.unwrap();
        let DaemonNotice::OtherLog { entries: 100, kept, .. } = notice else { panic!("{notice:?}") };
        assert_eq!(kept, expected, "{entries} entries, {honest} of them honest");
    }
}

#[tokio::test]
async fn the_head_at_the_end_of_a_stream_is_kept_once_it_is_proved() {
    let log = SignedLog::default();
    log.serve(1, 12, u64::MAX);
    let ends_with = |checkpoint: Option<v1::Checkpoint>| {
        let end = v1::StreamEnd { state: v1::RunState::Done.into(), tape_seq: 1, checkpoint };
        vec![opened(), entry(1), caught_up(1), Step::Send(Frame::End(end))]
    };
    let honest = log.head();
    log.serve(1, 14, 11);
    let forged = log.head();
    let mut scene = Scene::new(vec![ends_with(honest), ends_with(forged)]);
    scene.log.serve(1, 10, u64::MAX);
    let client = scene.connect().await.unwrap();
    scene.log.serve(1, 12, u64::MAX);
    assert_eq!(follow(&client).await.unwrap(), 1);
    assert_eq!(scene.kept(), ["12"]);
    let error = follow(&client).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalRolledBack, "no such size is proved: {error}");
    assert_eq!(scene.kept(), ["12"]);
}

/// Follows a run to its end; returns how many ends came.
async fn follow(client: &Client) -> Result<usize, ClientError> {
    let mut follower = RunFollower::attach(client, run_id(), 0);
    let mut ends = 0;
    while let Some(event) = follower.next().await? {
        ends += usize::from(matches!(event, FollowEvent::Ended(_)));
    }
    Ok(ends)
}

#[tokio::test]
async fn what_lies_in_the_folder_cannot_break_a_client() {
    let mut scene = Scene::new(Vec::new());
    scene.log.serve(1, 3, u64::MAX);
    assert!(scene.connect().await.is_ok());
    let note = std::fs::read_dir(scene.heads.path().join("heads"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "note"))
        .unwrap();
    for junk in [Vec::new(), vec![0xff; 100], vec![b'a'; 1 << 20]] {
        std::fs::write(&note, junk).unwrap();
        assert!(scene.connect().await.is_ok());
        assert_eq!(scene.kept(), ["3"], "a head that cannot be read is replaced");
    }
    std::fs::remove_dir_all(scene.heads.path().join("heads")).unwrap();
    std::fs::write(scene.heads.path().join("heads"), "a file").unwrap();
    assert!(scene.connect().await.is_ok());
    let told = scene.notices.recv().await.unwrap();
    assert!(matches!(told, DaemonNotice::HeadNotKept { .. }), "{told:?}");
}
