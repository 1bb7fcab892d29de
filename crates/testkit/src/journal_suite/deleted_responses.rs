//! Responses that clients deleted.

use palyra_journal_core::families::deleted_responses::is_deleted;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::event::SessionEvent;
use palyra_types::{PrincipalId, RunId, Timestamp};

use super::JournalFactory;
use super::samples::{self, append};

/// A response is deleted for its principal, once and for good; deleting it again changes nothing.
pub async fn a_deleted_response_stays_deleted_for_its_principal(factory: &impl JournalFactory) {
    let journal = factory.make();
    let me = samples::principal(0);
    let run = RunId::from_parts(3, 1);
    let found = async |principal: PrincipalId, run: RunId| {
        !journal.query(move |rows, _| is_deleted(rows, principal, run)).await.unwrap()
    };
    assert!(found(me, run).await);
    for _ in 0..2 {
        let event = SessionEvent::ResponseDeleted { run }.into();
        let entry = NewEntry { time: Timestamp(5), principal: me, session: None, run: None, event };
        journal.append(append(vec![entry])).await.unwrap();
        assert!(!found(me, run).await);
    }
    assert!(found(samples::principal(1), run).await, "only for its own principal");
    assert!(found(me, RunId::from_parts(3, 2)).await);
}
