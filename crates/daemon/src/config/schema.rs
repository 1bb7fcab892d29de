//! Every setting there is: key, type, range, default, meaning. Said once, here.

use std::collections::BTreeMap;

use super::value::{Origin, Value};

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its dotted key.
    pub key: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it means, in one sentence.
    pub meaning: &'static str,
}

/// What a setting takes, with its default.
#[derive(Debug, Clone, Copy)]
pub enum Takes {
    /// A whole number within a range.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// The default.
        default: u64,
    },
    /// A text.
    Text {
        /// The default.
        default: &'static str,
    },
}

const fn integer(key: &'static str, min: u64, max: u64, default: u64, meaning: &'static str) -> Setting {
    Setting { key, takes: Takes::Integer { min, max, default }, meaning }
}

const fn text(key: &'static str, default: &'static str, meaning: &'static str) -> Setting {
    Setting { key, takes: Takes::Text { default }, meaning }
}

/// All settings but those of providers, in order of key.
pub const SETTINGS: &[Setting] = &[
    integer(
        "daemon.idle_stop_seconds",
        1,
        604_800,
        900,
        "An auto-started daemon stops after so long without work.",
    ),
    integer(
        "limits.active_time_seconds_max",
        1,
        86_400,
        1_800,
        "Active time of a run; waiting does not count.",
    ),
    integer("limits.input_bytes_max", 1, 3_145_728, 524_288, "Bytes of one input."),
    integer("limits.output_tokens_max", 1, 1_000_000_000, 1_000_000, "Tokens a model may write in one run."),
    integer("limits.parallel_tools_max", 1, 64, 4, "Read-only tools of one run at once."),
    integer("limits.session_queue_max", 1, 100_000, 1_024, "Runs waiting in one session."),
    integer("limits.tool_calls_max", 1, 100_000, 200, "Tool calls of one run."),
    integer("limits.turns_max", 1, 10_000, 50, "Model turns of one run."),
    text("listen.tcp", "", "Loopback address for clients with a token, such as 127.0.0.1:7070; empty: none."),
    text(
        "model.default",
        "",
        "The model to use, as provider/model; empty: what the environment names, else demo/demo.",
    ),
];

/// The fields of a provider, below `providers.NAME`.
pub(super) const PROVIDER_FIELDS: &[Setting] = &[
    text("kind", "openai-chat", "The wire format; `openai-chat` is the one there is."),
    text("base_url", "", "Where its API begins."),
    text("key", "", "A reference to its key: env:NAME or file:PATH."),
    integer("context_tokens", 1_024, 100_000_000, 128_000, "The window of its models."),
];

/// Returns the setting of a key, also of a provider's field.
pub(super) fn setting_of(key: &str) -> Option<Setting> {
    if let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) {
        return Some(*setting);
    }
    let (_, field) = key.strip_prefix("providers.")?.split_once('.')?;
    provider_of(key)?;
    PROVIDER_FIELDS.iter().find(|setting| setting.key == field).copied()
}

/// Returns the provider a key belongs to.
pub(super) fn provider_of(key: &str) -> Option<&str> {
    provider_name(key).filter(|name| is_provider_name(name) && key.len() > "providers.".len() + name.len())
}

/// Returns what stands in the place of a provider's name.
pub(super) fn provider_name(key: &str) -> Option<&str> {
    let rest = key.strip_prefix("providers.")?;
    Some(rest.split_once('.').map_or(rest, |(name, _)| name))
}

/// Returns whether a provider can be called so.
pub(super) fn is_provider_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Returns a setting of a section; `None` where the key is no section.
pub(super) fn example_in_section(key: &str) -> Option<String> {
    let provider = provider_name(key).filter(|name| is_provider_name(name) && key.ends_with(*name));
    if key == "providers" || provider.is_some() {
        return Some(format!("providers.{}.base_url", provider.unwrap_or("NAME")));
    }
    let within = |setting: &&Setting| setting.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    SETTINGS.iter().find(within).map(|setting| setting.key.to_owned())
}

/// Returns the valid key most like the given one.
pub(super) fn nearest(key: &str) -> String {
    if !key.contains('.') {
        let sections = SETTINGS.iter().filter_map(|setting| setting.key.split_once('.'));
        let sections = sections.map(|(section, _)| section).chain(["providers"]);
        let section = sections.min_by_key(|section| strsim::levenshtein(key, section));
        return section.and_then(example_in_section).unwrap_or_default();
    }
    let provider = key.strip_prefix("providers.").and_then(|rest| rest.split_once('.')).map(|(name, _)| name);
    let fields =
        PROVIDER_FIELDS.iter().map(|field| format!("providers.{}.{}", provider.unwrap_or("NAME"), field.key));
    let all = SETTINGS.iter().map(|setting| setting.key.to_owned()).chain(fields);
    all.min_by_key(|candidate| strsim::levenshtein(key, candidate)).unwrap_or_default()
}

/// Returns the defaults of all settings.
pub(super) fn defaults() -> BTreeMap<String, (Value, Origin)> {
    let value = |setting: &Setting| match setting.takes {
        Takes::Integer { default, .. } => Value::Integer(default),
        Takes::Text { default } => Value::Text(default.to_owned()),
    };
    SETTINGS.iter().map(|setting| (setting.key.to_owned(), (value(setting), Origin::Default))).collect()
}
