//! How many labelled secrets are kept out, in each of six carriers.
//!
//! Owns the carriers and the count. The kinds are data in `kinds.toml` beside this file, with samples drawn from each
//! kind's expression. Invariant: a sample counts as found only when the whole of it is gone.

#[path = "../../examples/recall/sampler.rs"]
mod sampler;

use palyra_ports::Redactor;
use palyra_redaction::SecretScanner;
use sampler::{Draw, generate};
use serde::Deserialize;

/// Samples of each kind in each carrier.
const SAMPLES: usize = 6;
/// The share that has to be found, in percent.
const RECALL_PERCENT_MIN: f64 = 98.0;

#[derive(Debug, Deserialize)]
struct Labelled {
    kind: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    name: String,
    secret: String,
    text: String,
    /// Known by a mark at its end, so that a stream has given its beginning out by then.
    #[serde(default)]
    marked_at_its_end: bool,
}

fn kinds() -> Vec<Kind> {
    let labelled: Labelled = toml::from_str(include_str!("kinds.toml")).expect("the kinds are valid TOML");
    labelled.kind
}

const CARRIERS: [&str; 6] = ["file", "output", "trace", "json", "prompt", "stream"];

/// Returns what is left of a text in a carrier.
fn carried(scanner: &SecretScanner, carrier: &str, text: &str) -> String {
    let redact = |text: String| scanner.redact(text.into()).text.into_exposed();
    match carrier {
        "file" => redact(format!("# notes of today\n\n{text}\n\nMore follows here.\n")),
        "output" => redact(format!("$ ./deploy.sh\n{text}\n[exit 0 in 1.2 s]\n")),
        "trace" => redact(format!(
            "Traceback (most recent call last):\n  File \"app.py\", line 3, in main\nRuntimeError: {text}\n"
        )),
        "json" => {
            let body = serde_json::json!({ "status": 200, "body": text, "more": false }).to_string();
            scanner.redact_json(body.into()).text.into_exposed()
        }
        "prompt" => redact(format!("Please do this for me. {text}")),
        _ => streamed(scanner, &format!("Of course. {text} And that is all of it.")),
    }
}

/// Gives a text in pieces of one to nine bytes.
fn streamed(scanner: &SecretScanner, text: &str) -> String {
    let mut stream = scanner.begin();
    let mut out = String::new();
    let mut rest = text;
    let mut wanted = 0;
    while !rest.is_empty() {
        wanted = wanted % 9 + 1;
        let cut = (wanted..=rest.len()).find(|cut| rest.is_char_boundary(*cut)).unwrap_or(rest.len());
        out.push_str(stream.push((&rest[..cut]).into()).expose());
        rest = &rest[cut..];
    }
    out.push_str(stream.finish().expose());
    out
}

#[test]
fn labelled_secrets_are_found_in_every_carrier() {
    let kinds = kinds();
    assert!(kinds.len() >= 60, "{} kinds", kinds.len());
    let scanner = SecretScanner::new();
    let (mut found, mut tried) = (0, 0);
    let mut missed = Vec::new();
    for kind in &kinds {
        let pattern = regex_syntax::parse(&kind.secret).expect("the expressions are valid");
        let mut draw = Draw::new(11, &kind.name);
        for carrier in CARRIERS {
            let hits = (0..SAMPLES).filter(|_| {
                let secret = generate(&pattern, &mut draw).text;
                !carried(&scanner, carrier, &kind.text.replace("{}", &secret)).contains(&secret)
            });
            let hits = hits.count();
            found += hits;
            tried += SAMPLES;
            if hits < SAMPLES {
                missed.push(format!("{} as {carrier}: {hits} of {SAMPLES}", kind.name));
            }
        }
    }
    let percent =
        f64::from(u32::try_from(found).unwrap_or(0)) * 100.0 / f64::from(u32::try_from(tried).unwrap_or(1));
    assert!(percent >= RECALL_PERCENT_MIN, "{found} of {tried}; missed:\n{}", missed.join("\n"));
}

#[test]
fn a_labelled_secret_cut_anywhere_is_found_as_in_the_whole() {
    let scanner = SecretScanner::new();
    for kind in kinds().iter().filter(|kind| !kind.marked_at_its_end) {
        let pattern = regex_syntax::parse(&kind.secret).expect("the expressions are valid");
        let secret = generate(&pattern, &mut Draw::new(12, &kind.name)).text;
        let text = format!("before\n{}\nbehind it", kind.text.replace("{}", &secret));
        let whole = scanner.redact(text.as_str().into()).text.into_exposed();
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let mut stream = scanner.begin();
            let mut out = stream.push((&text[..cut]).into()).into_exposed();
            out.push_str(stream.push((&text[cut..]).into()).expose());
            out.push_str(stream.finish().expose());
            assert_eq!(out, whole, "{} cut at {cut}", kind.name);
        }
    }
}
