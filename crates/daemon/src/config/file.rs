//! Reads `palyra.toml`, keeping the line of every value.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::check::{bad_value, check, wrong_key};
use super::schema;
use super::value::{ConfigError, Origin, Value};

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
            let line = line_at(error.as_bytes(), error.utf8_error().valid_up_to());
            Err(unreadable(format!("line {line} is not valid UTF-8")))
        }
    }
}

fn line_at(text: &[u8], byte: usize) -> usize {
    text.iter().take(byte).filter(|byte| **byte == b'\n').count() + 1
}

/// Parses a file's text; returns the values it sets.
pub(super) fn parse(path: &Path, text: &str) -> Result<BTreeMap<String, (Value, Origin)>, ConfigError> {
    let origin_at =
        |byte: usize| Origin::File { path: path.to_owned(), line: line_at(text.as_bytes(), byte) };
    let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        origin: origin_at(error.span().map_or(0, |span| span.start)),
        what: error.message().to_owned(),
    })?;
    let mut values = BTreeMap::new();
    collect("", table.get_ref(), &origin_at, &mut values)?;
    Ok(values)
}

fn collect(
    prefix: &str,
    table: &DeTable<'_>,
    origin_at: &dyn Fn(usize) -> Origin,
    values: &mut BTreeMap<String, (Value, Origin)>,
) -> Result<(), ConfigError> {
    for (name, value) in table {
        let key = if prefix.is_empty() {
            name.get_ref().to_string()
        } else {
            format!("{prefix}.{}", name.get_ref())
        };
        let origin = origin_at(name.span().start);
        match value.get_ref() {
            // Also an empty one may be a slip of the pen.
            DeValue::Table(_) if schema::example_in_section(&key).is_none() => {
                return Err(wrong_key(&key, &origin));
            }
            DeValue::Table(inner) => collect(&key, inner, origin_at, values)?,
            _ => {
                let value = read(&key, value, &origin)?;
                values.insert(key.clone(), (check(&key, value, &origin)?, origin));
            }
        }
    }
    Ok(())
}

fn read(key: &str, value: &Spanned<DeValue<'_>>, origin: &Origin) -> Result<Value, ConfigError> {
    let setting = schema::setting_of(key).ok_or_else(|| wrong_key(key, origin))?;
    let bad = |found| bad_value(setting, key, origin, found);
    match value.get_ref() {
        DeValue::String(text) => Ok(Value::Text(text.to_string())),
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix())
            .map(Value::Integer)
            .map_err(|_| bad("a number out of range")),
        DeValue::Float(_) => Err(bad("a fraction")),
        DeValue::Boolean(_) => Err(bad("true or false")),
        DeValue::Datetime(_) => Err(bad("a date")),
        DeValue::Array(_) => Err(bad("a list")),
        DeValue::Table(_) => Err(bad("a table")),
    }
}
