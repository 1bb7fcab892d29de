//! Paths in records: as text where they are text, else as the numbers of their bytes behind a byte that no path has.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

/// What stands before a path that is no text.
const NUMBERS: char = '\0';

pub(super) fn encode(path: &Path) -> String {
    encode_bytes(path.as_os_str().as_bytes())
}

pub(super) fn decode(text: &str) -> Option<PathBuf> {
    decode_bytes(text).map(|bytes| OsString::from_vec(bytes).into())
}

/// Returns any bytes as text.
pub(super) fn encode_bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.starts_with(NUMBERS) => text.to_owned(),
        Ok(_) | Err(_) => {
            let numbers = bytes.iter().map(|byte| format!("{byte:02x}"));
            std::iter::once(NUMBERS.to_string()).chain(numbers).collect()
        }
    }
}

/// Returns the bytes of a text.
pub(super) fn decode_bytes(text: &str) -> Option<Vec<u8>> {
    let Some(numbers) = text.strip_prefix(NUMBERS) else { return Some(text.as_bytes().to_vec()) };
    let bytes = numbers
        .as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()));
    bytes.collect()
}

pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&encode(path))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(from)?;
    decode(&text).ok_or_else(|| serde::de::Error::custom("no path"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_read_as_it_was_written() {
        for bytes in [&b".envrc"[..], b"a b/\xff\xfe/.git", "ä/\u{202e}".as_bytes(), b""] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            assert_eq!(decode(&encode(&path)), Some(path));
        }
        assert_eq!(decode("\0zz"), None);
        assert_eq!(decode_bytes(&encode_bytes(b"\0a")).as_deref(), Some(&b"\0a"[..]));
    }
}
