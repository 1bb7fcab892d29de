//! A small assistant, for tests that need a model with some sense, in any dialect.

use serde_json::{Value, json};

use super::image;
use super::reply::Reply;
use super::request_words::without_tags;

/// What was said last, and what may be used to answer.
struct LastMessage<'a> {
    text: String,
    is_result: bool,
    images: Vec<(String, usize)>,
    may_read: bool,
    schema: Option<&'a Value>,
    thinks: bool,
}

/// Answers a request.
pub(super) fn assist(body: &Value) -> Reply {
    let heard = LastMessage::read(body);
    let opening = if heard.thinks { Reply::empty().thinking("What is wanted here?") } else { Reply::empty() };
    let say = |text: &str| text.split_inclusive(' ').fold(opening.clone(), Reply::piece);
    if let Some(schema) = heard.schema {
        return say(&instance(schema, &heard.text).to_string());
    }
    if heard.is_result {
        let found = without_tags(&heard.text);
        let lines: Vec<&str> = found.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
        return say(&format!("The file says: {}", lines.join(" / ")));
    }
    if !heard.images.is_empty() {
        let seen = heard.images.iter().map(|(kind, bytes)| format!("{kind} of {bytes} bytes"));
        return say(&format!("You showed: {}", seen.collect::<Vec<_>>().join(", ")));
    }
    match spoken_file(&heard.text).filter(|_| heard.may_read) {
        Some(path) => say("Let me read it. ").call("read_file", &json!({"path": path}).to_string()),
        None => say(&format!("You said: {}", heard.text)),
    }
}

impl<'a> LastMessage<'a> {
    fn read(body: &'a Value) -> Self {
        let all = body["messages"].as_array().or_else(|| body["input"].as_array());
        let last = all.and_then(|all| all.last()).unwrap_or(&Value::Null);
        let is_output = last["type"] == "function_call_output";
        let content = if is_output { &last["output"] } else { &last["content"] };
        let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
        let result = blocks.iter().rfind(|block| block["type"] == "tool_result");
        let text = said(result.map_or(content, |block| &block["content"]));
        let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let named = |tool: &Value| tool["name"] == "read_file" || tool["function"]["name"] == "read_file";
        let schema = body.pointer("/response_format/json_schema/schema");
        let thinking = body.pointer("/thinking/type").is_some_and(|kind| kind != "disabled");
        Self {
            text,
            is_result: last["role"] == "tool" || is_output || result.is_some(),
            images: image::seen(content),
            may_read: tools.iter().any(named),
            schema: schema
                .or_else(|| body.pointer("/output_config/format/schema"))
                .or_else(|| body.pointer("/text/format/schema")),
            thinks: thinking || body.get("reasoning_effort").or_else(|| body.get("reasoning")).is_some(),
        }
    }
}

/// Returns the text of a content: a string, or the text among its blocks.
fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn spoken_file(text: &str) -> Option<&str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(['`', '"', '\'', ',', '.', '?', '!']));
    words
        .into_iter()
        .find(|word| word.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && end.len() <= 4))
}

/// Makes a value that fits a plain schema; strings hold what was said.
fn instance(schema: &Value, text: &str) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object();
            let each = properties.into_iter().flatten();
            Value::Object(each.map(|(name, inner)| (name.clone(), instance(inner, text))).collect())
        }
        Some("array") => json!([instance(&schema["items"], text)]),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        _ => json!(text),
    }
}
