//! Sets of bytes, and the runs of text that consist of them.

/// Which bytes belong to something.
#[derive(Debug)]
pub(crate) struct ByteSet([bool; 256]);

impl ByteSet {
    /// Letters, digits and `others`.
    pub(crate) const fn alphanumeric_and(others: &[u8]) -> Self {
        let mut set = [false; 256];
        let mut byte = 0_u8;
        while byte < 128 {
            set[byte as usize] = byte.is_ascii_alphanumeric();
            byte += 1;
        }
        let mut at = 0;
        while at < others.len() {
            set[others[at] as usize] = true;
            at += 1;
        }
        Self(set)
    }

    /// Everything that is printed, but not `others`.
    pub(crate) const fn graphic_without(others: &[u8]) -> Self {
        let mut set = [false; 256];
        let mut byte = 0_u8;
        while byte < 128 {
            set[byte as usize] = byte.is_ascii_graphic();
            byte += 1;
        }
        let mut at = 0;
        while at < others.len() {
            set[others[at] as usize] = false;
            at += 1;
        }
        Self(set)
    }

    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte)]
    }

    /// Returns where the run that begins at `from` ends, looking no further than `limit`.
    pub(crate) fn run(&self, text: &[u8], from: usize, limit: usize) -> usize {
        let limit = limit.min(text.len());
        let from = from.min(limit);
        let length = text[from..limit].iter().position(|byte| !self.has(*byte));
        length.map_or(limit, |length| from + length)
    }
}

/// What the secrets that vendors make consist of, with what joins their parts.
pub(crate) static TOKEN: ByteSet = ByteSet::graphic_without(b"\"'`<>()[]{},;\\&#?^!");
/// What goes on with a token that is longer than what is looked at.
pub(crate) static TOKEN_REST: ByteSet = ByteSet::alphanumeric_and(b"_-+/=.");
/// A value without quotes.
pub(crate) static VALUE: ByteSet = ByteSet::graphic_without(b"\"'`<>()[]{},;\\&#");
/// A name that something is assigned to.
pub(crate) static NAME: ByteSet = ByteSet::alphanumeric_and(b"_.-");
/// Base64 of either alphabet.
pub(crate) static BASE64: ByteSet = ByteSet::alphanumeric_and(b"+/=_-");
