//! Five texts in which a secret travels: prose, an environment, JSON, YAML, code or a log.

use crate::rule_list::{Sample, Shape};
use crate::sampler::Draw;

/// How many there are.
pub(crate) const CARRIERS: usize = 5;

/// What a name goes on with behind a vendor's.
const ENDINGS: [&str; 7] =
    ["key", "token", "secret", "api_key", "access_token", "client_secret", "credential"];

/// Puts a sample into a carrier.
pub(crate) fn put(carrier: usize, sample: &Sample, draw: &mut Draw) -> String {
    match &sample.shape {
        Shape::Whole => whole(carrier, &sample.text),
        Shape::Word => word(carrier, &sample.text),
        Shape::Named(vendor) => named(carrier, vendor, &sample.text, draw),
    }
}

fn named(carrier: usize, vendor: &str, value: &str, draw: &mut Draw) -> String {
    let says_enough = ["key", "token", "secret", "passw", "credential", "initialize"]
        .iter()
        .any(|word| vendor.to_lowercase().contains(word));
    let ending = if says_enough { "" } else { *draw.pick(&ENDINGS) };
    let joined = |with: &str| {
        let vendor = vendor.to_lowercase();
        let vendor = vendor.trim_matches(['_', '-', ',']);
        if ending.is_empty() {
            vendor.to_owned()
        } else {
            format!("{vendor}{with}{}", ending.replace('_', with))
        }
    };
    match carrier {
        0 => format!("Hello, the {}: {value} has to be rotated before Monday.", joined(" ")),
        1 => format!(
            "# settings\nexport {}={value}\nPORT=8080\n",
            joined("_").to_uppercase().replace(['-', '.', ' '], "_")
        ),
        2 => format!("{{\"id\": 7, \"{}\": \"{value}\", \"max_tokens\": 5}}", joined("_")),
        3 => format!("service:\n  {}: {value}\n  replicas: 2\n", joined("_")),
        _ => format!("    let {} = \"{value}\";\n    run(2);\n", joined("_").replace(['-', '.', ' '], "_")),
    }
}

fn word(carrier: usize, value: &str) -> String {
    match carrier {
        0 => format!("Please use {value} for the deployment, thanks."),
        1 => format!("MODE=fast\nVALUE={value}\nPORT=8080\n"),
        2 => format!("{{\"item\": \"{value}\", \"max_tokens\": 5}}"),
        3 => format!("items:\n  - name: x\n    value: {value}\n"),
        _ => format!("2026-11-21T10:00:00Z INFO request done value={value} status=200\n"),
    }
}

fn whole(carrier: usize, text: &str) -> String {
    match carrier {
        0 => format!("This is what I ran:\n\n{text}\n\nand it failed."),
        1 => format!("#!/bin/sh\nset -e\n{text}\necho done\n"),
        2 => serde_json::json!({ "file": text, "max_tokens": 5 }).to_string(),
        3 => format!("files:\n  - content: |\n{}\n", indented(text)),
        _ => format!("2026-11-21T10:00:00Z INFO wrote\n{text}\n"),
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("      {line}")).collect::<Vec<_>>().join("\n")
}
