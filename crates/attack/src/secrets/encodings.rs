//! A registered value in every encoding that programs write it in (59), whole, in pieces, and for a program (113).

use std::io;

use palyra_ports::{MaskValues, Redactor};
use palyra_redaction::SecretScanner;
use palyra_types::Content;

use super::{FOR_URLS, STANDARD, VALUE, base64, from_base64, from_hexadecimal, logged};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// A name, how the value is encoded, and how anybody undoes it.
type Encoding = (&'static str, fn() -> String, fn(&str) -> String);

const ENCODINGS: &[Encoding] = &[
    ("each byte percent-encoded", || each(|byte| format!("%{byte:02X}")), from_escapes),
    ("each byte percent-encoded, small", || each(|byte| format!("%{byte:02x}")), from_escapes),
    ("each byte percent-encoded, either case", || each(either_case), from_escapes),
    ("some bytes percent-encoded", || each(some_percent), from_escapes),
    ("each letter escaped as JSON", || each(|byte| format!("\\u{byte:04x}")), from_escapes),
    ("each letter escaped as JSON, large", || each(|byte| format!("\\u{byte:04X}")), from_escapes),
    ("some letters escaped as JSON", || each(some_json), from_escapes),
    ("each letter escaped as JSON within JSON", || each(|byte| format!("\\\\u{byte:04x}")), from_escapes),
    ("each byte escaped", || each(|byte| format!("\\x{byte:02x}")), from_escapes),
    ("each letter an entity", || each(|byte| format!("&#{byte};")), from_entities),
    ("each letter an entity, hexadecimal", || each(|byte| format!("&#x{byte:x};")), from_entities),
    ("base64 in lines of 20", || in_lines(&encoded(), 20, "\n"), from_lines),
    ("base64 in lines of 12, with returns", || in_lines(&encoded(), 12, "\r\n"), from_lines),
    ("base64 in lines, their ends escaped", || in_lines(&encoded(), 20, "\\n"), from_lines),
    ("base64 for URLs in lines", || in_lines(&base64(VALUE.as_bytes(), FOR_URLS), 20, "\n"), from_lines),
    ("hexadecimal with blanks", || each(|byte| format!("{byte:02x} ")), from_spaced_hexadecimal),
    ("hexadecimal with blanks, large", || each(|byte| format!("{byte:02X} ")), from_spaced_hexadecimal),
    ("hexadecimal with colons", || each(|byte| format!("{byte:02x}:")), from_spaced_hexadecimal),
    (
        "hexadecimal in lines",
        || in_lines(&each(|byte| format!("{byte:02x}")), 20, "\n"),
        from_spaced_hexadecimal,
    ),
];

const WHOLE: &str = "registered values of the redactor";
const STREAM: &str = "the redactor's stream";
const MASK: &str = "the mask of bound answers";

/// Returns all of them.
pub(super) fn trials() -> impl Iterator<Item = AttackTrial> {
    ENCODINGS.iter().map(|encoding| {
        let pairs = [(59, WHOLE), (59, STREAM), (113, MASK)];
        let pairs = pairs.map(|(case, mechanism)| CasePair::new(case, encoding.0, mechanism));
        AttackTrial::new(pairs.to_vec(), move |place, pairs| carry_out(encoding, place, pairs))
    })
}

async fn carry_out(
    encoding: &'static Encoding,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    let (_, encode, undo) = *encoding;
    run_attempts(pairs, place.half, |mechanism| async move {
        let scanner = SecretScanner::new();
        scanner.register(&[Content::new(VALUE.to_owned())]).map_err(io::Error::other)?;
        let form = encode();
        let said = format!("before {form} behind");
        let shown = match mechanism.as_str() {
            WHOLE => vec![scanner.redact(said.as_str().into()).text.into_exposed()],
            STREAM => streamed(&scanner, &said),
            _ => vec![masked_output(&scanner, &said)],
        };
        let shown = logged(shown)?;
        if !shown.contains("before ") || !shown.contains(" behind") {
            return Err(io::Error::other(format!("what stands around it was changed: {shown}")));
        }
        // Half of it is too much already.
        let inner = form.get(form.len() / 4..form.len() - form.len() / 4).unwrap_or(&form);
        let found = |log: &str| {
            let read = undo(log).contains(VALUE) || log.contains(inner);
            read.then(|| "the value can be read".to_owned()).into_iter().collect()
        };
        Ok(Some((found(&shown), found(&logged([said])?))))
    })
    .await
}

/// Pieces of seven bytes, as a model's words come.
fn streamed(scanner: &SecretScanner, said: &str) -> Vec<String> {
    let mut stream = Redactor::begin(scanner);
    let pieces = said.as_bytes().chunks(7).map(String::from_utf8_lossy);
    let mut shown: Vec<String> =
        pieces.map(|piece| stream.push(piece.as_ref().into()).into_exposed()).collect();
    shown.push(stream.finish().into_exposed());
    shown
}

/// The bytes that a program behind the proxy gets, in pieces of seven.
fn masked_output(scanner: &SecretScanner, said: &str) -> String {
    let mut stream = MaskValues::begin(scanner);
    let mut given: Vec<u8> = said.as_bytes().chunks(7).flat_map(|piece| stream.push(piece)).collect();
    given.extend(stream.finish());
    String::from_utf8_lossy(&given).into_owned()
}

fn each(of: impl Fn(u8) -> String) -> String {
    VALUE.bytes().map(of).collect()
}

fn either_case(byte: u8) -> String {
    if byte.is_multiple_of(2) { format!("%{byte:02x}") } else { format!("%{byte:02X}") }
}

fn some_percent(byte: u8) -> String {
    if byte.is_ascii_alphabetic() && !byte.is_multiple_of(3) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02x}")
    }
}

fn some_json(byte: u8) -> String {
    if byte.is_multiple_of(3) { format!("\\u{byte:04X}") } else { char::from(byte).to_string() }
}

fn encoded() -> String {
    base64(VALUE.as_bytes(), STANDARD)
}

fn in_lines(text: &str, columns: usize, end: &str) -> String {
    let lines: Vec<_> = text.as_bytes().chunks(columns).map(String::from_utf8_lossy).collect();
    lines.join(end)
}

/// Undoes `%41`, `\x41`, `\u0041` and `\\u0041`.
fn from_escapes(text: &str) -> String {
    let text = text.replace("\\\\u", "%").replace("\\u", "%").replace("\\x", "%").replace("%00", "%");
    let mut pieces = text.split('%');
    let mut read = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => read.extend([char::from(byte)].into_iter().chain(piece[2..].chars())),
            None => read.push_str(piece),
        }
    }
    read
}

fn from_entities(text: &str) -> String {
    let mut pieces = text.split("&#");
    let mut read = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (number, rest) = piece.split_once(';').unwrap_or_default();
        let number = match number.strip_prefix('x') {
            Some(digits) => u8::from_str_radix(digits, 16),
            None => number.parse(),
        };
        read.extend(number.map(char::from));
        read.push_str(rest);
    }
    read
}

/// The words around it stand apart; the lines between them are one.
fn from_lines(text: &str) -> String {
    let text = text.replace("before ", "").replace(" behind", "").replace("\\n", "");
    from_base64(&text.split_whitespace().collect::<String>())
}

fn from_spaced_hexadecimal(text: &str) -> String {
    let text = text.replace("before ", "").replace("behind", "").replace(':', "");
    from_hexadecimal(&text.split_whitespace().collect::<String>())
}
