//! What the answer has to look like: free text, a JSON object, or JSON by a schema.

use serde_json::{Value, json};

use crate::error_reply::ErrorReply;
use crate::request::fields::FieldReader;

/// Reads a format; returns the schema of the answer, `None` for free text. `schema_at` is the object that holds the
/// schema of a `json_schema`.
pub(crate) fn answer_schema(
    format: Option<FieldReader<'_>>,
    schema_in: SchemaPlace,
) -> Result<Option<Value>, ErrorReply> {
    let Some(format) = format else { return Ok(None) };
    match format.text("type")?.ok_or_else(|| format.missing("type"))? {
        "text" => Ok(None),
        "json_object" => Ok(Some(json!({ "type": "object" }))),
        "json_schema" => {
            let holder = match schema_in {
                SchemaPlace::Format => format,
                SchemaPlace::Member => {
                    format.object("json_schema")?.ok_or_else(|| format.missing("json_schema"))?
                }
            };
            holder.text("name")?.ok_or_else(|| holder.missing("name"))?;
            holder.flag("strict")?;
            let schema = holder.value("schema").ok_or_else(|| holder.missing("schema"))?;
            if !schema.is_object() {
                return Err(holder.wrong("schema", "a JSON Schema, which is an object,"));
            }
            Ok(Some(schema.clone()))
        }
        _ => Err(format.wrong("type", "`text`, `json_object` or `json_schema`")),
    }
}

/// Where the schema of a `json_schema` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaPlace {
    /// In the format itself, as in responses.
    Format,
    /// In its member `json_schema`, as in chat completions.
    Member,
}
