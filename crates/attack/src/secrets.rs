//! A registered secret in other forms (59), and secrets of a known shape in other places (60).
//!
//! What is said goes through a logger that writes a file: behind the redactor, and for the control as it is said. The
//! judge reads the file and undoes the form.

use std::fs::{self, File};
use std::io::{self, Write};

use palyra_ports::Redactor;
use palyra_redaction::SecretScanner;
use palyra_types::Content;

use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::TrialFolder;

mod encodings;
mod kinds;

/// What is in the vault: a value of no known shape.
const VALUE: &str = "correct7horse-battery:Staple99";

/// A form, how it is made, and how anybody undoes it who finds it in a text.
type EncodedForm = (&'static str, TextChange, TextChange);
type TextChange = fn(&str) -> String;

const FORMS: &[EncodedForm] = &[
    ("as it is", str::to_owned, str::to_owned),
    ("in base64", |value| base64(value.as_bytes(), STANDARD), from_base64),
    ("in base64 for URLs", |value| base64(value.as_bytes(), FOR_URLS), from_base64),
    ("in base64, a byte later", |value| base64(format!("x{value}").as_bytes(), STANDARD), from_base64),
    ("in base64, two bytes later", |value| base64(format!("xy{value}").as_bytes(), STANDARD), from_base64),
    ("in base64, as a login", |value| base64(format!("user:{value}").as_bytes(), STANDARD), from_base64),
    ("in hexadecimal", |value| value.bytes().map(|byte| format!("{byte:02x}")).collect(), from_hexadecimal),
    (
        "in hexadecimal, large",
        |value| value.bytes().map(|byte| format!("{byte:02X}")).collect(),
        from_hexadecimal,
    ),
    ("backwards", backwards, backwards),
    ("encoded for a URL", |value| value.replace(':', "%3A"), from_url),
    ("in JSON", |value| format!("{{\"x\":\"{value}\"}}"), str::to_owned),
    ("in a path", |value| format!("/home/a/{value}/b"), str::to_owned),
    ("in a name of a file", |value| format!("{value}.txt"), str::to_owned),
    ("in an error", |value| format!("error: could not open `{value}`: no such file"), str::to_owned),
    ("in a panic", |value| format!("thread 'main' panicked at src/a.rs:1:2:\n{value}"), str::to_owned),
    ("in a label", |value| format!("requests_total{{key=\"{value}\"}} 1"), str::to_owned),
    ("in a query", |value| format!("https://a.example/?q={value}&x=1"), str::to_owned),
    ("in the middle of a word", |value| format!("abc{value}def"), str::to_owned),
];

/// Places of secrets that nobody registered, where `{S}` is a value as chance draws it.
const PLACES: &[(&str, &str)] = &[
    ("an assignment", "API_KEY={S}\n"),
    ("a variable of a shell", "export CLIENT_SECRET='{S}'\n"),
    ("JSON", "{\"access_token\": \"{S}\", \"expires_in\": 3600}"),
    ("a header", "authorization: Bearer {S}\n"),
    ("another header", "X-Api-Key: {S}\r\n"),
    ("a URL's query", "https://host/x?access_token={S}&page=2"),
    ("an argument", "tool --api-key {S} run"),
    ("a connection", "Server=db;Password={S};Database=x"),
    ("a machine's login", "machine host login me password {S}\n"),
    ("XML", "<add key=\"Password\" value=\"{S}\" />"),
    ("a sentence", "the api key is {S}, keep it."),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let forms = FORMS.iter().enumerate().map(|(number, &(variant, form, undo))| {
        let case = if number < 11 { 59 } else { 60 };
        let pair = CasePair::new(case, variant, "registered values of the redactor");
        AttackTrial::new(vec![pair], move |place, pairs| {
            registered(ValueEncoding { form, undo }, place, pairs)
        })
    });
    let places = PLACES.iter().map(|&(variant, text)| {
        let pair = CasePair::new(60, variant, "rules of the redactor");
        AttackTrial::new(vec![pair], move |place, pairs| by_place(text, place, pairs))
    });
    let split = [3_usize, 17].map(|length| {
        let pair = CasePair::new(59, format!("in pieces of {length} bytes"), "the redactor's stream");
        AttackTrial::new(vec![pair], move |place, pairs| in_pieces(length, place, pairs))
    });
    forms.chain(places).chain(split).chain(encodings::trials()).chain(kinds::trials()).collect()
}

/// Writes pieces of a message as a logger does, a line of JSON each, and returns the message as the file has it.
fn logged(pieces: impl IntoIterator<Item = String>) -> io::Result<String> {
    let trial_folder = TrialFolder::new()?;
    let path = trial_folder.outside().join("log");
    let mut log = File::create(&path)?;
    for piece in pieces {
        writeln!(log, "{}", serde_json::json!({ "level": "INFO", "message": piece }))?;
    }
    drop(log);
    let lines: Vec<serde_json::Value> = fs::read_to_string(&path)?
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(io::Error::other)?;
    Ok(lines.iter().filter_map(|line| line["message"].as_str()).collect())
}

/// What anybody can make of a log: the value, when it is there in a form that is undone without a key.
fn recovered(log: &str, undo: TextChange, value: &str) -> Vec<String> {
    if undo(log).contains(value) { vec!["the value can be read".to_owned()] } else { Vec::new() }
}

/// How a value is written in another form, and read back from it.
#[derive(Clone, Copy)]
struct ValueEncoding {
    form: TextChange,
    undo: TextChange,
}

async fn registered(
    ValueEncoding { form, undo }: ValueEncoding,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let scanner = SecretScanner::new();
        scanner.register(&[Content::new(VALUE.to_owned())]).expect("a few values");
        let formed = form(VALUE);
        let said = format!("the program said {formed} and ended");
        let held = logged([scanner.redact(said.as_str().into()).text.into_exposed()])?;
        let mut touched = recovered(&held, undo, VALUE);
        // Its inner part must not be there either: what stands around a value, or is shared with it, says nothing.
        let inner = &formed[formed.len() / 4..formed.len() - formed.len() / 4];
        touched.extend(recovered(&held, str::to_owned, inner));
        Ok(Some((touched, recovered(&logged([said])?, undo, VALUE))))
    })
    .await
}

