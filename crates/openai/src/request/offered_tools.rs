//! Tools that a client offers: functions of its own, which are not supported yet, and names of hosted tools, which are
//! ignored.

use serde_json::Value;

use crate::error_reply::ErrorReply;
use crate::request::fields::FieldReader;

/// Tools of a request, at most.
const TOOLS_MAX: usize = 1_024;

/// Reads `tools` and `tool_choice`; returns the hosted tools that were named and do not exist here.
pub(crate) fn offered_tools(fields: &FieldReader<'_>) -> Result<Vec<String>, ErrorReply> {
    let mut hosted = Vec::new();
    let tools = fields.array("tools")?.map_or(&[][..], Vec::as_slice);
    if tools.len() > TOOLS_MAX {
        return Err(fields.wrong("tools", &format!("at most {TOOLS_MAX} tools")));
    }
    for (index, tool) in tools.iter().enumerate() {
        let tool = FieldReader::at(format!("{}[{index}]", fields.path("tools")), tool)?;
        match tool.text("type")?.ok_or_else(|| tool.missing("type"))? {
            "function" | "custom" | "namespace" => return Err(client_tools(fields, "tools")),
            other => hosted.push(other.to_owned()),
        }
    }
    if fields.array("functions")?.is_some_and(|functions| !functions.is_empty()) {
        return Err(client_tools(fields, "functions"));
    }
    check_choice(fields)?;
    Ok(hosted)
}

fn client_tools(fields: &FieldReader<'_>, name: &str) -> ErrorReply {
    let text =
        "Tools that the client runs are not supported yet; the agent uses its own tools. Leave `tools` out.";
    ErrorReply::unsupported(fields.path(name), text)
}

/// Without tools of the client there is nothing to choose.
fn check_choice(fields: &FieldReader<'_>) -> Result<(), ErrorReply> {
    match fields.value("tool_choice") {
        None => Ok(()),
        Some(Value::String(choice)) if choice == "none" || choice == "auto" => Ok(()),
        Some(_) => {
            let text = "`tool_choice` names a tool that the request does not offer.";
            Err(ErrorReply::invalid(fields.path("tool_choice"), text))
        }
    }
}
