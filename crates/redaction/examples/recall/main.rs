//! Measures the scanner: how many secrets of a public rule list it finds, how much clean text it spoils, how fast it is.
//!
//! `recall FILE [--json] [--clean DIR] [--seed N] [--show KIND]`. FILE is a rule list in the TOML format of
//! gitleaks; it is only used to make samples. Begin at [`main`]; the exit code is 1 when a goal is missed.
#![expect(clippy::print_stdout, reason = "a measurement speaks on standard output")]

mod carrier;
mod clean;
mod rule_list;
mod sampler;
mod values;

use std::process::ExitCode;

use palyra_ports::Redactor;
use palyra_redaction::SecretScanner;
use serde_json::json;

use carrier::CARRIERS;
use rule_list::Rule;

/// Samples of each kind in each carrier.
const SAMPLES: usize = 10;
/// Goals, as parts of a whole and in bytes per second.
const RECALL_MIN: f64 = 0.995;
const SPOILED_MAX: f64 = 0.001;
const BYTES_PER_SECOND_MIN: f64 = 200e6;

struct Options {
    list: String,
    clean: Option<String>,
    seed: u64,
    json: bool,
    show: Option<String>,
}

fn options() -> Option<Options> {
    let mut arguments = std::env::args().skip(1);
    let list = arguments.next()?;
    let mut options = Options { list, clean: None, seed: 1, json: false, show: None };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => options.json = true,
            "--clean" => options.clean = Some(arguments.next()?),
            "--seed" => options.seed = arguments.next()?.parse().ok()?,
            "--show" => options.show = Some(arguments.next()?),
            _ => return None,
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("usage: recall FILE [--json] [--clean DIR] [--seed N] [--show KIND]");
        return ExitCode::from(2);
    };
    let rules = match rule_list::read(&options.list) {
        Ok(rules) => rules,
        Err(error) => {
            eprintln!("could not read {}: {error}", options.list);
            return ExitCode::from(2);
        }
    };
    let scanner = SecretScanner::new();
    let kinds: Vec<Kind> = rules.iter().filter_map(|rule| measure(&scanner, rule, &options)).collect();
    let recall =
        share(kinds.iter().map(|kind| kind.found).sum(), kinds.iter().map(|kind| kind.samples).sum());
    let (values_found, values_tried) = values::measure(options.seed);
    let clean = options.clean.as_deref().map(|dir| clean::measure(&scanner, dir, options.show.is_some()));
    let values_recall = share(values_found, values_tried);
    let met = recall >= RECALL_MIN
        && values_found == values_tried
        && clean.as_ref().is_none_or(|clean| {
            clean.spoiled() <= SPOILED_MAX && clean.bytes_per_second() >= BYTES_PER_SECOND_MIN
        });
    if options.json {
        let rows: Vec<_> = kinds.iter().map(Kind::row).collect();
        let clean = clean.as_ref().map(clean::Clean::row);
        let report = json!({
            "kinds": rows, "recall": recall, "samples": kinds.iter().map(|kind| kind.samples).sum::<usize>(),
            "registered": { "tried": values_tried, "found": values_found, "recall": values_recall },
            "clean": clean, "met": met,
        });
        println!("{report}");
    } else {
        print(&kinds, recall);
        println!("registered values: {values_found} of {values_tried} found");
        if let Some(clean) = &clean {
            println!("{clean}");
        }
        println!("{}", if met { "every goal is met" } else { "a goal is MISSED" });
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How many samples of a kind were found.
struct Kind {
    name: String,
    samples: usize,
    found: usize,
    /// Per carrier.
    missed: [usize; CARRIERS],
}

impl Kind {
    fn row(&self) -> serde_json::Value {
        json!({ "kind": self.name, "samples": self.samples, "found": self.found, "missed": self.missed })
    }
}

fn measure(scanner: &SecretScanner, rule: &Rule, options: &Options) -> Option<Kind> {
    let mut kind = Kind { name: rule.id.clone(), samples: 0, found: 0, missed: [0; CARRIERS] };
    let mut draw = sampler::Draw::new(options.seed, &rule.id);
    for _ in 0..SAMPLES {
        let sample = rule.sample(&mut draw)?;
        for (carrier, missed) in kind.missed.iter_mut().enumerate() {
            let text = carrier::put(carrier, &sample, &mut draw);
            let cleaned = scanner.redact(text.as_str().into()).text.into_exposed();
            kind.samples += 1;
            if survives(&sample.secret, &cleaned) {
                *missed += 1;
                if options.show.as_deref() == Some(rule.id.as_str()) {
                    eprintln!("missed {:?}\n  in {text:?}\n  as {cleaned:?}", sample.secret);
                }
            } else {
                kind.found += 1;
            }
        }
    }
    Some(kind)
}

/// Returns whether half of a secret, or more, is still there.
fn survives(secret: &str, text: &str) -> bool {
    let half = secret.len().div_ceil(2).max(3).min(secret.len());
    (0..=secret.len() - half).any(|at| secret.get(at..at + half).is_some_and(|part| text.contains(part)))
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

fn print(kinds: &[Kind], recall: f64) {
    for kind in kinds.iter().filter(|kind| kind.found < kind.samples) {
        println!(
            "{:44} {:4} of {:4}  missed per carrier {:?}",
            kind.name, kind.found, kind.samples, kind.missed
        );
    }
    let whole = kinds.iter().filter(|kind| kind.found == kind.samples).count();
    println!("{whole} of {} kinds are found every time; recall {:.3} %", kinds.len(), recall * 100.0);
}
