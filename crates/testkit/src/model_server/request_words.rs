//! Words of a request without what Palyra adds to them.

/// Returns a person's words without the line that says when they were said.
#[must_use]
pub fn without_time(text: &str) -> &str {
    let is_time = |line: &str| line.starts_with('[') && line.ends_with(']') && line.contains("day ");
    text.split_once('\n').filter(|(line, _)| is_time(line)).map_or(text, |(_, words)| words)
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
