//! Media types of files: what a file says that it is, compared with what its bytes prove.
//!
//! Owns the signatures and the list of types that are text. Pure; knows no refusal of a client and no limit of a size.
//! Begin at [`media_type_of`].

/// Characters of a media type, at most (RFC 6838, section 4.2: 127 on each side).
const MEDIA_TYPE_CHARS_MAX: usize = 255;

const OCTETS: &str = "application/octet-stream";
const ZIP: &str = "application/zip";

/// What the first bytes of a file can prove.
const SIGNED: [&str; 6] = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", ZIP];

/// Why a file has no media type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MediaTypeError {
    /// The declared type is not one.
    #[error("the declared type is not a media type")]
    NoMediaType,
    /// The bytes are something else than the declared type.
    #[error("the file is declared as {declared}, and its bytes are {found}")]
    Contradicted {
        /// The declared type.
        declared: String,
        /// What the bytes are.
        found: &'static str,
    },
}

/// Returns the media type of a file: the declared one where its bytes do not contradict it, else what the bytes prove.
/// Parameters of the declared type are left out.
///
/// # Errors
/// [`MediaTypeError`].
pub fn media_type_of(name: &str, declared: &str, bytes: &[u8]) -> Result<String, MediaTypeError> {
    let declared = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let declared = if declared == "image/jpg" { "image/jpeg".to_owned() } else { declared };
    if declared.is_empty() || declared == OCTETS {
        return Ok(detected_type(name, bytes).to_owned());
    }
    if !is_media_type(&declared) {
        return Err(MediaTypeError::NoMediaType);
    }
    let signed = signature(bytes);
    let fits = if SIGNED.contains(&declared.as_str()) {
        signed == Some(declared.as_str())
    } else if is_text_type(&declared) {
        signed.is_none() && is_plain_text(bytes)
    } else {
        // Many formats are ZIP archives inside.
        signed.is_none() || (signed == Some(ZIP) && declared.starts_with("application/"))
    };
    if fits {
        return Ok(declared);
    }
    let found = match signed {
        Some(signed) => signed,
        None if bytes.is_empty() => "none",
        None if is_plain_text(bytes) => "text",
        None => "something else",
    };
    Err(MediaTypeError::Contradicted { declared, found })
}

fn is_media_type(text: &str) -> bool {
    let token = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c))
    };
    text.len() <= MEDIA_TYPE_CHARS_MAX
        && text.split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype))
}

/// Recognises a file by its first bytes: the signatures of PNG (RFC 2083), JPEG (ITU T.81), GIF (87a, 89a), WebP (RFC
/// 9649), PDF (ISO 32000) and ZIP (APPNOTE 4.3).
fn signature(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(ZIP),
        _ => None,
    }
}

/// Returns what a file is that does not say so.
fn detected_type(name: &str, bytes: &[u8]) -> &'static str {
    match signature(bytes) {
        Some(signed) => signed,
        None if is_plain_text(bytes) => text_type(name),
        None => OCTETS,
    }
}

/// Returns the media type of a file of this machine: what its bytes show, else what its name says of a text.
#[must_use]
pub fn file_type(name: &str, bytes: &[u8]) -> &'static str {
    let signed = signature(bytes).or(match bytes {
        [0x1f, 0x8b, ..] => Some("application/gzip"),
        [0x7f, b'E', b'L', b'F', ..] => Some("application/x-executable"),
        // Two letters alone are also how a text begins; the four bytes of nothing are not.
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some("image/bmp"),
        _ => None,
    });
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match (signed, extension.as_deref()) {
        (Some(signed), _) => signed,
        (None, _) if !is_plain_text(bytes) => OCTETS,
        (None, Some("css")) => "text/css",
        (None, Some("js")) => "text/javascript",
        (None, Some("svg")) => "image/svg+xml",
        (None, _) => text_type(name),
    }
}

fn text_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("md" | "markdown") => "text/markdown",
        Some("csv") => "text/csv",
        Some("html" | "htm") => "text/html",
        Some("json") => "application/json",
        Some("xml") => "application/xml",
        Some("yaml" | "yml") => "application/yaml",
        Some("toml") => "application/toml",
        Some(_) | None => "text/plain",
    }
}

/// Returns whether a type is one that models read as text.
#[must_use]
pub fn is_text_type(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
        || matches!(
            media_type,
            "application/json"
                | "application/xml"
                | "application/yaml"
                | "application/x-yaml"
                | "application/toml"
                | "application/javascript"
                | "application/sql"
                | "application/x-sh"
                | "application/x-ndjson"
        )
}

/// Returns whether bytes are UTF-8 without a zero byte.
#[must_use]
pub fn is_plain_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_tell_a_files_type_and_extensions_only_that_of_texts() {
        for (name, content, expect) in [
            ("a.png", &b"\x89PNG\r\n\x1a\n..."[..], "image/png"),
            ("a.txt", b"\xff\xd8\xff\xe0", "image/jpeg"),
            ("a", b"RIFF....WEBPVP8 ", "image/webp"),
            ("a", b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0", "image/bmp"),
            ("BMW.csv", b"BMW,2026,1200,red", "text/csv"),
            ("a.wav", b"RIFF....WAVE\xff", OCTETS),
            ("a.png", b"not an image", "text/plain"),
            ("A.MD", b"# Head", "text/markdown"),
            ("a.md", b"\0binary", OCTETS),
            ("a.md", b"\xff\xfe", OCTETS),
            ("empty", b"", "text/plain"),
            ("a.pdf", b"%PDF-1.7", "application/pdf"),
        ] {
            assert_eq!(file_type(name, content), expect, "{name}");
        }
    }
}
