//! Providers: their settings gathered by name, and what single keys cannot show.

use std::collections::{BTreeMap, BTreeSet};

use super::check::ConfigLayer;
use super::diagnostic::{ConfigError, ErrorCollector};
use super::schema::{self, FORMATS, PROVIDER_FIELDS};
use super::value::{ConfigValue, ValueOrigin};

/// The provider that needs no configuration and takes none.
const BUILT_IN_PROVIDER: &str = "demo";

/// A wire format that providers speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderFormat {
    /// OpenAI's Chat Completions.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    AnthropicMessages,
}

/// A configured model provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// The operator's name for it.
    pub name: String,
    /// The wire format it speaks.
    pub format: ProviderFormat,
    /// Where its API begins.
    pub base_url: String,
    /// A reference to its key (`env:NAME`, `file:PATH`, `vault:NAME`), never the key.
    pub key: Option<String>,
    /// The model that its name alone means.
    pub model: Option<String>,
    /// The window of its models in tokens; `None` for what server or format say.
    pub context_tokens: Option<u64>,
    /// Requests to it at once.
    pub parallel_requests_max: usize,
    /// Whether its models take images; `None` for what is usual there.
    pub images: Option<bool>,
}

/// Returns the configured providers in order of name.
pub(super) fn gather(values: &ConfigLayer) -> Vec<ProviderConfig> {
    let names: BTreeSet<&str> = values.keys().filter_map(|key| schema::provider_of(key)).collect();
    names.into_iter().map(|name| one(values, name)).collect()
}

fn one(values: &ConfigLayer, name: &str) -> ProviderConfig {
    let value = |field: &str| values.get(&format!("providers.{name}.{field}")).map(|(value, _)| value);
    let text = |field: &str| match value(field) {
        Some(ConfigValue::Text(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    let number = |field: &str| match value(field) {
        Some(ConfigValue::Integer(number)) => Some(*number),
        _ => None,
    };
    let format = match text("format").as_deref() {
        Some("openai_responses") => ProviderFormat::OpenAiResponses,
        Some("anthropic_messages") => ProviderFormat::AnthropicMessages,
        _ => ProviderFormat::OpenAiChat,
    };
    let images = match value("images") {
        Some(ConfigValue::Bool(images)) => Some(*images),
        _ => None,
    };
    let parallel = number("parallel_requests_max").and_then(|max| usize::try_from(max).ok());
    ProviderConfig {
        name: name.to_owned(),
        format,
        base_url: text("base_url").unwrap_or_default(),
        key: text("key"),
        model: text("model"),
        context_tokens: number("context_tokens"),
        parallel_requests_max: parallel.unwrap_or(usize::MAX),
        images,
    }
}

/// Adds what holds for every provider where nobody said otherwise.
pub(super) fn add_defaults(values: &mut ConfigLayer) {
    let names: BTreeSet<String> =
        values.keys().filter_map(|key| schema::provider_of(key)).map(str::to_owned).collect();
    for name in names {
        for field in PROVIDER_FIELDS {
            if let Some(default) = schema::default_of(field) {
                let key = format!("providers.{name}.{}", field.key);
                values.entry(key).or_insert((default, ValueOrigin::Default));
            }
        }
    }
}

/// Checks what single keys cannot show. `tables` are the providers that have a table in the file.
pub(super) fn check_all(
    values: &ConfigLayer,
    tables: &BTreeMap<String, ValueOrigin>,
    mistakes: &mut ErrorCollector,
) {
    let with_values = values.keys().filter_map(|key| schema::provider_of(key));
    let names: BTreeSet<&str> = with_values.chain(tables.keys().map(String::as_str)).collect();
    for name in names {
        if mistakes.is_full() {
            return;
        }
        let origin = tables.get(name).cloned().unwrap_or_else(|| origin_beside(values, name));
        mistakes.note(check_one(values, name, &origin));
    }
}

fn check_one(values: &ConfigLayer, name: &str, origin: &ValueOrigin) -> Result<(), ConfigError> {
    let origin = origin.clone();
    if name == BUILT_IN_PROVIDER {
        let what = format!(
            "is the name of the provider that is built in; choose another than `{BUILT_IN_PROVIDER}`"
        );
        return Err(ConfigError::Unusable { origin, key: format!("providers.{name}"), what });
    }
    let field = |field: &str| values.get(&format!("providers.{name}.{field}"));
    if !matches!(field("base_url"), Some((ConfigValue::Text(text), _)) if !text.is_empty()) {
        let anthropic =
            matches!(field("format"), Some((ConfigValue::Text(format), _)) if format == "anthropic_messages");
        let example = if anthropic { "\"https://api.anthropic.com\"" } else { schema::BASE_URL_EXAMPLE };
        let key = format!("providers.{name}.base_url");
        return Err(ConfigError::Missing { origin, key, example: example.to_owned() });
    }
    if let (Some((ConfigValue::Text(format), origin)), Some(_)) = (field("format"), field("kind"))
        && format != FORMATS[0]
    {
        let what = "says something else than `kind`, its older name; take `kind` away".to_owned();
        return Err(ConfigError::Unusable {
            origin: origin.clone(),
            key: format!("providers.{name}.format"),
            what,
        });
    }
    Ok(())
}

/// Returns where the first value of a provider that somebody set comes from.
pub(super) fn origin_beside(values: &ConfigLayer, name: &str) -> ValueOrigin {
    let of_it = |(key, (_, origin)): &(&String, &(ConfigValue, ValueOrigin))| {
        schema::provider_of(key) == Some(name) && *origin != ValueOrigin::Default
    };
    values.iter().find(of_it).map_or(ValueOrigin::Default, |(_, (_, origin))| origin.clone())
}
