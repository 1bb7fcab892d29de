//! Reads what is typed as a command: `ls -la`, `run make test`, `cat a | grep b`.
//!
//! Owns the table of programs and the splitting of a line into words. A line that only a shell understands stays a
//! line; it is never taken apart here.

use super::intent::{ClauseIntent, IntendedCall, MissingAbility, ToolGoal, run_call};
use super::lexicon::holds;

/// Programs whose names are not words of a sentence.
const PROGRAMS: &[&str] = &[
    "git",
    "cargo",
    "rustc",
    "rustup",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "node",
    "deno",
    "bun",
    "tsc",
    "python",
    "python3",
    "pip",
    "pip3",
    "pytest",
    "poetry",
    "uv",
    "ruff",
    "mypy",
    "ls",
    "cat",
    "wc",
    "grep",
    "egrep",
    "rg",
    "sed",
    "awk",
    "echo",
    "printf",
    "pwd",
    "mkdir",
    "rmdir",
    "rm",
    "mv",
    "cp",
    "ln",
    "chmod",
    "chown",
    "whoami",
    "uname",
    "env",
    "df",
    "du",
    "ps",
    "tar",
    "gzip",
    "gunzip",
    "unzip",
    "zip",
    "curl",
    "wget",
    "ssh",
    "scp",
    "rsync",
    "docker",
    "kubectl",
    "cmake",
    "gcc",
    "cc",
    "g++",
    "clang",
    "javac",
    "java",
    "mvn",
    "gradle",
    "ruby",
    "perl",
    "php",
    "lua",
    "sh",
    "bash",
    "zsh",
    "uniq",
    "xargs",
    "seq",
    "basename",
    "dirname",
    "realpath",
    "sha256sum",
    "md5sum",
    "hexdump",
    "xxd",
    "jq",
    "hostname",
    "uptime",
    "sqlite3",
    "gofmt",
    "rustfmt",
    "prettier",
    "eslint",
    "black",
    "clippy",
    "ninja",
    "meson",
    "bazel",
    "go",
    "nproc",
    "tree",
    "tac",
    "stat",
    "touch",
    "nl",
    "od",
    "strings",
    "ldd",
    "printenv",
];
/// Programs whose names are words, too: only with arguments that no sentence has.
const AMBIGUOUS: &[&str] = &[
    "make", "find", "head", "tail", "sort", "cut", "diff", "file", "date", "time", "test", "which", "id",
    "tee", "paste", "join", "split", "top", "less", "more", "kill", "sleep", "true", "false", "yes", "just",
    "task", "comm", "patch", "free", "who", "cal", "history", "type", "watch", "strip", "install",
];
/// Of these, what is a command when nothing follows.
const ALONE: &[&str] = &["make", "date", "id", "true", "false", "free", "cal"];
/// What `make` is usually asked for.
const TARGETS: &[&str] = &[
    "all",
    "build",
    "test",
    "tests",
    "check",
    "clean",
    "install",
    "run",
    "lint",
    "format",
    "fmt",
    "docs",
    "doc",
    "dist",
    "release",
    "debug",
    "help",
    "coverage",
    "bench",
    "dev",
    "serve",
    "distclean",
    "deps",
    "package",
];
/// Words of sentences that are not arguments.
const ENGLISH: &[&str] = &[
    "a", "an", "the", "to", "into", "of", "for", "with", "that", "this", "my", "me", "it", "is", "are",
    "and", "from", "called", "named", "at", "on", "how", "what", "why", "do", "does", "can", "you", "please",
    "i", "we", "in", "then", "not", "be", "if", "so", "them", "your", "our", "about", "when", "or", "by",
];
/// Programs that reach other machines in all that they do.
const REMOTE: &[&str] = &[
    "ssh", "scp", "wget", "rsync", "ping", "telnet", "ftp", "sftp", "nc", "brew", "apt", "apt-get", "dnf",
    "yum", "pacman", "curl",
];
/// Of other programs, the first argument that does.
const REMOTE_VERBS: &[(&str, &[&str])] = &[
    ("git", &["push", "pull", "fetch", "clone", "ls-remote"]),
    ("npm", &["install", "i", "ci", "publish", "update", "login", "audit"]),
    ("yarn", &["add", "install", "publish"]),
    ("pnpm", &["add", "install", "publish"]),
    ("pip", &["install", "download"]),
    ("pip3", &["install", "download"]),
    ("cargo", &["install", "publish", "add", "update", "search", "login"]),
    ("docker", &["pull", "push", "login"]),
    ("go", &["get", "install"]),
    ("rustup", &["update", "install"]),
    ("gem", &["install"]),
];
/// Who has the rights of another user, or ends the machine.
const FORBIDDEN: &[&str] = &[
    "sudo",
    "su",
    "doas",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "mkfs",
    "mkfs.ext4",
    "fdisk",
    "dd",
    "killall",
    "pkill",
];
/// What git tells without changing anything.
const GIT_READS: &[&str] =
    &["status", "log", "diff", "show", "blame", "ls-files", "rev-parse", "describe", "grep"];
