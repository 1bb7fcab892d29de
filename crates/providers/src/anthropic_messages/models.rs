//! Reads the list of models a server has.

use palyra_ports::ModelInfo;
use palyra_types::model::{ModelFailure, ModelName};
use serde_json::Value;

use crate::wire_format::failure::malformed;

/// How many models of a list are looked at.
const MODELS_MAX: usize = 2_000;

/// Reads the answer to `GET /v1/models`; what it does not tell is as `known` has it.
pub(super) fn models(
    body: &[u8],
    known: impl Fn(&ModelName) -> ModelInfo,
) -> Result<Vec<ModelInfo>, ModelFailure> {
    let value: Value =
        serde_json::from_slice(body).map_err(|_| malformed("the list of models is not JSON"))?;
    let list = value.get("data").and_then(Value::as_array);
    let list = list.ok_or_else(|| malformed("the list of models has another shape"))?;
    Ok(list.iter().take(MODELS_MAX).filter_map(|entry| model(entry, &known)).collect())
}

fn model(entry: &Value, known: &impl Fn(&ModelName) -> ModelInfo) -> Option<ModelInfo> {
    let mut info = known(&ModelName::new(entry.get("id")?.as_str()?));
    let window = entry.get("max_input_tokens").and_then(Value::as_u64).filter(|tokens| *tokens > 0);
    info.context_tokens = window.unwrap_or(info.context_tokens);
    if let Some(name) = entry.get("display_name").and_then(Value::as_str) {
        name.clone_into(&mut info.note);
    }
    let supports = |what: &str| entry.pointer(&format!("/capabilities/{what}/supported"))?.as_bool();
    let able = &mut info.capabilities;
    able.images &= supports("image_input").unwrap_or(true);
    able.structured_output &= supports("structured_outputs").unwrap_or(true);
    able.reasoning &= supports("thinking").unwrap_or(true);
    Some(info)
}

#[cfg(test)]
mod tests {
    use palyra_ports::ModelCapabilities;

    use super::*;

    fn known(name: &ModelName) -> ModelInfo {
        let capabilities = ModelCapabilities::ALL;
        ModelInfo { name: name.clone(), context_tokens: 7, note: "unknown".to_owned(), capabilities }
    }

    #[test]
    fn lists_tell_windows_and_abilities() {
        let body = br#"{"data":[
            {"type":"model","id":"a","display_name":"Model A","max_input_tokens":1000,"capabilities":
                {"image_input":{"supported":false},"thinking":{"supported":true,"types":{}}}},
            {"id":"b"}, {"type":"model"}, 5],"has_more":false}"#;
        let found = models(body, known).expect("a list");
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].note.as_str(), found[0].context_tokens), ("Model A", 1_000));
        assert_eq!(found[0].capabilities, ModelCapabilities { images: false, ..ModelCapabilities::ALL });
        assert_eq!(found[1], known(&ModelName::new("b")));
        assert!(models(b"<html>", known).is_err() && models(b"{}", known).is_err());
    }
}
