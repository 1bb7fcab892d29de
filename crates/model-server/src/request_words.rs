//! Words of a request without what Palyra adds to them.

use serde_json::Value;

/// Returns a person's words without the line that says when they were said.
fn without_time(text: &str) -> &str {
    let is_time = |line: &str| line.starts_with('[') && line.ends_with(']') && line.contains("day ");
    text.split_once('\n').filter(|(line, _)| is_time(line)).map_or(text, |(_, words)| words)
}

/// Takes the lines that say when a person's words were said out of a body, and returns them in order.
pub(super) fn take_times(body: &mut Value) -> Vec<String> {
    let mut times = Vec::new();
    let conversation = if body.get("messages").is_some() { "messages" } else { "input" };
    let messages = body.get_mut(conversation).and_then(Value::as_array_mut).into_iter().flatten();
    for message in messages.filter(|message| message["role"] == "user") {
        match &mut message["content"] {
            Value::String(text) => take_time(text, &mut times),
            Value::Array(parts) => {
                let is_text = |part: &&mut Value| part["type"] == "text" || part["type"] == "input_text";
                for part in parts.iter_mut().filter(is_text) {
                    if let Value::String(text) = &mut part["text"] {
                        take_time(text, &mut times);
                    }
                }
            }
            _ => {}
        }
    }
    times
}

/// Looks at the last paragraph that begins with a time: files that came with the words are before them.
fn take_time(text: &mut String, times: &mut Vec<String>) {
    let begins = text.rfind("\n\n[").map_or(0, |at| at + 2);
    let words = without_time(&text[begins..]);
    let length = text.len() - begins - words.len();
    if length > 0 {
        times.push(text[begins..begins + length].trim_matches(['[', ']', '\n']).to_owned());
        text.replace_range(begins..begins + length, "");
    }
}

/// Returns a result without the tags around its data.
#[must_use]
pub fn without_tags(text: &str) -> String {
    let is_tag = |line: &&str| line.starts_with("<data-") || line.starts_with("</data-");
    text.lines().filter(|line| !is_tag(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_taken_out_of_a_body() {
        let mut body = serde_json::json!({"messages": [
            {"role": "system", "content": "[a day b]\nstays"},
            {"role": "user", "content": "[Sunday 1]\none"},
            {"role": "user", "content": [
                {"type": "text", "text": "<data-1>"}, {"type": "text", "text": "[Monday 2]\ntwo"},
            ]},
            {"role": "user", "content": "<data-1>\nfile\n</data-1>\n\n[Tuesday 3]\nthree"},
            {"role": "user", "content": "four"},
        ]});
        assert_eq!(take_times(&mut body), ["Sunday 1", "Monday 2", "Tuesday 3"]);
        let words: Vec<String> = (0..5).map(|at| body["messages"][at]["content"].to_string()).collect();
        assert_eq!(words[1], "\"one\"");
        assert!(words[2].contains("\"two\"") && words[3].ends_with("</data-1>\\n\\nthree\""), "{words:?}");
        assert!(words[0].contains("a day b") && words[4] == "\"four\"", "{words:?}");
    }

    #[test]
    fn what_was_added_is_gone_and_the_words_stay() {
        assert_eq!(without_time("[Sunday 2026-11-29 16:21 +00:00 UTC]\nread a.md\nb"), "read a.md\nb");
        assert_eq!(without_time("[x]\nread"), "[x]\nread");
        assert_eq!(without_time("read"), "read");
        let enclosed = palyra_types::data_delimiter::DataDelimiter([1; 8]).enclose("read_file", "a\nb");
        assert_eq!(without_tags(&enclosed), "a\nb");
        assert_eq!(
            without_tags(&format!("The tool did not succeed:\n{enclosed}")),
            "The tool did not succeed:\na\nb"
        );
    }
}
