//! Places of this host that settings name: where programs lie, what commands may read, and files with keys or prices.
//!
//! Owns which settings these are. Invariant: a place that somebody else could have written is a mistake, as the file of
//! settings itself would be. Begin at [`check_all`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::check::ConfigLayer;
use super::diagnostic::{ConfigError, ErrorCollector};
use super::value::ConfigValue;
use crate::trusted_place;

/// Settings that list places.
const LISTS: [&str; 2] = ["commands.path", "commands.readable"];
/// Settings that name one file.
const FILES: [&str; 3] = ["http.tls_cert", "http.tls_key", "prices.file"];
/// What a key begins with that is in a file.
const KEY_FILE: &str = "file:";

/// Notes every place that others could have written; what is not there is none.
pub(super) fn check_all(
    values: &ConfigLayer,
    environment: &BTreeMap<String, String>,
    mistakes: &mut ErrorCollector,
) {
    for (key, (value, origin)) in values {
        for place in places_of(key, value, environment) {
            let what = |cause| format!("names {}, which is not used: {cause}", place.display());
            let checked = trusted_place::check(&place).map_err(|cause| ConfigError::Unusable {
                origin: origin.clone(),
                key: key.clone(),
                what: what(cause),
            });
            mistakes.note(checked);
        }
    }
}

fn places_of(key: &str, value: &ConfigValue, environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let home = environment.get("HOME");
    match value {
        ConfigValue::List(places) if LISTS.contains(&key) => places
            .iter()
            .filter_map(|place| match place.strip_prefix("~/") {
                Some(inner) => home.map(|home| PathBuf::from(home).join(inner)),
                None => Some(PathBuf::from(place)),
            })
            .collect(),
        ConfigValue::Text(text) if FILES.contains(&key) && !text.is_empty() => vec![PathBuf::from(text)],
        ConfigValue::List(command) if key == "notify.command" => {
            command.first().map(PathBuf::from).into_iter().collect()
        }
        ConfigValue::Text(text)
            if key == "notify.webhook_secret" || (key.starts_with("providers.") && key.ends_with(".key")) =>
        {
            text.trim().strip_prefix(KEY_FILE).map(PathBuf::from).into_iter().collect()
        }
        ConfigValue::List(_) | ConfigValue::Text(_) | ConfigValue::Bool(_) | ConfigValue::Integer(_) => {
            Vec::new()
        }
    }
}
