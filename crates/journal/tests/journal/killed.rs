//! Killed with SIGKILL at some instant: everything acknowledged is there, the chain is whole, tapes are dense.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use palyra_ports::ReadTape;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::TapeSeq;

use crate::full_disk::example;
use crate::opened::Folder;
use crate::written::verify;

/// Lets the child run until it has acknowledged so many appends, kills it, returns all it acknowledged.
fn run_and_kill(folder: &Folder, appends: usize) -> Vec<(u64, u32)> {
    let mut child = Command::new(example("append_until_killed"))
        .arg(folder.state_dir())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut acknowledged = String::new();
    for _ in 0..appends {
        assert_ne!(said.read_line(&mut acknowledged).unwrap(), 0, "the child ended by itself");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What was in the pipe at the kill was acknowledged too; its last line may be cut off.
    said.read_to_string(&mut acknowledged).unwrap();
    let complete = acknowledged.rsplit_once('\n').unwrap().0;
    let numbers = |line: &str| {
        let (n, at) = line.split_once(' ').unwrap();
        (n.parse().unwrap(), at.parse().unwrap())
    };
    complete.lines().map(numbers).collect()
}

#[tokio::test]
async fn what_was_acknowledged_outlives_a_kill_at_any_instant() {
    let folder = Folder::new();
    let session = samples::session(samples::principal(0), 0);
    let mut all = Vec::new();
    for kill in 0..12 {
        let acknowledged = run_and_kill(&folder, [1, 2, 7, 40, 160][kill % 5]);
        all.extend(acknowledged);
        let journal = folder.open();
        let report = verify(&journal).await;
        assert_eq!(report.fault, None, "after kill {kill}");
        for (n, tape_seq) in &all {
            let run = SampleRun::new(session, *n).run;
            let page = journal.tape(run, TapeSeq(0), 10).await.unwrap();
            assert!(page.entries.last().unwrap().tape_seq >= TapeSeq(*tape_seq), "run {n} lost its end");
        }
        journal.close().await;
    }
    assert!(all.len() > 200, "{} appends were acknowledged", all.len());
}
