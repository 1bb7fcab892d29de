//! The default model that a file names.

use toml_edit::{Document, DocumentMut, Item, Table, value};

use crate::edit_error::EditConfigError;

/// Returns the default model that a file names.
#[must_use]
pub fn named_default(text: &str) -> Option<String> {
    let document: DocumentMut = text.parse().ok()?;
    let named = document.get("model")?.get("default")?.as_str()?;
    (!named.is_empty()).then(|| named.to_owned())
}

/// Returns a file that names this default model.
///
/// # Errors
/// [`EditConfigError`]: the file is not TOML, or `model` is not a table.
pub fn set_default(text: &str, name: &str) -> Result<String, EditConfigError> {
    let mut document: DocumentMut = text.parse()?;
    put_default(&mut document, name)?;
    Ok(document.to_string())
}

pub(crate) fn put_default(document: &mut DocumentMut, name: &str) -> Result<(), EditConfigError> {
    let model = document.entry("model").or_insert_with(|| Item::Table(Table::new()));
    let model = model.as_table_like_mut().ok_or_else(|| EditConfigError::not_a_table("model"))?;
    // A comment above the key stays with it.
    match model.get_mut("default") {
        Some(item) => *item = value(name),
        None => drop(model.insert("default", value(name))),
    }
    Ok(())
}

/// Returns a file without its default model; everything else stays, the comments beside it too.
///
/// # Errors
/// [`EditConfigError`]: the file is not TOML.
pub fn without_default(text: &str) -> Result<String, EditConfigError> {
    let parsed = Document::parse(text)?;
    let model = parsed.get("model");
    let entry = model.and_then(Item::as_table).and_then(|model| model.get_key_value("default"));
    let span = entry.and_then(|(key, item)| Some(key.span()?.start..item.span()?.end));
    let Some(span) = span else {
        // An inline table has no line of its own.
        let mut document: DocumentMut = text.parse()?;
        document.get_mut("model").and_then(Item::as_table_like_mut).map(|model| model.remove("default"));
        return Ok(document.to_string());
    };
    let begin = text[..span.start].rfind('\n').map_or(0, |line_end| line_end + 1);
    let rest = text[span.end..].trim_start_matches([' ', '\t']);
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
    Ok(format!("{}{rest}", &text[..begin]))
}
