//! Files that come with an input: whether they may come in, what they are, and what is recorded of them.
//!
//! Pure. A declared media type has to agree with the bytes where they show one. Without a declaration the bytes give the
//! type, then the name. Names and texts are cleaned like everything that people type.
//! Begin at [`admit_files`].

use std::sync::Arc;

use palyra_ports::{Redactor, SecretFound};
use palyra_types::Content;
use palyra_types::attachment::{
    ATTACHMENT_BYTES_MAX, ATTACHMENT_NAME_CHARS_MAX, ATTACHMENT_TEXT_BYTES_MAX, ATTACHMENTS_MAX, Attachment,
    AttachmentBody, Blob, INPUT_ATTACHMENTS_BYTES_MAX,
};
use palyra_types::media_type::{MediaTypeError, is_plain_text, is_text_type, media_type_of};

/// Characters of a name that a refusal shows.
const NAME_CHARS_SHOWN_MAX: usize = 60;

/// A file as it came with an input.
#[derive(Debug, Clone)]
pub struct IncomingFile {
    /// What the sender calls it.
    pub name: Content<String>,
    /// What the sender says it is; empty leaves that to the bytes.
    pub media_type: Content<String>,
    /// Its bytes.
    pub content: Content<Arc<[u8]>>,
}

/// Files that may come in.
#[derive(Debug, Clone, Default)]
pub struct AdmittedFiles {
    /// What is recorded of each, in their order.
    pub attachments: Vec<Attachment>,
    /// Those that are not text, as the attachments number them.
    pub blobs: Vec<Blob>,
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
    /// Its media type holds a secret.
    #[error("file {number}: its media type looks like it holds a secret; send another media type, or none")]
    SecretInMediaType {
        /// Which, from 1.
        number: usize,
        /// How much was found.
        refused: SecretFound,
    },
    /// It holds a secret, and its bytes are binary.
    #[error(
        "file {number} ({name}) looks like it holds a secret, and only text can be recorded without it; remove the \
         secret from the file"
    )]
    SecretInFile {
        /// Which, from 1.
        number: usize,
        /// Its name.
        name: String,
        /// How much was found.
        refused: SecretFound,
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

impl AdmitFilesError {
    /// Returns how much was found where a file is refused because of a secret.
    #[must_use]
    pub fn secret_found(&self) -> Option<SecretFound> {
        match self {
            Self::SecretInMediaType { refused, .. } | Self::SecretInFile { refused, .. } => Some(*refused),
            Self::TooMany { .. }
            | Self::TooLargeTogether { .. }
            | Self::TooLarge { .. }
            | Self::BadName { .. }
            | Self::BadMediaType { .. }
            | Self::NotWhatItSays { .. } => None,
        }
    }
}

/// Checks the sizes that are announced, before any byte is there.
///
/// # Errors
/// [`AdmitFilesError`] when there are too many or they are too large.
pub fn check_sizes<'a>(files: impl IntoIterator<Item = (&'a str, u64)>) -> Result<(), AdmitFilesError> {
    let mut count = 0;
    let mut together = 0_u64;
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
///
/// # Errors
/// [`AdmitFilesError`] names the first file that may not come in.
pub fn admit_files(
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
        let media_type = redactor.check(Content::new(media_type));
        let media_type =
            media_type.map_err(|refused| AdmitFilesError::SecretInMediaType { number, refused })?;
        let content = cleaned(number, media_type.expose(), file, redactor)?;
        let bytes = content.expose();
        let sha256 = palyra_ledger::sha256(bytes);
        let content_bytes = bytes.len() as u64;
        let body = match std::str::from_utf8(bytes) {
            Ok(_) if is_text_type(media_type.expose()) && bytes.len() <= ATTACHMENT_TEXT_BYTES_MAX => {
                AttachmentBody::Text(
                    content.clone().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                )
            }
            Ok(_) | Err(_) => {
                let index = u32::try_from(admitted.blobs.len()).unwrap_or(u32::MAX);
                admitted.blobs.push(content);
                AttachmentBody::Blob { index }
            }
        };
        admitted.attachments.push(Attachment {
            name: redactor.redact(file.name.clone()).text,
            media_type,
            bytes: content_bytes,
            sha256: sha256.into(),
            body,
        });
    }
    Ok(admitted)
}

/// Replaces secrets in text of any media type; in other files nothing can be replaced.
fn cleaned(
    number: usize,
    media_type: &str,
    file: &IncomingFile,
    redactor: &dyn Redactor,
) -> Result<Blob, AdmitFilesError> {
    match std::str::from_utf8(file.content.expose()) {
        Ok(text) if is_text_type(media_type) || is_plain_text(text.as_bytes()) => {
            Ok(redactor.redact(text.into()).text.map(|text| Arc::from(text.into_bytes())))
        }
        Ok(_) | Err(_) => redactor.check(file.content.clone()).map_err(|refused| {
            AdmitFilesError::SecretInFile { number, name: shown(file.name.expose()), refused }
        }),
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
    let name = file.name.expose();
    let declared = file.media_type.expose();
    media_type_of(name, declared, file.content.expose().as_ref()).map_err(|error| match error {
        MediaTypeError::NoMediaType => AdmitFilesError::BadMediaType { number, name: shown(name) },
        MediaTypeError::Contradicted { declared, found } => {
            AdmitFilesError::NotWhatItSays { number, name: shown(name), declared, found }
        }
    })
}

/// Returns a name as a refusal shows it to the sender.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_SHOWN_MAX).collect()
}

#[cfg(test)]
mod tests;
