//! Sees which providers' keys the environment holds.

use std::collections::BTreeMap;

use crate::key_reference::KeyReference;

/// A key that is there. Nobody knows whether it is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedKey {
    /// Whose it is.
    pub vendor: &'static str,
    /// Where it is kept.
    pub key: KeyReference,
    /// Where to use it, for vendors whose API this version speaks.
    pub service: Option<KnownService>,
}

/// Where a vendor's API is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownService {
    /// Where it begins.
    pub base_url: &'static str,
    /// The wire format it speaks, as the configuration names it.
    pub format: &'static str,
}

const fn chat(base_url: &'static str) -> Option<KnownService> {
    Some(KnownService { base_url, format: "openai_chat" })
}

impl DetectedKey {
    /// Returns one sentence that says what was found and what to do with it.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { vendor, key, service } = self;
        let name = vendor.to_lowercase();
        match service {
            Some(KnownService { base_url, format }) => {
                let format =
                    if *format == "openai_chat" { String::new() } else { format!(" --format {format}") };
                format!(
                    "A key for {vendor} is set ({key}); it is not used by itself. To use it: \
                     `palyra model add {name}{format} --base-url {base_url} --key {key} --model MODEL`"
                )
            }
            None => format!("A key for {vendor} is set ({key}); this version does not speak its API."),
        }
    }
}

struct KnownKey {
    variable: &'static str,
    vendor: &'static str,
    service: Option<KnownService>,
}

const MESSAGES: Option<KnownService> =
    Some(KnownService { base_url: "https://api.anthropic.com", format: "anthropic_messages" });

const KNOWN: &[KnownKey] = &[
    known("OPENAI_API_KEY", "OpenAI", chat("https://api.openai.com/v1")),
    known("OPENROUTER_API_KEY", "OpenRouter", chat("https://openrouter.ai/api/v1")),
    known("GROQ_API_KEY", "Groq", chat("https://api.groq.com/openai/v1")),
    known("MISTRAL_API_KEY", "Mistral", chat("https://api.mistral.ai/v1")),
    known("DEEPSEEK_API_KEY", "DeepSeek", chat("https://api.deepseek.com/v1")),
    known("XAI_API_KEY", "xAI", chat("https://api.x.ai/v1")),
    known("ANTHROPIC_API_KEY", "Anthropic", MESSAGES),
    known("GEMINI_API_KEY", "Google Gemini", None),
    known("GOOGLE_API_KEY", "Google Gemini", None),
];

const fn known(variable: &'static str, vendor: &'static str, service: Option<KnownService>) -> KnownKey {
    KnownKey { variable, vendor, service }
}

/// Returns the keys an environment holds, at most one for each vendor.
#[must_use]
pub fn detect_keys(environment: &BTreeMap<String, String>) -> Vec<DetectedKey> {
    let mut found: Vec<DetectedKey> = Vec::new();
    for KnownKey { variable, vendor, service } in KNOWN {
        let is_set = environment.get(*variable).is_some_and(|value| !value.trim().is_empty());
        if is_set && found.iter().all(|key| key.vendor != *vendor) {
            let key = KeyReference::Env((*variable).to_owned());
            found.push(DetectedKey { vendor, key, service: *service });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_reported_by_name_and_never_by_value() {
        let names =
            ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "OTHER_API_KEY"];
        let mut environment: BTreeMap<String, String> =
            names.iter().map(|name| ((*name).to_owned(), "canary".to_owned())).collect();
        environment.insert("GROQ_API_KEY".to_owned(), " ".to_owned());
        let found = detect_keys(&environment);
        let vendors: Vec<_> = found.iter().map(|key| key.vendor).collect();
        assert_eq!(vendors, ["OpenAI", "Anthropic", "Google Gemini"]);
        let said: String = found.iter().map(|key| format!("{key:?} {}", key.sentence())).collect();
        assert!(!said.contains("canary"));
        assert_eq!(
            found[1].sentence(),
            "A key for Anthropic is set (env:ANTHROPIC_API_KEY); it is not used by itself. To use it: \
             `palyra model add anthropic --format anthropic_messages --base-url https://api.anthropic.com \
             --key env:ANTHROPIC_API_KEY --model MODEL`"
        );
        assert_eq!(
            found[2].sentence(),
            "A key for Google Gemini is set (env:GEMINI_API_KEY); this version does not speak its API."
        );
        assert!(detect_keys(&BTreeMap::new()).is_empty());
    }
}
