//! Registered values, in every form, whole and in pieces.

use palyra_ports::Redactor;
use palyra_redaction::SecretScanner;
use palyra_types::Content;

use crate::sampler::Draw;

/// Values tried.
const VALUES: usize = 60;

/// Returns how many forms were found, of how many.
pub(crate) fn measure(seed: u64) -> (usize, usize) {
    let mut draw = Draw::new(seed, "registered values");
    let alphabet: Vec<char> = ('!'..='~').chain(['ä', 'λ', ' ']).collect();
    let values: Vec<String> =
        (0..VALUES).map(|at| (0..12 + at % 40).map(|_| *draw.pick(&alphabet)).collect()).collect();
    let scanner = SecretScanner::new();
    scanner
        .register(&values.iter().map(|value| Content::new(value.clone())).collect::<Vec<_>>())
        .expect("a few values");
    let (mut found, mut tried) = (0, 0);
    for value in &values {
        for form in forms(value, &mut draw) {
            let text = format!("before {form} after");
            let whole = scanner.redact(text.as_str().into()).text.into_exposed();
            let mut stream = scanner.begin();
            let mut pieces = String::new();
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let cut = rest
                    .floor_char_boundary(1 + draw.below(7))
                    .max(rest.chars().next().map_or(0, char::len_utf8));
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                pieces.push_str(stream.push(piece.into()).expose());
                rest = after;
            }
            pieces.push_str(stream.finish().expose());
            tried += 2;
            for cleaned in [whole, pieces] {
                found += usize::from(cleaned.contains("<secret:vault>") && !cleaned.contains(form.as_str()));
            }
        }
    }
    (found, tried)
}

/// The forms as somebody else would write them, with something around them.
fn forms(value: &str, draw: &mut Draw) -> Vec<String> {
    let hex = |upper: bool| -> String {
        value.bytes().map(|byte| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") }).collect()
    };
    let percent: String =
        value
            .bytes()
            .map(|byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            })
            .map(|part| match part.as_str() {
                "%2D" => "-".to_owned(),
                "%5F" => "_".to_owned(),
                "%2E" => ".".to_owned(),
                "%7E" => "~".to_owned(),
                _ => part,
            })
            .collect();
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned();
    let mut forms = vec![value.to_owned(), hex(false), hex(true), percent, json];
    for before in 0..3 {
        let around: Vec<u8> =
            (0..before).map(|_| 65 + draw.below(26) as u8).chain(value.bytes()).chain(*b"zz").collect();
        forms.push(base64(&around, b"+/"));
        forms.push(base64(&around, b"-_"));
    }
    forms
}

fn base64(bytes: &[u8], last: &[u8; 2]) -> String {
    let mut alphabet: Vec<u8> = (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').collect();
    alphabet.extend_from_slice(last);
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            let six = (word >> (18 - 6 * at)) & 63;
            text.push(char::from(alphabet[six as usize]));
        }
        text.push_str(&"=".repeat(3 - chunk.len()));
    }
    text
}
