//! Values that are secret by their name, in this environment and in the configuration: texts of a bundle must not have them.

use std::path::Path;

use palyra_redaction::REGISTERED_CHARS_MIN;
use palyra_types::Content;

use crate::config_values::{ConfigSetting, is_secret_name, secret_texts};

const ENVIRONMENT_REFERENCE: &str = "env:";
const FILE_REFERENCE: &str = "file:";
/// Larger files are not read: a key is small.
const KEY_FILE_BYTES_MAX: u64 = 64 * 1024;
/// Longer values are not looked for as a whole; their lines are.
const VALUE_BYTES_MAX: usize = 4 * 1024;

/// Returns the values that are known here. `variable` reads the environment, `names` are its names.
pub(crate) fn known_secrets(
    settings: &[ConfigSetting],
    names: &[String],
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<Content<String>> {
    let mut values = Vec::new();
    values.extend(names.iter().filter(|name| is_secret_name(name)).filter_map(|name| variable(name)));
    for text in secret_texts(settings) {
        if let Some(name) = text.strip_prefix(ENVIRONMENT_REFERENCE) {
            values.extend(variable(name.trim()));
        } else if let Some(path) = text.strip_prefix(FILE_REFERENCE) {
            values.extend(key_of(Path::new(path.trim())));
        } else {
            values.push(text);
        }
    }
    let mut wanted: Vec<String> = values.iter().flat_map(|value| pieces(value)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.into_iter().map(Content::new).collect()
}

fn key_of(file: &Path) -> Option<String> {
    let is_small =
        std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= KEY_FILE_BYTES_MAX);
    if is_small { std::fs::read_to_string(file).ok() } else { None }
}

/// Returns a value, or the lines of one that has several.
fn pieces(value: &str) -> Vec<String> {
    let lines = value.lines().map(str::trim);
    let is_looked_for =
        |line: &&str| line.chars().count() >= REGISTERED_CHARS_MIN && line.len() <= VALUE_BYTES_MAX;
    lines.filter(is_looked_for).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config_values::of_file;

    #[test]
    fn values_of_names_references_and_files_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "copper-meadow-of-the-file\n").unwrap();
        let text = format!(
            "[providers.a]\nkey = \"env:PLAIN_NAME\"\n[providers.b]\nkey = \"file:{}\"\n[commands]\nenvironment = [\"A=copper-meadow-of-a-list\"]\n",
            file.display()
        );
        let names = ["MY_API_KEY", "PLAIN_NAME", "HOME", "SHORT_TOKEN"].map(str::to_owned);
        let variable = |name: &str| match name {
            "MY_API_KEY" => Some("copper-meadow-of-a-name".to_owned()),
            "PLAIN_NAME" => Some("copper-meadow-of-a-reference".to_owned()),
            "SHORT_TOKEN" => Some("short".to_owned()),
            _ => Some("/home/somewhere/long".to_owned()),
        };
        let known = known_secrets(&of_file(&text).unwrap(), &names, variable);
        let known: Vec<&str> = known.iter().map(|value| value.expose().as_str()).collect();
        let expected = [
            "copper-meadow-of-a-list",
            "copper-meadow-of-a-name",
            "copper-meadow-of-a-reference",
            "copper-meadow-of-the-file",
        ];
        assert_eq!(known, expected);
    }
}
