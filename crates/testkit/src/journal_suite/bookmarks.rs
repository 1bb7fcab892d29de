//! Names of places in tapes.

use palyra_journal_core::families::bookmarks::of_principal;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::event::{Bookmark, SessionEvent};
use palyra_types::{PrincipalId, Redacted, RunId, Seq, TapeSeq, Timestamp};

use super::JournalFactory;
use super::samples::{self, append};

fn bookmark(name: &str) -> Bookmark {
    Bookmark { run: RunId::from_parts(3, 1), tape_seq: TapeSeq(2), name: Redacted::cleaned(name.to_owned()) }
}

/// A bookmark is its principal's until that one removes it; an erased one still says where it is.
pub async fn bookmarks_stay_until_their_principal_removes_them(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (me, other) = (samples::principal(0), samples::principal(1));
    let tell = async |principal: PrincipalId, event: SessionEvent| {
        let entry = NewEntry { time: Timestamp(5), principal, session: None, run: None, event: event.into() };
        journal.append(append(vec![entry])).await.unwrap().first_seq
    };
    let of =
        async |principal| journal.query(move |rows, log| of_principal(rows, log, principal)).await.unwrap();
    assert_eq!(of(me).await, []);
    let first = tell(me, SessionEvent::BookmarkPlaced(bookmark("draft"))).await;
    let second = tell(me, SessionEvent::BookmarkPlaced(bookmark("end"))).await;
    let theirs = tell(other, SessionEvent::BookmarkPlaced(bookmark("draft"))).await;
    assert_eq!(of(me).await, [(first, bookmark("draft")), (second, bookmark("end"))]);
    for nothing in [theirs, Seq(first.0 + 90)] {
        tell(me, SessionEvent::BookmarkRemoved(nothing)).await;
    }
    assert_eq!(of(other).await, [(theirs, bookmark("draft"))], "only its own principal removes it");
    tell(me, SessionEvent::BookmarkRemoved(first)).await;
    tell(me, SessionEvent::BookmarkRemoved(first)).await;
    assert_eq!(of(me).await, [(second, bookmark("end"))]);
    factory.erase(&journal, second);
    assert_eq!(of(me).await, [(second, bookmark(""))]);
}
