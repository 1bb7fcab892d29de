//! What is said of the outcome of a call.

use serde_json::json;

use super::*;

fn check(tool: &str, arguments: Value, text: &str, expect: &str) {
    let finding = ToolFinding { tool: ToolName::new(tool), arguments, text: text.to_owned(), failed: false };
    assert_eq!(describe(&finding), expect);
}

#[test]
fn a_document_is_told_by_title_paragraph_and_counts() {
    check(
        "read_file",
        json!({"path": "README.md"}),
        "# Alpha\n\nIt does things.\n",
        "README.md is titled \"Alpha\". It says: It does things.\n\nREADME.md: 3 lines, 5 words.",
    );
    check("read_file", json!({"path": "a.md"}), " \n", "a.md is empty.");
    check("read_file", json!({"path": "a.md"}), "[the file is empty]", "a.md is empty.");
    check(
        "read_file",
        json!({"path": "a.md"}),
        "# A\nOne.\n[lines 1-2 of 9; the file has 99 bytes; continue with from=3]",
        "a.md is titled \"A\". It says: One.\n\n\
         a.md: 2 lines, 3 words (lines 1-2 of 9; the file has 99 bytes; continue with from=3).",
    );
    check(
        "read_file",
        json!({"path": "a.md"}),
        "One\n[x]",
        "a.md begins: One [x]\n\na.md: 2 lines, 2 words.",
    );
    check("read_file", json!({}), "x", "The file begins: x\n\nThe file: 1 line, 1 word.");
    check(
        "read_file",
        json!({"path": "a.rs"}),
        "//! Hi\n\nfn a() {}\n",
        "a.rs has 3 lines, 5 words. It begins:\n\n    //! Hi\n    fn a() {}",
    );
}

#[test]
fn lists_are_counted_and_named() {
    check("list_dir", json!({"path": "."}), "a.md\nb/\n", "This folder holds 1 file and 1 folder: a.md, b/.");
    check("list_dir", json!({"path": "src"}), "", "`src` is empty.");
    check("list_dir", json!({"path": "src"}), "src is empty", "`src` is empty.");
    let told = "[. holds 9 folders, 1 file]\nb/\na.md (12 bytes)\nl -> x (link, not followed)\n[the list is cut here]";
    let expect = "This folder holds 9 folders, 1 file: b/, a.md, l -> x. [the list is cut here]";
    check("list_dir", json!({}), told, expect);
    let told = "1 match\nsrc/a.rs\n";
    check("glob", json!({"pattern": "*.rs"}), told, "1 name matches `*.rs`: src/a.rs.");
    let told = "no matches in . (7 names looked at)\n[hidden names were skipped]";
    check("glob", json!({"pattern": "*.rs"}), told, "Nothing matches `*.rs`. [hidden names were skipped]");
    check("glob", json!({"pattern": "*.rs"}), "a.rs\nb.rs", "2 names match `*.rs`: a.rs, b.rs.");
    check("glob", json!({"pattern": "*.rs"}), "", "Nothing matches `*.rs`.");
    let many = (0..30).map(|n| format!("f{n}\n")).collect::<String>();
    let finding =
        ToolFinding { tool: ToolName::new("list_dir"), arguments: json!({}), text: many, failed: false };
    assert!(describe(&finding).ends_with("f19, and 10 more."));
}

#[test]
fn matches_are_counted_and_the_first_are_shown() {
    check(
        "search",
        json!({"pattern": "x"}),
        "a.rs:1:x\na.rs:2:x\nb.rs:9:x",
        "`x`: 3 matches in 2 files.\n- a.rs:1: `x`\n- a.rs:2: `x`\n- b.rs:9: `x`",
    );
    check(
        "search",
        json!({"pattern": "x"}),
        "a.py:1:if __name__ == `x`:\n",
        "`x`: 1 match in 1 file.\n- a.py:1: `` if __name__ == `x`: ``",
    );
    check(
        "search",
        json!({"pattern": "x"}),
        "a.rs:1:x\n[1 hidden name (.env) not searched: set `hidden`, or name one as `path`]",
        "`x`: 1 match in 1 file.\n- a.rs:1: `x`\n\n[1 hidden name (.env) not searched]",
    );
    check("search", json!({"pattern": "x"}), "\n", "Nothing matches `x`.");
    check("search", json!({"pattern": "x"}), "no matches (9 files searched)\n", "Nothing matches `x`.");
    let told =
        "250 matches in 9 files (10 files searched)\na.rs:1: x\n[stopped at max=200; there may be more]";
    let expect = "`x`: 250 matches in 9 files (10 files searched).\n- a.rs:1: `x`\n\n[stopped at max=200; there may be more]";
    check("search", json!({"pattern": "x"}), told, expect);
}

