//! Reads which server and model the environment names explicitly.
//!
//! `OPENAI_BASE_URL` selects; `OPENAI_API_KEY` and `PALYRA_MODEL` go with it. A bare key selects nothing.

use std::collections::BTreeMap;

use palyra_ports::ModelProvider;
use palyra_types::model::{ModelFailure, ModelName};

use crate::key_reference::KeyReference;
use crate::openai_chat::OpenAiChatProvider;
use crate::openai_server::OpenAiConfig;
use crate::wire_format::ProviderConfigError;

/// The variable that selects a server.
pub const BASE_URL_VARIABLE: &str = "OPENAI_BASE_URL";
/// The variable that holds its key.
pub const KEY_VARIABLE: &str = "OPENAI_API_KEY";
/// The variable that names the model.
pub const MODEL_VARIABLE: &str = "PALYRA_MODEL";

/// A server selected by the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplicitSelection {
    /// Where its API begins.
    pub base_url: String,
    /// Where its key is kept, if one is set.
    pub key: Option<KeyReference>,
    /// The model, if one is named; otherwise the server is asked ([`selected_model`]).
    pub model: Option<ModelName>,
}

impl ExplicitSelection {
    /// Returns one sentence that says what was selected, and by what.
    #[must_use]
    pub fn sentence(&self) -> String {
        let model = match &self.model {
            Some(model) => format!("model `{model}`"),
            None => "its first model".to_owned(),
        };
        let key = match &self.key {
            Some(key) => format!("with the key in {key}"),
            None => "without a key".to_owned(),
        };
        format!(
            "{BASE_URL_VARIABLE} of the daemon's environment selects the server at {}: {model}, {key}.",
            self.base_url
        )
    }
}

/// Why a selection cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// The address is none. Its value is not repeated: it may hold a credential.
    #[error("{BASE_URL_VARIABLE} cannot be used")]
    BaseUrl(#[source] ProviderConfigError),
}

/// Reads the selection in an environment; `None` when it selects nothing.
///
/// # Errors
/// [`SelectionError`] when something is selected that cannot be used.
pub fn explicit_selection(
    environment: &BTreeMap<String, String>,
) -> Result<Option<ExplicitSelection>, SelectionError> {
    let value =
        |name: &str| environment.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
    let Some(base_url) = value(BASE_URL_VARIABLE) else { return Ok(None) };
    OpenAiConfig::new("openai", base_url, None).check().map_err(SelectionError::BaseUrl)?;
    // `demo/...` and other providers' models are selected elsewhere; here the whole name is the server's.
    Ok(Some(ExplicitSelection {
        base_url: base_url.to_owned(),
        key: value(KEY_VARIABLE).map(|_| KeyReference::Env(KEY_VARIABLE.to_owned())),
        model: value(MODEL_VARIABLE).map(ModelName::new),
    }))
}

/// Why no model can be selected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectModelError {
    /// The server did not tell its models.
    #[error("the server did not tell which models it has; name one in {MODEL_VARIABLE}")]
    NotTold(#[source] ModelFailure),
    /// It has none.
    #[error("the server has no model; name one in {MODEL_VARIABLE}")]
    NoModel,
}

/// Returns the model a selection names, or else the first one that the server has.
///
/// # Errors
/// [`SelectModelError`] when none is named and the server does not tell.
pub async fn selected_model(
    selection: &ExplicitSelection,
    provider: &OpenAiChatProvider,
) -> Result<ModelName, SelectModelError> {
    if let Some(model) = &selection.model {
        return Ok(model.clone());
    }
    let models = provider.models().await.map_err(SelectModelError::NotTold)?;
    models.into_iter().next().map(|info| info.name).ok_or(SelectModelError::NoModel)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(pairs: &[(&str, &str)]) -> Result<Option<ExplicitSelection>, SelectionError> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        explicit_selection(&pairs.collect())
    }

    #[test]
    fn only_a_base_url_selects() {
        assert_eq!(select(&[]), Ok(None));
        assert_eq!(select(&[("OPENAI_API_KEY", "canary"), ("PALYRA_MODEL", "m")]), Ok(None));
        assert_eq!(select(&[("OPENAI_BASE_URL", " ")]), Ok(None));
        let found = select(&[("OPENAI_BASE_URL", "http://h/v1")]).expect("usable").expect("selected");
        assert_eq!((found.key.clone(), found.model.clone()), (None, None));
        assert_eq!(
            found.sentence(),
            "OPENAI_BASE_URL of the daemon's environment selects the server at http://h/v1: its first model, without a key."
        );
        let all = [("OPENAI_BASE_URL", "http://h/v1"), ("OPENAI_API_KEY", "canary"), ("PALYRA_MODEL", "a/b")];
        let found = select(&all).expect("usable").expect("selected");
        assert_eq!(
            found.sentence(),
            "OPENAI_BASE_URL of the daemon's environment selects the server at http://h/v1: model `a/b`, with the key in env:OPENAI_API_KEY."
        );
        assert!(!format!("{found:?}").contains("canary"));
    }

    #[test]
    fn an_unusable_base_url_is_an_error_that_does_not_repeat_it() {
        for url in ["canary", "http://user:canary@h/v1"] {
            let error = select(&[("OPENAI_BASE_URL", url)]).expect_err("refused");
            assert!(!format!("{error:?} {error}").contains("canary"));
        }
    }
}
