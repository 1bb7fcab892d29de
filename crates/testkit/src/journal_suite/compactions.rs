//! Summaries of older runs.

use palyra_journal_core::families::compactions::{in_force, of_session, record};
use palyra_journal_core::families::entries_about_run;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::compaction::{
    CompactedSpan, CompactionCause, OrchestratorCompactionArtifactRecord, SessionCompaction, SummaryAuthor,
};
use palyra_types::event::{ContentDigest, SessionEvent};
use palyra_types::session::SessionRef;
use palyra_types::tool::Taints;
use palyra_types::{PrincipalId, Redacted, RunId, Seq, SessionId, Timestamp};

use crate::row_counter::RowCounter;

use super::JournalFactory;
use super::samples::{self, SampleRun, append};

/// Makes a compaction of one span of a session.
#[must_use]
pub fn compaction(session: SessionId, first: u64, last: u64, summary: &str) -> SessionCompaction {
    SessionCompaction {
        session,
        spans: vec![CompactedSpan { session, first: Seq(first), last: Seq(last) }],
        first_run: RunId::from_parts(3, 1),
        last_run: RunId::from_parts(3, 2),
        runs: 2,
        replaces: None,
        taints: Taints::WEB,
        author: SummaryAuthor::Fallback,
        refused: None,
        cause: CompactionCause::Person,
        source_bytes: 900,
        summary_bytes: summary.len() as u64,
        source_digest: ContentDigest([5; 32]),
        model: Redacted::cleaned(None),
        salt: Redacted::cleaned([6; 32]),
        summary: Redacted::cleaned(summary.to_owned()),
    }
}

async fn tell<F: JournalFactory>(journal: &F::Journal, principal: PrincipalId, event: SessionEvent) -> Seq {
    let entry = NewEntry { time: Timestamp(5), principal, session: None, run: None, event: event.into() };
    journal.append(append(vec![entry])).await.unwrap().first_seq
}

async fn made<F: JournalFactory>(
    journal: &F::Journal,
    principal: PrincipalId,
    made: SessionCompaction,
) -> Seq {
    tell::<F>(journal, principal, SessionEvent::Compacted(Box::new(made))).await
}

async fn newest<F: JournalFactory>(
    journal: &F::Journal,
    session: SessionRef,
    since: Option<Seq>,
) -> Option<String> {
    let found: Option<OrchestratorCompactionArtifactRecord> =
        journal.query(move |rows, log| in_force(rows, log, session, since)).await.unwrap();
    found.map(|record| record.made.summary.into_exposed())
}

/// The newest compaction of a session holds until its principal takes it back or it is erased; then the one before it does.
pub async fn the_newest_compaction_holds_until_it_is_reverted_or_erased<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let me = samples::principal(0);
    let other = samples::principal(1);
    let mine = samples::session(me, 1);
    let theirs = samples::session(other, 1);
    assert_eq!(newest::<F>(&journal, mine, None).await, None);
    let first = made::<F>(&journal, me, compaction(mine.id, 100, 120, "first")).await;
    made::<F>(&journal, other, compaction(theirs.id, 100, 120, "of the other")).await;
    let second = made::<F>(&journal, me, compaction(mine.id, 100, 140, "second")).await;
    let third = made::<F>(&journal, me, compaction(mine.id, 100, 160, "third")).await;
    assert_eq!(newest::<F>(&journal, mine, None).await.as_deref(), Some("third"));
    assert_eq!(newest::<F>(&journal, mine, Some(Seq(99))).await.as_deref(), Some("third"));
    assert_eq!(
        newest::<F>(&journal, mine, Some(Seq(100))).await,
        None,
        "a reset hides what it was made from"
    );
    tell::<F>(&journal, other, SessionEvent::CompactionReverted(third)).await;
    assert_eq!(newest::<F>(&journal, mine, None).await.as_deref(), Some("third"), "only its own principal");
    for _ in 0..2 {
        tell::<F>(&journal, me, SessionEvent::CompactionReverted(third)).await;
        tell::<F>(&journal, me, SessionEvent::CompactionReverted(Seq(third.0 + 90))).await;
    }
    assert_eq!(newest::<F>(&journal, mine, None).await.as_deref(), Some("second"));
    factory.erase(&journal, second);
    assert_eq!(newest::<F>(&journal, mine, None).await.as_deref(), Some("first"));
    let all = journal.query(move |rows, log| of_session(rows, log, mine)).await.unwrap();
    let shown: Vec<_> =
        all.iter().map(|one| (one.seq, one.made.summary.expose().as_str(), one.reverted)).collect();
    assert_eq!(shown, [(first, "first", None), (second, "", None), (third, "third", Some(Timestamp(5)))]);
    assert_eq!(newest::<F>(&journal, theirs, None).await.as_deref(), Some("of the other"));
}

