//! Rows that say what nobody decided (100): believed by who reads tables, checked against the log by us.

use std::io;

use palyra_journal::{JournalStore, row_tool};
use palyra_journal_core::families::approvals::{ApprovalFamily, ApprovalRow};
use palyra_journal_core::families::stored_grants::{StoredGrantFamily, StoredGrantRow};
use palyra_journal_core::family::RowId;
use palyra_ports::{AppendTape, Guard, JournalAppendRequest, ReadTape};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::approval_entries::{approval, stored_grant};
use palyra_testkit::journal_suite::samples;
use palyra_types::approval::ApprovalState;
use palyra_types::event::{RunEvent, TapeEvent, ToolEvent};
use palyra_types::{RunId, Seq, TapeSeq, Timestamp};
use rusqlite::Connection;

use super::poisoned::PoisonedJournal;
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// What somebody would have believed.
#[derive(Debug, Clone, Copy)]
enum BelievedClaim {
    /// That an approval waits for an answer.
    Waits(u64),
    /// That an approval was given.
    Given(u64),
    /// That a grant may be used.
    Usable(u64),
    /// That a grant may be used more often.
    Uses(u64),
    /// That somebody said this.
    Said(&'static str),
}

/// What it is, what is changed, a question to the tables alone, and what would come of it.
struct PoisonedRow {
    variant: &'static str,
    change: Change,
    plainly: Question,
    believed: BelievedClaim,
}

type Change = fn(&Connection) -> rusqlite::Result<()>;
type Question = fn(&Connection) -> rusqlite::Result<bool>;

const fn row(
    variant: &'static str,
    change: Change,
    plainly: Question,
    believed: BelievedClaim,
) -> PoisonedRow {
    PoisonedRow { variant, change, plainly, believed }
}

fn is(file: &Connection, sql: &str) -> rusqlite::Result<bool> {
    file.query_row(sql, [], |row| row.get(0))
}

fn another_run() -> RunId {
    RunId::from_bytes([0x11; 16])
}

fn is_pending(row: &ApprovalRow) -> bool {
    row.state == ApprovalState::Pending
}

/// Changes the approvals that wait, or those that were decided.
fn change_approvals(
    file: &Connection,
    pending: bool,
    change: impl Fn(&mut ApprovalRow),
) -> rusqlite::Result<()> {
    row_tool::change_rows::<ApprovalFamily>(file, |row| {
        let wanted = is_pending(row) == pending;
        if wanted {
            change(row);
        }
        wanted
    })
}

fn give_unanswered(file: &Connection) -> rusqlite::Result<()> {
    let last: i64 = file.query_row("SELECT max(seq) FROM entry", [], |row| row.get(0))?;
    change_approvals(file, true, |row| {
        row.state = ApprovalState::Approved;
        row.decided = Some(Seq(last.cast_unsigned()));
    })
}

/// Gives the approval that waits the name of an entry that asks for none.
fn move_approval(file: &Connection) -> rusqlite::Result<()> {
    for (id, row) in row_tool::rows_of::<ApprovalFamily>(file)? {
        if is_pending(&row) {
            row_tool::rename_row::<ApprovalFamily>(file, id, RowId(2))?;
        }
    }
    Ok(())
}

fn count_approvals(
    file: &Connection,
    wanted: fn(&ApprovalRow) -> bool,
    count: usize,
) -> rusqlite::Result<bool> {
    Ok(row_tool::rows_of::<ApprovalFamily>(file)?.iter().filter(|(_, row)| wanted(row)).count() == count)
}

fn change_grants(file: &Connection, change: fn(&mut StoredGrantRow)) -> rusqlite::Result<()> {
    row_tool::change_rows::<StoredGrantFamily>(file, |grant| {
        change(grant);
        true
    })
}

fn has_grant(file: &Connection, wanted: fn(RowId, &StoredGrantRow) -> bool) -> rusqlite::Result<bool> {
    Ok(row_tool::rows_of::<StoredGrantFamily>(file)?.iter().any(|(id, grant)| wanted(*id, grant)))
}

/// Gives a grant the name of an entry that gave none.
fn move_grant(file: &Connection) -> rusqlite::Result<()> {
    for (id, _) in row_tool::rows_of::<StoredGrantFamily>(file)? {
        row_tool::rename_row::<StoredGrantFamily>(file, id, RowId(3))?;
    }
    Ok(())
}

const POISONS: &[PoisonedRow] = &[
    row(
        "a denied approval that waits again",
        |file| {
            change_approvals(file, false, |row| {
                row.state = ApprovalState::Pending;
                row.decided = None;
            })
        },
        |file| count_approvals(file, |row| row.state == ApprovalState::Pending, 2),
        BelievedClaim::Waits(1),
    ),
    row(
        "a denied approval that was given",
        |file| change_approvals(file, false, |row| row.state = ApprovalState::Approved),
        |file| count_approvals(file, |row| row.state == ApprovalState::Approved, 1),
        BelievedClaim::Given(1),
    ),
    row(
        "an approval that was given before anybody answered",
        give_unanswered,
        |file| count_approvals(file, |row| row.state == ApprovalState::Approved, 1),
        BelievedClaim::Given(0),
    ),
    row(
        "an approval of another run",
        |file| change_approvals(file, true, |row| row.run = another_run()),
        |file| count_approvals(file, |row| is_pending(row) && row.run == another_run(), 1),
        BelievedClaim::Waits(0),
    ),
    row(
        "an approval of another question",
        move_approval,
        |file| count_approvals(file, |row| is_pending(row) && row.seq == Seq(2), 1),
        BelievedClaim::Waits(0),
    ),
    row(
        "an approval that nobody asked for",
        |file| change_approvals(file, true, |row| row.approval = approval(7)),
        |file| count_approvals(file, |row| is_pending(row) && row.approval == approval(7), 1),
        BelievedClaim::Waits(7),
    ),
    row(
        "a grant that may be used more often",
        |file| change_grants(file, |grant| grant.uses_max = Some(900)),
        |file| has_grant(file, |_, grant| grant.uses_max == Some(900)),
        BelievedClaim::Usable(0),
    ),
    row(
        "a grant that may be used for ever",
        |file| change_grants(file, |grant| grant.uses_max = None),
        |file| has_grant(file, |_, grant| grant.uses_max.is_none()),
        BelievedClaim::Usable(0),
    ),
    row(
        "a grant that says in a list that it may be used more often",
        |file| change_grants(file, |grant| grant.uses_max = Some(900)),
        |file| has_grant(file, |_, grant| grant.uses_max == Some(900)),
        BelievedClaim::Uses(0),
    ),
    row(
        "a grant that nobody gave",
        |file| change_grants(file, |grant| grant.grant = stored_grant(7)),
        |file| has_grant(file, |_, grant| grant.grant == stored_grant(7)),
        BelievedClaim::Usable(7),
    ),
    row(
        "a grant of another entry",
        move_grant,
        |file| has_grant(file, |id, _| id == RowId(3)),
        BelievedClaim::Usable(0),
    ),
    row(
        "what a tool said",
        |file| {
            file.execute_batch(
            "UPDATE payload SET sealed = unhex(replace(hex(sealed), hex('honest-output'), hex('poison-output')))
         WHERE instr(hex(sealed), hex('honest-output')) > 0",
        )
        },
        |file| {
            is(file, "SELECT count(*) = 1 FROM payload WHERE instr(hex(sealed), hex('poison-output')) > 0")
        },
        BelievedClaim::Said("poison-output"),
    ),
    row(
        "what a person asked",
        |file| {
            file.execute_batch(
            "UPDATE payload SET sealed = unhex(replace(hex(sealed), hex('honest-question'), hex('poison-question')))
         WHERE instr(hex(sealed), hex('honest-question')) > 0",
        )
        },
        |file| {
            is(file, "SELECT count(*) >= 1 FROM payload WHERE instr(hex(sealed), hex('poison-question')) > 0")
        },
        BelievedClaim::Said("poison-question"),
    ),
    row(
        "what a tool said, in the place of what a person asked",
        |file| {
            file.execute_batch(
            "UPDATE payload SET sealed = (SELECT sealed FROM payload WHERE instr(hex(sealed), hex('honest-output')) > 0)
         WHERE instr(hex(sealed), hex('honest-question')) > 0",
        )
        },
        |file| {
            is(file, "SELECT count(*) = 2 FROM payload WHERE instr(hex(sealed), hex('honest-output')) > 0")
        },
        BelievedClaim::Said("honest-output honest-output"),
    ),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    POISONS
        .iter()
        .map(|poison| {
            let pair = CasePair::new(100, poison.variant, "the entries that rows name");
            AttackTrial::new(vec![pair], move |place, pairs| carry_out(poison, place, pairs))
        })
        .collect()
}

async fn carry_out(
    poison: &'static PoisonedRow,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, async |_| {
        let written = PoisonedJournal::write().await?;
        written.change_with(poison.change)?;
        let control = if written.plainly_with(poison.plainly)? {
            vec!["the row is believed".to_owned()]
        } else {
            Vec::new()
        };
        let touched = match written.open() {
            Ok(journal) => {
                let believed = is_believed(poison.believed, &journal, &written).await?;
                journal.close().await;
                drop(journal);
                // A start that finds rows which do not fit the log makes them anew: what holds then is the log's word.
                let is_by_the_row =
                    matches!(poison.believed, BelievedClaim::Waits(_) | BelievedClaim::Usable(_));
                believed && (!is_by_the_row || written.plainly_with(poison.plainly)?)
            }
            // Whoever does not start believes nothing.
            Err(_) => false,
        };
        let touched = touched.then(|| "what the row says was believed".to_owned());
        Ok(Some((touched.into_iter().collect(), control)))
    })
    .await
}

