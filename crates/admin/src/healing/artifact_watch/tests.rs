//! Which artifacts are read at a look, and what becomes of those that differ.

use std::sync::Mutex;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{AppendTape, ArtifactError, NewEntry};
use palyra_testkit::MemoryJournal;
use palyra_testkit::journal_suite::samples::{append, principal};
use palyra_types::component::{AddedComponent, ComponentEvent};
use palyra_types::event::JournalEvent;
use palyra_types::tool::EffectContract;
use palyra_types::{ComponentId, Redacted, Timestamp};

use super::*;

const MIB: u64 = 1 << 20;

/// Artifacts of which each has some MiB.
#[derive(Default)]
struct ListedArtifacts {
    mib: u64,
    found: Mutex<BTreeMap<ArtifactRef, ArtifactCheck>>,
    failed: Mutex<Vec<ArtifactRef>>,
    read: Mutex<Vec<ArtifactRef>>,
    is_unreadable: Mutex<bool>,
}

impl CheckArtifacts for ListedArtifacts {
    fn check(&self, artifact: ArtifactRef) -> BoxFuture<'static, Result<ArtifactCheck, ArtifactError>> {
        self.read.lock().unwrap().push(artifact);
        let found = self.found.lock().unwrap().get(&artifact).copied();
        let found = found.unwrap_or(ArtifactCheck::Whole { bytes: self.mib * MIB });
        let is_unreadable = *self.is_unreadable.lock().unwrap();
        let unreadable = || ArtifactError { what: "as a test".to_owned() };
        async move { if is_unreadable { Err(unreadable()) } else { Ok(found) } }.boxed()
    }

    fn repair(&self, _artifact: ArtifactRef) -> BoxFuture<'static, Result<(), ArtifactError>> {
        async { Ok(()) }.boxed()
    }

    fn take_failed_reads(&self) -> Vec<ArtifactRef> {
        std::mem::take(&mut *self.failed.lock().unwrap())
    }
}

fn artifact(kind: ArtifactKind, number: u8) -> ArtifactRef {
    ArtifactRef { kind, sha256: [number; 32] }
}

/// A journal with so many components, numbered from 1.
async fn journal(count: u8) -> MemoryJournal {
    let journal = MemoryJournal::new();
    for number in 1..=count {
        let added = AddedComponent {
            component: ComponentId::from_parts(11, number.into()),
            sha256: [number; 32],
            bytes: 4_000,
            tool_version: 1,
            contract: EffectContract::Pure,
            name: Redacted::cleaned(format!("tool_{number}")),
            text: "Counts words.".into(),
            schema: "{}".into(),
            capabilities: Vec::new(),
            source: "/tool.wasm".into(),
        };
        let event = JournalEvent::Component(ComponentEvent::Added(added));
        let entry = NewEntry { time: Timestamp(1), principal: principal(0), session: None, run: None, event };
        journal.append(append(vec![entry])).await.unwrap();
    }
    journal
}

/// A watch over a journal and a disk.
struct Watched {
    watch: ArtifactWatch,
    journal: MemoryJournal,
    disk: ListedArtifacts,
}

impl Watched {
    async fn new(components: u8, mib: u64) -> Self {
        let disk = ListedArtifacts { mib, ..ListedArtifacts::default() };
        Self { watch: ArtifactWatch::default(), journal: journal(components).await, disk }
    }

    /// Looks; returns what was read, and what differs.
    async fn look(&mut self) -> (Vec<ArtifactRef>, Vec<ArtifactStanding>) {
        let look = self.watch.look(&self.journal, &self.disk).await.unwrap();
        let read = std::mem::take(&mut *self.disk.read.lock().unwrap());
        (read, look.damaged.iter().map(|fact| fact.standing).collect())
    }

    fn set(&self, artifact: ArtifactRef, check: ArtifactCheck) {
        self.disk.found.lock().unwrap().insert(artifact, check);
    }
}

#[tokio::test]
async fn all_are_read_in_turn_a_slice_at_each_look_and_the_newest_first() {
    use ArtifactKind::{Component, NativeCode};
    let mut watched = Watched::new(3, 20).await;
    let [one, two, three] =
        [1, 2, 3].map(|number| [Component, NativeCode].map(|kind| artifact(kind, number)));
    for expected in [three, two, one, three] {
        let (read, damaged) = watched.look().await;
        assert_eq!((&read[..], damaged.len()), (&expected[..], 0));
    }
}

#[tokio::test]
async fn a_component_whose_call_failed_and_what_is_damaged_are_read_first() {
    use ArtifactKind::Component;
    let mut watched = Watched::new(3, 40).await;
    let oldest = artifact(Component, 1);
    watched.disk.failed.lock().unwrap().push(oldest);
    watched.set(oldest, ArtifactCheck::Lost);
    let (read, damaged) = watched.look().await;
    assert_eq!((read, damaged), (vec![oldest, artifact(Component, 3)], vec![ArtifactStanding::Lost]));
    watched.set(oldest, ArtifactCheck::Repairable);
    let (read, damaged) = watched.look().await;
    assert_eq!((read[0], damaged), (oldest, vec![ArtifactStanding::Repairable]));
    // What cannot be read now stays what it was: nothing is concluded from that.
    *watched.disk.is_unreadable.lock().unwrap() = true;
    assert_eq!(watched.look().await.1, [ArtifactStanding::Repairable]);
    *watched.disk.is_unreadable.lock().unwrap() = false;
    watched.set(oldest, ArtifactCheck::Whole { bytes: 1 });
    let (read, damaged) = watched.look().await;
    assert_eq!((read[0], damaged.len()), (oldest, 0), "its digest is right again");
    assert_ne!(watched.look().await.0[0], oldest);
}

#[tokio::test]
async fn what_was_removed_is_not_damaged() {
    let mut watched = Watched::new(1, 1).await;
    let [only, native] = [ArtifactKind::Component, ArtifactKind::NativeCode].map(|kind| artifact(kind, 1));
    watched.set(only, ArtifactCheck::Lost);
    assert_eq!(watched.look().await, (vec![only, native], vec![ArtifactStanding::Lost]));
    let event =
        JournalEvent::Component(ComponentEvent::Removed { component: ComponentId::from_parts(11, 1) });
    let entry = NewEntry { time: Timestamp(2), principal: principal(0), session: None, run: None, event };
    watched.journal.append(append(vec![entry])).await.unwrap();
    assert_eq!(watched.look().await, (Vec::new(), Vec::new()));
}
