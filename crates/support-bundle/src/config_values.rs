//! The configuration as a list of keys, with secrets taken out by key.
//!
//! A value stays only where its kind cannot hold a secret, or as much of it as cannot. The cleaner looks at the rest afterwards.

use palyra_wire::v1;
use serde_json::{Value as Json, json};
use toml::{Table, Value};

/// In the place of a secret.
pub(crate) const REDACTED: &str = "[redacted]";
/// Parts of names whose values are secrets.
const SECRET_PARTS: [&str; 7] = ["key", "token", "secret", "password", "passwd", "passphrase", "credential"];
/// Names with such a part whose values are harmless.
const HARMLESS_NAMES: [&str; 3] = ["key_files", "tokens", "keyless"];
/// How references to secrets begin: they name a place.
const REFERENCES: [&str; 3] = ["env:", "file:", "vault:"];
/// Settings that are lists of NAME=value.
const ENVIRONMENTS: [&str; 1] = ["commands.environment"];
/// Settings that are a program with its arguments.
const COMMAND_LINES: [&str; 1] = ["notify.command"];

/// A setting with its value as it is in force, or in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfigSetting {
    pub(crate) key: String,
    pub(crate) value: Value,
    pub(crate) origin: String,
}

/// Returns whether values of this name are secrets.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_count = name.ends_with("tokens") || name.ends_with("tokens_max") || name.contains("per_million");
    !is_count
        && !HARMLESS_NAMES.contains(&name.as_str())
        && SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// Returns the settings that a daemon has in force.
pub(crate) fn of_daemon(values: &[v1::ConfigValue]) -> Vec<ConfigSetting> {
    let setting = |setting: &v1::ConfigValue| {
        let line: Option<Table> = format!("value = {}", setting.value).parse().ok();
        let value = line.and_then(|mut line| line.remove("value"));
        ConfigSetting {
            key: setting.key.clone(),
            // A value that cannot be read is not shown.
            value: value.unwrap_or_else(|| REDACTED.into()),
            origin: setting.origin.clone(),
        }
    };
    values.iter().map(setting).collect()
}

/// Returns the settings of a file; `None` where it cannot be read.
pub(crate) fn of_file(text: &str) -> Option<Vec<ConfigSetting>> {
    let table: Table = text.parse().ok()?;
    let mut settings = Vec::new();
    flatten("", &Value::Table(table), &mut settings);
    Some(settings)
}

fn flatten(key: &str, value: &Value, settings: &mut Vec<ConfigSetting>) {
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                flatten(&key, value, settings);
            }
        }
        value => settings.push(ConfigSetting {
            key: key.to_owned(),
            value: value.clone(),
            origin: "file".to_owned(),
        }),
    }
}

/// Renders settings without their secrets.
pub(crate) fn shown(settings: &[ConfigSetting]) -> Json {
    let row = |setting: &ConfigSetting| {
        json!({
            // A member of this name must not be `key`, whose values are secrets.
            "setting": setting.key,
            "value": shown_value(&setting.key, &setting.value),
            "origin": setting.origin,
        })
    };
    settings.iter().map(row).collect()
}

