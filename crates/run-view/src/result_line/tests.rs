//! What is shown of results of each tool.

use super::*;

#[test]
fn a_search_is_summed_up_by_its_matches_and_what_was_passed_over() {
    let told = |output: &str| result_line("search", output, 99);
    assert_eq!(told("[3 matches in 2 files (9 files searched)]\na:1: x\n"), "3 matches in 2 files");
    assert_eq!(
        told(
            "[no matches (9 files searched)]\n[stopped at max=1; 2 hidden names (.a, .b) not searched: set `hidden`, or name one as `path`]"
        ),
        "no matches; 2 hidden names not searched"
    );
    // A line of a file that looks like a note is none.
    assert_eq!(
        told("[1 match in 1 file (1 file searched)]\na:1: 2 hidden names not searched: set `hidden`"),
        "1 match in 1 file"
    );
    assert_eq!(told("something else"), "99 B of output");
}

#[test]
fn a_change_is_named_and_other_results_are_their_length() {
    let told = |tool: &str, output: &str| result_line(tool, output, 48);
    assert_eq!(told("write_file", "created a.txt: 11 bytes, sha256 2cf24dba5fb0"), "created a.txt: 11 bytes");
    assert_eq!(told("apply_patch", "changed a: 1\nchanged b: 2\nchanged c: 3\n"), "changed a: 1, and 2 more");
    assert_eq!(told("ask_user", ""), "answered");
    assert_eq!(told("read_file", "[3 matches in 2 files]"), "48 B of output");
    assert!(!told("write_file", "created \u{1b}[2Ja: 1 byte").contains('\u{1b}'));
}

#[test]
fn a_command_has_the_bytes_that_its_program_printed() {
    let line = |output: &str| result_line("run_command", output, output.len() as u64);
    assert_eq!(line("exit code 0\n\n3\n"), "exit code 0, 2 B of output");
    assert_eq!(
        line("exit code 0 (of grep, the last program)\n2 hosts were asked\n\n3\n"),
        "exit code 0 (of grep, the last program), 2 B of output"
    );
    assert_eq!(line("exit code 0"), "exit code 0, no output");
    assert_eq!(line("exit code 0\n2 hosts were asked"), "exit code 0, no output");
    assert_eq!(result_line("git", "exit code 0\n\na", 1013), "exit code 0, 1.0 KB of output");
    // The control: a result that begins otherwise is its length.
    assert_eq!(line("started"), "7 B of output");
}

#[test]
fn a_call_is_named_by_what_it_is_about() {
    assert_eq!(call_label("search", r#"{"path":"src","pattern":"total"}"#), "search \"total\"");
    assert_eq!(call_label("read_file", r#"{"path":"a.md"}"#), "read_file \"a.md\"");
    assert_eq!(call_label("run_command", r#"{"argv":["ls"]}"#), "run_command");
    assert_eq!(call_label("search", "no json"), "search");
    assert!(!call_label("read_file", "{\"path\":\"\\u001b[2J\"}").contains('\u{1b}'));
}
