//! Files at the door: whether they may come in, what they are, and what is recorded of them.
//!
//! Pure. What a file says it is has to agree with its bytes where bytes tell; what it does not say is told from
//! the bytes, then from its name. Names and texts are cleaned like everything that people type.
//! Begin at [`admit_files`].

use std::sync::Arc;

use palyra_ports::Redactor;
use palyra_types::Redacted;
use palyra_types::attachment::{
    ATTACHMENT_BYTES_MAX, ATTACHMENT_NAME_CHARS_MAX, ATTACHMENT_TEXT_BYTES_MAX, ATTACHMENTS_MAX, Attachment,
    AttachmentBody, Blob, INPUT_ATTACHMENTS_BYTES_MAX,
};

/// Characters of a media type, at most (RFC 6838, section 4.2: 127 on each side).
const MEDIA_TYPE_CHARS_MAX: usize = 255;
/// Characters of a name that a refusal shows.
const NAME_CHARS_SHOWN_MAX: usize = 60;

/// A file as it came with an input.
#[derive(Debug, Clone)]
pub struct IncomingFile {
    /// What the sender calls it.
    pub name: Redacted<String>,
    /// What the sender says it is; empty leaves that to the bytes.
    pub media_type: Redacted<String>,
    /// Its bytes.
    pub content: Blob,
}

/// Files that may come in.
#[derive(Debug, Clone, Default)]
pub(crate) struct AdmittedFiles {
    pub(crate) attachments: Vec<Attachment>,
    /// Those that are not text, as the attachments number them.
    pub(crate) blobs: Vec<Blob>,
}

/// Why files may not come in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdmitFilesError {
    /// Too many.
    #[error("{count} files came with the input; at most {ATTACHMENTS_MAX} are taken")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// Together too large.
    #[error("the files have {bytes} bytes together; at most {INPUT_ATTACHMENTS_BYTES_MAX} are taken")]
    TooLargeTogether {
        /// How large.
        bytes: u64,
    },
    /// One is too large.
    #[error("file {number} ({name}) has {bytes} bytes; at most {ATTACHMENT_BYTES_MAX} are taken")]
    TooLarge {
        /// Which, from 1.
        number: usize,
        /// Its name, for the one who sent it.
        name: String,
        /// How large.
        bytes: u64,
    },
    /// Its name is not one.
    #[error(
        "file {number} needs a name: one file name without folders or control characters, at most \
         {ATTACHMENT_NAME_CHARS_MAX} characters"
    )]
    BadName {
        /// Which, from 1.
        number: usize,
    },
    /// Its media type is not one.
    #[error("file {number} ({name}): its media type is not written as type/subtype")]
    BadMediaType {
        /// Which, from 1.
        number: usize,
        /// Its name.
        name: String,
    },
    /// It is not what it says it is.
    #[error("file {number} ({name}) says it is {declared}, but its bytes are {found}")]
    NotWhatItSays {
        /// Which, from 1.
        number: usize,
        /// Its name.
        name: String,
        /// What it says.
        declared: String,
        /// What it is.
        found: &'static str,
    },
}

/// Checks the sizes that are announced, before any byte is there.
///
/// # Errors
/// [`AdmitFilesError`] when there are too many or they are too large.
pub fn check_sizes<'a>(files: impl IntoIterator<Item = (&'a str, u64)>) -> Result<(), AdmitFilesError> {
    let (mut count, mut together) = (0, 0_u64);
    for (name, bytes) in files {
        count += 1;
        together = together.saturating_add(bytes);
        if bytes > ATTACHMENT_BYTES_MAX as u64 {
            return Err(AdmitFilesError::TooLarge { number: count, name: shown(name), bytes });
        }
    }
    if count > ATTACHMENTS_MAX {
        return Err(AdmitFilesError::TooMany { count });
    }
    if together > INPUT_ATTACHMENTS_BYTES_MAX as u64 {
        return Err(AdmitFilesError::TooLargeTogether { bytes: together });
    }
    Ok(())
}

