//! The valid name that is most like one that does not exist.

use palyra_types::spelling::nearest_name;

use super::diagnostic::ConfigError;
use super::schema::{self, PROVIDER_FIELDS, SETTINGS, SettingSpec};
use super::value::ValueOrigin;

/// Characters of a key that a message shows.
const SHOWN_CHARS_MAX: usize = 64;

/// Returns a key as a message may show it: on one line, and not endless.
pub(super) fn shown(key: &str) -> String {
    let mut chars = key.chars();
    let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut shown: String = chars.by_ref().take(SHOWN_CHARS_MAX).map(visible).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Says why a key is none; `written` is the key with what follows it on its line.
pub(super) fn wrong_key(key: &str, written: &str, origin: &ValueOrigin) -> ConfigError {
    let origin = origin.clone();
    if let Some(example) = schema::example_in_section(key) {
        let what = format!("is a section; its settings are written like `{example}`");
        return ConfigError::Unusable { origin, key: shown(key), what };
    }
    match schema::provider_name(key) {
        Some(name) if !schema::is_provider_name(name) => {
            let what = format!(
                "names a provider `{}`; a name has lower-case letters, digits and hyphens",
                shown(name)
            );
            ConfigError::Unusable { origin, key: shown(key), what }
        }
        _ => ConfigError::UnknownKey { key: shown(key), hint: hint(key, written, &origin), origin },
    }
}

/// Returns what was probably meant by a key; else what there is.
fn hint(key: &str, written: &str, origin: &ValueOrigin) -> String {
    let in_section = |misplaced: &MisplacedSetting<'_>| schema::is_section(misplaced.table);
    let misplaced =
        misplaced(written).filter(in_section).filter(|_| matches!(origin, ValueOrigin::File { .. }));
    if let Some(MisplacedSetting { table, section, last }) = misplaced {
        // A common word such as `dir` is more likely another name for a setting of its own section.
        let own = own_settings(table);
        if section.starts_with("providers") || last.contains(['_', '.']) || own.is_empty() {
            return format!(
                "a line below `[{table}]` belongs to it; write it below `[{section}]` (add that line where there is none), \
             as `{last} = ...`"
            );
        }
        let own = there_is("that section takes", own.into_iter());
        return format!("{own}; `{section}.{last}` is set below `[{section}]`");
    }
    if let Some(provider) = schema::provider_of(key) {
        let fields = || PROVIDER_FIELDS.iter().map(|field| format!("providers.{provider}.{}", field.key));
        let field = key.get("providers.".len() + provider.len() + 1..).unwrap_or_default();
        let near = nearest_name(field, PROVIDER_FIELDS.iter().map(|field| field.key));
        let near = near.map(|near| format!("providers.{provider}.{near}"));
        return near.map_or_else(|| there_is("a provider takes", fields()), |near| suggestion(&near));
    }
    let Some((section, _)) = key.split_once('.') else { return section_hint(key) };
    if let Some(near) = nearest_name(key, SETTINGS.iter().map(|setting| setting.key)) {
        return suggestion(near);
    }
    let beside = own_settings(section);
    if beside.is_empty() { section_hint(section) } else { there_is("that section takes", beside.into_iter()) }
}

/// Returns the settings of a section.
fn own_settings(section: &str) -> Vec<String> {
    let within =
        |setting: &&SettingSpec| setting.key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
    SETTINGS.iter().filter(within).map(|setting| setting.key.to_owned()).collect()
}

/// A setting below the line of another section.
struct MisplacedSetting<'k> {
    table: &'k str,
    /// The section as its line has it, such as `providers.mine`.
    section: String,
    /// The setting within that section.
    last: String,
}

/// Finds the section to which a key belongs: its line may begin with the name of another section, or be a setting of only
/// one other.
fn misplaced(key: &str) -> Option<MisplacedSetting<'_>> {
    let (table, rest) = match schema::provider_of(key) {
        Some(provider) => {
            let end = "providers.".len() + provider.len();
            (key.get(..end)?, key.get(end + 1..)?)
        }
        None => key.split_once('.')?,
    };
    let first = rest.split('.').next()?;
    if schema::sections().into_iter().any(|section| section == first && section != table) {
        let (section, last) = rest.rsplit_once('.')?;
        return Some(MisplacedSetting { table, section: shown(section), last: shown(last) });
    }
    let mut named =
        SETTINGS.iter().filter_map(|setting| setting.key.rsplit_once('.').filter(|(_, last)| *last == rest));
    match (named.next(), named.next()) {
        (Some((section, last)), None) if section != table => {
            Some(MisplacedSetting { table, section: section.to_owned(), last: last.to_owned() })
        }
        _ => None,
    }
}

/// Returns what was probably meant by a key without a section, or by a section.
fn section_hint(word: &str) -> String {
    let sections = schema::sections();
    if let Some(near) = nearest_name(word, sections.iter().map(|section| (*section).to_owned())) {
        let example = schema::example_in_section(&near).unwrap_or_default();
        return format!("did you mean the section `{near}`, as in `{example}`?");
    }
    // A setting may have been written without its section.
    let last = |setting: &SettingSpec| setting.key.rsplit_once('.').map_or("", |(_, last)| last).to_owned();
    match nearest_name(word, SETTINGS.iter().map(last)) {
        Some(near) => {
            let whole = SETTINGS.iter().find(|setting| last(setting) == near);
            suggestion(whole.map_or("", |setting| setting.key))
        }
        None => there_is("the sections are", sections.iter().map(|section| (*section).to_owned())),
    }
}

fn suggestion(near: &str) -> String {
    format!("did you mean `{near}`?")
}

fn there_is(beginning: &str, names: impl Iterator<Item = String>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    format!("{beginning} {}", names.join(", "))
}
