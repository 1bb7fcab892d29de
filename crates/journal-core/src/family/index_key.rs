//! Keys of indexes: bytes whose order is that of the values that they are made of.
//!
//! Invariant: a key begins with [`FIRST_BYTE`], so every prefix has a successor; parts of fixed length are raw, text is
//! escaped and ended, so that no value is a prefix of another one.

const FIRST_BYTE: u8 = 1;

/// A key of an index. Build it part by part; the row that it belongs to is not part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexKey(Vec<u8>);

impl IndexKey {
    /// Begins a key; without parts it is the prefix of every key.
    #[must_use]
    pub fn new() -> Self {
        let mut bytes = Vec::with_capacity(40);
        bytes.push(FIRST_BYTE);
        Self(bytes)
    }

    /// Takes a key as a store returned it.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Adds an id or a digest: values of an index have one length.
    #[must_use]
    pub fn bytes<const LENGTH: usize>(mut self, value: &[u8; LENGTH]) -> Self {
        self.0.extend_from_slice(value);
        self
    }

    /// Adds a byte.
    #[must_use]
    pub fn byte(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    /// Adds a number.
    #[must_use]
    pub fn number(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    /// Adds a number that may be negative.
    #[must_use]
    pub fn signed(self, value: i64) -> Self {
        self.number(value.cast_unsigned() ^ (1 << 63))
    }

    /// Adds a text of any length.
    #[must_use]
    pub fn text(mut self, value: &str) -> Self {
        for byte in value.bytes() {
            self.0.push(byte);
            if byte == 0 {
                self.0.push(u8::MAX);
            }
        }
        self.0.extend_from_slice(&[0, 0]);
        self
    }

    /// Returns the bytes to store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Default for IndexKey {
    fn default() -> Self {
        Self::new()
    }
}

/// Keys from one, which is in it, up to another, which is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key.
    pub from: IndexKey,
    /// The first key after the range.
    pub until: IndexKey,
}

impl KeyRange {
    /// Makes the range of all keys that begin with the parts of `prefix`.
    #[must_use]
    pub fn of_prefix(prefix: IndexKey) -> Self {
        let mut until = prefix.0.clone();
        while until.last() == Some(&u8::MAX) {
            until.pop();
        }
        if let Some(last) = until.last_mut() {
            *last += 1;
        }
        Self { from: prefix, until: IndexKey(until) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Parts = (String, u64, i64, [u8; 4], u8);

    fn key(parts: &Parts) -> IndexKey {
        let (text, number, signed, bytes, byte) = parts;
        IndexKey::new().text(text).number(*number).signed(*signed).bytes(bytes).byte(*byte)
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof!["[\u{0}\u{1}a\u{ff}]{0,3}", any::<String>()]
    }

    fn parts() -> impl Strategy<Value = Parts> {
        let number = prop_oneof![0..3_u64, any::<u64>()];
        let signed = prop_oneof![-2..3_i64, any::<i64>()];
        let bytes = prop_oneof![Just([0; 4]), Just([u8::MAX; 4]), any::<[u8; 4]>()];
        (text(), number, signed, bytes, any::<u8>())
    }

    proptest! {
        #[test]
        fn keys_are_ordered_as_their_values(a in parts(), b in parts()) {
            prop_assert_eq!(key(&a).cmp(&key(&b)), a.cmp(&b));
        }

        #[test]
        fn a_range_holds_exactly_the_keys_with_its_prefix(a in parts(), b in parts()) {
            let prefix = IndexKey::new().text(&a.0).bytes(&a.3);
            let range = KeyRange::of_prefix(prefix);
            let key = IndexKey::new().text(&b.0).bytes(&b.3).number(b.1);
            prop_assert_eq!((range.from <= key) && (key < range.until), (&a.0, a.3) == (&b.0, b.3));
        }

        #[test]
        fn the_empty_prefix_holds_every_key(a in parts()) {
            let range = KeyRange::of_prefix(IndexKey::new());
            prop_assert!(range.from <= key(&a) && key(&a) < range.until);
        }
    }
}
