//! Bytes made out of other bytes, by dice that repeat themselves.

use palyra_testkit::FixedEntropy;

/// Bytes of an input, at most: what is longer is cut off.
pub const INPUT_BYTES_MAX: usize = 16 * 1024;

/// Makes inputs out of a corpus.
#[derive(Debug)]
pub struct Mutator<'a> {
    corpus: &'a [Vec<u8>],
    dice: FixedEntropy,
}

impl<'a> Mutator<'a> {
    /// Makes a mutator; the corpus is not empty, and the same seed makes the same inputs.
    #[must_use]
    pub fn new(corpus: &'a [Vec<u8>], seed: u64) -> Self {
        Self { corpus, dice: FixedEntropy::new(seed) }
    }

    /// Returns the next input: one of the corpus, changed in up to eight places.
    pub fn input(&self) -> Vec<u8> {
        let mut bytes = self.some().to_vec();
        for _ in 0..=self.below(8) {
            self.change(&mut bytes);
        }
        bytes.truncate(INPUT_BYTES_MAX);
        bytes
    }

    fn change(&self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let length = 1 + self.below(16);
        match self.below(8) {
            0 => self.flip(bytes, at),
            1 => bytes.truncate(at),
            2 => {
                let to = (at + length).min(bytes.len());
                bytes.drain(at..to);
            }
            3 => {
                let inserted: Vec<u8> = (0..length).map(|_| self.byte()).collect();
                bytes.splice(at..at, inserted);
            }
            4 => {
                let to = (at + length).min(bytes.len());
                let again = bytes[at..to].to_vec();
                bytes.splice(at..at, again);
            }
            5 => {
                let other = self.some();
                let from = self.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            6 => {
                let telling = TELLING[self.below(TELLING.len())];
                let to = (at + telling.len()).min(bytes.len());
                bytes.splice(at..to, telling.iter().copied());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = self.byte();
                }
            }
        }
    }

    fn flip(&self, bytes: &mut [u8], at: usize) {
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << self.below(8);
        }
    }

    fn some(&self) -> &'a [u8] {
        &self.corpus[self.below(self.corpus.len())]
    }

    fn byte(&self) -> u8 {
        self.dice.next_u64().to_le_bytes()[0]
    }

    fn below(&self, sides: usize) -> usize {
        usize::try_from(self.dice.next_u64() % sides.max(1) as u64).unwrap_or(0)
    }
}

/// Bytes at which readers tend to stumble.
const TELLING: [&[u8]; 16] = [
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x00\x00\x00\x00",
    b"\xff\xff",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",
    b"\n\n",
    b"\r",
    b"data: ",
    b"data: [DONE]\n\n",
    b"\xef\xbb\xbf",
    b"{\"",
    b"null",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"-9223372036854775809",
    b"1e999",
    b"\\ud800",
    b"\xf0\x9f\x92\xa9",
];
