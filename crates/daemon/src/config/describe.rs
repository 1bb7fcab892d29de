//! The settings as people and editors read them: a commented file, a JSON schema, a table. All made from the schema.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use super::check::takes;
use super::schema::{self, ApplyTime, PROVIDER_FIELDS, SETTINGS, SettingSpec, SettingType, UnsetValue};

/// Columns of a comment in the commented file.
const COMMENT_COLUMNS_MAX: usize = 100;
/// The provider that the commented file shows as an example.
const EXAMPLE_PROVIDER: &str = "local";

const TOML_HEAD: &str = "\
# The configuration of Palyra. Each line here is a default or an example. To change a setting,
# remove the leading # from its line and from the line of its [section].
# `palyra config check` finds mistakes; `palyra config show --origin` shows the current values and
# the origin of each. The environment wins over this file (PALYRA__MODEL__DEFAULT), and flags win
# over the environment.
# `palyra explain docs/NAME.md` shows a document that is named here.
";

const PROVIDER_HEAD: &str = "\
A server of models, under a name of your choice. `palyra model add` writes this for you, after a test.";

/// Returns every setting as a file of comments that changes nothing.
#[must_use]
pub fn as_toml() -> String {
    let mut text = TOML_HEAD.to_owned();
    for section in schema::sections() {
        if section == "providers" {
            text.push('\n');
            comment(&mut text, PROVIDER_HEAD);
            let _ = writeln!(text, "#[providers.{EXAMPLE_PROVIDER}]");
            PROVIDER_FIELDS
                .iter()
                .filter(|field| field.key != "kind")
                .for_each(|field| toml_setting(&mut text, field));
        } else {
            let _ = writeln!(text, "\n#[{section}]");
            let within =
                |setting: &&SettingSpec| setting.key.split_once('.').is_some_and(|(of, _)| of == section);
            SETTINGS.iter().filter(within).for_each(|setting| toml_setting(&mut text, setting));
        }
    }
    text
}

fn toml_setting(text: &mut String, setting: &SettingSpec) {
    let key = setting.key.rsplit_once('.').map_or(setting.key, |(_, key)| key);
    let mut told = format!("{} {}.", setting.meaning, capital(&takes(setting.takes)));
    if let UnsetValue::Depends(words, _) = setting.unset {
        let _ = write!(told, " When not set: {words}.");
    }
    if setting.applies == ApplyTime::AtStart {
        told.push_str(" A change needs a restart.");
    }
    comment(text, &told);
    let _ = writeln!(text, "#{key} = {}", example_of(setting));
}

/// Writes words as comment lines.
fn comment(text: &mut String, told: &str) {
    let mut line = "#".to_owned();
    for word in told.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > COMMENT_COLUMNS_MAX {
            let _ = writeln!(text, "{line}");
            "#".clone_into(&mut line);
        }
        let _ = write!(line, " {word}");
    }
    let _ = writeln!(text, "{line}");
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Returns the default as TOML, or an example where there is none.
fn example_of(setting: &SettingSpec) -> String {
    match (schema::default_of(setting), setting.unset) {
        (Some(value), _) => value.to_toml(),
        (None, UnsetValue::Depends(_, example) | UnsetValue::Required(example)) => example.to_owned(),
        (
            None,
            UnsetValue::Integer(_) | UnsetValue::Text(_) | UnsetValue::Bool(_) | UnsetValue::EmptyList,
        ) => String::new(),
    }
}

/// Returns the settings as rows of Markdown tables.
#[must_use]
pub fn as_markdown() -> String {
    let head = "| key | takes | when not set | meaning |\n|---|---|---|---|\n";
    let rows = |settings: &[SettingSpec], prefix: &str| -> String {
        settings.iter().map(|setting| markdown_row(setting, prefix)).collect()
    };
    format!("{head}{}{}", rows(SETTINGS, ""), rows(PROVIDER_FIELDS, "providers.NAME."))
}

fn markdown_row(setting: &SettingSpec, prefix: &str) -> String {
    let unset = match setting.unset {
        UnsetValue::Depends(words, _) => words.to_owned(),
        UnsetValue::Required(example) => format!("**has to be set**, such as `{example}`"),
        UnsetValue::Integer(_) | UnsetValue::Text(_) | UnsetValue::Bool(_) | UnsetValue::EmptyList => {
            format!("`{}`", example_of(setting))
        }
    };
    let restart = if setting.applies == ApplyTime::AtStart { " A change needs a restart." } else { "" };
    format!(
        "| `{prefix}{}` | {} | {unset} | {}{restart} |\n",
        setting.key,
        takes(setting.takes),
        setting.meaning
    )
}

/// Returns the settings as a JSON schema, which editors of TOML understand too.
#[must_use]
pub fn as_json_schema() -> Json {
    let mut sections = Map::new();
    for section in schema::sections().into_iter().filter(|section| *section != "providers") {
        let within =
            |setting: &&SettingSpec| setting.key.split_once('.').is_some_and(|(of, _)| of == section);
        let keys = SETTINGS.iter().filter(within).map(|setting| {
            let key = setting.key.split_once('.').map_or(setting.key, |(_, key)| key);
            (key.to_owned(), json_setting(setting))
        });
        sections.insert(section.to_owned(), json_table(&keys.collect(), &[]));
    }
    let fields = PROVIDER_FIELDS.iter().map(|field| (field.key.to_owned(), json_setting(field)));
    let required: Vec<_> = PROVIDER_FIELDS
        .iter()
        .filter(|field| matches!(field.unset, UnsetValue::Required(_)))
        .map(|field| field.key)
        .collect();
    let mut providers = Map::new();
    providers.insert("type".to_owned(), "object".into());
    providers.insert("description".to_owned(), PROVIDER_HEAD.into());
    providers
        .insert("propertyNames".to_owned(), json!({ "pattern": "^[a-z0-9-]+$", "not": { "const": "demo" } }));
    providers.insert("additionalProperties".to_owned(), json_table(&fields.collect(), &required));
    sections.insert("providers".to_owned(), providers.into());
    let mut whole = json_table(&sections, &[]);
    whole["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    whole["title"] = "palyra.toml".into();
    whole
}

fn json_table(properties: &Map<String, Json>, required: &[&str]) -> Json {
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": required })
}

fn json_setting(setting: &SettingSpec) -> Json {
    let mut shape = match setting.takes {
        SettingType::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        SettingType::Text => json!({ "type": "string" }),
        SettingType::Choice { of } => json!({ "type": "string", "enum": of }),
        SettingType::Bool => json!({ "type": "boolean" }),
        SettingType::List { items_max } => {
            json!({ "type": "array", "items": { "type": "string" }, "maxItems": items_max, "uniqueItems": true })
        }
    };
    let mut told = setting.meaning.to_owned();
    match setting.unset {
        UnsetValue::Integer(number) => shape["default"] = number.into(),
        UnsetValue::Text(text) => shape["default"] = text.into(),
        UnsetValue::Bool(yes) => shape["default"] = yes.into(),
        UnsetValue::EmptyList => shape["default"] = json!([]),
        UnsetValue::Depends(words, _) => {
            let _ = write!(told, " When not set: {words}.");
        }
        UnsetValue::Required(_) => {}
    }
    if setting.applies == ApplyTime::AtStart {
        told.push_str(" A change needs a restart.");
    }
    shape["description"] = told.into();
    shape
}
