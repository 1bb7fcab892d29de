//! Files of a journal that somebody took away between two starts (100): what was decided is not forgotten without a word.

use std::fs;
use std::io;
use std::path::Path;

use super::poisoned::{PoisonedJournal, noticed};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// What is done to the folder of a journal that nobody has open.
type FolderChange = fn(&Path) -> io::Result<()>;

const MEDDLES: &[(&str, FolderChange)] = &[
    ("the database that is taken away", |state| fs::remove_file(state.join("journal.db"))),
    ("the database that is moved away", |state| fs::rename(state.join("journal.db"), state.join("x"))),
    ("the database that is emptied", |state| fs::write(state.join("journal.db"), "")),
    ("the database that is a link to nothing", |state| {
        fs::remove_file(state.join("journal.db"))?;
        std::os::unix::fs::symlink("nothing", state.join("journal.db"))
    }),
    ("the database and its log that are taken away", |state| {
        fs::remove_file(state.join("journal.db"))?;
        fs::remove_file(state.join("journal.db-wal")).or_else(gone)
    }),
    ("all files of the database that are taken away", |state| {
        for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
            fs::remove_file(state.join(name)).or_else(gone)?;
        }
        Ok(())
    }),
];

fn gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    MEDDLES
        .iter()
        .map(|&(variant, meddle)| {
            let pair = CasePair::new(100, variant, "the files that a start expects");
            AttackTrial::new(vec![pair], move |place, pairs| carry_out(meddle, place, pairs))
        })
        .collect()
}

async fn carry_out(meddle: FolderChange, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, async |_| {
        let forgotten = |forgotten: bool| forgotten.then(|| "a journal was begun anew".to_owned());
        let (held, control) = (PoisonedJournal::write().await?, PoisonedJournal::write().await?);
        for written in [&held, &control] {
            meddle(&written.folder())?;
        }
        let touched = match held.open() {
            Ok(journal) => {
                let fault = noticed(&journal).await;
                journal.close().await;
                fault.is_none()
            }
            Err(_) => false,
        };
        // Who opens what is named there gets an empty one.
        let empty = control.plainly("SELECT count(*) = 0 FROM sqlite_schema WHERE name = 'entry'")?;
        Ok(Some((forgotten(touched).into_iter().collect(), forgotten(empty).into_iter().collect())))
    })
    .await
}
