//! Reads images as a strict vendor does: proper base64, and bytes that are what they are called.
//!
//! Owns a decoder of its own, so that the server shares no mistake with the encoder of an adapter.

use serde_json::Value;

/// The image types that vendors take.
pub(super) const MEDIA_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/// The largest image, decoded.
pub(super) const IMAGE_BYTES_MAX: usize = 5 * 1024 * 1024;

/// What is wrong with an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ImageFlaw {
    /// The type is not taken.
    MediaType,
    /// The data is not base64.
    Base64,
    /// There is nothing.
    Empty,
    /// It is larger than [`IMAGE_BYTES_MAX`].
    TooLarge(usize),
    /// The bytes are of no known image.
    NoImage,
    /// The bytes are of another type.
    Lies(&'static str),
}

/// Returns what is wrong with an image, if anything.
pub(super) fn flaw(media_type: &str, data: &str) -> Option<ImageFlaw> {
    if !MEDIA_TYPES.contains(&media_type) {
        return Some(ImageFlaw::MediaType);
    }
    let Some(bytes) = decode_base64(data) else { return Some(ImageFlaw::Base64) };
    match media_type_of(&bytes) {
        _ if bytes.is_empty() => Some(ImageFlaw::Empty),
        _ if bytes.len() > IMAGE_BYTES_MAX => Some(ImageFlaw::TooLarge(bytes.len())),
        None => Some(ImageFlaw::NoImage),
        Some(real) if real != media_type => Some(ImageFlaw::Lies(real)),
        Some(_) => None,
    }
}

/// Splits `data:image/png;base64,...` into type and data.
pub(super) fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

/// Returns type and size of every image in a list of content blocks of any dialect.
pub(super) fn seen(content: &Value) -> Vec<(String, usize)> {
    let one = |block: &Value| {
        let (media_type, data) = match block["image_url"]["url"].as_str().or(block["image_url"].as_str()) {
            Some(url) => data_url(url)?,
            None => {
                (block.pointer("/source/media_type")?.as_str()?, block.pointer("/source/data")?.as_str()?)
            }
        };
        Some((media_type.to_owned(), decode_base64(data)?.len()))
    };
    content.as_array().map_or_else(Vec::new, |blocks| blocks.iter().filter_map(one).collect())
}

fn media_type_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Decodes standard base64 with its padding; `None` when it is anything else.
fn decode_base64(data: &str) -> Option<Vec<u8>> {
    let text = data.trim_end_matches('=').as_bytes();
    if !data.len().is_multiple_of(4) || data.len() - text.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for four in text.chunks(4) {
        let mut bits = 0_u32;
        for (at, byte) in four.iter().enumerate() {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits |= u32::from(value) << (18 - 6 * at);
        }
        let whole = four.len() * 6 / 8;
        let [_, decoded @ ..] = bits.to_be_bytes();
        if four.len() == 1 || decoded[whole..].iter().any(|rest| *rest != 0) {
            return None;
        }
        bytes.extend(&decoded[..whole]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_exactly() {
        let check = |text: &str, expect: Option<&[u8]>| {
            assert_eq!(decode_base64(text).as_deref(), expect, "{text}");
        };
        check("", Some(b""));
        check("Zg==", Some(b"f"));
        check("Zm8=", Some(b"fo"));
        check("Zm9v", Some(b"foo"));
        check("Zm9vYg==", Some(b"foob"));
        check("+/+/", Some(&[0xfb, 0xff, 0xbf]));
        for wrong in ["Zg", "Zg=", "Zm9", "Zm 9", "Zm9v\n", "Zh==", "Z===", "====", "-_-_"] {
            check(wrong, None);
        }
    }

    #[test]
    fn an_image_is_what_it_is_called() {
        let png = "iVBORw0KGgo=";
        assert_eq!(flaw("image/png", png), None);
        assert_eq!(flaw("image/jpeg", png), Some(ImageFlaw::Lies("image/png")));
        assert_eq!(flaw("image/bmp", png), Some(ImageFlaw::MediaType));
        assert_eq!(flaw("image/png", "Zm9v"), Some(ImageFlaw::NoImage));
        assert_eq!(flaw("image/png", ""), Some(ImageFlaw::Empty));
        assert_eq!(flaw("image/png", "not base64"), Some(ImageFlaw::Base64));
        assert_eq!(data_url("data:image/png;base64,Zm9v"), Some(("image/png", "Zm9v")));
    }
}
