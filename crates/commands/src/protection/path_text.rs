//! Paths in records: as text where they are text, else as the numbers of their bytes behind a byte that no path has.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

/// What stands before a path that is no text.
const NUMBERS: char = '\0';

pub(super) fn encode(path: &Path) -> String {
    path.to_str().map_or_else(
        || {
            let bytes = path.as_os_str().as_bytes().iter();
            std::iter::once(NUMBERS.to_string()).chain(bytes.map(|byte| format!("{byte:02x}"))).collect()
        },
        str::to_owned,
    )
}

pub(super) fn decode(text: &str) -> Option<PathBuf> {
    let Some(numbers) = text.strip_prefix(NUMBERS) else { return Some(PathBuf::from(text)) };
    let bytes = numbers
        .as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()));
    Some(OsString::from_vec(bytes.collect::<Option<Vec<u8>>>()?).into())
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
    }
}