fn shown_value(key: &str, value: &Value) -> Json {
    let last = key.rsplit('.').next().unwrap_or(key);
    match value {
        Value::Array(items) if ENVIRONMENTS.contains(&key) => {
            items.iter().map(|item| name_only(item.as_str().unwrap_or_default())).collect()
        }
        Value::Array(items) if COMMAND_LINES.contains(&key) => {
            let program = items.first().and_then(Value::as_str).unwrap_or_default();
            json!([program, format!("[{} arguments]", items.len().saturating_sub(1))])
        }
        Value::String(text) if is_secret_name(last) => {
            let is_reference = text.is_empty() || REFERENCES.iter().any(|begin| text.starts_with(begin));
            if is_reference { text.as_str().into() } else { REDACTED.into() }
        }
        _ if is_secret_name(last) && !is_plain(value) => REDACTED.into(),
        Value::String(text) => without_url_secrets(last, text).into(),
        Value::Array(items) => items.iter().map(|item| shown_value(key, item)).collect(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => json!(number),
        Value::Boolean(is_on) => (*is_on).into(),
        Value::Datetime(time) => time.to_string().into(),
        Value::Table(_) => REDACTED.into(),
    }
}

fn is_plain(value: &Value) -> bool {
    matches!(value, Value::Integer(_) | Value::Float(_) | Value::Boolean(_))
}

fn name_only(assignment: &str) -> Json {
    let name = assignment.split('=').next().unwrap_or_default();
    format!("{name}={REDACTED}").into()
}

/// Cuts what addresses may have beside host and path; of those that are called, also the path.
fn without_url_secrets(name: &str, text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or_default();
    if name.contains("webhook") {
        return format!("{scheme}://{host}/[...]");
    }
    let slash = if rest.contains('/') { "/" } else { "" };
    format!("{scheme}://{host}{slash}{path}")
}

/// Returns the texts of settings that are secret: values of secret names, and values of environments.
pub(crate) fn secret_texts(settings: &[ConfigSetting]) -> Vec<String> {
    let mut secrets = Vec::new();
    for setting in settings {
        let last = setting.key.rsplit('.').next().unwrap_or_default();
        match &setting.value {
            Value::String(text) if is_secret_name(last) => secrets.push(text.clone()),
            Value::Array(items) if ENVIRONMENTS.contains(&setting.key.as_str()) => {
                let assigned = items.iter().filter_map(|item| item.as_str()?.split_once('='));
                secrets.extend(assigned.map(|(_, value)| value.to_owned()));
            }
            Value::Array(items) if COMMAND_LINES.contains(&setting.key.as_str()) => {
                secrets.extend(items.iter().skip(1).filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {}
        }
    }
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        [model]
        default = "box/m"
        [providers.box]
        base_url = "https://user:walnut-harbour@box.example:8443/v1?sig=walnut-harbour"
        key = "env:BOX_KEY"
        [providers.raw]
        key = "walnut-harbour-lantern"
        [commands]
        environment = ["DEPLOY=walnut-harbour-lantern", "EMPTY"]
        [notify]
        command = ["/usr/bin/send", "--to", "walnut-harbour-lantern"]
        webhook_url = "https://hooks.example/services/walnut-harbour"
        [limits]
        output_tokens_max = 512
    "#;

    #[test]
    fn secrets_are_taken_out_by_key_and_the_rest_stays() {
        let settings = of_file(FILE).unwrap();
        let text = shown(&settings).to_string();
        assert!(!text.contains("walnut"), "{text}");
        for kept in [
            "\"box/m\"",
            "https://box.example:8443/v1",
            "env:BOX_KEY",
            "DEPLOY=[redacted]",
            "/usr/bin/send",
            "[2 arguments]",
            "https://hooks.example/[...]",
            "512",
        ] {
            assert!(text.contains(kept), "{kept} is missing in {text}");
        }
        let secrets = secret_texts(&settings);
        assert_eq!(secrets.iter().filter(|secret| *secret == "walnut-harbour-lantern").count(), 3);
    }

    #[test]
    fn a_daemons_settings_are_read_as_toml_and_what_is_none_is_not_shown() {
        let value = |key: &str, value: &str| v1::ConfigValue {
            key: key.to_owned(),
            value: value.to_owned(),
            origin: "file".to_owned(),
        };
        let values =
            [value("model.default", "\"box/m\""), value("commands.enabled", "true"), value("odd", "walnut=")];
        let text = shown(&of_daemon(&values)).to_string();
        assert!(text.contains("box/m") && text.contains("true") && !text.contains("walnut"), "{text}");
        assert_eq!(of_file("not toml"), None);
    }

    #[test]
    fn names_of_counts_are_no_names_of_secrets() {
        for name in ["key", "API_KEY", "webhook_secret", "tls_key", "passphrase", "PALYRA_TOKEN"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["output_tokens_max", "context_tokens", "default", "base_url", "key_files"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
