//! Pages of this program's own file that are mapped into the daemon.
//!
//! Owns finding and releasing them. The kernel maps 64 KiB around each place that is touched, so that a daemon that has done a
//! little of everything maps nearly all of its file. Invariant: only mappings without a page of their own are released; what
//! is touched next is mapped again from the system's cache of files.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

/// Unmaps the pages of this program's file and returns the bytes of address space that they were in.
///
/// # Errors
/// When the kernel does not say what is mapped.
pub fn release_program_pages() -> std::io::Result<usize> {
    let program = std::fs::read_link("/proc/self/exe")?;
    let mappings = std::fs::read("/proc/self/smaps")?;
    let mut released = 0;
    for range in unchanged_mappings(&mappings, program.as_os_str()) {
        let length = range.len();
        // SAFETY: the kernel has just listed this range as a mapping of the program's own file that cannot be written and
        // has no changed page, and mappings of the program last as long as it. Each page is read from the file again when it
        // is touched, with the same content: the kernel lets nobody write the file of a running program.
        let result = unsafe {
            libc::madvise(std::ptr::with_exposed_provenance_mut(range.start), length, libc::MADV_DONTNEED)
        };
        if result == 0 {
            released += length;
        }
    }
    Ok(released)
}

/// Returns the mappings of `program` in a text like `/proc/self/smaps` that are only read and have no page of their own.
fn unchanged_mappings(mappings: &[u8], program: &OsStr) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut candidate = None;
    for line in mappings.split(|byte| *byte == b'\n') {
        if let Some(about) = line.strip_prefix(b"Anonymous:") {
            let is_zero = about.trim_ascii() == b"0 kB";
            found.extend(candidate.take().filter(|_| is_zero));
        } else if let Some((range, is_writable)) = mapping(line) {
            let is_ours = line.ends_with(program.as_bytes()) && line.contains(&b'/');
            candidate = Some(range).filter(|_| is_ours && !is_writable);
        }
    }
    found
}

/// Reads the first line of a mapping: its addresses, and whether it can be written.
fn mapping(line: &[u8]) -> Option<(Range<usize>, bool)> {
    let text = String::from_utf8_lossy(line);
    let mut words = text.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let permissions = words.next()?;
    let address = |digits| usize::from_str_radix(digits, 16).ok();
    Some((address(start)?..address(end)?, permissions.contains('w')))
}

#[cfg(test)]
mod tests;
