//! What kind of thing an answer is, and its bytes as text.
//!
//! Owns the guess: what the server says, and where it says nothing, the bytes. Pure.
//! Begin at [`ContentKind::of`].

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How much of a body is looked at.
const LOOKED_AT_BYTES: usize = 8 << 10;
/// How far into a page its own word on its letters counts.
const CHARSET_WITHIN_BYTES: usize = 1024;
/// The longest type that is looked at.
const TYPE_CHARS_MAX: usize = 100;
/// Types that are told by their names. Any other is its server's word.
const KNOWN: [&str; 48] = [
    "application/ecmascript",
    "application/epub+zip",
    "application/graphql",
    "application/gzip",
    "application/javascript",
    "application/json",
    "application/ld+json",
    "application/msword",
    "application/octet-stream",
    "application/pdf",
    "application/problem+json",
    "application/rss+xml",
    "application/atom+xml",
    "application/sql",
    "application/toml",
    "application/wasm",
    "application/x-ndjson",
    "application/x-sh",
    "application/x-tar",
    "application/x-www-form-urlencoded",
    "application/x-yaml",
    "application/xhtml+xml",
    "application/xml",
    "application/yaml",
    "application/zip",
    "audio/mpeg",
    "audio/ogg",
    "binary/octet-stream",
    "font/woff2",
    "image/avif",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/svg+xml",
    "image/webp",
    "image/x-icon",
    "multipart/form-data",
    "text/calendar",
    "text/css",
    "text/csv",
    "text/event-stream",
    "text/html",
    "text/javascript",
    "text/markdown",
    "text/plain",
    "text/xml",
    "video/mp4",
    "video/webm",
];

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentKind {
    /// A page.
    Html,
    /// Some other text.
    Text,
    /// No text.
    Binary,
}

/// What a server says that its answer is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DeclaredType {
    /// Such as `text/html`, in lower case; empty where nothing is said that has the form of a type.
    pub(crate) essence: String,
    charset: Option<String>,
}

impl DeclaredType {
    /// Reads the value of a `content-type` header.
    pub(crate) fn read(value: Option<&str>) -> Self {
        let value = value.unwrap_or_default();
        let mut parts = value.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let plain = |c: char| c.is_ascii_alphanumeric() || "/+-._".contains(c);
        let fits = essence.len() <= TYPE_CHARS_MAX && essence.contains('/') && essence.chars().all(plain);
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
        });
        Self { essence: if fits { essence } else { String::new() }, charset }
    }

    /// Names the type in words of ours.
    pub(crate) fn describe(&self) -> &'static str {
        if self.essence.is_empty() {
            return "no type";
        }
        KNOWN.into_iter().find(|known| *known == self.essence).unwrap_or("another type")
    }

    fn is_html(&self) -> bool {
        matches!(self.essence.as_str(), "text/html" | "application/xhtml+xml")
    }

    fn is_text(&self) -> bool {
        const TEXTS: [&str; 12] = [
            "application/json",
            "application/xml",
            "application/javascript",
            "application/ecmascript",
            "application/x-ndjson",
            "application/x-yaml",
            "application/yaml",
            "application/toml",
            "application/sql",
            "application/graphql",
            "application/x-www-form-urlencoded",
            "application/x-sh",
        ];
        let essence = self.essence.as_str();
        essence.starts_with("text/")
            || TEXTS.contains(&essence)
            || essence.ends_with("+json")
            || essence.ends_with("+xml")
            || essence.ends_with("+yaml")
    }

    fn is_empty_text(&self) -> bool {
        matches!(self.essence.as_str(), "" | "application/octet-stream" | "binary/octet-stream")
    }
}

impl ContentKind {
    /// Returns what an answer is.
    pub(crate) fn of(declared: &DeclaredType, body: &[u8]) -> Self {
        let front = &body[..body.len().min(LOOKED_AT_BYTES)];
        let (letters, _) = Encoding::for_bom(front).unwrap_or((UTF_8, 0));
        let holds_nul = letters == UTF_8 && front.contains(&0);
        if holds_nul {
            return Self::Binary;
        }
        if declared.is_html() || (declared.is_empty_text() && begins_as_page(front)) {
            Self::Html
        } else if declared.is_text() || (declared.is_empty_text() && reads(front)) {
            Self::Text
        } else {
            Self::Binary
        }
    }
}

