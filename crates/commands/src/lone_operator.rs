//! Signs of a shell among the arguments of a program that no shell reads.
//!
//! Pure: reads the words of a command. Invariant: says nothing about a line for a shell, nor about a sign that the program
//! itself is known to read.

use palyra_types::shell_line::is_shell_line;

/// Signs of a shell, and what people want with them.
const OPERATORS: [(&str, &str); 13] = [
    ("|", "a pipe needs"),
    ("|&", "a pipe needs"),
    ("&&", "several commands need"),
    ("||", "several commands need"),
    (";", "several commands need"),
    ("&", "several commands need"),
    (">", "a redirection needs"),
    (">>", "a redirection needs"),
    ("<", "a redirection needs"),
    ("<<", "a redirection needs"),
    ("2>", "a redirection needs"),
    ("2>&1", "a redirection needs"),
    ("&>", "a redirection needs"),
];
/// Programs with expressions of such signs.
const EXPRESSIONS: [&str; 3] = ["expr", "test", "["];
/// Programs, and their options that a sign between columns follows.
const SEPARATORS: [(&str, &str); 8] = [
    ("awk", "-F"),
    ("gawk", "-F"),
    ("mawk", "-F"),
    ("cut", "-d"),
    ("paste", "-d"),
    ("sort", "-t"),
    ("join", "-t"),
    ("column", "-s"),
];

/// Says that a sign among the arguments does nothing, and which command does what was wanted.
pub(crate) fn lone_operator(argv: &[String]) -> Option<String> {
    let program = argv.first()?.rsplit('/').next().unwrap_or_default();
    if is_shell_line(argv) || EXPRESSIONS.contains(&program) {
        return None;
    }
    let starts_programs =
        argv.iter().any(|word| ["-exec", "-execdir", "-ok", "-okdir"].contains(&word.as_str()));
    let (sign, wanted) = argv.windows(2).find_map(|pair| {
        let [before, word] = pair else { return None };
        let is_read = SEPARATORS.contains(&(program, before.as_str())) || (word == ";" && starts_programs);
        OPERATORS.iter().find(|(sign, _)| *sign == word.as_str() && !is_read)
    })?;
    Some(format!("`{sign}` is an argument here: no shell reads it; {wanted} `sh -c '...'`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Option<String> {
        let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
        lone_operator(&argv)
    }

    #[test]
    fn a_sign_of_a_shell_among_arguments_is_explained() {
        for (line, wanted) in [
            ("ls -l | wc -l", "`|` is an argument here: no shell reads it; a pipe needs `sh -c '...'`"),
            ("echo a > b", "`>` is an argument here: no shell reads it; a redirection needs `sh -c '...'`"),
            ("sort < b", "`<` is an argument here: no shell reads it; a redirection needs `sh -c '...'`"),
            (
                "make && ls",
                "`&&` is an argument here: no shell reads it; several commands need `sh -c '...'`",
            ),
            ("cd a ; ls", "`;` is an argument here: no shell reads it; several commands need `sh -c '...'`"),
        ] {
            assert_eq!(said(line).as_deref(), Some(wanted), "{line}");
        }
    }

    #[test]
    fn a_sign_that_is_read_is_not_explained() {
        for line in [
            "find . -exec rm {} ;",
            "cut -d | -f 1 a",
            "/usr/bin/expr 1 | 2",
            "[ a > b ]",
            "grep a|b c",
            "make",
        ] {
            assert_eq!(said(line), None, "{line}");
        }
        let for_shell = ["sh", "-c", "ls | wc", "|"].map(str::to_owned);
        assert_eq!(lone_operator(&for_shell), None);
    }
}
