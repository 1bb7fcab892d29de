//! Reads `palyra.toml`, keeping the line of every value.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::check::{check, unknown};
use super::value::{ConfigError, Origin, Value};

/// Parses a file's text; returns the values it sets.
pub(super) fn parse(path: &Path, text: &str) -> Result<BTreeMap<String, (Value, Origin)>, ConfigError> {
    let origin_at = |byte: usize| {
        let line = text.as_bytes().iter().take(byte).filter(|byte| **byte == b'\n').count() + 1;
        Origin::File { path: path.to_owned(), line }
    };
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
    if super::schema::setting_of(key).is_none() {
        return Err(unknown(key, origin));
    }
    let bad = |found| ConfigError::BadValue {
        origin: origin.clone(),
        key: key.to_owned(),
        takes: "a text or a whole number that is not negative".to_owned(),
        found,
    };
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
