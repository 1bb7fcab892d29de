//! Fits a model's final answer to the JSON Schema that a run asked for.
//!
//! Owns the compiled schema of one run. Invariant: a complaint names places (JSON pointers) and the schema's
//! demands, and never repeats the answer.

use jsonschema::Validator;
use serde_json::Value;

use crate::expanded;
use crate::schema::{compile, violations};

/// A run's schema for its final answer, ready to judge.
#[derive(Debug)]
pub struct AnswerSchema {
    validator: Validator,
}

/// The text is not a JSON Schema that can be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be applied: {why}")]
pub struct AnswerSchemaError {
    /// What is wrong with it, for people.
    pub why: String,
}

impl AnswerSchema {
    /// Compiles a schema (JSON Schema 2020-12, as JSON text). References to anything outside it are errors.
    ///
    /// # Errors
    /// [`AnswerSchemaError`] when it is not a JSON object, not a schema, or comes to too much.
    pub fn compile(schema: &str) -> Result<Self, AnswerSchemaError> {
        let broken = |why: String| AnswerSchemaError { why };
        let schema: Value =
            serde_json::from_str(schema).map_err(|_not_json| broken("it is not JSON".into()))?;
        if !schema.is_object() {
            return Err(broken("it is not a JSON object".into()));
        }
        expanded::check(&schema).map_err(broken)?;
        Ok(Self { validator: compile(&schema).map_err(broken)? })
    }

    /// Returns what keeps `answer` from being the JSON that the schema describes, or nothing when it fits.
    #[must_use]
    pub fn complaint(&self, answer: &str) -> Option<String> {
        match serde_json::from_str::<Value>(answer) {
            Ok(value) => violations(&self.validator, &value, "the answer"),
            Err(_) if answer.trim_start().starts_with("```") => {
                Some("the answer: it is in a code fence; send the JSON alone".to_owned())
            }
            Err(cause) => {
                Some(format!("the answer: it is not JSON (line {}, column {})", cause.line(), cause.column()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expect: &str) {
        let schema = AnswerSchema::compile(
            r#"{"type": "object", "required": ["total"], "additionalProperties": false,
                "properties": {"total": {"type": "integer", "minimum": 0}}}"#,
        )
        .expect("a schema");
        assert_eq!(schema.complaint(answer).unwrap_or_default(), expect);
    }

    #[test]
    fn an_answer_fits_or_the_complaint_names_the_place_and_no_value() {
        check(r#"{"total": 3}"#, "");
        check("\n {\"total\": 0}\n", "");
        check("{}", "the answer: `total` is missing");
        check(r#"{"total": "canary"}"#, "`/total`: must be of type integer");
        check(r#"{"total": -1}"#, "`/total`: the value is less than the minimum of 0");
        check("[]", "the answer: must be of type object");
        check("", "the answer: it is not JSON (line 1, column 0)");
        check("canary", "the answer: it is not JSON (line 1, column 1)");
        check(r#"{"total": 3} and so on"#, "the answer: it is not JSON (line 1, column 14)");
        check(r#"{"total": 3"#, "the answer: it is not JSON (line 1, column 11)");
        let fenced = "```json\n{\"total\": 3}\n```";
        check(fenced, "the answer: it is in a code fence; send the JSON alone");
        check(&"[".repeat(100_000), "the answer: it is not JSON (line 1, column 128)");
    }

    /// Each stage asks for the one below twice.
    fn doubling(keyword: &str, stages: usize) -> String {
        let mut defs = vec!["\"s0\": {\"type\": \"integer\"}".to_owned()];
        for stage in 1..=stages {
            let below = format!("{{\"$ref\": \"#/$defs/s{}\"}}", stage - 1);
            defs.push(format!("\"s{stage}\": {{\"{keyword}\": [{below}, {below}]}}"));
        }
        format!("{{\"$ref\": \"#/$defs/s{stages}\", \"$defs\": {{{}}}}}", defs.join(", "))
    }

    #[test]
    fn a_schema_that_comes_to_too_much_is_refused_before_it_judges() {
        let chain: Vec<_> =
            (0..500).map(|n| format!("\"c{n}\": {{\"$ref\": \"#/$defs/c{}\"}}", n + 1)).collect();
        let chain =
            format!("{{\"$ref\": \"#/$defs/c0\", \"$defs\": {{{}, \"c500\": true}}}}", chain.join(", "));
        let anchored = r##"{"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}}"##.to_owned();
        for schema in [doubling("allOf", 40), doubling("anyOf", 40), doubling("oneOf", 60), chain, anchored] {
            assert!(AnswerSchema::compile(&schema).is_err(), "{schema:.80}");
        }
        let small = AnswerSchema::compile(&doubling("allOf", 5)).expect("32 times is little");
        assert!(small.complaint("1").is_none() && small.complaint("{}").is_some());
        let list =
            r##"{"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": false}"##;
        let list = AnswerSchema::compile(list).expect("a list of lists");
        assert!(list.complaint(r#"{"next": {"next": {}}}"#).is_none());
        assert!(list.complaint(r#"{"next": {"last": {}}}"#).is_some());
        for schema in [r##"{"$ref": "#"}"##, r##"{"allOf": [{"$ref": "#"}]}"##] {
            let _ = AnswerSchema::compile(schema).map(|endless| endless.complaint("1"));
        }
    }

    #[test]
    fn a_schema_that_cannot_be_applied_says_why() {
        for schema in [
            "",
            "{",
            "[]",
            "true",
            r#"{"type": "no such type"}"#,
            r#"{"$ref": "https://example.com/s.json"}"#,
        ] {
            assert!(AnswerSchema::compile(schema).is_err(), "{schema}");
        }
    }
}
