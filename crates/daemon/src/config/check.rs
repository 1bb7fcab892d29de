//! Checks values against their settings, and reads those that come as text: variables and flags.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use palyra_http::PublicOrigin;
use palyra_ports::EmbeddingModelName;
use palyra_types::model::ModelRef;
use palyra_types::spelling::nearest_name;

use super::diagnostic::{ConfigError, ErrorCollector};
use super::schema::{self, SettingSpec, SettingType};
use super::suggest::wrong_key;
use super::value::{ConfigValue, ValueOrigin};

/// What every variable that sets a value begins with.
const VARIABLE_PREFIX: &str = "PALYRA__";

/// Values with where they come from, by dotted key.
pub(super) type ConfigLayer = BTreeMap<String, (ConfigValue, ValueOrigin)>;

/// Checks a value against its setting.
pub(super) fn check(key: &str, value: ConfigValue, origin: &ValueOrigin) -> Result<ConfigValue, ConfigError> {
    let setting = schema::setting_of(key).ok_or_else(|| wrong_key(key, key, origin))?;
    let bad = |found: &str| bad_value(setting, key, origin, found);
    let unusable = |what| ConfigError::Unusable { origin: origin.clone(), key: key.to_owned(), what };
    match (setting.takes, &value) {
        (SettingType::Integer { min, max }, ConfigValue::Integer(number)) if (min..=max).contains(number) => {
            Ok(value)
        }
        (SettingType::Integer { .. }, ConfigValue::Integer(number)) => Err(bad(&number.to_string())),
        (SettingType::Text, ConfigValue::Text(text)) => {
            unusable_text(setting.key, text).map_or(Ok(value), |what| Err(unusable(what)))
        }
        (SettingType::Choice { of }, ConfigValue::Text(text)) if of.contains(&text.as_str()) => Ok(value),
        (SettingType::Choice { of }, ConfigValue::Text(text)) => {
            // Shown only when it is nearly right: else it could be anything, even a secret.
            let near = nearest_name(text, of);
            Err(bad(&near.map_or("another text".to_owned(), |near| {
                format!("\"{}\"; did you mean \"{near}\"?", super::suggest::shown(text))
            })))
        }
        (SettingType::Bool, ConfigValue::Bool(_)) => Ok(value),
        (SettingType::List { items_max }, ConfigValue::List(items)) => {
            unusable_list(setting.key, items, items_max).map_or(Ok(value), |what| Err(unusable(what)))
        }
        (_, ConfigValue::Text(text)) => Err(bad(text_found(setting, text))),
        (_, ConfigValue::Integer(_)) => Err(bad("a number")),
        (_, ConfigValue::Bool(_)) => Err(bad("true or false")),
        (_, ConfigValue::List(_)) => Err(bad("a list")),
    }
}

/// Says that a setting takes something else.
pub(super) fn bad_value(setting: SettingSpec, key: &str, origin: &ValueOrigin, found: &str) -> ConfigError {
    let (origin, key) = (origin.clone(), key.to_owned());
    let mut takes = takes(setting.takes);
    if let (SettingType::List { .. }, Some((_, example))) =
        (setting.takes, item_kind(setting.key).takes.rsplit_once("such as "))
    {
        takes += &format!(", such as [\"{example}\"]");
    }
    ConfigError::BadValue { origin, key, takes, found: found.to_owned() }
}

/// Returns what a setting takes, in words.
pub(super) fn takes(takes: SettingType) -> String {
    match takes {
        SettingType::Integer { min, max } => format!("a whole number from {min} to {max}"),
        SettingType::Text => "a text".to_owned(),
        SettingType::Choice { of } => {
            of.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>().join(" or ")
        }
        SettingType::Bool => "true or false".to_owned(),
        SettingType::List { items_max } => format!("a list of at most {items_max} texts"),
    }
}

/// A number or a truth value in quotes is the commonest slip.
fn text_found(setting: SettingSpec, text: &str) -> &'static str {
    let only_quoted = match setting.takes {
        SettingType::Integer { .. } => text.parse::<u64>().is_ok(),
        SettingType::Bool => text.parse::<bool>().is_ok(),
        SettingType::Text | SettingType::Choice { .. } | SettingType::List { .. } => false,
    };
    if only_quoted { "a text; take the quotes away" } else { "a text" }
}

/// Returns what is wrong with a text, by the last part of its key or all of it.
fn unusable_text(setting: &str, text: &str) -> Option<String> {
    let told = match setting {
        _ if text.is_empty() => return None,
        "key" | "notify.webhook_secret"
            if !["env:", "file:", "vault:"].iter().any(|kind| text.starts_with(kind)) =>
        {
            "takes a reference, env:NAME, file:PATH or vault:NAME, and never the key itself"
        }
        "model.default" if ModelRef::parse(text).is_none() => "takes provider/model, such as demo/demo",
        "embeddings.model" if EmbeddingModelName::parse(text).is_none() => {
            "takes palyra-embedded, or provider/model, such as local/nomic-embed-text"
        }
        "listen.tcp" => match text.parse::<SocketAddr>() {
            Err(_) => "takes an address and a port, such as 127.0.0.1:7070",
            Ok(address) if !address.ip().is_loopback() => {
                "takes a loopback address: beyond this machine nothing is served without TLS"
            }
            Ok(_) => return None,
        },
        "http.listen" if text != "off" && text.parse::<SocketAddr>().is_err() => {
            "takes an address and a port, such as 127.0.0.1:7787, or off"
        }
        "http.public_url" if PublicOrigin::parse(text).is_none() => {
            "takes a URL without a path, such as https://palyra.example"
        }
        "backup.folder" | "http.tls_cert" | "http.tls_key" | "prices.file" if !text.starts_with('/') => {
            "takes an absolute path"
        }
        _ => return None,
    };
    Some(told.to_owned())
}

