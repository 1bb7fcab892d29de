//! Tools that a client offers: functions of its own, and names of hosted tools, which are ignored.
//!
//! Owns which functions the model may call and which it has to call. A request with functions has no tools of the agent.

use std::collections::BTreeSet;

use palyra_types::Content;
use palyra_types::client_tool::{ClientTool, ClientToolChoice};
use serde_json::{Value, json};

use crate::error_reply::ErrorReply;
use crate::request::fields::FieldReader;

/// Tools of a request, at most.
const TOOLS_MAX: usize = 1_024;
/// Characters of a function's name, at most.
const NAME_CHARS_MAX: usize = 64;

/// Where the parts of a function are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FunctionPlace {
    /// In the tool itself, as in responses.
    Tool,
    /// In its member `function`, as in chat completions.
    Member,
}

/// Functions that the client performs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedFunctions {
    /// Those that the model may call, in the order of the client.
    pub functions: Vec<ClientTool<Content<String>>>,
    /// Which of them has to be called.
    pub choice: ClientToolChoice,
}

/// The tools of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedTools {
    /// Functions; `None` where there are none.
    pub(crate) functions: Option<OfferedFunctions>,
    /// Hosted tools that were named and do not exist here.
    pub(crate) hosted: Vec<String>,
}

/// Reads `tools` and `tool_choice`.
pub(crate) fn offered_tools(
    fields: &FieldReader<'_>,
    place: FunctionPlace,
) -> Result<OfferedTools, ErrorReply> {
    let mut functions = Vec::new();
    let mut hosted = Vec::new();
    let tools = fields.array("tools")?.map_or(&[][..], Vec::as_slice);
    if tools.len() > TOOLS_MAX {
        return Err(fields.wrong("tools", &format!("at most {TOOLS_MAX} tools")));
    }
    let mut names = BTreeSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let tool = FieldReader::at(format!("{}[{index}]", fields.path("tools")), tool)?;
        match tool.text("type")?.ok_or_else(|| tool.missing("type"))? {
            "function" => {
                let function = function(&tool, place)?;
                if !names.insert(function.name.expose().clone()) {
                    let text = format!("Two functions have the name `{}`.", function.name.expose());
                    return Err(ErrorReply::invalid(tool.path("name"), text));
                }
                functions.push(function);
            }
            other @ ("custom" | "namespace") => {
                let text = format!("Tools of the type `{other}` are not supported; offer functions.");
                return Err(ErrorReply::unsupported(tool.path("type"), text));
            }
            other => hosted.push(other.to_owned()),
        }
    }
    if fields.array("functions")?.is_some_and(|functions| !functions.is_empty()) {
        let text = "`functions` is not supported; offer them in `tools`.";
        return Err(ErrorReply::unsupported(fields.path("functions"), text));
    }
    let functions = chosen(fields, place, functions)?;
    Ok(OfferedTools { functions, hosted })
}

fn function(tool: &FieldReader<'_>, place: FunctionPlace) -> Result<ClientTool<Content<String>>, ErrorReply> {
    let member = match place {
        FunctionPlace::Tool => None,
        FunctionPlace::Member => Some(tool.object("function")?.ok_or_else(|| tool.missing("function"))?),
    };
    let function = member.as_ref().unwrap_or(tool);
    let name = function.text("name")?.ok_or_else(|| function.missing("name"))?;
    if !is_name(name) {
        let wanted = format!("1 to {NAME_CHARS_MAX} letters, digits, `_` and `-`");
        return Err(function.wrong("name", &wanted));
    }
    let parameters = match function.value("parameters") {
        None => json!({ "type": "object", "properties": {} }),
        Some(schema) if schema.is_object() => schema.clone(),
        Some(_) => return Err(function.wrong("parameters", "a JSON Schema, which is an object,")),
    };
    Ok(ClientTool {
        name: name.into(),
        description: function.text("description")?.unwrap_or_default().into(),
        parameters: Content::new(parameters.to_string()),
        strict: function.flag("strict")?,
    })
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=NAME_CHARS_MAX).contains(&name.len()) && name.chars().all(fits)
}

