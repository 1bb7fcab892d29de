//! What both formats say about tools: as functions, with the same words around results.

use palyra_types::argument_meaning::without_meanings;
use palyra_types::client_tool::{ClientTool, ClientToolChoice, ClientToolOffer};
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::ToolResultStatus;
use palyra_types::tool::{ToolCatalog, ToolName, ToolSpec};
use serde_json::Value;

use crate::wire_format::{names, schema};

/// A function that a model can call.
pub(crate) struct OfferedFunction<'a> {
    pub(crate) name: String,
    pub(crate) description: &'a str,
    pub(crate) parameters: Value,
    /// Whether arguments have to fit the schema; `None` leaves it to the server.
    pub(crate) strict: Option<bool>,
}

/// What a request says about which function is called.
pub(crate) enum FunctionChoice {
    /// A word: `none` or `required`.
    Word(&'static str),
    /// The function of this name.
    Function(String),
}

/// Returns the functions on offer: the tools, then those of a client.
pub(crate) fn offered<'a>(
    tools: &'a ToolCatalog,
    of_client: Option<&'a ClientToolOffer>,
) -> impl Iterator<Item = OfferedFunction<'a>> {
    let of_client = of_client.into_iter().flat_map(|offer| &offer.tools);
    tools.iter().map(own_function).chain(of_client.map(client_function))
}

fn own_function(spec: &ToolSpec) -> OfferedFunction<'_> {
    OfferedFunction {
        name: names::allowed(spec.name.as_str()),
        description: &spec.description,
        parameters: without_meanings(&spec.schema),
        strict: None,
    }
}

fn client_function(tool: &ClientTool) -> OfferedFunction<'_> {
    OfferedFunction {
        name: names::allowed(tool.name.expose()),
        description: tool.description.expose(),
        parameters: schema::of_client_tool(tool),
        strict: tool.strict,
    }
}

/// Returns the choice where it is not the model's, which is what servers assume.
pub(crate) fn choice(offer: &ClientToolOffer) -> Option<FunctionChoice> {
    match offer.choice {
        _ if offer.tools.is_empty() => None,
        ClientToolChoice::Auto => None,
        ClientToolChoice::None => Some(FunctionChoice::Word("none")),
        ClientToolChoice::Required => Some(FunctionChoice::Word("required")),
        ClientToolChoice::Tool(_) => {
            Some(FunctionChoice::Function(names::allowed(offer.chosen()?.name.expose())))
        }
    }
}

/// Returns what a model reads of a result. A person's words are outside of the delimiter.
pub(crate) fn result_text(
    tool: &ToolName,
    text: &str,
    status: ToolResultStatus,
    delimiter: &DataDelimiter,
) -> String {
    let data = || delimiter.enclose(&names::allowed(tool.as_str()), text);
    match status {
        ToolResultStatus::Succeeded => data(),
        ToolResultStatus::Failed => format!("The tool did not succeed:\n{}", data()),
        ToolResultStatus::DeniedByPerson => text.to_owned(),
    }
}
