//! A server of models in a file: its section `[providers.NAME]`.

use toml_edit::{DocumentMut, Item, Table, value};

use crate::default_model::put_default;
use crate::edit_error::EditConfigError;

/// What is written of a server of models.
#[derive(Debug, Clone)]
pub struct ProviderSection<'a> {
    /// Its name.
    pub name: &'a str,
    /// The model that the server's name alone means, which may become the default. A server that is there already keeps its own
    /// where the default stays.
    pub model: &'a str,
    /// Its wire format, as the configuration names it.
    pub format: &'a str,
    /// Where its API begins.
    pub base_url: &'a str,
    /// A reference to its key; `None` for a server that takes none.
    pub key: Option<&'a str>,
    /// The window of its models in tokens; `None` keeps what is there.
    pub context_tokens: Option<u64>,
    /// Whether `images = true` is written; `false` keeps what is there.
    pub takes_images: bool,
}

/// Whether a model becomes the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultChange {
    /// It does.
    Set,
    /// The default stays as it is.
    Keep,
}

/// Returns a file's text with a server in it, instead of one of that name; everything else, comments too, stays.
///
/// # Errors
/// [`EditConfigError`]: the file is not TOML, or one of its sections is not a table.
pub fn with_provider(
    text: &str,
    section: &ProviderSection<'_>,
    change: DefaultChange,
) -> Result<String, EditConfigError> {
    let mut document: DocumentMut = text.parse()?;
    let providers = document.entry("providers").or_insert_with(implicit_table);
    let providers = providers.as_table_mut().ok_or_else(|| EditConfigError::not_a_table("providers"))?;
    let provider = providers.entry(section.name).or_insert_with(|| Item::Table(Table::new()));
    let provider = provider
        .as_table_mut()
        .ok_or_else(|| EditConfigError::not_a_table(&format!("providers.{}", section.name)))?;
    // Its older name, which takes one value only.
    provider.remove("kind");
    provider["format"] = value(section.format);
    let is_same_server = provider.get("base_url").and_then(Item::as_str) == Some(section.base_url);
    provider["base_url"] = value(section.base_url);
    // Another model of a known server, beside the one that its name means.
    if !(change == DefaultChange::Keep && is_same_server && provider.contains_key("model")) {
        provider["model"] = value(section.model);
    }
    if section.takes_images {
        provider["images"] = value(true);
    }
    match section.key {
        Some(key) => provider["key"] = value(key),
        None => drop(provider.remove("key")),
    }
    if let Some(tokens) = section.context_tokens {
        provider["context_tokens"] = value(i64::try_from(tokens).unwrap_or(i64::MAX));
    }
    if change == DefaultChange::Set {
        put_default(&mut document, &format!("{}/{}", section.name, section.model))?;
    }
    Ok(document.to_string())
}

/// Returns whether a file has a server of this name.
///
/// # Errors
/// [`EditConfigError`]: the file is not TOML.
pub fn has_provider(text: &str, provider: &str) -> Result<bool, EditConfigError> {
    let document: DocumentMut = text.parse()?;
    Ok(document.get("providers").and_then(|providers| providers.get(provider)).is_some())
}

/// Returns a text that a file sets for a server; `None` where there is none, or the file is not TOML.
#[must_use]
pub fn provider_field(text: &str, provider: &str, field: &str) -> Option<String> {
    let document: DocumentMut = text.parse().ok()?;
    document.get("providers")?.get(provider)?.get(field)?.as_str().map(str::to_owned)
}

/// Returns the servers for which a file sets this model, by name; none where the file is not TOML.
#[must_use]
pub fn servers_with_model(text: &str, model: &str) -> Vec<String> {
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    let Some(servers) = document.get("providers").and_then(Item::as_table_like) else { return Vec::new() };
    let has_model = |server: &Item| server.get("model").and_then(Item::as_str) == Some(model);
    servers.iter().filter(|(_, server)| has_model(server)).map(|(name, _)| name.to_owned()).collect()
}

fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{named_default, without_default};

    const LOCAL: ProviderSection<'_> = ProviderSection {
        name: "local",
        model: "small",
        format: "openai_chat",
        base_url: "http://127.0.0.1:1/v1",
        key: None,
        context_tokens: None,
        takes_images: false,
    };

    fn edit(old: &str, section: &ProviderSection<'_>) -> Result<String, EditConfigError> {
        with_provider(old, section, DefaultChange::Set)
    }

    #[test]
    fn a_default_that_is_kept_and_images_that_were_seen_are_written() {
        let section = ProviderSection { base_url: "http://h/v1", takes_images: true, ..LOCAL };
        let new =
            with_provider("[model]\ndefault = \"a/b\"\n", &section, DefaultChange::Keep).expect("edited");
        assert_eq!(named_default(&new).as_deref(), Some("a/b"));
        assert!(new.ends_with("base_url = \"http://h/v1\"\nmodel = \"small\"\nimages = true\n"), "{new}");
        assert_eq!(named_default(""), None);
        assert_eq!(without_default(&new).expect("edited"), new.replace("default = \"a/b\"\n", ""));
    }

    #[test]
    fn a_provider_is_written_and_comments_stay() {
        let old = "# mine\n[model]\n# which\ndefault = \"demo/demo\" # for now\n\n[limits]\nturns_max = 5\n";
        let new = edit(old, &ProviderSection { key: Some("vault:model-local"), ..LOCAL }).expect("edited");
        assert_eq!(
            new,
            "# mine\n[model]\n# which\ndefault = \"local/small\"\n\n[limits]\nturns_max = 5\n\n\
             [providers.local]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"small\"\n\
             key = \"vault:model-local\"\n"
        );
        assert_eq!(provider_field(&new, "local", "key").as_deref(), Some("vault:model-local"));
        assert_eq!(provider_field(&new, "other", "key"), None);
        assert_eq!([has_provider(&new, "local"), has_provider(&new, "other")], [Ok(true), Ok(false)]);
        assert!(!edit(&new, &LOCAL).expect("edited").contains("key ="), "a server without a key");
    }

    #[test]
    fn an_empty_file_becomes_a_whole_one_and_a_second_time_changes_nothing() {
        let once = edit("", &LOCAL).expect("edited");
        assert_eq!(
            once,
            "[providers.local]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"small\"\n\n\
             [model]\ndefault = \"local/small\"\n"
        );
        assert_eq!(edit(&once, &LOCAL).expect("edited"), once);
        let other = ProviderSection { model: "other", ..LOCAL };
        let kept = with_provider(&once, &other, DefaultChange::Keep).expect("edited");
        assert_eq!(kept, once, "another model beside the one that the name means");
        let older = once.replace("format = \"openai_chat\"", "kind = \"openai-chat\"");
        let messages = ProviderSection { format: "anthropic_messages", context_tokens: Some(4_096), ..LOCAL };
        let expect = "[providers.local]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"small\"\nformat = \"anthropic_messages\"\n\
                      context_tokens = 4096\n\n[model]\ndefault = \"local/small\"\n";
        assert_eq!(edit(&older, &messages).expect("edited"), expect);
    }

    #[test]
    fn servers_are_found_by_the_model_that_is_set_for_them() {
        let text = "[providers.one]\nmodel = \"large\"\n[providers.two]\nmodel = \"small\"\n[providers.three]\nmodel = \"large\"\n";
        assert_eq!(servers_with_model(text, "large"), ["one", "three"]);
        assert_eq!(servers_with_model(text, "small"), ["two"]);
        assert!(servers_with_model(text, "other").is_empty() && servers_with_model("[[", "small").is_empty());
    }

    #[test]
    fn what_cannot_be_edited_is_said() {
        assert_eq!(edit("providers = 3", &LOCAL), Err(EditConfigError::not_a_table("providers")));
        assert!(matches!(edit("[[", &LOCAL), Err(EditConfigError::Syntax { .. })));
    }
}
