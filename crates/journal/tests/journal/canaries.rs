//! Looking for a text in every byte of every file of a folder, however it may be written there.

use std::collections::BTreeSet;
use std::path::Path;

/// Returns the forms in which a text may lie in a file: as it is, in UTF-16, in hex, in base64 at any offset.
fn forms(text: &str) -> Vec<(String, Vec<u8>)> {
    let mut forms = vec![
        ("as it is".to_owned(), text.as_bytes().to_vec()),
        ("in UTF-16 LE".to_owned(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        // Without the zero that it begins with: files are full of zeros.
        ("in UTF-16 BE".to_owned(), text.encode_utf16().flat_map(u16::to_be_bytes).skip(1).collect()),
    ];
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    forms.push(("in upper hex".to_owned(), hex.to_uppercase().into_bytes()));
    forms.push(("in hex".to_owned(), hex.into_bytes()));
    for skipped in 0..3 {
        forms.push((
            format!("in base64 from byte {skipped}"),
            base64(&text.as_bytes()[skipped..]).into_bytes(),
        ));
    }
    forms
}

/// Encodes whole groups of three bytes only: what stands behind them is not known.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks_exact(3);
    groups
        .flat_map(|group| {
            let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
            [18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift & 63) as usize]))
        })
        .collect()
}

/// Returns the files below a folder that hold one of the texts, and how.
pub(crate) fn search(folder: &Path, texts: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(search(&path, texts));
            continue;
        }
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let wanted: Vec<(String, Vec<u8>)> = texts
            .iter()
            .flat_map(|text| forms(text).into_iter().map(move |(how, form)| (format!("{text} {how}"), form)))
            .collect();
        let mut begins = [false; 256];
        wanted.iter().for_each(|(_, form)| begins[usize::from(form[0])] = true);
        for at in (0..bytes.len()).filter(|at| begins[usize::from(bytes[*at])]) {
            let here = wanted.iter().filter(|(_, form)| bytes[at..].starts_with(form));
            found.extend(here.map(|(what, _)| format!("{name}: {what}")));
        }
    }
    found
}

#[test]
fn every_form_of_a_text_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let text = "canary-of-a-test";
    for (how, form) in forms(text) {
        let file = folder.path().join("file");
        std::fs::write(&file, [b"\xFF\x00before".as_slice(), &form, b"after"].concat()).unwrap();
        assert!(search(folder.path(), &[text]).iter().any(|found| found.ends_with(&how)), "{how}");
    }
    std::fs::write(folder.path().join("file"), "canary-of-another-test").unwrap();
    assert!(search(folder.path(), &[text]).is_empty());
}