async fn is_believed(
    believed: BelievedClaim,
    journal: &JournalStore,
    written: &PoisonedJournal,
) -> io::Result<bool> {
    let passes = async |guard| {
        let mut run = written.run.clone();
        let request = JournalAppendRequest { guards: vec![guard], ..samples::append(vec![run.requested(2)]) };
        journal.append(request).await.is_ok()
    };
    Ok(match believed {
        BelievedClaim::Waits(n) => passes(Guard::ApprovalPending { approval: approval(n) }).await,
        BelievedClaim::Usable(n) => {
            passes(Guard::GrantUsable { grant: stored_grant(n), now: Timestamp(1) }).await
        }
        BelievedClaim::Given(n) => matches!(
            journal.approval(approval(n)).await,
            Ok(Some(record)) if record.state == ApprovalState::Approved
        ),
        BelievedClaim::Uses(n) => matches!(
            journal.stored_grant(stored_grant(n)).await,
            Ok(Some(record)) if record.stored.uses_max != Some(3)
        ),
        BelievedClaim::Said(words) => transcript(journal, written).await.contains(words),
    })
}

/// Everything that was asked and answered, as the tape says it.
async fn transcript(journal: &JournalStore, written: &PoisonedJournal) -> String {
    let Ok(page) = journal.tape(written.run.run, TapeSeq(0), 100).await else { return String::new() };
    let words = page.entries.iter().filter_map(|entry| match &entry.event {
        TapeEvent::Run(RunEvent::Started(started)) => Some(started.input.text.expose().as_str()),
        TapeEvent::Tool(ToolEvent::Finished(finished)) => Some(finished.output.expose().as_str()),
        _ => None,
    });
    words.collect::<Vec<_>>().join(" ")
}
