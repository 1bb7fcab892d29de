//! The OpenAPI document as HTML: operations by service, then the messages they take and return.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};

use serde_json::{Map, Value};

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <meta name=\"color-scheme\" content=\"light dark\">\n<title>Palyra HTTP API</title>\n\
    <link rel=\"stylesheet\" href=\"/api/reference.css\">\n</head>\n<body>\n";
const SCHEMA_REFERENCE: &str = "#/components/schemas/";

/// Text between tags or in an attribute.
struct EscapedText<'a>(&'a str);

impl Display for EscapedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// One operation of the document.
struct OperationEntry<'a> {
    method: String,
    path: &'a str,
    operation: &'a Value,
}

/// Returns the page of a document.
pub(super) fn page(document: &Value) -> String {
    let mut text = HEAD.to_owned();
    let services = by_service(document);
    let info = &document["info"];
    let _ = writeln!(
        text,
        "<header><h1>{}</h1><p>Version {}</p></header>",
        escaped_text(&info["title"]),
        escaped_text(&info["version"])
    );
    navigation(&mut text, &services);
    text.push_str("<main>\n");
    paragraphs(&mut text, &info["description"]);
    for (service, operations) in &services {
        let _ = writeln!(text, "<section id=\"{0}\"><h2>{0}</h2>", EscapedText(service));
        operations.iter().for_each(|entry| operation(&mut text, entry));
        text.push_str("</section>\n");
    }
    text.push_str("<section id=\"messages\"><h2>Messages</h2>\n");
    for (name, schema) in members(&document["components"]["schemas"]) {
        message(&mut text, name, schema);
    }
    text.push_str("</section>\n</main>\n</body>\n</html>\n");
    text
}

fn by_service(document: &Value) -> BTreeMap<&str, Vec<OperationEntry<'_>>> {
    let mut services = BTreeMap::<&str, Vec<_>>::new();
    for (path, methods) in members(&document["paths"]) {
        for (method, operation) in members(methods) {
            let service = operation["tags"][0].as_str().unwrap_or("Other");
            let entry = OperationEntry { method: method.to_uppercase(), path, operation };
            services.entry(service).or_default().push(entry);
        }
    }
    services
}

fn navigation(text: &mut String, services: &BTreeMap<&str, Vec<OperationEntry<'_>>>) {
    text.push_str("<nav aria-label=\"Services\"><ul>\n");
    for service in services.keys().chain([&"messages"]) {
        let _ = writeln!(text, "<li><a href=\"#{0}\">{0}</a></li>", EscapedText(service));
    }
    text.push_str("</ul></nav>\n");
}

fn operation(text: &mut String, entry: &OperationEntry<'_>) {
    let OperationEntry { method, path, operation } = entry;
    let _ = writeln!(
        text,
        "<article id=\"{}\"><h3><code class=\"method\">{}</code> <code>{}</code></h3>\n<p class=\"summary\">{}</p>",
        escaped_text(&operation["operationId"]),
        EscapedText(method),
        EscapedText(path),
        escaped_text(&operation["summary"])
    );
    paragraphs(text, &operation["description"]);
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !parameters.is_empty() {
        table_head(text, "Parameters");
        for parameter in parameters {
            let place = parameter["in"].as_str().unwrap_or_default();
            row(
                text,
                &escaped_text(&parameter["name"]).to_string(),
                &parameter["schema"],
                place,
                &parameter["description"],
            );
        }
        text.push_str("</table>\n");
    }
    for (what, content) in [
        ("Takes", &operation["requestBody"]["content"]),
        ("Returns", &operation["responses"]["200"]["content"]),
    ] {
        for (media_type, form) in members(content) {
            let _ = writeln!(
                text,
                "<p>{what} <code>{}</code>: {}</p>",
                EscapedText(media_type),
                type_of(&form["schema"])
            );
        }
    }
    text.push_str("</article>\n");
}

