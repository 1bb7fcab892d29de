//! A value that must not be rewritten comes through unchanged, or not at all.

use palyra_types::Redacted;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::*;

/// Finds one word.
struct OneWord;

impl Redactor for OneWord {
    fn ruleset(&self) -> u32 {
        1
    }

    fn redact(&self, text: Content<String>) -> CleanedText {
        let replaced = u32::try_from(text.expose().matches("hush").count()).unwrap();
        let text = Redacted::cleaned(text.expose().replace("hush", REGISTERED_PLACEHOLDER));
        CleanedText { text, findings: RedactionFindings { replaced, registered: replaced } }
    }

    fn redact_json(&self, text: Content<String>) -> CleanedText {
        self.redact(text)
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        unreachable!("these tests have no streams")
    }
}

fn check<T: CheckedText>(value: T) -> Result<T, SecretFound> {
    let redactor: &dyn Redactor = &OneWord;
    redactor.check(Content::new(value)).map(Redacted::into_exposed)
}

#[test]
fn a_value_with_a_secret_is_not_admitted_and_any_other_is_unchanged() {
    let found = |times| SecretFound { found: RedactionFindings { replaced: times, registered: times } };
    assert_eq!(check("hush hush".to_owned()), Err(found(2)));
    assert_eq!(check(ToolName::new("hush_tool")), Err(found(1)));
    assert_eq!(check(PathBuf::from("/a/hush")), Err(found(1)));
    let not_utf8 = |text: &[u8]| PathBuf::from(OsString::from_vec([b"/\xff/", text].concat()));
    assert_eq!(check(not_utf8(b"hush")), Err(found(1)));
    assert_eq!(check(b"\x00\xff hush".to_vec()), Err(found(1)));

    assert_eq!(check("quiet".to_owned()), Ok("quiet".to_owned()));
    assert_eq!(check(ToolName::new("quiet_tool")), Ok(ToolName::new("quiet_tool")));
    assert_eq!(check(not_utf8(b"quiet")), Ok(not_utf8(b"quiet")));
    assert_eq!(check(b"\x00\xff quiet".to_vec()), Ok(b"\x00\xff quiet".to_vec()));
}
