//! What a job printed and nobody has read yet, as much of it as is kept: the beginning, and the end.
//!
//! Owns the count of its bytes from the job's start, by which a reader says where to go on. Invariant: never more than
//! its bound in memory, however much is printed; and what a look told is kept until a later look goes on behind it, so
//! that a look whose answer was lost can be had once more.

use std::collections::VecDeque;

use crate::running::OutputStore;

/// Output of a job that is still to be read.
#[derive(Debug)]
pub(crate) struct OutputBuffer {
    /// Bytes `head_at..` of all, then perhaps a gap, and the last ones.
    head: VecDeque<u8>,
    head_at: u64,
    tail: VecDeque<u8>,
    half: usize,
    total: u64,
    /// Where the next look begins that does not say where.
    next: u64,
}

/// What a look told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OutputSlice {
    /// The first byte of it, from the job's start.
    pub(crate) from: u64,
    /// The first that it does not tell.
    pub(crate) to: u64,
    /// How many there are.
    pub(crate) total: u64,
    pub(crate) text: String,
}

impl OutputStore for OutputBuffer {
    fn new(bytes_max: usize) -> Self {
        let half = bytes_max / 2;
        Self { head: VecDeque::new(), head_at: 0, tail: VecDeque::new(), half, total: 0, next: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = if self.tail.is_empty() { self.half - self.head.len() } else { 0 };
        let (to_head, rest) = bytes.split_at(bytes.len().min(room));
        self.head.extend(to_head);
        self.tail.extend(&rest[rest.len().saturating_sub(self.half)..]);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
    }
}

impl OutputBuffer {
    /// Tells at most so many bytes of text, from where the last look ended or from a byte that it told: nothing that
    /// nobody was told is passed over.
    pub(crate) fn look(&mut self, from: Option<u64>, bytes_max: usize) -> OutputSlice {
        let from = from.unwrap_or(self.next).min(self.next);
        self.forget_before(from);
        let mut look = self.describe(from, bytes_max);
        if look.text.len() > bytes_max {
            // What is no text takes up to three times as many bytes when it is told.
            look = self.describe(from, bytes_max / 3);
        }
        self.next = look.to;
        look
    }

    fn tail_at(&self) -> u64 {
        self.total - self.tail.len() as u64
    }

    /// Lets go of what lies before a byte, which its reader has.
    fn forget_before(&mut self, byte: u64) {
        let count = |of: u64, held: usize| usize::try_from(byte.saturating_sub(of)).unwrap_or(held).min(held);
        let gone = count(self.head_at, self.head.len());
        self.head.drain(..gone);
        self.head_at += gone as u64;
        if self.head.is_empty() {
            let gone = count(self.tail_at(), self.tail.len());
            self.tail.drain(..gone);
            self.head_at = self.tail_at();
            self.head = std::mem::take(&mut self.tail);
        }
    }

    fn describe(&self, from: u64, bytes_max: usize) -> OutputSlice {
        let begin = from.max(self.head_at);
        let mut text = String::new();
        if begin > from {
            text = left_out(begin - from);
        }
        let skipped = usize::try_from(begin - self.head_at).unwrap_or(usize::MAX);
        let mut bytes: Vec<u8> = self.head.iter().skip(skipped).copied().collect();
        let gap = self.tail_at() - (self.head_at + self.head.len() as u64);
        let tail = self.tail.iter();
        let mut behind: Vec<u8> = Vec::new();
        if gap == 0 {
            bytes.extend(tail);
        } else {
            behind.extend(tail);
        }
        let piece = piece(&bytes, bytes_max.saturating_sub(text.len()));
        text.push_str(&String::from_utf8_lossy(piece));
        let mut to = begin + piece.len() as u64;
        if piece.len() == bytes.len() && gap > 0 {
            let told = left_out(gap);
            let piece = self::piece(&behind, bytes_max.saturating_sub(text.len() + told.len()));
            if !piece.is_empty() {
                text.push_str(&told);
                text.push_str(&String::from_utf8_lossy(piece));
                to = self.tail_at() + piece.len() as u64;
            }
        }
        OutputSlice { from, to, total: self.total, text }
    }
}

fn left_out(bytes: u64) -> String {
    format!("\n[{bytes} bytes are left out here]\n")
}

/// Returns the beginning of some bytes, of at most that length, that cuts no character in two.
fn piece(bytes: &[u8], bytes_max: usize) -> &[u8] {
    let Some(beginning) = bytes.get(..bytes_max) else { return bytes };
    let cut = match beginning.utf8_chunks().last() {
        Some(last) if last.invalid().len() < 4 && bytes_max < bytes.len() => last.invalid().len(),
        Some(_) | None => 0,
    };
    // What never becomes a character is told as it is.
    if cut == beginning.len() { beginning } else { &beginning[..bytes_max - cut] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(buffer: &mut OutputBuffer, from: Option<u64>, bytes_max: usize, told: (u64, u64, &str)) {
        let look = buffer.look(from, bytes_max);
        assert_eq!((look.from, look.to, look.text.as_str()), told, "{look:?}");
    }

    #[test]
    fn a_look_goes_on_where_the_last_one_ended() {
        let mut buffer = OutputBuffer::new(64);
        buffer.push(b"abcdefgh");
        reads(&mut buffer, None, 3, (0, 3, "abc"));
        reads(&mut buffer, None, 3, (3, 6, "def"));
        buffer.push(b"ij");
        reads(&mut buffer, None, 100, (6, 10, "ghij"));
        reads(&mut buffer, None, 100, (10, 10, ""));
    }

    #[test]
    fn a_look_whose_answer_was_lost_can_be_had_once_more() {
        let mut buffer = OutputBuffer::new(64);
        buffer.push(b"abcdefgh");
        reads(&mut buffer, None, 3, (0, 3, "abc"));
        reads(&mut buffer, Some(0), 3, (0, 3, "abc"));
        reads(&mut buffer, Some(1000), 3, (3, 6, "def"));
        // That look said that what lies before it was read.
        assert!(buffer.look(Some(0), 64).text.starts_with("\n[3 bytes are left out here]\ndef"));
    }

    #[test]
    fn the_beginning_and_the_end_of_what_nobody_read_are_kept() {
        let mut buffer = OutputBuffer::new(8);
        for piece in ["ab", "cdef", "ghijklm", "no"] {
            buffer.push(piece.as_bytes());
        }
        reads(&mut buffer, None, 2, (0, 2, "ab"));
        reads(&mut buffer, None, 100, (2, 15, "cd\n[7 bytes are left out here]\nlmno"));
        buffer.push(b"pqr");
        reads(&mut buffer, None, 100, (15, 18, "pqr"));
    }

    #[test]
    fn no_look_is_longer_than_it_may_be_and_none_is_lost() {
        let printed: Vec<u8> = "aä€😀".bytes().chain([0xff, 0xfe, 0x80]).cycle().take(5000).collect();
        for bytes_max in [64, 65, 66, 67, 1000] {
            let mut buffer = OutputBuffer::new(100_000);
            buffer.push(&printed);
            let (mut text, mut to) = (String::new(), 0);
            while to < printed.len() as u64 {
                let look = buffer.look(None, bytes_max);
                assert!(look.text.len() <= bytes_max && look.to > to, "{look:?}");
                (to, text) = (look.to, text + &look.text);
            }
            assert_eq!(text, String::from_utf8_lossy(&printed), "{bytes_max}");
        }
    }
}
