//! Standing settings of tools, and counts of policies that are tried out, as the log says them.

use palyra_journal_core::families::{postures, shadows};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::posture::{Posture, PostureChanged, PostureScope};
use palyra_types::run::Surface;
use palyra_types::shadow::{ShadowCounts, ShadowExample};
use palyra_types::tool::ToolVerdict;
use palyra_types::{EffectId, Redacted, RunId, Seq, Timestamp};

use super::JournalFactory;
use super::samples::{self, append};

/// Returns an example of a setting.
#[must_use]
pub fn posture(scope: PostureScope, posture: Option<Posture>, replaces: Option<Seq>) -> PostureChanged {
    let (by, via) = (samples::principal(0), Surface::LocalSocket);
    PostureChanged { replaces, scope, posture, by, via, tool: "write_file".into() }
}

/// Returns an example of a count.
#[must_use]
pub fn shadow(candidate: u8, judged: u64) -> ShadowCounts {
    let example = ShadowExample {
        run: RunId::from_parts(3, 1),
        effect: EffectId(2),
        was: ToolVerdict::Ask,
        would_be: ToolVerdict::Deny,
    };
    ShadowCounts {
        candidate: [candidate; 32],
        since: Timestamp(5),
        judged,
        same: judged - 1,
        newly_denied: 1,
        examples: vec![example],
        ..ShadowCounts::default()
    }
}

fn entry(event: JournalEvent, at: i64) -> NewEntry {
    let principal = samples::principal(0);
    NewEntry { time: Timestamp(at), principal, session: None, run: None, event }
}

/// What replaces a setting ends it, what takes it back leaves none; an erased one still says where it held.
pub async fn postures_hold_until_they_are_replaced(factory: &impl JournalFactory) {
    let journal = factory.make();
    let work = || PostureScope::Workspace("/home/somebody/work".into());
    let session = PostureScope::Session(samples::session(samples::principal(1), 0));
    let tell = async |changed: PostureChanged, at: i64| {
        let entry = entry(JournalEvent::Policy(PolicyEvent::PostureChanged(changed)), at);
        journal.append(append(vec![entry])).await.unwrap().first_seq
    };
    let standing = async || {
        let records = journal.query(postures::records).await.unwrap();
        records.into_iter().map(|record| (record.seq, record.set, record.change)).collect::<Vec<_>>()
    };
    assert_eq!(standing().await, []);
    let in_work = posture(work(), Some(Posture::Ask), None);
    let in_session = posture(session.clone(), Some(Posture::Disabled), None);
    let first = tell(in_work.clone(), 5).await;
    let second = tell(in_session.clone(), 6).await;
    assert_eq!(
        standing().await,
        [(first, Timestamp(5), in_work), (second, Timestamp(6), in_session.clone())]
    );
    let stricter = posture(work(), Some(Posture::Disabled), Some(first));
    let third = tell(stricter.clone(), 7).await;
    let both = [(second, Timestamp(6), in_session), (third, Timestamp(7), stricter)];
    assert_eq!(standing().await, both, "what was replaced is gone");
    tell(posture(work(), Some(Posture::Ask), Some(first)), 8).await;
    assert_eq!(standing().await.len(), 3, "what has ended ends nothing again");
    tell(posture(session, None, Some(second)), 9).await;
    assert_eq!(standing().await[0], both[1], "what was taken back leaves nothing");

    factory.erase(&journal, third);
    let left = standing().await.remove(0).2;
    assert_eq!((left.posture, left.tool), (Some(Posture::Disabled), Redacted::default()), "facts stay");
    assert_eq!(left.scope, PostureScope::Workspace(Redacted::default()));
}

/// The newest count of each candidate is found, and of all the newest.
pub async fn the_newest_count_of_a_candidate_is_found(factory: &impl JournalFactory) {
    let journal = factory.make();
    assert_eq!(journal.query(move |rows, log| shadows::newest(rows, log, None)).await.unwrap(), None);
    for (counts, at) in [(shadow(1, 4), 5), (shadow(2, 9), 6), (shadow(1, 7), 7)] {
        journal
            .append(append(vec![entry(JournalEvent::Policy(PolicyEvent::ShadowCounted(counts)), at)]))
            .await
            .unwrap();
    }
    assert_eq!(
        journal.query(move |rows, log| shadows::newest(rows, log, Some([1; 32]))).await.unwrap(),
        Some(shadow(1, 7))
    );
    assert_eq!(
        journal.query(move |rows, log| shadows::newest(rows, log, Some([2; 32]))).await.unwrap(),
        Some(shadow(2, 9))
    );
    assert_eq!(
        journal.query(move |rows, log| shadows::newest(rows, log, Some([3; 32]))).await.unwrap(),
        None
    );
    assert_eq!(
        journal.query(move |rows, log| shadows::newest(rows, log, None)).await.unwrap(),
        Some(shadow(1, 7))
    );
}