/// Takes files in: all of them, or none.
pub(crate) fn admit_files(
    files: &[IncomingFile],
    redactor: &dyn Redactor,
) -> Result<AdmittedFiles, AdmitFilesError> {
    check_sizes(files.iter().map(|file| (file.name.expose().as_str(), file.content.expose().len() as u64)))?;
    let mut admitted = AdmittedFiles::default();
    for (number, file) in (1..).zip(files) {
        let name = file.name.expose();
        if !is_file_name(name) {
            return Err(AdmitFilesError::BadName { number });
        }
        let media_type = media_type(number, file)?;
        let content = cleaned(&media_type, &file.content, redactor);
        let bytes = content.expose();
        let (sha256, size) = (palyra_ledger::sha256(bytes), bytes.len() as u64);
        let body = match std::str::from_utf8(bytes) {
            Ok(text) if is_text(&media_type) && bytes.len() <= ATTACHMENT_TEXT_BYTES_MAX => {
                AttachmentBody::Text(text.into())
            }
            Ok(_) | Err(_) => {
                let index = u32::try_from(admitted.blobs.len()).unwrap_or(u32::MAX);
                admitted.blobs.push(content);
                AttachmentBody::Blob { index }
            }
        };
        admitted.attachments.push(Attachment {
            name: redactor.redact(file.name.clone()).text,
            media_type: Redacted::new(media_type),
            bytes: size,
            sha256: Redacted::new(sha256),
            body,
        });
    }
    Ok(admitted)
}

/// Texts may hold what a journal must not keep.
fn cleaned(media_type: &str, content: &Blob, redactor: &dyn Redactor) -> Blob {
    match std::str::from_utf8(content.expose()) {
        Ok(text) if is_text(media_type) => {
            let cleaned = redactor.redact(text.into()).text.into_exposed();
            Redacted::new(Arc::from(cleaned.into_bytes()))
        }
        Ok(_) | Err(_) => content.clone(),
    }
}

fn is_file_name(name: &str) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, '/' | '\\');
    !name.trim().is_empty()
        && !matches!(name, "." | "..")
        && name.chars().count() <= ATTACHMENT_NAME_CHARS_MAX
        && !name.contains(odd)
}

/// Returns what a file is, if it may say so.
fn media_type(number: usize, file: &IncomingFile) -> Result<String, AdmitFilesError> {
    let (name, bytes) = (file.name.expose().as_str(), file.content.expose().as_ref());
    let said = file.media_type.expose().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let said = if said == "image/jpg" { "image/jpeg".to_owned() } else { said };
    if said.is_empty() || said == OCTETS {
        return Ok(told(name, bytes).to_owned());
    }
    if !is_media_type(&said) {
        return Err(AdmitFilesError::BadMediaType { number, name: shown(name) });
    }
    let signed = signature(bytes);
    let fits = if SIGNED.contains(&said.as_str()) {
        signed == Some(said.as_str())
    } else if is_text(&said) {
        signed.is_none() && is_plain_text(bytes)
    } else {
        // Many formats are ZIP archives inside.
        signed.is_none() || (signed == Some(ZIP) && said.starts_with("application/"))
    };
    if fits {
        return Ok(said);
    }
    let found = match signed {
        Some(signed) => signed,
        None if bytes.is_empty() => "none",
        None if is_plain_text(bytes) => "text",
        None => "something else",
    };
    Err(AdmitFilesError::NotWhatItSays { number, name: shown(name), declared: said, found })
}

fn is_media_type(text: &str) -> bool {
    let token = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c))
    };
    text.len() <= MEDIA_TYPE_CHARS_MAX
        && text.split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype))
}

const OCTETS: &str = "application/octet-stream";
const ZIP: &str = "application/zip";

/// What the first bytes of a file can prove.
const SIGNED: [&str; 6] = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", ZIP];

/// Tells a file by its first bytes: the signatures of PNG (RFC 2083), JPEG (ITU T.81), GIF (87a, 89a), WebP (RFC
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

/// Tells what a file is that does not say so.
fn told(name: &str, bytes: &[u8]) -> &'static str {
    match signature(bytes) {
        Some(signed) => signed,
        None if is_plain_text(bytes) => text_type(name),
        None => OCTETS,
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
fn is_text(media_type: &str) -> bool {
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

fn is_plain_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

/// A name as a refusal shows it to whoever sent it.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_SHOWN_MAX).collect()
}

#[cfg(test)]
mod tests;
