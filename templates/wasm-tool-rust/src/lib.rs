//! A tool that asks a host for a page, and writes its text into a file of the workspace.

wit_bindgen::generate!({
    // Where the folder was copied elsewhere: "wit".
    path: "../../crates/wasm/wit",
    world: "tool",
});

use palyra::tool::description::{Capability, Contract};
use palyra::tool::http;

const HOST: &str = "example.com";

struct SavePage;

impl Guest for SavePage {
    fn describe() -> ToolDescription {
        ToolDescription {
            name: "save_page_rust".to_owned(),
            description: format!("Asks {HOST} for a page and writes its text into a file of the workspace."),
            schema: serde_json::json!({
                "type": "object",
                "properties": { "page": { "type": "string" }, "file": { "type": "string" } },
                "required": ["page", "file"],
                "additionalProperties": false,
            })
            .to_string(),
            contract: Contract::Keyed,
            capabilities: vec![Capability::WriteFiles, Capability::Http(HOST.to_owned())],
        }
    }

    fn run(arguments: String) -> Result<String, String> {
        let wanted: serde_json::Value = serde_json::from_str(&arguments).map_err(|error| error.to_string())?;
        let text = |name: &str| wanted[name].as_str().unwrap_or_default().to_owned();
        let (page, file) = (text("page"), text("file"));
        let request = http::Request {
            method: "GET".to_owned(),
            url: format!("https://{HOST}/{}", page.trim_start_matches('/')),
            headers: Vec::new(),
            body: Vec::new(),
        };
        let answer = http::fetch(&request).map_err(|problem| format!("no answer: {problem:?}"))?;
        if answer.status != 200 {
            return Err(format!("the host answered {}", answer.status));
        }
        let body = String::from_utf8_lossy(&answer.body);
        let words = words_of(&body);
        std::fs::write(format!("/workspace/{file}"), &words).map_err(|error| error.to_string())?;
        Ok(format!("wrote {} lines to {file}", words.lines().count()))
    }
}

/// Returns what stands between the tags, a line for each piece.
fn words_of(page: &str) -> String {
    let pieces = page.split('<').filter_map(|piece| piece.split_once('>').map(|(_, words)| words.trim()));
    pieces.filter(|words| !words.is_empty()).map(|words| format!("{words}\n")).collect()
}

export!(SavePage);
