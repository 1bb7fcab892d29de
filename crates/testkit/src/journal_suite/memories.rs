//! Items of memory.

use palyra_journal_core::families::entries_about_run;
use palyra_journal_core::families::memories::{of_principal, record};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::memory::{
    ForgetCause, MemoryAuthor, MemoryEvent, MemoryRecord, MemorySaved, MemoryScope, MemorySource,
};
use palyra_types::run::Surface;
use palyra_types::tool::Taints;
use palyra_types::{MemoryId, PrincipalId, Redacted, RunId, Seq, TapeSeq, Timestamp};

use super::JournalFactory;
use super::samples::{self, append};

/// Makes an item that holds for its principal everywhere.
#[must_use]
pub fn item(number: u128, text: &str) -> MemorySaved {
    MemorySaved {
        memory: MemoryId::from_parts(11, number),
        scope: MemoryScope::Principal,
        author: MemoryAuthor::Person,
        via: Surface::LocalSocket,
        source: None,
        taints: Taints::NONE,
        expires: None,
        supersedes: None,
        text: Redacted::cleaned(text.to_owned()),
    }
}

async fn tell<F: JournalFactory>(journal: &F::Journal, principal: PrincipalId, event: MemoryEvent) -> Seq {
    let entry = NewEntry { time: Timestamp(5), principal, session: None, run: None, event: event.into() };
    journal.append(append(vec![entry])).await.unwrap().first_seq
}

async fn items<F: JournalFactory>(journal: &F::Journal, principal: PrincipalId) -> Vec<MemoryRecord> {
    journal.query(move |rows, log| of_principal(rows, log, principal)).await.unwrap()
}

fn texts(items: &[MemoryRecord]) -> Vec<&str> {
    items.iter().map(|one| one.saved.text.expose().as_str()).collect()
}

/// An item is its principal's alone, also where another one uses the same id, until it is forgotten.
pub async fn items_stay_with_their_principal_until_they_are_forgotten<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let me = samples::principal(0);
    let other = samples::principal(1);
    let mine = item(1, "canary of one");
    let theirs = item(1, "canary of the other");
    tell::<F>(&journal, me, MemoryEvent::Saved(mine.clone())).await;
    tell::<F>(&journal, other, MemoryEvent::Saved(theirs.clone())).await;
    tell::<F>(&journal, me, MemoryEvent::Saved(item(1, "the same id again"))).await;
    assert_eq!(texts(&items::<F>(&journal, me).await), ["canary of one"]);
    assert_eq!(texts(&items::<F>(&journal, other).await), ["canary of the other"]);
    let unknown = MemoryId::from_parts(11, 9);
    for memory in [mine.memory, unknown] {
        tell::<F>(&journal, me, MemoryEvent::Forgotten { memory, cause: ForgetCause::Person }).await;
    }
    assert_eq!(items::<F>(&journal, me).await, []);
    assert_eq!(texts(&items::<F>(&journal, other).await), ["canary of the other"], "forgotten for one only");
    let known = async |principal, memory| {
        journal.query(move |rows, log| record(rows, log, principal, memory)).await.unwrap()
    };
    assert_eq!(known(me, mine.memory).await.and_then(|one| one.forgotten), Some(Timestamp(5)));
    assert_eq!(known(other, theirs.memory).await.and_then(|one| one.forgotten), None);
    assert_eq!(known(me, unknown).await, None);
    let third = samples::principal(2);
    assert_eq!(known(third, mine.memory).await, None);
}

/// Both stay, and the older one names the newer; an item of another principal is not superseded.
pub async fn a_newer_item_supersedes_an_older_one_of_the_same_principal<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let me = samples::principal(0);
    let other = samples::principal(1);
    let old = item(1, "drinks tea");
    let new = MemorySaved { supersedes: Some(old.memory), ..item(2, "drinks coffee") };
    let newest = MemorySaved { supersedes: Some(old.memory), ..item(3, "drinks water") };
    tell::<F>(&journal, me, MemoryEvent::Saved(old.clone())).await;
    tell::<F>(&journal, other, MemoryEvent::Saved(old.clone())).await;
    tell::<F>(&journal, me, MemoryEvent::Saved(new.clone())).await;
    tell::<F>(&journal, me, MemoryEvent::Saved(newest)).await;
    let found = items::<F>(&journal, me).await;
    assert_eq!(texts(&found), ["drinks tea", "drinks coffee", "drinks water"]);
    let newer: Vec<_> = found.iter().map(|one| one.superseded_by).collect();
    assert_eq!(newer, [Some(new.memory), None, None], "the first one counts");
    assert_eq!(items::<F>(&journal, other).await[0].superseded_by, None);
}

/// The entries that are erased with a run are those of the items that were learned from it.
pub async fn an_item_is_erased_with_the_run_that_it_came_from<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let me = samples::principal(0);
    let run = RunId::from_parts(3, 1);
    let source = Some(MemorySource { run, tape_seq: TapeSeq(4) });
    let learned = MemorySaved { source, ..item(1, "learned from the run") };
    let seq = tell::<F>(&journal, me, MemoryEvent::Saved(learned.clone())).await;
    tell::<F>(&journal, me, MemoryEvent::Saved(item(2, "typed by a person"))).await;
    let about = journal.query(move |rows, _| entries_about_run(rows, run)).await.unwrap();
    assert_eq!(about, [seq]);
    assert!(items::<F>(&journal, me).await[0].is_usable(Timestamp(9)));
    factory.erase(&journal, seq);
    let found = items::<F>(&journal, me).await;
    assert_eq!(texts(&found), ["", "typed by a person"]);
    assert_eq!((found[0].is_usable(Timestamp(9)), found[1].is_usable(Timestamp(9))), (false, true));
}
