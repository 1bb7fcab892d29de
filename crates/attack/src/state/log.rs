//! A log that was changed where nobody looks (100): sound to SQLite, and not to who verifies it.

use super::poisoned::{PoisonedJournal, noticed};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// Which entry is meant: one in the middle that has content, and one that has none.
const CHANGES: &[(&str, &str)] = &[
    (
        "a bit of an entry",
        "UPDATE entry SET envelope = unhex(substr(hex(envelope), 1, 200)
           || CASE substr(hex(envelope), 201, 1) WHEN '0' THEN '1' ELSE '0' END || substr(hex(envelope), 202))
         WHERE seq = 5",
    ),
    ("the kind of an entry", "UPDATE entry SET kind = kind + 1 WHERE seq = 5"),
    ("the place of an entry on its tape", "UPDATE entry SET tape_seq = 70 WHERE seq = 5"),
    ("the run of an entry", "UPDATE entry SET run_id = NULL, tape_seq = NULL WHERE seq = 5"),
    ("an entry that is taken out", "DELETE FROM entry WHERE seq = 6"),
    ("the decision that is taken out", "DELETE FROM entry WHERE kind = 103"),
    ("the newest entries that are taken out", "DELETE FROM entry WHERE seq > 8; DELETE FROM payload WHERE seq > 8"),
    (
        "an entry that nobody wrote",
        "INSERT INTO entry SELECT seq + 1, envelope, run_id, 99, kind FROM entry ORDER BY seq DESC LIMIT 1",
    ),
    (
        "two entries in the other order",
        "UPDATE entry SET seq = 100000 WHERE seq = 5; UPDATE entry SET seq = 5 WHERE seq = 6;
         UPDATE entry SET seq = 6 WHERE seq = 100000",
    ),
    (
        "words of a tool",
        "UPDATE payload SET sealed = unhex(replace(hex(sealed), hex('honest-output'), hex('poison-output')))
         WHERE instr(hex(sealed), hex('honest-output')) > 0",
    ),
    (
        "words of another entry",
        "UPDATE payload SET sealed = (SELECT sealed FROM payload WHERE instr(hex(sealed), hex('honest-output')) > 0)
         WHERE instr(hex(sealed), hex('honest-question')) > 0",
    ),
    ("words that are taken out", "DELETE FROM payload WHERE instr(hex(sealed), hex('honest-output')) > 0"),
    ("words that nobody wrote", "INSERT INTO payload VALUES (9000, 0, x'00')"),
    ("the size of the tree", "UPDATE frontier SET size = size - 1"),
    (
        "words that are said to be sealed",
        "UPDATE payload SET key_id = 1 WHERE instr(hex(sealed), hex('honest-output')) > 0;
         UPDATE payload SET sealed = unhex(replace(hex(sealed), hex('honest-output'), hex('poison-output')))
         WHERE instr(hex(sealed), hex('honest-output')) > 0",
    ),
    ("a head that was signed", "UPDATE checkpoint SET note = replace(note, 'A', 'B')"),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    CHANGES
        .iter()
        .map(|&(variant, change)| {
            let pair = CasePair::new(100, variant, "the verifying of the log");
            AttackTrial::new(vec![pair], move |place, pairs| carry_out(change, place, pairs))
        })
        .collect()
}

async fn carry_out(change: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, async |_| {
        let written = PoisonedJournal::write().await?;
        written.change(change)?;
        let sound =
            written.plainly("SELECT group_concat(integrity_check) = 'ok' FROM pragma_integrity_check")?;
        let unnoticed = |unnoticed: bool| unnoticed.then(|| "the change was not noticed".to_owned());
        let touched = match written.open() {
            Ok(journal) => {
                let fault = noticed(&journal).await;
                journal.close().await;
                fault.is_none()
            }
            Err(_) => false,
        };
        Ok(Some((unnoticed(touched).into_iter().collect(), unnoticed(sound).into_iter().collect())))
    })
    .await
}
