//! Numbers, yes and no.

use palyra_types::tool::ToolName;
use serde_json::json;

use super::*;

fn answer_lines(tool: &str, view: AnswerView, pattern: &str, text: &str) -> String {
    let arguments = json!({ "pattern": pattern });
    let finding = ToolFinding { tool: ToolName::new(tool), arguments, text: text.to_owned(), failed: false };
    judged(&finding, view).unwrap()
}

#[test]
fn a_name_that_is_only_defined_is_not_used() {
    let used = |text: &str| answer_lines("search", AnswerView::IsUsed, r"\bTAX\b", text);
    assert!(used("1 match in 1 file\na.py:4: TAX = 19\n").starts_with("No, it is only defined"));
    assert!(used("2 matches in 1 file\na.py:4: TAX = 19\na.py:9: if TAX == 19:\n").starts_with("Yes."));
    assert!(used("no matches (9 files searched)\n").starts_with("No. "));
}

#[test]
fn a_question_that_finds_nothing_is_answered_with_no() {
    let asked = |text: &str| answer_lines("glob", AnswerView::YesNo, "**/Dockerfile", text);
    assert!(asked("no matches in . (7 names looked at)\n").starts_with("No. "));
    assert!(asked("1 match\nDockerfile\n").starts_with("Yes. "));
    let tests = answer_lines(
        "search",
        AnswerView::CountOf("test"),
        "x",
        "2 matches in 1 file\nt.py:1: def test_a\nt.py:3: def test_b\n",
    );
    assert!(tests.starts_with("2 tests in 1 file"), "{tests}");
}