/// Who runs a file, by its extension.
const INTERPRETERS: &[(&str, &str)] = &[
    ("py", "python3"),
    ("sh", "sh"),
    ("bash", "bash"),
    ("js", "node"),
    ("mjs", "node"),
    ("rb", "ruby"),
    ("pl", "perl"),
    ("php", "php"),
    ("lua", "lua"),
];

/// A line as a shell would split it.
#[derive(Debug, PartialEq, Eq)]
struct ShellLine {
    argv: Vec<String>,
    /// Whether only a shell understands it: pipes, redirections, several commands, variables.
    is_shells: bool,
    /// Whether it has unquoted `*` or `?`.
    has_patterns: bool,
}

/// Returns the command that runs a file, by its name.
pub(super) fn interpreted(path: &str) -> Option<[String; 2]> {
    let (_, extension) = path.rsplit_once('.')?;
    let (_, program) = INTERPRETERS.iter().find(|(known, _)| *known == extension)?;
    Some([(*program).to_owned(), path.to_owned()])
}

/// Returns the call that runs a file with the program that its name asks for.
pub(super) fn run_file_call(path: &str) -> IntendedCall {
    match interpreted(path) {
        Some(argv) => run_call(argv),
        None => {
            let name = if path.contains('/') { path.to_owned() } else { format!("./{path}") };
            run_call([name])
        }
    }
}

/// Reads a whole input that only a shell understands.
pub(super) fn shell_line(input: &str) -> Option<ClauseIntent> {
    let (text, _) = without_run(input);
    let line = split(text)?;
    let first = line.argv.first()?.as_str();
    if let Some(lack) = refused(&line.argv) {
        return Some(ClauseIntent::Cannot(lack));
    }
    let is_shell = holds(&["sh", "bash", "zsh"], first)
        && line.argv.get(1).is_some_and(|flag| holds(&["-c", "-lc"], flag));
    if is_shell && !line.is_shells {
        return Some(ClauseIntent::Goal(ToolGoal::run(line.argv)));
    }
    let keyword = holds(&["for", "while", "until", "if", "export", "source", "("], first) && line.is_shells;
    let assigns = first.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
    });
    let is_program =
        is_definite(first) || (holds(AMBIGUOUS, first) && !line.argv.iter().any(|word| holds(ENGLISH, word)));
    let expands = line.has_patterns && is_definite(first) && !holds(&["ls", "grep", "rg"], first);
    let needs_shell =
        (line.is_shells || expands) && is_program || keyword || (assigns && line.argv.len() > 1);
    needs_shell.then(|| ClauseIntent::Goal(ToolGoal::Shell(text.to_owned())))
}

/// Reads a command that is one program and its arguments.
pub(super) fn command(text: &str) -> Option<ClauseIntent> {
    let (text, was_run) = without_run(text);
    let line = split(text)?;
    let (first, rest) = line.argv.split_first()?;
    if let Some(lack) = refused(&line.argv) {
        return Some(ClauseIntent::Cannot(lack));
    }
    if first == "cd" {
        return Some(ClauseIntent::Cannot(MissingAbility::Folder));
    }
    if !is_command(first, rest, was_run) || line.is_shells {
        return None;
    }
    if line.has_patterns {
        return Some(ClauseIntent::Goal(ToolGoal::Shell(text.to_owned())));
    }
    Some(match rest {
        [verb, options @ ..] if first == "git" && holds(GIT_READS, verb) && !was_run && plain(options) => {
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            ClauseIntent::Goal(ToolGoal::git(verb, &options, &[]))
        }
        _ => match interpreted(first).filter(|_| rest.is_empty() && first.contains('.')) {
            Some(argv) => ClauseIntent::Goal(ToolGoal::run(argv)),
            None => ClauseIntent::Goal(ToolGoal::run(line.argv)),
        },
    })
}