/// Returns what is wrong with a list: of tools below `policy.`, else of models.
fn unusable_list(setting: &str, items: &[String], items_max: usize) -> Option<String> {
    let ItemKind { what, takes, fits } = item_kind(setting);
    if items.len() > items_max {
        return Some(format!("takes at most {items_max} texts, not {}", items.len()));
    }
    for (at, item) in items.iter().enumerate() {
        if !fits(item) {
            return Some(format!("takes {takes}, which item {} is not", at + 1));
        }
        let may_repeat = setting == "notify.command";
        if let Some(before) = items[..at].iter().position(|other| other == item && !may_repeat) {
            return Some(format!("names the same {what} twice, as items {} and {}", before + 1, at + 1));
        }
    }
    None
}

/// What the items of a list are.
struct ItemKind {
    what: &'static str,
    takes: &'static str,
    fits: fn(&str) -> bool,
}

fn item_kind(setting: &str) -> ItemKind {
    match setting {
        "commands.environment" => {
            ItemKind { what: "variable", takes: "NAME=value, such as LANG=C.UTF-8", fits: is_variable }
        }
        "commands.path" | "commands.readable" => ItemKind {
            what: "place",
            takes: "absolute paths and paths that begin with ~/, such as ~/tools/bin",
            fits: |path| path.starts_with('/') || path.starts_with("~/"),
        },
        "egress.allow_private" => ItemKind {
            what: "host",
            takes: "hosts with their ports, such as build.internal:8080",
            fits: |place| palyra_egress::PrivateHosts::read([place]).is_ok(),
        },
        "notify.command" => {
            ItemKind { what: "text", takes: "texts without a NUL", fits: |item| !item.contains('\0') }
        }
        "http.trusted_proxies" => ItemKind {
            what: "proxy",
            takes: "addresses, such as 10.0.0.7",
            fits: |item| item.parse::<IpAddr>().is_ok(),
        },
        _ if setting.starts_with("policy.") => {
            ItemKind { what: "tool", takes: "names of tools, such as read_file", fits: is_tool_name }
        }
        _ => ItemKind {
            what: "model",
            takes: "provider/model, such as demo/demo",
            fits: |item| ModelRef::parse(item).is_some(),
        },
    }
}

fn is_variable(pair: &str) -> bool {
    let named = pair.split_once('=').map_or("", |(name, _)| name);
    named.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && named.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !pair.contains('\0')
}

fn is_tool_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Reads a value from text, by the type its setting takes.
pub(super) fn parse_text(key: &str, text: &str, origin: &ValueOrigin) -> Result<ConfigValue, ConfigError> {
    let setting = schema::setting_of(key).ok_or_else(|| wrong_key(key, key, origin))?;
    let no_value = |found: &str| bad_value(setting, key, origin, found);
    let value = match setting.takes {
        SettingType::Integer { .. } => {
            let number = text.trim().parse().map_err(|_| no_value("what it holds"))?;
            ConfigValue::Integer(number)
        }
        SettingType::Bool => ConfigValue::Bool(text.trim().parse().map_err(|_| no_value("what it holds"))?),
        SettingType::Text | SettingType::Choice { .. } => ConfigValue::Text(text.to_owned()),
        SettingType::List { .. } => ConfigValue::List(
            text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect(),
        ),
    };
    check(key, value, origin)
}

/// Returns the variable that sets a key.
#[cfg(test)]
pub(super) fn variable_of(key: &str) -> String {
    format!("{VARIABLE_PREFIX}{}", key.to_uppercase().replace('.', "__"))
}

/// Reads all variables of the form `PALYRA__SECTION__KEY`; items of a list are separated by commas.
pub(super) fn from_environment(
    environment: &BTreeMap<String, String>,
    mistakes: &mut ErrorCollector,
) -> ConfigLayer {
    let mut values = ConfigLayer::new();
    for (name, text) in environment {
        let Some(path) = name.strip_prefix(VARIABLE_PREFIX) else { continue };
        if mistakes.is_full() {
            break;
        }
        let origin = ValueOrigin::Variable { name: super::suggest::shown(name) };
        let key = path.to_lowercase().replace("__", ".");
        if let Some(value) = mistakes.note(parse_text(&key, text, &origin)) {
            values.insert(key, (value, origin));
        }
    }
    values
}

/// Reads the values of flags.
pub(super) fn from_flags(flags: &[(&str, String)], mistakes: &mut ErrorCollector) -> ConfigLayer {
    let mut values = ConfigLayer::new();
    for (key, text) in flags {
        if let Some(value) = mistakes.note(parse_text(key, text, &ValueOrigin::Flag)) {
            values.insert((*key).to_owned(), (value, ValueOrigin::Flag));
        }
    }
    values
}
