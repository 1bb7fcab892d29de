//! A question that a model asks a person, as it is shown.

use palyra_screen_text::clean_line;

/// The tool that asks.
const ASK_USER: &str = "ask_user";
const QUESTION_CHARS_MAX: usize = 400;
const CHOICES_CHARS_MAX: usize = 160;

/// Returns the question of a call that asks the person, with the answers it offers; `None` for every other call.
pub fn model_question(tool: &str, arguments: &str) -> Option<String> {
    if tool != ASK_USER {
        return None;
    }
    let arguments: serde_json::Value = serde_json::from_str(arguments).ok()?;
    let question = clean_line(arguments.get("question")?.as_str()?, QUESTION_CHARS_MAX);
    let choices = arguments.get("choices").and_then(|choices| choices.as_array()).into_iter().flatten();
    let choices: Vec<&str> = choices.filter_map(|choice| choice.as_str()).collect();
    if choices.is_empty() {
        return Some(question);
    }
    Some(format!("{question} ({}, or something else)", clean_line(&choices.join(", "), CHOICES_CHARS_MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_shown_with_the_answers_it_offers() {
        for (tool, arguments, expect) in [
            ("ask_user", r#"{"question":"Which\ncolour?"}"#, Some("Which colour?")),
            (
                "ask_user",
                r#"{"question":"Which?","choices":["red","blue"]}"#,
                Some("Which? (red, blue, or something else)"),
            ),
            ("ask_user", r#"{"text":"Which?"}"#, None),
            ("read_file", r#"{"question":"Which?"}"#, None),
        ] {
            assert_eq!(model_question(tool, arguments).as_deref(), expect, "{arguments}");
        }
    }
}
