//! Reads `palyra.toml`, keeping the place of every value.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::check::{ConfigLayer, bad_value, check};
use super::diagnostic::{ConfigError, ErrorCollector};
use super::schema::{self, SettingSpec, SettingType};
use super::suggest::{shown, wrong_key};
use super::value::{ConfigValue, ValueOrigin};

/// A configuration is written by hand.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Reads a file; `None` where there is none at all.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable = |what: String| ConfigError::Unreadable { path: path.to_owned(), what };
    // A link that leads nowhere is not an absent file: somebody meant something by it.
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    let found = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if found.is_dir() {
        return Err(unreadable("it is a folder".to_owned()));
    }
    if !found.is_file() {
        return Err(unreadable("it is not a file".to_owned()));
    }
    if found.len() > FILE_BYTES_MAX {
        return Err(unreadable(format!("it is larger than {FILE_BYTES_MAX} bytes")));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
            let (line, column) = place_in(&before, before.len());
            Err(unreadable(format!("line {line} is not valid UTF-8 from character {column} on")))
        }
    }
}

/// Returns line and character, from 1, of a byte.
fn place_in(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
    (line, column)
}

/// What a file sets.
#[derive(Debug, Default)]
pub(super) struct FileLayer {
    pub(super) values: ConfigLayer,
    /// The providers that have a table of their own, even an empty one.
    pub(super) providers: BTreeMap<String, ValueOrigin>,
}

/// Parses a file's text. What stands on a line that is not TOML is not looked at.
pub(super) fn parse(path: &Path, text: &str, mistakes: &mut ErrorCollector) -> FileLayer {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = FileReader { path, text, layer: FileLayer::default(), mistakes };
    for error in errors {
        if reader.mistakes.is_full() {
            break;
        }
        let span = error.span().unwrap_or_default();
        let origin = reader.origin_at(span.start);
        if !reader.mistakes.has_line_of(&origin) {
            let what = syntax_message(error.message(), text.get(span).unwrap_or_default());
            reader.mistakes.note::<()>(Err(ConfigError::Syntax { origin, what }));
        }
    }
    reader.collect("", table.get_ref());
    reader.layer
}

/// Names the key where the parser says only that there are two; keys are no secrets.
fn syntax_message(said: &str, there: &str) -> String {
    let said = said.lines().next().unwrap_or_default();
    let is_key = !there.is_empty() && there.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    if said == "duplicate key" && is_key {
        return format!(
            "duplicate key `{0}`; each is set once, and settings of a section that is there already go below its line",
            shown(there)
        );
    }
    said.to_owned()
}

struct FileReader<'a> {
    path: &'a Path,
    text: &'a str,
    layer: FileLayer,
    mistakes: &'a mut ErrorCollector,
}

impl FileReader<'_> {
    fn origin_at(&self, byte: usize) -> ValueOrigin {
        let (line, column) = place_in(self.text, byte);
        ValueOrigin::File { path: self.path.to_owned(), line, column }
    }

    fn collect(&mut self, prefix: &str, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in entries {
            if self.mistakes.is_full() {
                return;
            }
            let name_written = bare_or_quoted(name.get_ref());
            let key = if prefix.is_empty() {
                name_written.into_owned()
            } else {
                format!("{prefix}.{name_written}")
            };
            let place = self.origin_at(name.span().start);
            match value.get_ref() {
                DeValue::Table(inner) if schema::is_section(&key) => {
                    if let Some(provider) = key.strip_prefix("providers.") {
                        self.layer.providers.insert(provider.to_owned(), place);
                    }
                    self.collect(&key, inner);
                }
                _ if self.mistakes.has_line_of(&place) => {}
                _ => self.take(key, &place, value),
            }
        }
    }

    /// Takes a value in: `place` is that of its key.
    fn take(&mut self, key: String, place: &ValueOrigin, value: &Spanned<DeValue<'_>>) {
        let Some(setting) = schema::setting_of(&key) else {
            self.mistakes.note::<()>(Err(wrong_key(&key, &written_key(&key, value.get_ref()), place)));
            return;
        };
        let origin = self.origin_at(value.span().start);
        let read = read(setting, value.get_ref()).map_err(|found| bad_value(setting, &key, &origin, &found));
        if let Some(value) = self.mistakes.note(read.and_then(|value| check(&key, value, &origin))) {
            self.layer.values.insert(key, (value, origin));
        }
    }
}

/// Returns a key with what follows it on its line, where it is the beginning of a dotted one.
fn written_key(key: &str, value: &DeValue<'_>) -> String {
    let (mut written, mut value) = (key.to_owned(), value);
    while let DeValue::Table(table) = value
        && let (Some((name, inner)), 1) = (table.iter().next(), table.len())
    {
        written = format!("{written}.{}", bare_or_quoted(name.get_ref()));
        value = inner.get_ref();
    }
    written
}

/// Returns a part of a key as it has to be written in a dotted one.
fn bare_or_quoted(name: &str) -> Cow<'_, str> {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.into() } else { format!("{name:?}").into() }
}

/// Reads a value; else what was found in its place.
fn read(setting: SettingSpec, value: &DeValue<'_>) -> Result<ConfigValue, String> {
    match value {
        DeValue::String(text) => Ok(ConfigValue::Text(text.to_string())),
        DeValue::Integer(number) => integer(setting, number),
        DeValue::Boolean(yes) => Ok(ConfigValue::Bool(*yes)),
        DeValue::Array(items) => list(setting, items),
        DeValue::Float(number) => Err(format!("the fraction {}", shown(number.as_str()))),
        DeValue::Datetime(_) => Err("a date".to_owned()),
        DeValue::Table(_) => Err("a table".to_owned()),
    }
}

fn integer(setting: SettingSpec, number: &DeInteger<'_>) -> Result<ConfigValue, String> {
    let read = u64::from_str_radix(number.as_str(), number.radix()).map(ConfigValue::Integer);
    read.map_err(|_| match setting.takes {
        SettingType::Integer { .. } => shown(number.as_str()),
        SettingType::Text | SettingType::Choice { .. } | SettingType::Bool | SettingType::List { .. } => {
            "a number".to_owned()
        }
    })
}

fn list(setting: SettingSpec, items: &[Spanned<DeValue<'_>>]) -> Result<ConfigValue, String> {
    let text = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(_)
        | DeValue::Boolean(_)
        | DeValue::Array(_)
        | DeValue::Float(_)
        | DeValue::Datetime(_)
        | DeValue::Table(_) => None,
    };
    let texts: Option<Vec<_>> = items.iter().map(text).collect();
    texts.map(ConfigValue::List).ok_or_else(|| match setting.takes {
        SettingType::List { .. } => "a list with something else in it".to_owned(),
        SettingType::Integer { .. } | SettingType::Text | SettingType::Choice { .. } | SettingType::Bool => {
            "a list".to_owned()
        }
    })
}
