//! What a client names as a model: an agent of the daemon, or one model alone.

use palyra_types::model::ModelRef;

use crate::error_reply::ErrorReply;
use crate::request::fields::FieldReader;

/// The name under which agents are offered as models.
pub const AGENT_MODEL: &str = "palyra";

/// What answers a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedModel {
    /// An agent with its tools; `None` for the default agent.
    Agent(Option<String>),
    /// A model without tools.
    Direct(ModelRef),
}

impl RequestedModel {
    /// Reads the name of a model; `None` when it cannot name one.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        if name == AGENT_MODEL {
            return Some(Self::Agent(None));
        }
        match name.split_once('/') {
            Some((AGENT_MODEL, agent)) if !agent.is_empty() => Some(Self::Agent(Some(agent.to_owned()))),
            Some((AGENT_MODEL, _)) | None => None,
            Some(_) => ModelRef::parse(name).map(Self::Direct),
        }
    }
}

/// A model as a request names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedModel {
    /// The name, which answers repeat.
    pub name: String,
    /// What it names.
    pub model: RequestedModel,
}

impl NamedModel {
    /// Reads the member `model`.
    pub(crate) fn of(fields: &FieldReader<'_>) -> Result<Self, ErrorReply> {
        let name = fields.text("model")?.ok_or_else(|| fields.missing("model"))?;
        let model = RequestedModel::parse(name).ok_or_else(|| ErrorReply::model_not_found(name))?;
        Ok(Self { name: name.to_owned(), model })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn palyra_and_what_follows_it_are_agents_and_the_rest_are_models() {
        assert_eq!(RequestedModel::parse("palyra"), Some(RequestedModel::Agent(None)));
        let agent = RequestedModel::Agent(Some("writer".to_owned()));
        assert_eq!(RequestedModel::parse("palyra/writer"), Some(agent));
        let direct = RequestedModel::Direct(ModelRef::new("openrouter", "meta/llama-4"));
        assert_eq!(RequestedModel::parse("openrouter/meta/llama-4"), Some(direct));
        for name in ["", "gpt-4o", "palyra/", "/x", "x/"] {
            assert_eq!(RequestedModel::parse(name), None, "{name}");
        }
    }
}
