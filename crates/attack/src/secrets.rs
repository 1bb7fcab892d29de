//! A registered secret in other forms (59), and secrets of a known shape in other places (60).

use palyra_ports::Redactor;
use palyra_redaction::SecretScanner;
use palyra_types::Redacted;

use crate::pair::{Found, Pair};
use crate::trial::{Place, Trial, told};

/// What is in the vault: a value of no known shape.
const VALUE: &str = "correct7horse-battery:Staple99";

/// A form, and how it is made.
type Form = (&'static str, fn(&str) -> String);

const FORMS: &[Form] = &[
    ("as it is", str::to_owned),
    ("in base64", |value| base64(value.as_bytes(), STANDARD)),
    ("in base64 for URLs", |value| base64(value.as_bytes(), FOR_URLS)),
    ("in base64, a byte later", |value| base64(format!("x{value}").as_bytes(), STANDARD)),
    ("in base64, two bytes later", |value| base64(format!("xy{value}").as_bytes(), STANDARD)),
    ("in base64, as a login", |value| base64(format!("user:{value}").as_bytes(), STANDARD)),
    ("in hexadecimal", |value| value.bytes().map(|byte| format!("{byte:02x}")).collect()),
    ("in hexadecimal, large", |value| value.bytes().map(|byte| format!("{byte:02X}")).collect()),
    ("backwards", |value| value.chars().rev().collect()),
    ("encoded for a URL", |value| value.replace(':', "%3A")),
    ("in JSON", |value| format!("{{\"x\":\"{value}\"}}")),
    ("in a path", |value| format!("/home/a/{value}/b")),
    ("in a name of a file", |value| format!("{value}.txt")),
    ("in an error", |value| format!("error: could not open `{value}`: no such file")),
    ("in a panic", |value| format!("thread 'main' panicked at src/a.rs:1:2:\n{value}")),
    ("in a label", |value| format!("requests_total{{key=\"{value}\"}} 1")),
    ("in a query", |value| format!("https://a.example/?q={value}&x=1")),
    ("in the middle of a word", |value| format!("abc{value}def")),
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
pub(crate) fn trials() -> Vec<Trial> {
    let forms = FORMS.iter().enumerate().map(|(number, &(variant, form))| {
        let case = if number < 11 { 59 } else { 60 };
        let pair = Pair::new(case, variant, "registered values of the redactor");
        Trial::new(vec![pair], move |place, pairs| registered(form, place, pairs))
    });
    let places = PLACES.iter().map(|&(variant, text)| {
        let pair = Pair::new(60, variant, "rules of the redactor");
        Trial::new(vec![pair], move |place, pairs| by_place(text, place, pairs))
    });
    let split = [3_usize, 17].map(|length| {
        let pair = Pair::new(59, format!("in pieces of {length} bytes"), "the redactor's stream");
        Trial::new(vec![pair], move |place, pairs| in_pieces(length, place, pairs))
    });
    forms.chain(places).chain(split).collect()
}

/// What anybody can make of a text: the value, when it is there in a form that is undone without a key.
fn recovered(text: &str, form: &str) -> Vec<String> {
    if text.contains(form) { vec!["the value can be read".to_owned()] } else { Vec::new() }
}

async fn registered(form: fn(&str) -> String, place: Place, pairs: Vec<Pair>) -> Vec<Found> {
    told(pairs, place.half, |_| async {
        let scanner = SecretScanner::new();
        scanner.register(&[Redacted::new(VALUE.to_owned())]).expect("a few values");
        let formed = form(VALUE);
        let said = format!("the program said {formed} and ended");
        let cleaned = scanner.redact(said.as_str().into()).text.into_exposed();
        // Its inner part: what stands around a value, or is shared with it, says nothing.
        let inner = &formed[formed.len() / 4..formed.len() - formed.len() / 4];
        Ok(Some((recovered(&cleaned, inner), recovered(&said, inner))))
    })
    .await
}

async fn by_place(text: &'static str, place: Place, pairs: Vec<Pair>) -> Vec<Found> {
    told(pairs, place.half, |_| async {
        // Turned around, so that it stands nowhere in this file.
        let value: String = "q7Xv2Lk9ZrT4mWb8NcY3pDs6".chars().rev().collect();
        let said = text.replace("{S}", &value);
        let cleaned = SecretScanner::new().redact(said.as_str().into()).text.into_exposed();
        Ok(Some((recovered(&cleaned, &value), recovered(&said, &value))))
    })
    .await
}

async fn in_pieces(length: usize, place: Place, pairs: Vec<Pair>) -> Vec<Found> {
    told(pairs, place.half, |_| async move {
        let scanner = SecretScanner::new();
        scanner.register(&[Redacted::new(VALUE.to_owned())]).expect("a few values");
        let said = format!("the model says {VALUE} and goes on");
        let mut stream = scanner.begin();
        let mut shown = String::new();
        for piece in said.as_bytes().chunks(length) {
            let piece = String::from_utf8_lossy(piece).into_owned();
            shown.push_str(&stream.push(&piece).into_exposed());
        }
        shown.push_str(&stream.finish().into_exposed());
        Ok(Some((recovered(&shown, VALUE), recovered(&said, VALUE))))
    })
    .await
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