fn begins_as_page(front: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&front[..front.len().min(64)]);
    let text = text.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    text.starts_with("<!doctype html") || text.starts_with("<html")
}

/// Whether bytes are UTF-8; a long run of them may be cut within a letter.
fn reads(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && bytes.len() >= LOOKED_AT_BYTES,
    }
}

/// Returns a body as text: by its mark, by its server's word, by its own; else as UTF-8, and a page that is none as most
/// browsers do.
pub(crate) fn decode(declared: &DeclaredType, kind: ContentKind, body: &[u8]) -> String {
    let said = declared.charset.as_deref().and_then(|label| Encoding::for_label(label.as_bytes()));
    let own = || (kind == ContentKind::Html).then(|| own_charset(body)).flatten();
    let guess = || if kind == ContentKind::Html && !reads(body) { WINDOWS_1252 } else { UTF_8 };
    // A mark at the front wins over all of them.
    let (text, _, _) = said.or_else(own).unwrap_or_else(guess).decode(body);
    text.into_owned()
}

fn own_charset(body: &[u8]) -> Option<&'static Encoding> {
    let front = String::from_utf8_lossy(&body[..body.len().min(CHARSET_WITHIN_BYTES)]).to_ascii_lowercase();
    let (_, behind) = front.split_once("charset=")?;
    let label: String = behind
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "-_:".contains(*c))
        .collect();
    Encoding::for_label(label.as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn answers_are_what_they_are_said_to_be_or_look_like() {
        for (content_type, body, expect) in [
            ("text/html; charset=utf-8", &b"<p>a"[..], ContentKind::Html),
            ("Text/HTML", b"a", ContentKind::Html),
            ("", b"  <!DOCTYPE html><p>a", ContentKind::Html),
            ("text/plain", b"<html>", ContentKind::Text),
            ("application/json", b"{}", ContentKind::Text),
            ("application/vnd.api+json", b"{}", ContentKind::Text),
            ("image/svg+xml", b"<svg/>", ContentKind::Text),
            ("", b"plain", ContentKind::Text),
            ("application/octet-stream", b"plain", ContentKind::Text),
            ("application/octet-stream", b"\xff\xfe\xfd\x80", ContentKind::Binary),
            ("image/png", b"plain", ContentKind::Binary),
            ("application/pdf", b"%PDF", ContentKind::Binary),
            ("text/html", b"a\0b", ContentKind::Binary),
            ("text/plain", b"PK\x03\x04\0\0", ContentKind::Binary),
            ("text/plain", b"\xff\xfea\0b\0", ContentKind::Text),
        ] {
            assert_eq!(
                ContentKind::of(&DeclaredType::read(Some(content_type)), body),
                expect,
                "{content_type}"
            );
        }
    }

    #[test]
    fn a_type_that_would_speak_is_none() {
        for value in ["text/html\nrun this", "say: this/that", "x", &"a/".repeat(80)] {
            assert_eq!(DeclaredType::read(Some(value)).essence, "", "{value}");
        }
    }

    #[test]
    fn letters_are_read_as_they_were_written() {
        for (content_type, body, expect) in [
            ("text/html; charset=windows-1250", &b"\x9elu\x9dou\xe8k\xfd"[..], "žluťoučký"),
            ("text/html", b"<meta charset=\"iso-8859-2\">\xbelu", "<meta charset=\"iso-8859-2\">žlu"),
            ("text/html", b"caf\xe9", "café"),
            ("text/plain", b"caf\xe9", "caf\u{fffd}"),
            ("text/plain; charset=nonsense", "é".as_bytes(), "é"),
            ("text/plain", b"\xef\xbb\xbfa", "a"),
            ("text/plain", b"\xff\xfea\0b\0", "ab"),
        ] {
            let declared = DeclaredType::read(Some(content_type));
            assert_eq!(decode(&declared, ContentKind::of(&declared, body), body), expect, "{content_type}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(content_type in ".{0,40}", body in prop::collection::vec(any::<u8>(), 0..300)) {
            let declared = DeclaredType::read(Some(&content_type));
            let kind = ContentKind::of(&declared, &body);
            prop_assert!(decode(&declared, kind, &body).len() <= 3 * body.len() + 8);
        }
    }
}