/// Reads `tool_choice`: without functions there is nothing to choose.
fn chosen(
    fields: &FieldReader<'_>,
    place: FunctionPlace,
    mut functions: Vec<ClientTool<Content<String>>>,
) -> Result<Option<OfferedFunctions>, ErrorReply> {
    let path = fields.path("tool_choice");
    let unknown =
        || ErrorReply::invalid(path.clone(), "`tool_choice` names a tool that the request does not offer.");
    let choice = match fields.value("tool_choice") {
        None => ClientToolChoice::Auto,
        Some(Value::String(word)) => mode(word)
            .ok_or_else(|| fields.wrong("tool_choice", "`none`, `auto`, `required` or an object"))?,
        Some(_) => {
            let wanted = fields.object("tool_choice")?.ok_or_else(unknown)?;
            match wanted.text("type")?.ok_or_else(|| wanted.missing("type"))? {
                "function" => {
                    let name = function_name(&wanted, place)?;
                    let at = functions.iter().position(|function| function.name.expose() == name);
                    let at = at.and_then(|at| u32::try_from(at).ok()).ok_or_else(unknown)?;
                    ClientToolChoice::Tool(at)
                }
                "allowed_tools" => allowed(&wanted, place, &mut functions)?,
                _ => return Err(unknown()),
            }
        }
    };
    match (functions.is_empty(), choice) {
        (true, ClientToolChoice::Auto | ClientToolChoice::None) => Ok(None),
        (true, ClientToolChoice::Required | ClientToolChoice::Tool(_)) => Err(unknown()),
        (false, choice) => Ok(Some(OfferedFunctions { functions, choice })),
    }
}

fn mode(word: &str) -> Option<ClientToolChoice> {
    match word {
        "none" => Some(ClientToolChoice::None),
        "auto" => Some(ClientToolChoice::Auto),
        "required" => Some(ClientToolChoice::Required),
        _ => None,
    }
}

fn function_name<'a>(tool: &FieldReader<'a>, place: FunctionPlace) -> Result<&'a str, ErrorReply> {
    match place {
        FunctionPlace::Tool => tool.text("name")?.ok_or_else(|| tool.missing("name")),
        FunctionPlace::Member => {
            let function = tool.object("function")?.ok_or_else(|| tool.missing("function"))?;
            function.text("name")?.ok_or_else(|| function.missing("name"))
        }
    }
}

/// Leaves the functions that are allowed: the model is offered no others.
fn allowed(
    choice: &FieldReader<'_>,
    place: FunctionPlace,
    functions: &mut Vec<ClientTool<Content<String>>>,
) -> Result<ClientToolChoice, ErrorReply> {
    let member = match place {
        FunctionPlace::Tool => None,
        FunctionPlace::Member => {
            Some(choice.object("allowed_tools")?.ok_or_else(|| choice.missing("allowed_tools"))?)
        }
    };
    let choice = member.as_ref().unwrap_or(choice);
    let word = choice.text("mode")?.unwrap_or("auto");
    let mode = mode(word).ok_or_else(|| choice.wrong("mode", "`none`, `auto` or `required`"))?;
    let tools = choice.array("tools")?.ok_or_else(|| choice.missing("tools"))?;
    let mut names = BTreeSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let tool = FieldReader::at(format!("{}[{index}]", choice.path("tools")), tool)?;
        // Hosted tools are not there, whether they are allowed or not.
        if tool.text("type")? != Some("function") {
            continue;
        }
        let name = function_name(&tool, place)?;
        if !functions.iter().any(|function| function.name.expose() == name) {
            let text = format!("`{name}` is not among the functions that the request offers.");
            return Err(ErrorReply::invalid(choice.path("tools"), text));
        }
        names.insert(name);
    }
    functions.retain(|function| names.contains(function.name.expose().as_str()));
    if functions.is_empty() {
        return Err(ErrorReply::invalid(choice.path("tools"), "No function is allowed."));
    }
    Ok(mode)
}

#[cfg(test)]
mod tests;
