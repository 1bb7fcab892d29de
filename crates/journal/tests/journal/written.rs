//! A journal with something in it.

use std::sync::Arc;

use palyra_journal::JournalStore;
use palyra_ports::maintain_journal::{MaintainJournal, ProgressCallback};
use palyra_ports::{AppendTape, VerifyReport};
use palyra_testkit::journal_suite::samples::{self, SampleRun};

pub(crate) fn silent() -> ProgressCallback {
    Arc::new(|_, _| ())
}

/// Writes text runs in one session.
pub(crate) async fn write_runs(journal: &JournalStore, runs: std::ops::Range<u64>) -> Vec<SampleRun> {
    let session = samples::session(samples::principal(0), 0);
    let mut written = Vec::new();
    for n in runs {
        let mut run = SampleRun::new(session, n);
        for request in run.text_run() {
            journal.append(request).await.unwrap();
        }
        written.push(run);
    }
    written
}

pub(crate) async fn verify(journal: &JournalStore) -> VerifyReport {
    journal.verify(silent()).await.unwrap()
}