fn message(text: &mut String, name: &str, schema: &Value) {
    let _ = writeln!(text, "<article id=\"message-{0}\"><h3>{0}</h3>", EscapedText(name));
    paragraphs(text, &schema["description"]);
    let fields: Vec<_> = members(&schema["properties"]).collect();
    if !fields.is_empty() {
        table_head(text, "Fields");
        for (name, field) in fields {
            let required = schema["required"]
                .as_array()
                .is_some_and(|required| required.iter().any(|known| known == name));
            row(
                text,
                &EscapedText(name).to_string(),
                field,
                if required { "always" } else { "" },
                &field["description"],
            );
        }
        text.push_str("</table>\n");
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<_> =
            values.iter().map(|value| format!("<code>{}</code>", escaped_text(value))).collect();
        let _ = writeln!(text, "<p>One of {}</p>", values.join(", "));
    }
    text.push_str("</article>\n");
}

fn table_head(text: &mut String, caption: &str) {
    let _ = writeln!(
        text,
        "<table><caption>{caption}</caption>\n<tr><th scope=\"col\">Name</th><th scope=\"col\">Type</th>\
         <th scope=\"col\">Where</th><th scope=\"col\">Meaning</th></tr>"
    );
}

fn row(text: &mut String, name: &str, schema: &Value, place: &str, meaning: &Value) {
    let _ = writeln!(
        text,
        "<tr><th scope=\"row\"><code>{name}</code></th><td>{}</td><td>{}</td><td>{}</td></tr>",
        type_of(schema),
        EscapedText(place),
        escaped_text(meaning)
    );
}

/// Returns a type in words, with a link where it is a message.
fn type_of(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.trim_start_matches(SCHEMA_REFERENCE);
        return format!("<a href=\"#message-{0}\">{0}</a>", EscapedText(name));
    }
    if let Some(inner) = schema["allOf"].get(0) {
        return type_of(inner);
    }
    match schema["type"].as_str() {
        Some("array") => format!("list of {}", type_of(&schema["items"])),
        Some(name) => match schema["format"].as_str() {
            Some(format) => format!("{} ({})", EscapedText(name), EscapedText(format)),
            None => EscapedText(name).to_string(),
        },
        None => "any".to_owned(),
    }
}

fn paragraphs(text: &mut String, value: &Value) {
    for paragraph in value.as_str().unwrap_or_default().split("\n\n").filter(|text| !text.is_empty()) {
        let _ = writeln!(text, "<p>{}</p>", EscapedText(paragraph));
    }
}

fn escaped_text(value: &Value) -> EscapedText<'_> {
    EscapedText(value.as_str().unwrap_or_default())
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter).map(|(name, value)| (name.as_str(), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_document_says_is_text_and_never_a_tag() {
        let hostile = "<script>alert(1)</script>\"'&";
        let document = json!({
            "info": { "title": hostile, "description": hostile },
            "paths": { "/a": { "get": {
                "tags": ["T"], "operationId": hostile, "summary": hostile,
                "parameters": [{ "name": hostile, "in": "query", "schema": { "type": hostile } }],
            }}},
            "components": { "schemas": { "M": {
                "description": hostile, "properties": { "field": { "$ref": format!("{SCHEMA_REFERENCE}{hostile}") } },
            }}},
        });
        let page = page(&document);
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");
    }

    #[test]
    fn every_operation_and_message_of_the_document_is_on_the_page() {
        let document: Value = serde_json::from_str(super::super::DOCUMENT).expect("the document is JSON");
        let page = page(&document);
        for (path, methods) in members(&document["paths"]) {
            assert!(page.contains(&EscapedText(path).to_string()), "{path}");
            for (_, operation) in members(methods) {
                assert!(
                    page.contains(&format!("<article id=\"{}\">", escaped_text(&operation["operationId"])))
                );
            }
        }
        for (name, _) in members(&document["components"]["schemas"]) {
            assert!(page.contains(&format!("id=\"message-{name}\"")), "{name}");
        }
        assert!(!page.contains("<script") && !page.contains("style="), "the policy of pages allows neither");
    }
}
