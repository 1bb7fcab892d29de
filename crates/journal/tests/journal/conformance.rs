//! The suite that every journal passes.

use palyra_journal::JournalStore;
use palyra_testkit::journal_suite::JournalFactory;
use palyra_types::Seq;

use crate::opened::Folder;

/// A journal that keeps its folder until the test ends.
struct OnDisk {
    folder: Folder,
}

impl OnDisk {
    fn new() -> Self {
        Self { folder: Folder::new() }
    }
}

impl JournalFactory for OnDisk {
    type Journal = JournalStore;

    fn make(&self) -> JournalStore {
        self.folder.open()
    }

    fn erase(&self, _: &JournalStore, seq: Seq) {
        let connection = self.folder.connect();
        let seq = seq.0.cast_signed();
        connection.execute("DELETE FROM payload WHERE seq = ?1", [seq]).unwrap();
        connection.execute("DELETE FROM chunk WHERE seq = ?1", [seq]).unwrap();
    }
}

palyra_testkit::journal_conformance_tests!(OnDisk::new());