/// To find the compaction in force takes few rows, however many there are, reverted ones and those before a reset, too.
pub async fn the_compaction_in_force_is_found_with_few_rows<F: JournalFactory>(factory: &F) {
    const MADE: u64 = 300;
    const ROWS_MAX: usize = 8;
    let journal = factory.make();
    let me = samples::principal(0);
    let session = samples::session(me, 1);
    let mut latest = Seq(0);
    for number in 0..MADE {
        let text = number.to_string();
        latest = made::<F>(&journal, me, compaction(session.id, 100, 1_000 + number, &text)).await;
    }
    tell::<F>(&journal, me, SessionEvent::CompactionReverted(latest)).await;
    for (since, expected) in [(None, Some("298")), (Some(Seq(99)), Some("298")), (Some(Seq(2_000)), None)] {
        let reading = journal.query(move |rows, log| {
            let mut counter = RowCounter::new(rows);
            let found = in_force(&mut counter, log, session, since)?;
            Ok((found.map(|record| record.made.summary.into_exposed()), counter.seen()))
        });
        let (found, rows) = reading.await.unwrap();
        assert_eq!(found.as_deref(), expected);
        assert!((1..=ROWS_MAX).contains(&rows), "{rows} rows");
    }
    let of_other = samples::session(samples::principal(1), 1);
    for (asked, is_there) in [(session, true), (of_other, false)] {
        let reading = journal.query(move |rows, log| {
            let mut counter = RowCounter::new(rows);
            Ok((record(&mut counter, log, asked, latest)?.is_some(), counter.seen()))
        });
        assert_eq!(reading.await.unwrap(), (is_there, 1));
    }
}

/// A compaction is erased with each run that it covers, also where it is of another session of the same principal.
pub async fn a_compaction_is_erased_with_every_run_that_it_covers<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let me = samples::principal(0);
    let session = samples::session(me, 1);
    let mut runs = [SampleRun::new(session, 1), SampleRun::new(session, 2)];
    let mut first_seqs = Vec::new();
    for run in &mut runs {
        let mut first_seq = None;
        for request in run.text_run() {
            let committed = journal.append(request).await.unwrap();
            first_seq.get_or_insert(committed.first_seq.0);
        }
        first_seqs.extend(first_seq);
    }
    let branch = samples::session(me, 9);
    let old = made::<F>(&journal, me, compaction(session.id, first_seqs[0], first_seqs[0] + 1, "old")).await;
    let both = made::<F>(&journal, me, compaction(session.id, first_seqs[0], first_seqs[1], "both")).await;
    let inherited = SessionCompaction {
        session: branch.id,
        ..compaction(session.id, first_seqs[0], first_seqs[0], "of a branch")
    };
    let inherited = made::<F>(&journal, me, inherited).await;
    let other = samples::principal(1);
    made::<F>(&journal, other, compaction(session.id, first_seqs[0], first_seqs[1], "of another one")).await;
    for (run, expected) in [(runs[0].run, vec![old, both, inherited]), (runs[1].run, vec![both])] {
        let about = journal.query(move |rows, _| entries_about_run(rows, run)).await.unwrap();
        assert_eq!(about, expected, "{run}");
    }
}
