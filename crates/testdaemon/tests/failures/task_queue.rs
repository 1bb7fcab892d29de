//! The background queue is killed with SIGKILL right before and right after each of its writes, through lease, heartbeat and
//! completion: each task is done once, or a person sees that its outcome is unknown.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use palyra_testdaemon::task_queue::{LifeReport, QueueKill, QueueMistake};

/// The kind whose lost attempts are not repeated.
const OPAQUE: &str = "outbox_send";
const TASKS: usize = 5;
const SIGKILL: i32 = 9;

/// The state that outlives a process.
struct Outside {
    folder: tempfile::TempDir,
    mistake: &'static str,
    lives: u64,
}

impl Outside {
    fn new(mistake: QueueMistake) -> Self {
        let word = QueueMistake::ALL.iter().find(|(known, _)| *known == mistake).expect("a word").1;
        Self { folder: tempfile::tempdir().expect("a folder"), mistake: word, lives: 0 }
    }

    fn effects_file(&self) -> PathBuf {
        self.folder.path().join("effects")
    }

    fn live(&mut self, kill: QueueKill) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palyra-testqueue"));
        command.arg(self.folder.path().join("state")).arg(self.effects_file());
        command.args([self.lives.to_string(), kill.to_string(), self.mistake.to_owned()]);
        self.lives += 1;
        command.output().expect("it starts")
    }

    /// Lives until a kill. Returns whether it came.
    fn live_until(&mut self, kill: QueueKill) -> bool {
        let output = self.live(kill);
        let is_killed = output.status.signal() == Some(SIGKILL);
        assert!(is_killed || output.status.success(), "{kill}: {output:?}");
        is_killed
    }

    fn live_to_the_end(&mut self) -> Result<LifeReport, String> {
        let output = self.live(QueueKill::Never);
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(serde_json::from_slice(&output.stdout).expect("a report"))
    }

    fn effects(&self) -> BTreeMap<String, usize> {
        let mut effects = BTreeMap::new();
        for task in std::fs::read_to_string(self.effects_file()).unwrap_or_default().lines() {
            *effects.entry(task.to_owned()).or_default() += 1;
        }
        effects
    }

    /// Returns how many outcomes are unknown, or what is wrong.
    fn judge(&self, report: &LifeReport) -> Result<usize, String> {
        if report.fault.is_some() || report.tasks.len() != TASKS {
            return Err(format!("the journal is not whole: {report:?}"));
        }
        let effects = self.effects();
        let mut unknown = 0;
        for task in &report.tasks {
            let count = effects.get(&task.task).copied().unwrap_or(0);
            let is_right = match (task.kind.as_str(), task.stage.as_str()) {
                (OPAQUE, "outcome_unknown") => {
                    unknown += 1;
                    count <= 1
                }
                (OPAQUE, "done") => count == 1,
                (_, "done") => count >= 1,
                (_, _) => false,
            };
            if !is_right {
                return Err(format!("{count} effects of {task:?}"));
            }
        }
        Ok(unknown)
    }

    fn end_and_judge(&mut self) -> Result<usize, String> {
        let report = self.live_to_the_end()?;
        self.judge(&report)
    }
}

/// Returns the writes of a life that nothing disturbs.
fn writes() -> usize {
    let mut outside = Outside::new(QueueMistake::None);
    let report = outside.live_to_the_end().expect("undisturbed");
    assert_eq!(outside.judge(&report), Ok(0));
    assert!(report.tasks.iter().any(|task| task.progress > 0), "a heartbeat is among them: {report:?}");
    assert!(outside.effects().values().all(|count| *count == 1), "each once: {:?}", outside.effects());
    report.writes
}

#[test]
fn task_queue_killed_at_each_write_does_each_task_once_or_says_that_its_outcome_is_unknown() {
    let writes = writes();
    let (mut kills, mut unknown) = (0, 0);
    for write in 0..writes {
        for kill in [QueueKill::Before(write), QueueKill::After(write)] {
            let mut outside = Outside::new(QueueMistake::None);
            kills += usize::from(outside.live_until(kill));
            unknown += outside.end_and_judge().unwrap_or_else(|wrong| panic!("killed {kill}: {wrong}"));
        }
    }
    assert_eq!(kills, 2 * writes, "each kill came");
    assert!(unknown > 0, "some kill met a worker whose task may not be repeated");
}

/// Some pairs; which of them changes with the commit.
#[test]
fn task_queue_killed_again_while_it_recovers_changes_nothing_of_that() {
    let writes = writes();
    let offset = usize::try_from(palyra_testkit::suite_seed() % 5).expect("a small number");
    let pairs = (0..writes).flat_map(|first| (0..4).map(move |second| (first, second)));
    let mut kills = 0;
    for (first, second) in pairs.skip(offset).step_by(5) {
        let mut outside = Outside::new(QueueMistake::None);
        assert!(outside.live_until(QueueKill::After(first)));
        kills += usize::from(outside.live_until(QueueKill::Before(second)));
        let judged = outside.end_and_judge();
        assert!(judged.is_ok(), "killed after {first} and before {second}: {judged:?}");
    }
    assert!(kills > 0, "no second kill came");
}

#[test]
fn task_queue_mistakes_on_purpose_are_found() {
    let writes = writes();
    for mistake in [QueueMistake::LeaseAfterStart, QueueMistake::FenceIgnored] {
        let kills = (0..writes).flat_map(|write| [QueueKill::Before(write), QueueKill::After(write)]);
        let found = kills.filter(|kill| {
            let mut outside = Outside::new(mistake);
            outside.live_until(*kill);
            outside.end_and_judge().is_err()
        });
        assert!(found.take(1).count() == 1, "{mistake:?} was not found");
    }
}