async fn by_place(text: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        // Turned around, so that it stands nowhere in this file.
        let value = backwards("q7Xv2Lk9ZrT4mWb8NcY3pDs6");
        let said = text.replace("{S}", &value);
        let held = logged([SecretScanner::new().redact(said.as_str().into()).text.into_exposed()])?;
        let found = |log: &str| recovered(log, str::to_owned, &value);
        Ok(Some((found(&held), found(&logged([said])?))))
    })
    .await
}

async fn in_pieces(length: usize, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async move {
        let scanner = SecretScanner::new();
        scanner.register(&[Content::new(VALUE.to_owned())]).expect("a few values");
        let said = format!("the model says {VALUE} and goes on");
        let pieces: Vec<String> =
            said.as_bytes().chunks(length).map(|piece| String::from_utf8_lossy(piece).into_owned()).collect();
        let mut stream = scanner.begin();
        let mut shown: Vec<String> =
            pieces.iter().map(|piece| stream.push(piece.as_str().into()).into_exposed()).collect();
        shown.push(stream.finish().into_exposed());
        let found = |log: &str| recovered(log, str::to_owned, VALUE);
        Ok(Some((found(&logged(shown)?), found(&logged(pieces)?))))
    })
    .await
}

fn backwards(text: &str) -> String {
    text.chars().rev().collect()
}

fn from_url(text: &str) -> String {
    text.replace("%3A", ":")
}

fn from_hexadecimal(text: &str) -> String {
    undone(text, 4, |letter| letter.to_digit(16).map(|digit| digit as usize))
}

fn from_base64(text: &str) -> String {
    let place = |letter: char| {
        let of = |alphabet: &[u8; 64]| alphabet.iter().position(|&known| char::from(known) == letter);
        of(STANDARD).or_else(|| of(FOR_URLS))
    };
    undone(text, 6, place)
}

/// Reads each word of a text as letters that stand for so many bits each.
fn undone(text: &str, bits: u32, number: impl Fn(char) -> Option<usize>) -> String {
    let mut read = Vec::new();
    for word in text.split_whitespace() {
        let (mut held, mut held_bits) = (0_usize, 0);
        for number in word.chars().map_while(&number) {
            held = (held << bits | number) & 0xffff;
            held_bits += bits;
            if held_bits >= 8 {
                held_bits -= 8;
                read.extend(u8::try_from(held >> held_bits & 0xff));
            }
        }
    }
    String::from_utf8_lossy(&read).into_owned()
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FOR_URLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Base64 without its end (RFC 4648).
fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut number = 0_usize;
        for place in 0..3 {
            number = number << 8 | usize::from(group.get(place).copied().unwrap_or(0));
        }
        for place in 0..=group.len() {
            text.push(char::from(alphabet[number >> (18 - 6 * place) & 63]));
        }
    }
    text
}
