//! Whether the write-ahead log was damaged where commits had been acknowledged.
//!
//! SQLite reads frames up to the first that does not match its checksum and takes the rest for a write that was
//! cut off. So it is after a power cut, in the last commit. A second commit frame of the same round behind it shows
//! that the first one was on the disk before: then acknowledged entries would vanish without a word.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::error::OpenError;
use crate::connection::wal_path;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
const MAGIC: u32 = 0x377F_0682;
const PAGE_BYTES_MAX: u32 = 65_536;
/// One commit may have been cut off; the second comes only after the first was synced.
const COMMITS_CUT_OFF_MAX: u64 = 1;

/// Refuses a log that holds acknowledged commits which SQLite would leave out.
pub(super) fn check(database: &Path) -> Result<(), OpenError> {
    let file = match File::open(wal_path(database)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        file => file.map_err(OpenError::doing("opening the write-ahead log"))?,
    };
    match look(io::BufReader::with_capacity(1 << 18, file)) {
        Ok(FrameScan { damaged_at: Some(byte), commits_behind }) if commits_behind > COMMITS_CUT_OFF_MAX => {
            Err(OpenError::WalDamaged { byte, commits_behind })
        }
        Ok(_) => Ok(()),
        Err(error) => Err(OpenError::doing("reading the write-ahead log")(error)),
    }
}

/// What a look at the log shows.
#[derive(Debug, Default, PartialEq, Eq)]
struct FrameScan {
    /// Where the first frame lies that does not match.
    damaged_at: Option<u64>,
    /// Commit frames of the same round from there on.
    commits_behind: u64,
}

fn look(mut wal: impl Read) -> io::Result<FrameScan> {
    let mut header = [0; HEADER_BYTES];
    if !fill(&mut wal, &mut header)? || header == [0; HEADER_BYTES] {
        return Ok(FrameScan::default());
    }
    let Some(mut sum) = WalChecksum::of_header(&header) else {
        // Nothing behind it can be told from an older round.
        return Ok(FrameScan { damaged_at: Some(0), commits_behind: COMMITS_CUT_OFF_MAX + 1 });
    };
    let salts = &header[16..24];
    let page_bytes = word(&header[8..12], ByteOrder::Big);
    if !page_bytes.is_power_of_two() || page_bytes > PAGE_BYTES_MAX {
        return Ok(FrameScan { damaged_at: Some(0), commits_behind: COMMITS_CUT_OFF_MAX + 1 });
    }
    let mut frame = vec![0; FRAME_HEADER_BYTES + page_bytes as usize];
    let mut found = FrameScan::default();
    let mut at = HEADER_BYTES as u64;
    while fill(&mut wal, &mut frame)? {
        let (head, page) = frame.split_at(FRAME_HEADER_BYTES);
        let of_this_round = &head[8..16] == salts;
        if found.damaged_at.is_none() {
            sum.add(&head[..8]);
            sum.add(page);
            if !of_this_round || !sum.is(&head[16..24]) {
                found.damaged_at = Some(at);
            }
        }
        let is_commit = head[4..8] != [0; 4];
        if found.damaged_at.is_some() && of_this_round && is_commit {
            found.commits_behind += 1;
        }
        at += frame.len() as u64;
    }
    Ok(found)
}

/// Returns whether there were enough bytes.
fn fill(from: &mut impl Read, into: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[derive(Debug, Clone, Copy)]
enum ByteOrder {
    Big,
    Little,
}

fn word(bytes: &[u8], order: ByteOrder) -> u32 {
    let bytes: [u8; 4] = bytes.try_into().expect("four bytes are asked for");
    match order {
        ByteOrder::Big => u32::from_be_bytes(bytes),
        ByteOrder::Little => u32::from_le_bytes(bytes),
    }
}

/// SQLite's running checksum over the frames of a round.
struct WalChecksum {
    order: ByteOrder,
    first: u32,
    second: u32,
}

impl WalChecksum {
    /// Begins with the header; `None` when that is none.
    fn of_header(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let order = match word(&header[..4], ByteOrder::Big) {
            MAGIC => ByteOrder::Little,
            magic if magic == MAGIC | 1 => ByteOrder::Big,
            _ => return None,
        };
        let mut sum = Self { order, first: 0, second: 0 };
        sum.add(&header[..24]);
        sum.is(&header[24..]).then_some(sum)
    }

    fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks_exact(8) {
            let (left, right) = (word(&pair[..4], self.order), word(&pair[4..], self.order));
            self.first = self.first.wrapping_add(left).wrapping_add(self.second);
            self.second = self.second.wrapping_add(right).wrapping_add(self.first);
        }
    }

    fn is(&self, bytes: &[u8]) -> bool {
        (word(&bytes[..4], ByteOrder::Big), word(&bytes[4..8], ByteOrder::Big)) == (self.first, self.second)
    }
}
