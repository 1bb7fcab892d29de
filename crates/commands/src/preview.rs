//! What a person is shown of a command before it runs.
//!
//! Owns which lines there are; how a word is spelled, `quoting` knows.

use std::borrow::Cow;
use std::fmt::Write;

use palyra_types::shell_line::{is_shell_line, line_for_shell, read_shell_line};

use crate::lone_operator::lone_operator;
use crate::plan::{BoundFile, CommandPlan};
use crate::quoting::{quoted, quoted_path};

/// Files that a command names and that are shown each in a line, at most.
const FILES_SHOWN_MAX: usize = 12;

/// Returns a command in one line, as a shell would read it.
pub(crate) fn line(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// Returns a command and its folder in words.
pub(crate) fn summary(plan: &CommandPlan) -> String {
    format!("runs `{}` in {}", line(&plan.argv), quoted_path(&plan.folder))
}

/// Returns all that is bound: the command, its shell line, whom it reaches and with which secrets; behind the last empty
/// line the details, one thing a line.
pub(crate) fn preview(plan: &CommandPlan) -> String {
    let mut text = format!("$ {}\n\n", line(&plan.argv));
    text.push_str(&shell_line(&plan.argv));
    let mut reached = String::new();
    if !plan.hosts.is_empty() {
        tell(&mut reached, "network", &format!("only {}", plan.hosts.join(" ")));
    }
    if !plan.credentials.is_empty() {
        tell(&mut reached, "secrets", &format!("{}, added on the way", plan.credentials.join(" ")));
    }
    if !reached.is_empty() {
        text.push_str(&reached);
        text.push('\n');
    }
    details(&mut text, plan);
    text
}

fn tell(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "{name:<12}{value}");
}

fn details(text: &mut String, plan: &CommandPlan) {
    let mut tell = |name: &str, value: &str| tell(text, name, value);
    tell("in", &quoted_path(&plan.folder));
    tell("program", &program(plan));
    if let Some(script) = &plan.script {
        tell("script", &file(script));
    }
    for named in plan.files.iter().take(FILES_SHOWN_MAX) {
        tell("bound file", &file(named));
    }
    if plan.files.len() > FILES_SHOWN_MAX {
        tell("bound file", &format!("{} more, checked likewise", plan.files.len() - FILES_SHOWN_MAX));
    }
    if plan.read_only.iter().any(|folder| folder == ".") {
        tell("may change", "nothing");
    } else {
        tell("may change", "the workspace");
        plan.read_only.iter().for_each(|folder| tell("read-only", &quoted(folder)));
    }
    if plan.hosts.is_empty() {
        tell("network", "none");
    }
    tell("variables", &plan.environment.join(" "));
}

/// Returns the line that a shell is handed, as it is, and its commands as far as they can be read; for other commands a
/// note about signs of a shell, where there are some.
fn shell_line(argv: &[String]) -> String {
    if !is_shell_line(argv) {
        let note = lone_operator(argv).map(|note| format!("{:<12}{note}\n\n", "note"));
        return note.unwrap_or_default();
    }
    let Some(line) = line_for_shell(argv) else {
        return "shell line  could not be read further: it is not certain which word is the line\n\n"
            .to_owned();
    };
    let mut text = String::new();
    let mut list = |name: &str, entries: &[String]| {
        for (at, entry) in entries.iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            let _ = writeln!(text, "{name:<12}{}", visible(entry));
        }
    };
    let lines: Vec<String> = line.lines().map(str::to_owned).collect();
    list("shell line", &lines);
    let read = read_shell_line(line);
    let unread = read.unread.map(|reason| format!("could not be read further: {reason}"));
    let commands: Vec<String> = read.commands.into_iter().chain(unread).collect();
    list("commands", &commands);
    text.push('\n');
    text
}

/// Returns a part of a line for the person who reads it: as it is, unless a character could hide or steer something.
fn visible(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !c.is_control() && (c.is_ascii() || c.is_alphanumeric());
    if text.chars().all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("$'{}'", text.escape_default()))
    }
}

/// Says what an approval of it does not bind.
pub(crate) fn unbound(plan: &CommandPlan) -> String {
    const BUILDERS: [&str; 10] =
        ["make", "ninja", "cargo", "npm", "yarn", "pnpm", "just", "task", "gradle", "mvn"];
    let name = plan.program.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mut text = if is_shell_line(&plan.argv) {
        "the programs that this line starts, and files they read".to_owned()
    } else if BUILDERS.contains(&name) {
        format!("includes, recipes, scripts and dependencies that `{name}` reads and runs")
    } else {
        "files that this program reads while it runs".to_owned()
    };
    for path in &plan.unbound {
        let _ = write!(text, "; {} (too large, or one of too many)", quoted_path(path));
    }
    text
}

