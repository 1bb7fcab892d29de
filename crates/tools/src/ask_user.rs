//! `ask_user`: a question to the person for whom the run works.
//!
//! Only what it declares: the run waits, and the person's next words answer. No runtime of tools ever executes it.

use std::time::Duration;

use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde_json::json;

const QUESTION_CHARS_MAX: usize = 4_000;
const CHOICES_MAX: usize = 12;
const CHOICE_CHARS_MAX: usize = 200;
/// A person takes the time they take.
const DEADLINE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Returns what the tool declares.
pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("ask_user"),
        version: 1,
        description:
            "Asks the user a question and waits for the answer. Use it when you cannot go on without \
                      something only they know or may decide; do not use it to ask whether to go on."
                .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "question": {
                    "type": "string", "x-palyra-meaning": "text", "minLength": 1, "maxLength": QUESTION_CHARS_MAX,
                    "description": "The question, as the user will read it.",
                },
                "choices": {
                    "type": "array", "x-palyra-meaning": "text", "maxItems": CHOICES_MAX,
                    "items": {"type": "string", "minLength": 1, "maxLength": CHOICE_CHARS_MAX},
                    "description": "Answers to choose from; the user may still say something else.",
                },
            },
            "required": ["question"],
            "additionalProperties": false,
        }),
        contract: EffectContract::Local,
        parallelism: Parallelism::Exclusive,
        conduct: ToolConduct::Question,
        capabilities: vec![Capability::AskUser],
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: 1024,
    }
}