#[test]
fn a_failure_is_told_plainly() {
    let failure = ToolFinding {
        tool: ToolName::new("read_file"),
        arguments: json!({"path": "gone.md"}),
        text: "no such file\u{1b}[31m".to_owned(),
        failed: true,
    };
    assert_eq!(describe(&failure), "The tool `read_file` did not succeed for `gone.md`: no such file [31m");
}

#[test]
fn what_was_changed_answered_and_denied_is_told() {
    let text = "created notes.txt: 5 bytes, sha256 2cf24dba5fb0";
    let expect = "Done: created notes.txt: 5 bytes, sha256 2cf24dba5fb0.";
    check("write_file", json!({"path": "notes.txt"}), text, expect);
    check("ask_user", json!({"question": "Which?"}), "the red one", "You answered: the red one");
    let failed = |text: &str| {
        let arguments = json!({"path": "a.txt"});
        ToolFinding { tool: ToolName::new("write_file"), arguments, text: text.to_owned(), failed: true }
    };
    let denied = failed("a person denied this call: not now");
    assert!(denied.is_denial());
    assert_eq!(
        describe(&denied),
        "`write_file` for `a.txt` was not allowed: a person denied this call: not now."
    );
    assert!(failed("policy denies this call of `write_file`, no rule permits it; go on").is_denial());
    assert!(!failed("`a.txt` does not exist").is_denial());
}

#[test]
fn every_description_is_bounded() {
    for tool in ["read_file", "list_dir", "glob", "search", "write_file", "ask_user", "other"] {
        for text in ["x".repeat(100_000), "word ".repeat(50_000), "a:1:b\n".repeat(50_000)] {
            let finding = ToolFinding {
                tool: ToolName::new(tool),
                arguments: json!({"path": "a.md"}),
                text,
                failed: false,
            };
            assert!(describe(&finding).len() < 4_000, "{tool}");
        }
    }
}

#[test]
fn of_a_long_output_of_a_program_only_the_result_is_repeated() {
    let lines = |number: usize| (1..=number).map(|line| format!("line {line}\n")).collect::<String>();
    let ran = |tool: &str, arguments: Value, text: String, failed: bool| {
        describe(&ToolFinding { tool: ToolName::new(tool), arguments, text, failed })
    };
    let make = serde_json::json!({"argv": ["make", "test"]});
    let long = ran("run_command", make.clone(), format!("exit code 0\n\n{}", lines(15)), false);
    assert_eq!(
        long,
        "`make test` succeeded: exit code 0. Of the 15 lines that it printed, the last 3 lines:\n\n\
         ```\nline 13\nline 14\nline 15\n```"
    );
    let failed = ran("run_command", make.clone(), format!("exit code 2\n\n{}", lines(15)), true);
    assert!(failed.contains("`make test` did not succeed: exit code 2. Of the 15 lines"), "{failed}");
    let listing = serde_json::json!({"argv": ["ls", "-la"]});
    let listed = ran("run_command", listing, format!("exit code 0\n\n{}", lines(15)), false);
    assert!(
        listed.contains("the first 10 lines:\n\n```\nline 1\n") && !listed.contains("line 11"),
        "{listed}"
    );
    // The controls: a short output is the result, and what git prints is what was asked for.
    let short =
        ran("run_command", make, format!("exit code 0\n2 names were looked up\n\n{}", lines(2)), false);
    assert_eq!(short, "`make test` succeeded: exit code 0\n\n```\nline 1\nline 2\n```");
    let git = serde_json::json!({"subcommand": "log"});
    let log = ran("git", git, format!("exit code 0\n\n{}", lines(15)), false);
    assert!(log.contains("line 1\n") && log.contains("line 15"), "{log}");
}
