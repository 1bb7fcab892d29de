//! What may come in with an input, case by case.

use palyra_ports::redactor::{CleanedText, RedactStream, RedactionFindings};
use palyra_testkit::PassThrough;
use palyra_types::{Content, Redacted};

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";
const PDF: &[u8] = b"%PDF-1.7 rest";
const ZIPPED: &[u8] = b"PK\x03\x04rest";

fn file(name: &str, media_type: &str, content: &[u8]) -> IncomingFile {
    IncomingFile {
        name: name.into(),
        media_type: media_type.into(),
        content: Redacted::cleaned(Arc::from(content)).into(),
    }
}

fn admit(files: &[IncomingFile]) -> Result<AdmittedFiles, AdmitFilesError> {
    admit_files(files, &PassThrough)
}

#[test]
fn a_file_is_what_its_bytes_say_when_it_says_nothing() {
    for (name, content, expected) in [
        ("a", PNG, "image/png"),
        ("a.txt", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("a", b"GIF89a..", "image/gif"),
        ("a", b"RIFF....WEBPVP8 ", "image/webp"),
        ("a", PDF, "application/pdf"),
        ("a.jar", ZIPPED, "application/zip"),
        ("a.md", b"# hi", "text/markdown"),
        ("a.CSV", b"a,b", "text/csv"),
        ("a.json", b"{}", "application/json"),
        ("a.png", b"just words", "text/plain"),
        ("a.txt", b"nul\0byte", "application/octet-stream"),
        ("a", b"\xfe\xff", "application/octet-stream"),
        ("a", b"", "text/plain"),
    ] {
        for said in ["", "application/octet-stream"] {
            let admitted = admit(&[file(name, said, content)]).unwrap();
            assert_eq!(admitted.attachments[0].media_type.expose(), expected, "{name}");
        }
    }
}

#[test]
fn a_file_that_lies_is_refused_with_both_types() {
    for (said, content, found) in [
        ("image/png", PDF, "application/pdf"),
        ("image/png", b"words".as_slice(), "text"),
        ("image/jpg", PNG, "image/png"),
        ("application/pdf", b"\0\x01", "something else"),
        ("application/zip", b"", "none"),
        ("text/plain", PNG, "image/png"),
        ("text/plain; charset=utf-8", b"\xff\xfe", "something else"),
        ("application/json", b"{\0}", "something else"),
        ("audio/mpeg", PNG, "image/png"),
        ("image/tiff", ZIPPED, "application/zip"),
    ] {
        let refused = admit(&[file("good.txt", "", b"good"), file("f", said, content)]).unwrap_err();
        let text = refused.to_string();
        let declared = if said == "image/jpg" { "image/jpeg" } else { said.split(';').next().unwrap() };
        assert_eq!(text, format!("file 2 (f) says it is {declared}, but its bytes are {found}"));
    }
}

#[test]
fn formats_that_are_archives_inside_and_unknown_ones_are_believed() {
    for (said, content) in [
        ("application/vnd.oasis.opendocument.text", ZIPPED),
        ("audio/mpeg", b"\xff\xfb\x90".as_slice()),
        ("Application/JSON; charset=utf-8", b"[]"),
        ("image/svg+xml", b"<svg/>"),
    ] {
        let admitted = admit(&[file("f", said, content)]).unwrap();
        let expected = said.split(';').next().unwrap().to_ascii_lowercase();
        assert_eq!(*admitted.attachments[0].media_type.expose(), expected);
    }
    for bad in ["png", "image/", "/png", "image/p ng", "a/b/c"] {
        assert!(matches!(admit(&[file("f", bad, PNG)]), Err(AdmitFilesError::BadMediaType { .. })), "{bad}");
    }
}

#[test]
fn short_texts_lie_in_the_entry_and_all_else_beside_it() {
    let long = vec![b'x'; ATTACHMENT_TEXT_BYTES_MAX + 1];
    let files = [
        file("a.png", "", PNG),
        file("b.txt", "", b"words"),
        file("c.txt", "", &long),
        file("d.txt", "", &long[1..]),
    ];
    let admitted = admit(&files).unwrap();
    let bodies: Vec<_> = admitted.attachments.iter().map(|attachment| &attachment.body).collect();
    assert!(matches!(bodies[0], AttachmentBody::Blob { index: 0 }));
    assert!(matches!(bodies[1], AttachmentBody::Text(text) if text.expose() == "words"));
    assert!(matches!(bodies[2], AttachmentBody::Blob { index: 1 }));
    assert!(matches!(bodies[3], AttachmentBody::Text(_)));
    assert_eq!(admitted.attachments[2].media_type.expose(), "text/plain");
    assert_eq!(admitted.blobs.len(), 2);
    assert_eq!(*admitted.attachments[0].sha256.expose(), palyra_ledger::sha256(PNG));
    assert_eq!(admitted.attachments[0].bytes, PNG.len() as u64);
}

/// Puts a star in the place of every digit.
struct NoDigits;

impl Redactor for NoDigits {
    fn ruleset(&self) -> u32 {
        1
    }

    fn redact(&self, text: Content<String>) -> CleanedText {
        let digits = text.expose().chars().filter(char::is_ascii_digit).count();
        let text = text.expose().replace(|c: char| c.is_ascii_digit(), "*");
        let replaced = u32::try_from(digits).unwrap();
        CleanedText { text: Redacted::cleaned(text), findings: RedactionFindings { replaced, registered: 0 } }
    }

    fn redact_json(&self, text: Content<String>) -> CleanedText {
        self.redact(text)
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        PassThrough.begin()
    }
}

#[test]
fn texts_are_cleaned_and_described_as_they_are_recorded() {
    let files = [file("a1.txt", "", b"pin 1234"), file("b2.md", "", PNG)];
    let admitted = admit_files(&files, &NoDigits).unwrap();
    let names: Vec<_> = admitted.attachments.iter().map(|attachment| attachment.name.expose()).collect();
    assert_eq!(names, ["a*.txt", "b*.md"]);
    assert!(
        matches!(&admitted.attachments[0].body, AttachmentBody::Text(text) if text.expose() == "pin ****")
    );
    assert_eq!(*admitted.attachments[0].sha256.expose(), palyra_ledger::sha256(b"pin ****"));
    assert_eq!(admitted.blobs[0].expose().as_ref(), PNG);
}

#[test]
fn a_text_of_another_type_is_cleaned_and_a_file_that_is_no_text_is_refused_with_its_secret() {
    let script = [file("a", "application/x-script", b"pin 1234")];
    let admitted = admit_files(&script, &NoDigits).unwrap();
    assert_eq!(admitted.blobs[0].expose().as_ref(), b"pin ****");
    let binary = |bytes| [file("a", "application/x-thing", bytes)];
    let refused = admit_files(&binary(b"\0\x01pin 1234"), &NoDigits).unwrap_err().to_string();
    assert!(refused.contains("file 1 (a) looks like it holds a secret"), "{refused}");
    // The controls: no secret, and a redactor that knows none.
    assert!(admit_files(&binary(b"\0\x01pin"), &NoDigits).is_ok());
    assert_eq!(admit(&script).unwrap().blobs[0].expose().as_ref(), b"pin 1234");
}

#[test]
fn a_media_type_that_holds_a_secret_is_refused() {
    let typed = |media_type| [file("a", media_type, b"\0\x01")];
    let refused = admit_files(&typed("application/x-pin-1234"), &NoDigits).unwrap_err().to_string();
    assert!(
        refused.contains("media type looks like it holds a secret") && !refused.contains("1234"),
        "{refused}"
    );
    // The controls: another type, and a redactor that knows no such secret.
    assert!(admit_files(&typed("application/x-pin"), &NoDigits).is_ok());
    assert!(admit(&typed("application/x-pin-1234")).is_ok());
}

#[test]
fn names_are_file_names() {
    let long = "n".repeat(ATTACHMENT_NAME_CHARS_MAX + 1);
    for bad in ["", " ", ".", "..", "a/b", "a\\b", "/etc/passwd", "a\nb", "a\0b", long.as_str()] {
        let refused = admit(&[file(bad, "", b"x")]).unwrap_err();
        assert_eq!(refused, AdmitFilesError::BadName { number: 1 }, "{bad:?}");
    }
    for good in ["a", ".env", "Übersicht 2026.pdf", "a..b"] {
        assert!(admit(&[file(good, "", b"x")]).is_ok(), "{good}");
    }
}

#[test]
fn there_is_a_limit_to_their_number_and_sizes() {
    let sizes = |sizes: &[u64]| check_sizes(sizes.iter().map(|bytes| ("a", *bytes)));
    let (one, all) = (ATTACHMENT_BYTES_MAX as u64, INPUT_ATTACHMENTS_BYTES_MAX as u64);
    assert_eq!(sizes(&[one, all - one]), Ok(()));
    assert!(matches!(sizes(&[1, one + 1]), Err(AdmitFilesError::TooLarge { number: 2, .. })));
    assert!(matches!(sizes(&[one, all - one + 1]), Err(AdmitFilesError::TooLargeTogether { .. })));
    assert!(matches!(sizes(&[one, u64::MAX]), Err(AdmitFilesError::TooLarge { number: 2, .. })));
    assert_eq!(sizes(&[0; ATTACHMENTS_MAX]), Ok(()));
    assert_eq!(sizes(&[0; ATTACHMENTS_MAX + 1]), Err(AdmitFilesError::TooMany { count: 33 }));
    let files = vec![file("a", "", b"x"); ATTACHMENTS_MAX + 1];
    assert!(matches!(admit(&files), Err(AdmitFilesError::TooMany { .. })));
}
