//! What a program printed, as much of it as is kept: the beginning, and the end.
//!
//! Invariant: never more than its bound in memory, however much is printed.

use std::collections::VecDeque;

use crate::running::OutputStore;

/// The beginning and the end of an output.
#[derive(Debug, Clone)]
pub(crate) struct HeadTailBuffer {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    total: u64,
}

impl OutputStore for HeadTailBuffer {
    fn new(bytes_max: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: bytes_max / 2, total: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let to_head = bytes.len().min(self.half - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        let rest = &bytes[to_head..];
        self.tail.extend(&rest[rest.len().saturating_sub(self.half)..]);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
    }
}

impl HeadTailBuffer {
    /// Returns how many of the bytes that were printed are not kept.
    pub(crate) fn left_out(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// Returns it as text, with a line where bytes were left out; `way` says how to get from their first one on.
    pub(crate) fn describe(&self, way: impl Fn(usize) -> String) -> String {
        let mut bytes = self.head.clone();
        let left_out = self.left_out();
        if left_out > 0 {
            let way = way(self.head.len());
            bytes.extend_from_slice(format!("\n[{left_out} bytes are left out here{way}]\n").as_bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let mut kept = HeadTailBuffer::new(8);
        for piece in ["ab", "cdef", "ghijklm", "no"] {
            kept.push(piece.as_bytes());
        }
        assert_eq!(kept.describe(|_| String::new()), "abcd\n[7 bytes are left out here]\nlmno");
        assert_eq!(kept.left_out(), 7);
    }

    #[test]
    fn a_short_one_is_kept_whole() {
        let mut kept = HeadTailBuffer::new(8);
        kept.push(b"abcdef");
        assert_eq!(kept.describe(|_| String::new()), "abcdef");
    }
}
