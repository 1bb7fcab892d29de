//! Rows that say what nobody decided (100): believed by who reads tables, checked against the log by us.

use std::io;

use palyra_journal::JournalStore;
use palyra_ports::read_approvals::ReadApprovals;
use palyra_ports::{AppendTape, Guard, JournalAppendRequest, ReadTape};
use palyra_testkit::journal_suite::asking::{approval, stored_grant};
use palyra_testkit::journal_suite::samples;
use palyra_types::approval::ApprovalState;
use palyra_types::event::{RunEvent, TapeEvent, ToolEvent};
use palyra_types::{TapeSeq, Timestamp};

use super::poisoned::Poisoned;
use crate::pair::{Found, Pair};
use crate::trial::{Place, Trial, told};

/// What somebody would have believed.
#[derive(Debug, Clone, Copy)]
enum Believed {
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
struct Poison {
    variant: &'static str,
    change: &'static str,
    plainly: &'static str,
    believed: Believed,
}

const fn row(
    variant: &'static str,
    change: &'static str,
    plainly: &'static str,
    believed: Believed,
) -> Poison {
    Poison { variant, change, plainly, believed }
}

const POISONS: &[Poison] = &[
    row(
        "a denied approval that waits again",
        "UPDATE approval SET state = 0, decided_seq = NULL",
        "SELECT count(*) = 2 FROM approval WHERE state = 0",
        Believed::Waits(1),
    ),
    row(
        "a denied approval that was given",
        "UPDATE approval SET state = 1 WHERE state <> 0",
        "SELECT count(*) = 1 FROM approval WHERE state = 1",
        Believed::Given(1),
    ),
    row(
        "an approval that was given before anybody answered",
        "UPDATE approval SET state = 1, decided_seq = (SELECT max(seq) FROM entry) WHERE state = 0",
        "SELECT count(*) = 1 FROM approval WHERE state = 1",
        Believed::Given(0),
    ),
    row(
        "an approval of another run",
        "UPDATE approval SET run = x'00112233445566778899aabbccddeeff' WHERE state = 0",
        "SELECT count(*) = 1 FROM approval WHERE run = x'00112233445566778899aabbccddeeff' AND state = 0",
        Believed::Waits(0),
    ),
    row(
        "an approval of another question",
        "UPDATE approval SET seq = 2 WHERE state = 0",
        "SELECT count(*) = 1 FROM approval WHERE seq = 2 AND state = 0",
        Believed::Waits(0),
    ),
    row(
        "an approval that nobody asked for",
        "UPDATE approval SET approval = unhex(substr(hex(approval), 1, 30) || '08') WHERE state = 0",
        "SELECT count(*) = 1 FROM approval WHERE substr(hex(approval), 31) = '08' AND state = 0",
        Believed::Waits(7),
    ),
    row(
        "a grant that may be used more often",
        "UPDATE stored_grant SET uses_max = 900",
        "SELECT count(*) = 1 FROM stored_grant WHERE uses_max = 900",
        Believed::Usable(0),
    ),
    row(
        "a grant that may be used for ever",
        "UPDATE stored_grant SET uses_max = NULL",
        "SELECT count(*) = 1 FROM stored_grant WHERE uses_max IS NULL",
        Believed::Usable(0),
    ),
    row(
        "a grant that says in a list that it may be used more often",
        "UPDATE stored_grant SET uses_max = 900",
        "SELECT count(*) = 1 FROM stored_grant WHERE uses_max = 900",
        Believed::Uses(0),
    ),
    row(
        "a grant that nobody gave",
        "UPDATE stored_grant SET stored_grant = unhex(substr(hex(stored_grant), 1, 30) || '08')",
        "SELECT count(*) = 1 FROM stored_grant WHERE substr(hex(stored_grant), 31) = '08'",
        Believed::Usable(7),
    ),
    row(
        "a grant of another entry",
        "UPDATE stored_grant SET seq = 3",
        "SELECT count(*) = 1 FROM stored_grant WHERE seq = 3",
        Believed::Usable(0),
    ),
    row(
        "what a tool said",
        "UPDATE payload SET sealed = unhex(replace(hex(sealed), hex('honest-output'), hex('poison-output')))
         WHERE instr(hex(sealed), hex('honest-output')) > 0",
        "SELECT count(*) = 1 FROM payload WHERE instr(hex(sealed), hex('poison-output')) > 0",
        Believed::Said("poison-output"),
    ),
    row(
        "what a person asked",
        "UPDATE payload SET sealed = unhex(replace(hex(sealed), hex('honest-question'), hex('poison-question')))
         WHERE instr(hex(sealed), hex('honest-question')) > 0",
        "SELECT count(*) >= 1 FROM payload WHERE instr(hex(sealed), hex('poison-question')) > 0",
        Believed::Said("poison-question"),
    ),
    row(
        "what a tool said, in the place of what a person asked",
        "UPDATE payload SET sealed = (SELECT sealed FROM payload WHERE instr(hex(sealed), hex('honest-output')) > 0)
         WHERE instr(hex(sealed), hex('honest-question')) > 0",
        "SELECT count(*) = 2 FROM payload WHERE instr(hex(sealed), hex('honest-output')) > 0",
        Believed::Said("honest-output honest-output"),
    ),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<Trial> {
    POISONS
        .iter()
        .map(|poison| {
            let pair = Pair::new(100, poison.variant, "the entries that rows name");
            Trial::new(vec![pair], move |place, pairs| carry_out(poison, place, pairs))
        })
        .collect()
}

async fn carry_out(poison: &'static Poison, place: Place, pairs: Vec<Pair>) -> Vec<Found> {
    told(pairs, place.half, async |_| {
        let written = Poisoned::write().await?;
        written.change(poison.change)?;
        let control = if written.plainly(poison.plainly)? {
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
                let is_by_the_row = matches!(poison.believed, Believed::Waits(_) | Believed::Usable(_));
                believed && (!is_by_the_row || written.plainly(poison.plainly)?)
            }
            // Whoever does not start believes nothing.
            Err(_) => false,
        };
        let touched = touched.then(|| "what the row says was believed".to_owned());
        Ok(Some((touched.into_iter().collect(), control)))
    })
    .await
}

async fn is_believed(believed: Believed, journal: &JournalStore, written: &Poisoned) -> io::Result<bool> {
    let passes = async |guard| {
        let mut run = written.run.clone();
        let request = JournalAppendRequest { guards: vec![guard], ..samples::append(vec![run.requested(2)]) };
        journal.append(request).await.is_ok()
    };
    Ok(match believed {
        Believed::Waits(n) => passes(Guard::ApprovalPending { approval: approval(n) }).await,
        Believed::Usable(n) => passes(Guard::GrantUsable { grant: stored_grant(n), now: Timestamp(1) }).await,
        Believed::Given(n) => matches!(
            journal.approval(approval(n)).await,
            Ok(Some(record)) if record.state == ApprovalState::Approved
        ),
        Believed::Uses(n) => matches!(
            journal.stored_grant(stored_grant(n)).await,
            Ok(Some(record)) if record.stored.uses_max != Some(3)
        ),
        Believed::Said(words) => said(journal, written).await.contains(words),
    })
}

/// Everything that was asked and answered, as the tape says it.
async fn said(journal: &JournalStore, written: &Poisoned) -> String {
    let Ok(page) = journal.tape(written.run.run, TapeSeq(0), 100).await else { return String::new() };
    let words = page.entries.iter().filter_map(|entry| match &entry.event {
        TapeEvent::Run(RunEvent::Started(started)) => Some(started.input.text.expose().as_str()),
        TapeEvent::Tool(ToolEvent::Finished(finished)) => Some(finished.output.expose().as_str()),
        _ => None,
    });
    words.collect::<Vec<_>>().join(" ")
}
