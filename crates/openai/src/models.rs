//! The models that are offered: agents, models alone, and models for embeddings.

use palyra_ports::embed_texts::EmbeddingModelName;
use serde_json::{Value, json};

use crate::request::requested_model::AGENT_MODEL;

/// A model that clients can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedModel {
    /// Its name, which is its id in the protocol.
    pub name: String,
    /// When it was made, in seconds; 0 where that is not known.
    pub created: u64,
    /// Who offers it.
    pub owner: String,
}

impl OfferedModel {
    /// Offers an agent; the default agent has no name of its own here.
    #[must_use]
    pub fn agent(name: Option<&str>, created: u64) -> Self {
        let name = name.map_or_else(|| AGENT_MODEL.to_owned(), |name| format!("{AGENT_MODEL}/{name}"));
        Self { name, created, owner: AGENT_MODEL.to_owned() }
    }

    /// Offers a model of a provider.
    #[must_use]
    pub fn direct(provider: &str, model: &str) -> Self {
        Self { name: format!("{provider}/{model}"), created: 0, owner: provider.to_owned() }
    }

    /// Offers a model for embeddings.
    #[must_use]
    pub fn for_embeddings(name: &EmbeddingModelName) -> Self {
        match name {
            EmbeddingModelName::Embedded => {
                Self { name: name.to_string(), created: 0, owner: AGENT_MODEL.to_owned() }
            }
            EmbeddingModelName::OfProvider(model) => {
                Self::direct(model.provider.as_str(), model.model.as_str())
            }
        }
    }

    /// Returns the model as clients read it.
    #[must_use]
    pub fn object(&self) -> Value {
        json!({ "id": self.name, "object": "model", "created": self.created, "owned_by": self.owner })
    }
}

/// Returns the list of models.
#[must_use]
pub fn model_list(models: &[OfferedModel]) -> Value {
    let data: Vec<Value> = models.iter().map(OfferedModel::object).collect();
    json!({ "object": "list", "data": data })
}

#[cfg(test)]
mod tests {
    use palyra_types::model::ModelRef;

    use super::*;

    #[test]
    fn a_model_has_all_members_that_are_required() {
        let models = [
            OfferedModel::agent(None, 7),
            OfferedModel::agent(Some("writer"), 8),
            OfferedModel::direct("p", "m/n"),
            OfferedModel::for_embeddings(&EmbeddingModelName::Embedded),
            OfferedModel::for_embeddings(&EmbeddingModelName::OfProvider(ModelRef::new("p", "e"))),
        ];
        let list = model_list(&models);
        assert_eq!(list["object"], "list");
        let ids: Vec<&str> =
            list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["palyra", "palyra/writer", "p/m/n", "palyra-embedded", "p/e"]);
        for model in list["data"].as_array().unwrap() {
            assert_eq!(model["object"], "model");
            assert!(model["created"].is_u64() && model["owned_by"].is_string());
        }
    }
}
