//! The lines of a note, and the text form of keys.
//!
//! Owns the spelling, strictly: base64 with its padding, one space, one line feed. Begin at [`parse`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::{ED25519, KEY_ID_BYTES, KeyId, NOTE_BYTES_MAX, Note, NoteError, NoteSignature, SIGNATURES_MAX};

/// Em dash and space, before each signature.
const SIGNATURE_MARK: &str = "\u{2014} ";

pub(super) fn parse(bytes: &[u8]) -> Result<Note, NoteError> {
    if bytes.len() > NOTE_BYTES_MAX {
        return Err(NoteError::TooLong);
    }
    let note = std::str::from_utf8(bytes).map_err(|_| NoteError::NotText)?;
    if note.bytes().any(|byte| byte < b' ' && byte != b'\n') {
        return Err(NoteError::NotText);
    }
    // The last empty line divides: a text may have others.
    let end = note.rfind("\n\n").ok_or(NoteError::Unsigned)? + 1;
    let (text, lines) = (&note[..end], &note[end + 1..]);
    if lines.is_empty() {
        return Err(NoteError::Unsigned);
    }
    let lines = lines.strip_suffix('\n').ok_or(NoteError::SignatureLine)?;
    if lines.split('\n').count() > SIGNATURES_MAX {
        return Err(NoteError::TooLong);
    }
    let signatures = lines.split('\n').map(|line| signature_line(line).ok_or(NoteError::SignatureLine));
    Ok(Note { text: text.to_owned(), signatures: signatures.collect::<Result<_, _>>()? })
}

pub(super) fn encode(note: &Note) -> String {
    let mut encoded = format!("{}\n", note.text);
    for line in &note.signatures {
        let signed = [&line.key_id.0, &line.signature[..]].concat();
        encoded.push_str(&format!("{SIGNATURE_MARK}{} {}\n", line.name, BASE64.encode(signed)));
    }
    encoded
}

fn signature_line(line: &str) -> Option<NoteSignature> {
    let (name, signed) = line.strip_prefix(SIGNATURE_MARK)?.split_once(' ')?;
    let signed = BASE64.decode(signed).ok()?;
    let (key_id, signature) = signed.split_first_chunk::<KEY_ID_BYTES>()?;
    let whole = is_name(name) && !signature.is_empty();
    whole.then(|| NoteSignature {
        name: name.to_owned(),
        key_id: KeyId(*key_id),
        signature: signature.to_vec(),
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '+')
}

/// Returns `name+<key id>+<base64(0x01 || key)>`.
pub(crate) fn encode_vkey(name: &str, key: &[u8; 32]) -> String {
    let typed = [&[ED25519], &key[..]].concat();
    format!("{name}+{}+{}", KeyId::of(name, key), BASE64.encode(typed))
}

/// Reads what [`encode_vkey`] wrote, and that alone.
pub(crate) fn parse_vkey(vkey: &str) -> Option<(&str, [u8; 32])> {
    let (name, rest) = vkey.split_once('+')?;
    let (_, key) = rest.split_once('+')?;
    let typed = BASE64.decode(key).ok()?;
    let key = <[u8; 32]>::try_from(typed.strip_prefix(&[ED25519])?).ok()?;
    (is_name(name) && encode_vkey(name, &key) == vkey).then_some((name, key))
}
