//! What a person is shown of a command before it runs.
//!
//! Owns the spelling: every word can be told from its neighbours, and no character hides another.

use std::fmt::Write;

use crate::plan::Plan;

/// Returns a command in one line, as a shell would read it.
pub(crate) fn line(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// Returns all that is bound, one thing a line.
pub(crate) fn preview(plan: &Plan) -> String {
    let mut text = format!("$ {}\n\n", line(&plan.argv));
    let mut tell = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    tell("in", &plan.folder.display().to_string());
    tell("program", &format!("{} (SHA-256 {})", plan.program.path.display(), short(&plan.program.sha256)));
    if let Some(script) = &plan.script {
        tell("script", &format!("{} (SHA-256 {})", script.path.display(), short(&script.sha256)));
    }
    tell("may change", "the workspace");
    tell("network", "none");
    tell("environment", &plan.environment.join(" "));
    text
}

/// Says what an approval of it does not bind.
pub(crate) fn unbound(plan: &Plan) -> String {
    const BUILDERS: [&str; 10] =
        ["make", "ninja", "cargo", "npm", "yarn", "pnpm", "just", "task", "gradle", "mvn"];
    let name = plan.program.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if BUILDERS.contains(&name) {
        format!("what `{name}` runs is read from the workspace when it runs")
    } else {
        "what the program reads while it runs".to_owned()
    }
}

fn short(sha256: &str) -> &str {
    sha256.get(..16).unwrap_or(sha256)
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.chars().all(|c| !c.is_control() && (c.is_ascii() || c.is_alphanumeric())) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    format!("$'{}'", word.escape_default())
}

#[cfg(test)]
mod tests {
    use super::*;

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