/// Returns the program; one that was typed without a folder is not always the one that the user's own shell finds.
fn program(plan: &CommandPlan) -> String {
    let is_searched = plan.argv.first().is_some_and(|typed| !typed.contains('/'));
    let found = if is_searched { "; found by the PATH of commands, not by your shell's" } else { "" };
    format!("{} (SHA-256 {}{found})", quoted_path(&plan.program.path), short(&plan.program.sha256))
}

fn file(file: &BoundFile) -> String {
    format!("{} (SHA-256 {})", quoted_path(&file.path), short(&file.sha256))
}

fn short(sha256: &str) -> &str {
    sha256.get(..16).unwrap_or(sha256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanTier;

    fn preview_of(argv: &[&str]) -> String {
        let bound = |path: &str| BoundFile { path: path.into(), sha256: "0".repeat(64) };
        let plan = CommandPlan {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            credentials: Vec::new(),
            hosts: Vec::new(),
            environment: Vec::new(),
            files: Vec::new(),
            unbound: Vec::new(),
            read_only: Vec::new(),
            folder: "/desk".into(),
            program: bound("/bin/sh"),
            script: None,
            tier: PlanTier::Isolated,
        };
        preview(&plan)
    }

    #[test]
    fn a_line_for_a_shell_is_shown_as_it_is_with_its_commands() {
        let shown = preview_of(&["bash", "-lc", "cd src && cargo test\nfor x in *; do rm $x; done"]);
        let lines: Vec<&str> = shown.lines().skip(2).take(5).collect();
        assert_eq!(
            lines,
            [
                "shell line  cd src && cargo test",
                "            for x in *; do rm $x; done",
                "commands    cd src",
                "            cargo test",
                "            could not be read further: `for` begins more than one command",
            ]
        );
        let shown = preview_of(&["find", ".", "-exec", "sh", "-c", "rm {}", ";"]);
        assert!(shown.contains("shell line  could not be read further: it is not certain"), "{shown}");
        let hidden = preview_of(&["sh", "-c", "echo \u{202e}; rm x\u{1b}[2J"]);
        assert!(!hidden.contains(['\u{1b}', '\u{202e}']), "{hidden}");
        let lone = preview_of(&["ls", "|", "wc"]);
        let note =
            "\n\nnote        `|` is an argument here: no shell reads it; a pipe needs `sh -c '...'`\n\n";
        assert!(lone.contains(note), "{lone}");
        // The control: what is no line has no such rows.
        assert!(!preview_of(&["cargo", "test"]).contains("shell line"));
    }

    #[test]
    fn names_of_files_add_no_line_and_steer_nothing() {
        let bound = |path: &str| BoundFile { path: path.into(), sha256: "0".repeat(64) };
        let plan = CommandPlan {
            argv: vec!["sh".to_owned()],
            credentials: Vec::new(),
            hosts: Vec::new(),
            environment: Vec::new(),
            files: vec![bound("/desk/a\nnetwork     full")],
            unbound: Vec::new(),
            folder: "/desk/x\nnetwork     full".into(),
            program: bound("/desk/\u{1b}[2Jsh"),
            read_only: vec!["src".to_owned(), "a\nnetwork     full".to_owned()],
            script: Some(bound("/desk/\u{202e}gnp")),
            tier: PlanTier::Isolated,
        };
        let preview = preview(&plan);
        assert!(!preview.contains(['\u{1b}', '\u{202e}']), "{preview}");
        let told: Vec<&str> = preview.lines().filter(|line| line.starts_with("network")).collect();
        assert_eq!(told, ["network     none"]);
        assert!(preview.contains("\nread-only   src\n"), "{preview}");
        let (hosts, credentials) = (vec!["a.example".to_owned()], vec!["tok@a.example".to_owned()]);
        let preview = super::preview(&CommandPlan { hosts, credentials, ..plan });
        let lines = ["network     only a.example", "secrets     tok@a.example, added on the way"];
        assert!(lines.iter().all(|line| preview.lines().any(|told| told == *line)), "{preview}");
    }

    #[test]
    fn words_can_be_told_apart_and_hide_nothing() {
        let rows = [
            (vec!["ls", "-l", "src/a.rs"], "ls -l src/a.rs"),
            (vec!["echo", "two words", ""], "echo 'two words' ''"),
            (vec!["echo", "it's"], r"echo 'it'\''s'"),
            (vec!["rm", "a\u{202e}b", "x\ny"], r"rm $'a\u{202e}b' $'x\ny'"),
            (vec!["sh", "-c", "a; b"], "sh -c 'a; b'"),
        ];
        for (words, told) in rows {
            let argv: Vec<String> = words.into_iter().map(str::to_owned).collect();
            assert_eq!(line(&argv), told);
        }
    }
}