/// Returns whether all options are long or short flags: what else they may be is for git's own program to see.
fn plain(options: &[String]) -> bool {
    options.iter().all(|option| option.starts_with('-') || option.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns whether a word names a program and is not a word of a sentence.
pub(super) fn is_definite(program: &str) -> bool {
    holds(PROGRAMS, program) || (program.starts_with("./") && program.len() > 2)
}

fn is_command(first: &str, rest: &[String], was_run: bool) -> bool {
    let speaks = holds(&["echo", "printf", "git"], first) && rest.iter().any(|word| word.contains(' '))
        || matches!(first, "echo" | "printf");
    let english = rest.iter().any(|word| holds(ENGLISH, &word.to_lowercase()));
    if is_definite(first) {
        return speaks || !english;
    }
    if english {
        return false;
    }
    let shelllike = |word: &String| {
        word.starts_with('-')
            || word.contains(['/', '.', '='])
            || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    if holds(AMBIGUOUS, first) {
        let targets = first == "make" && rest.iter().all(|word| holds(TARGETS, word) || shelllike(word));
        let flags =
            first != "make" && rest.iter().any(|word| word.starts_with('-')) && rest.iter().any(shelllike);
        return was_run
            || (rest.is_empty() && holds(ALONE, first))
            || (!rest.is_empty() && (targets || flags));
    }
    let is_file = first.contains('/') || interpreted(first).is_some();
    let is_name = first.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./+".contains(&byte));
    let is_plain = rest.iter().all(shelllike);
    was_run && is_name && is_plain && (is_file || !rest.is_empty())
}

/// Returns why a command is not proposed at all.
fn refused(argv: &[String]) -> Option<MissingAbility> {
    let (first, rest) = argv.split_first()?;
    let everything =
        ["/", "/*", "~", "~/", "*", ".", "./", "./*", "..", "../", "$HOME", "--no-preserve-root"];
    let recursive = rest.iter().any(|word| word.starts_with('-') && word.contains(['r', 'R']));
    let all = rest.iter().any(|word| holds(&everything, word));
    if holds(FORBIDDEN, first) && argv.len() > 1
        || (holds(&["rm", "chmod", "chown"], first) && recursive && all)
    {
        return Some(MissingAbility::Danger);
    }
    let reaches = REMOTE_VERBS
        .iter()
        .any(|(program, verbs)| first == program && rest.first().is_some_and(|verb| holds(verbs, verb)));
    // A page is fetched by a tool of its own.
    let page = holds(&["curl", "wget"], first) && rest.iter().any(|word| word.starts_with("http"));
    let remote = holds(REMOTE, first) && rest.len() == 1
        || holds(&["apt", "apt-get", "brew"], first) && !rest.is_empty();
    let english = rest.iter().any(|word| holds(ENGLISH, &word.to_lowercase()));
    ((reaches || remote) && !page && !english).then_some(MissingAbility::Network)
}

/// Drops "run", "please" and the like around a command, and the marks of code.
fn without_run(input: &str) -> (&str, bool) {
    let mut text = input.trim();
    let mut was_run = false;
    let before = ["please ", "can you ", "could you ", "now ", "just ", "then "];
    let verbs = ["run ", "execute ", "start "];
    let nouns = [
        "the command ",
        "command ",
        "the shell command ",
        "this: ",
        "this command: ",
        "the program ",
        "this command ",
    ];
    loop {
        let lower = text.to_lowercase();
        if let Some(begin) = before.iter().find(|begin| lower.starts_with(**begin)) {
            text = text[begin.len()..].trim_start();
        } else if let Some(begin) = verbs.iter().find(|begin| lower.starts_with(**begin)).filter(|_| !was_run)
        {
            text = text[begin.len()..].trim_start();
            was_run = true;
        } else if let Some(begin) = nouns.iter().find(|begin| lower.starts_with(**begin)).filter(|_| was_run)
        {
            text = text[begin.len()..].trim_start();
        } else {
            break;
        }
    }
    for end in [" please", " for me", " now", " again", "."] {
        text = text.strip_suffix(end).filter(|_| end != "." || !text.ends_with(" .")).unwrap_or(text);
    }
    let marked = text.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    let marked = marked.or_else(|| text.strip_prefix('`').and_then(|inner| inner.strip_suffix('`')));
    let marked = marked.filter(|inner| !inner.contains('`'));
    (marked.unwrap_or(text).trim().trim_start_matches("$ "), was_run || marked.is_some())
}

/// Splits a line into words as a shell does; `None` where a quotation mark never ends.
fn split(text: &str) -> Option<ShellLine> {
    let mut line = ShellLine { argv: Vec::new(), is_shells: false, has_patterns: false };
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let into = word.get_or_insert_with(String::new);
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '\\' if c == '"' => into.push(chars.next()?),
                        inner => {
                            line.is_shells |= c == '"' && (inner == '$' || inner == '`');
                            into.push(inner);
                        }
                    }
                }
            }
            '\\' => word.get_or_insert_with(String::new).push(chars.next()?),
            ' ' | '\t' => line.argv.extend(word.take()),
            '|' | '&' | ';' | '<' | '>' | '`' | '$' | '\n' => {
                line.is_shells = true;
                word.get_or_insert_with(String::new).push(c);
            }
            c => {
                line.has_patterns |= matches!(c, '*' | '?') && !text.ends_with('?');
                word.get_or_insert_with(String::new).push(c);
            }
        }
    }
    line.argv.extend(word);
    Some(line)
}
