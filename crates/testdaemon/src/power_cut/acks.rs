//! Acknowledgements, stamped and kept outside the file system that is cut.
//!
//! Owns their format: 24 bytes each, producer, number and stamp as big-endian numbers of 64 bits. Each is one write
//! to a file that is only appended to, so that killing the writer loses none.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::time::{ClockId, clock_gettime};

const ACK_BYTES: usize = 24;

/// Where acknowledgements are written down.
pub(super) struct AckLog(Mutex<File>);

impl AckLog {
    pub(super) fn create(file: &Path) -> io::Result<Self> {
        File::options().create(true).append(true).open(file).map(|file| Self(Mutex::new(file)))
    }

    /// Notes that a producer's entry up to `number` was acknowledged before now.
    pub(super) fn note(&self, producer: u64, number: u64) -> io::Result<()> {
        let mut ack = [0; ACK_BYTES];
        ack[..8].copy_from_slice(&producer.to_be_bytes());
        ack[8..16].copy_from_slice(&number.to_be_bytes());
        ack[16..].copy_from_slice(&monotonic_ns().to_be_bytes());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(&ack)
    }
}

/// The highest number that each producer had acknowledged before a moment, and how many acknowledgements that were.
pub(super) fn read(file: &Path, before_ns: u64) -> io::Result<(BTreeMap<u64, u64>, u64)> {
    let mut highest: BTreeMap<u64, u64> = BTreeMap::new();
    let mut count = 0;
    for ack in std::fs::read(file)?.chunks_exact(ACK_BYTES) {
        let number = |at: usize| ack[at..at + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        if number(16) < before_ns {
            let seen = highest.entry(number(0)).or_default();
            *seen = (*seen).max(number(8));
            count += 1;
        }
    }
    Ok((highest, count))
}

/// Returns how many acknowledgements there are.
pub(super) fn count(file: &Path) -> usize {
    let bytes = std::fs::metadata(file).map_or(0, |found| found.len());
    usize::try_from(bytes).unwrap_or(0) / ACK_BYTES
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements_count_until_the_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("acks");
        let acks = AckLog::create(&file).expect("made");
        for (producer, number) in [(1, 1), (2, 1), (1, 2)] {
            acks.note(producer, number).expect("noted");
        }
        let (highest, count) = read(&file, u64::MAX).expect("read");
        assert_eq!((highest, count), (BTreeMap::from([(1, 2), (2, 1)]), 3));
        assert_eq!(read(&file, 0).expect("read"), (BTreeMap::new(), 0));
    }
}
