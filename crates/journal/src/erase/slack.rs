//! The unused space inside the pages of a database file, where SQLite leaves what it moved elsewhere.
//!
//! `PRAGMA secure_delete` overwrites cells and pages that are deleted. Cells that a page hands to its neighbour
//! when the tree is balanced are copied, and the old bytes stay in the page's unallocated space; when the copy is
//! deleted later, they do not go with it. Format: <https://www.sqlite.org/fileformat2.html>, section 1.6.
//!
//! Invariant: only bytes that no reader of the file ever looks at are written, so a crash in between harms nothing.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Bytes of the file's header, before the first page's own.
const FILE_HEADER_BYTES: usize = 100;
/// Pages that are looked at together.
const PAGES_PER_READ: usize = 64;
/// From this page on the number of a page may look like the first byte of a tree's page.
const PAGES_MAX: u64 = 0x0200_0000;

/// Overwrites the unused space of every page with zeros and syncs; returns how many pages held something there.
///
/// Nobody may write to the file meanwhile, and its write-ahead log must be empty.
///
/// # Errors
/// An I/O error; `Unsupported` for a file beyond 128 GiB, whose pages cannot be told apart.
pub(super) fn overwrite(file: &File) -> io::Result<u64> {
    let mut header = [0; FILE_HEADER_BYTES];
    file.read_exact_at(&mut header, 0)?;
    let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => usize::from(bytes),
    };
    if page_bytes < 512 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file says no size of its pages"));
    }
    let usable = page_bytes - usize::from(header[20]);
    let pages = file.metadata()?.len() / page_bytes as u64;
    if pages >= PAGES_MAX {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "the database is too large"));
    }
    let mut block = vec![0; page_bytes * PAGES_PER_READ];
    let zeros = vec![0; page_bytes];
    let mut changed = 0;
    let mut at = 0;
    while at < pages {
        let together = PAGES_PER_READ.min(usize::try_from(pages - at).unwrap_or(PAGES_PER_READ));
        let block = &mut block[..together * page_bytes];
        file.read_exact_at(block, at * page_bytes as u64)?;
        for (page, number) in block.chunks_exact(page_bytes).zip(at..) {
            let begin = if number == 0 { FILE_HEADER_BYTES } else { 0 };
            let mut dirty = false;
            for unused in unused(&page[..usable], begin).unwrap_or_default() {
                if page[unused.clone()].iter().any(|byte| *byte != 0) {
                    file.write_all_at(
                        &zeros[..unused.len()],
                        number * page_bytes as u64 + unused.start as u64,
                    )?;
                    dirty = true;
                }
            }
            changed += u64::from(dirty);
        }
        at += together as u64;
    }
    file.sync_all()?;
    Ok(changed)
}

/// Returns the unused stretches of a tree's page whose header begins at `begin`; `None` for any other page.
fn unused(page: &[u8], begin: usize) -> Option<Vec<Range<usize>>> {
    let header_bytes = match page.get(begin)? {
        2 | 5 => 12,
        10 | 13 => 8,
        _ => return None,
    };
    let number = |at: usize| {
        let bytes = page.get(at..at + 2)?;
        Some(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    };
    let cells = number(begin + 3)?;
    let pointers_end = begin + header_bytes + 2 * cells;
    let content = match number(begin + 5)? {
        0 => 65_536,
        at => at,
    };
    if pointers_end > content || content > page.len() {
        return None;
    }
    let gap = pointers_end..content;
    let mut unused = vec![gap];
    let mut free = number(begin + 1)?;
    while free != 0 {
        let (next, bytes) = (number(free)?, number(free + 2)?);
        let end = free.checked_add(bytes).filter(|end| bytes >= 4 && *end <= page.len())?;
        unused.push(free + 4..end);
        if next != 0 && next < end {
            return None;
        }
        free = next;
    }
    Some(unused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::{ConnectionAccess, connect};

    const PAGE: usize = 512;

    /// A leaf of a table with one cell pointer, content from 400 on, and a free block of 20 bytes at 420.
    fn leaf(begin: usize) -> Vec<u8> {
        let mut page = vec![0xEE; PAGE];
        page[begin] = 13;
        for (at, value) in [(1, 420_u16), (3, 1), (5, 400)] {
            page[begin + at..begin + at + 2].copy_from_slice(&value.to_be_bytes());
        }
        page[420..424].copy_from_slice(&[0, 0, 0, 20]);
        page
    }

    #[test]
    fn the_gap_and_the_free_blocks_of_a_page_are_unused() {
        assert_eq!(unused(&leaf(0), 0), Some(vec![10..400, 424..440]));
        assert_eq!(unused(&leaf(100), 100), Some(vec![110..400, 424..440]));
    }

    #[test]
    fn what_is_no_page_of_a_tree_or_contradicts_itself_is_left_alone() {
        let broken = |at: usize, bytes: &[u8]| {
            let mut page = leaf(0);
            page[at..at + bytes.len()].copy_from_slice(bytes);
            unused(&page, 0)
        };
        assert_eq!(broken(0, &[0]), None, "a freed or overflowing page");
        assert_eq!(broken(3, &[2, 0]), None, "more cells than there is room for");
        assert_eq!(broken(5, &[3, 0]), None, "content beyond the end");
        assert_eq!(broken(422, &[1, 0]), None, "a free block beyond the end");
        assert_eq!(broken(420, &[1, 100]), None, "a free block that leads backwards");
    }

    #[test]
    fn only_unused_bytes_are_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut pages = leaf(100);
        pages[16..21].copy_from_slice(&[2, 0, 1, 1, 0]);
        pages.extend(leaf(0));
        pages.extend(vec![0; PAGE]);
        std::fs::write(&path, &pages).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        assert_eq!(overwrite(&file).unwrap(), 2);
        let after = std::fs::read(&path).unwrap();
        let spared = |at: &usize| after[*at] == pages[*at];
        assert!(after[110..400].iter().chain(&after[PAGE + 10..PAGE + 400]).all(|byte| *byte == 0));
        assert!((0..110).chain(400..424).chain(440..PAGE + 10).all(|at| spared(&at)));
        assert_eq!(overwrite(&file).unwrap(), 0);
    }

    /// Cells are moved by hundreds of insertions at random places, and then some of them are deleted.
    #[test]
    fn what_secure_delete_leaves_of_moved_cells_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = connect(&path, ConnectionAccess::Write).unwrap();
        connection.execute_batch("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT NOT NULL)").unwrap();
        connection.execute_batch("BEGIN").unwrap();
        let text = |n: u64| format!("canary-{n:04}-{}", "z".repeat((n * 67 % 400) as usize));
        let mut random = 1_u64;
        for n in 0..800 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            connection
                .execute("INSERT OR IGNORE INTO t VALUES (?1, ?2)", ((random >> 40) as i64, text(n)))
                .unwrap();
        }
        let gone = |n: &u64| n.is_multiple_of(3);
        for n in (0..800).filter(gone) {
            connection.execute("DELETE FROM t WHERE v = ?1", [text(n)]).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let left = || {
            let bytes = std::fs::read(&path).unwrap();
            let all = bytes.windows(11).filter(|window| window.starts_with(b"canary-"));
            let numbers = all.filter_map(|window| str::from_utf8(&window[7..]).ok()?.parse().ok());
            numbers.filter(gone).count()
        };
        assert!(left() > 0, "secure_delete leaves nothing behind any more");
        let file = File::options().read(true).write(true).open(&path).unwrap();
        overwrite(&file).unwrap();
        assert_eq!(left(), 0);
        let whole: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(whole, "ok");
    }
}
