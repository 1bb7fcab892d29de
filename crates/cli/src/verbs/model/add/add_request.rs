//! The server and model to add, with what else the command line says of it.

use palyra_explain::{NamedServer, ServerVariables, TypedServer};

use super::{AddArgs, WireFormat};
use crate::failure::Failure;

/// What to add, complete.
#[derive(Debug)]
pub(super) struct AddRequest {
    pub(super) name: String,
    pub(super) base_url: String,
    pub(super) model: String,
    pub(super) format: WireFormat,
    pub(super) key: Option<String>,
    pub(super) context_tokens: Option<u32>,
    pub(super) images: bool,
    pub(super) no_default: bool,
    pub(super) yes: bool,
    pub(super) no_test: bool,
    pub(super) json: bool,
    /// The variables of the environment that it was read from.
    pub(super) variables: Vec<&'static str>,
}

impl AddRequest {
    /// Completes a command line with the variables of an environment.
    ///
    /// # Errors
    /// The whole command line to write, where something is named nowhere.
    pub(super) fn complete(
        args: AddArgs,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Failure> {
        let variables = match args.format {
            WireFormat::AnthropicMessages => ServerVariables::OfOtherFormat,
            _ => ServerVariables::Count,
        };
        let AddArgs { name, base_url, model, key, .. } = args;
        let typed = TypedServer { name, base_url, model, key, variables };
        let named = NamedServer::complete(typed, variable).map_err(|unnamed| Failure::Usage(unnamed.0))?;
        Ok(Self {
            name: named.name,
            base_url: named.base_url,
            model: named.model,
            format: args.format,
            key: named.key,
            context_tokens: args.context_tokens,
            images: args.images,
            no_default: args.no_default,
            yes: args.yes,
            no_test: args.no_test,
            json: args.json,
            variables: named.variables,
        })
    }

    /// Returns its model as provider/model.
    pub(super) fn model_name(&self) -> String {
        format!("{}/{}", self.name, self.model)
    }
}

#[cfg(test)]
mod tests;
