//! Lines of shells, and whose exit code theirs is.

use super::*;

#[test]
fn the_exit_code_of_a_pipe_is_of_its_last_program() {
    for (line, program) in [
        ("pytest -q | tail -3", Some("tail")),
        ("a | b|/usr/bin/wc -l", Some("wc")),
        ("a |& tee log", Some("tee")),
        ("grep 'a | b' x | sort", Some("sort")),
        // Another program can decide the code, or nothing is certain.
        ("pytest -q", None),
        ("a && b | c", None),
        ("a | b; c", None),
        ("a || b", None),
        ("a | b &", None),
        ("a | $PROGRAM", None),
        ("a | X=1 b", None),
        ("a | (b; c)", None),
        ("set -o pipefail; a | b", None),
    ] {
        let argv = ["sh", "-c", line].map(str::to_owned);
        assert_eq!(last_program(&argv).as_deref(), program, "{line}");
    }
    let argv = ["bash", "-o", "pipefail", "-c", "a | b"].map(str::to_owned);
    assert_eq!(last_program(&argv), None);
    assert_eq!(last_program(&["tail", "-3"].map(str::to_owned)), None);
}

#[test]
fn an_exit_code_is_said_to_be_of_a_program_of_a_pipe_alone() {
    let of = |line: &str| of_last_program(&["sh", "-c", line].map(str::to_owned));
    assert_eq!(of("a | tail -3"), " (of `tail`, the last program of the pipe)");
    assert_eq!(of("tail -3"), "");
}
