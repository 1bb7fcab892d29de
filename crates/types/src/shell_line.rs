//! Whether the words of a command hand a line to a shell, and which commands that line has.
//!
//! Owns the shells, the programs that start another one out of their own words, and what their options look like. Pure;
//! it reads words and knows no file: a shell under a name of its own is not seen. Invariants: in doubt whether a word is
//! an option or its value, it is taken for what makes it a line; a line is only read as far as its meaning is certain.
//! Begin at [`is_shell_line`].

mod reader;

pub use reader::{LineWord, ShellCommands, read_line_words, read_shell_line};

/// Shells that take a line after `-c`.
const SHELLS: [&str; 25] = [
    "ash", "bash", "csh", "dash", "elvish", "fish", "hush", "ksh", "lksh", "loksh", "mksh", "nu", "oksh",
    "osh", "pdksh", "posh", "rbash", "rksh", "rzsh", "sh", "tcsh", "xonsh", "yash", "ysh", "zsh",
];
/// Shells whose lines are read alike, as far as [`read_shell_line`] reads them.
const POSIX_SHELLS: [&str; 10] = ["ash", "bash", "dash", "hush", "ksh", "mksh", "rbash", "sh", "yash", "zsh"];
/// Programs that start the words behind them as they are, where no option stands between.
const PLAIN_WRAPPERS: [&str; 6] = ["env", "nice", "nohup", "setsid", "time", "timeout"];
/// Letters of options of these shells that take no value and do not change how a line is read.
const PLAIN_LETTERS: &str = "ceiluvx";
/// Programs that start another one that stands in their own words.
const STARTERS: [&str; 37] = [
    "busybox",
    "bwrap",
    "catchsegv",
    "cgexec",
    "chpst",
    "chroot",
    "chrt",
    "command",
    "dbus-run-session",
    "doas",
    "env",
    "exec",
    "fakeroot",
    "firejail",
    "gdb",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "nsenter",
    "numactl",
    "pkexec",
    "prlimit",
    "setarch",
    "setpriv",
    "setsid",
    "stdbuf",
    "strace",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "unshare",
    "valgrind",
    "xargs",
];
/// How the names of such programs begin, where the rest tells a kind of machine.
const STARTERS_BEGINS: [&str; 4] = ["ld-linux", "ld-musl", "ld.so", "qemu-"];
/// Programs that hand what follows their own `-c` to a shell, and may start what stands in their words.
const LINE_TAKERS: [&str; 5] = ["flock", "runuser", "script", "sg", "su"];
/// Programs that hand all their words to a shell.
const LINE_MAKERS: [&str; 3] = ["hyperfine", "parallel", "watch"];
/// Programs that start what follows one of [`EXECS`].
const FINDERS: [&str; 3] = ["fd", "fdfind", "find"];
const EXECS: [&str; 8] = ["--exec", "--exec-batch", "-X", "-exec", "-execdir", "-ok", "-okdir", "-x"];
/// Long options that a line follows; they may be cut short.
const LONG_LINES: [&str; 4] = ["command", "commands", "execute", "init-command"];
/// Long options that stand alone. Bash takes them behind one dash, too.
const LONG_FLAGS: [&str; 16] = [
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "help",
    "interactive",
    "login",
    "no-config",
    "no-execute",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "private",
    "restricted",
    "verbose",
    "version",
];
/// Long options of Bash that a file follows.
const BASH_FILES: [&str; 2] = ["init-file", "rcfile"];

/// Returns whether a command is a line for a shell, by itself or by way of a program that starts another one.
#[must_use]
pub fn is_shell_line(argv: &[String]) -> bool {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    hands_a_line(&words)
}

/// Returns the line that a POSIX shell is handed; `None` where it is not certain which word that is.
#[must_use]
pub fn line_for_shell(argv: &[String]) -> Option<&str> {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let at = words.iter().position(|word| SHELLS.contains(&name_of(word)))?;
    let shell = name_of(words[at]);
    let is_understood = |word: &&str| {
        let is_value = word.starts_with(|c: char| c.is_ascii_digit());
        PLAIN_WRAPPERS.contains(&name_of(word)) || is_value || is_assignment(word)
    };
    if !words[..at].iter().all(is_understood) || !POSIX_SHELLS.contains(&shell) {
        return None;
    }
    let mut words = words[at + 1..].iter().copied();
    loop {
        let letters = words.next()?.strip_prefix('-')?;
        let options = letters.chars().filter(|letter| *letter == 'o').count();
        let is_plain = |letter| PLAIN_LETTERS.contains(letter) || (letter == 'o' && options == 1);
        if letters.is_empty() || !letters.chars().all(is_plain) {
            return None;
        }
        if options == 1 {
            words.next().filter(|value| !value.starts_with(['-', '+']))?;
        }
        if letters.contains('c') {
            return words.next().filter(|line| !line.starts_with(['-', '+']));
        }
    }
}

/// Whether a word sets a variable.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_letter)
}

fn hands_a_line(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let name = name_of(first);
    let is = |list: &[&str]| list.contains(&name);
    if is(&SHELLS) {
        takes_line(name, rest)
    } else if is(&LINE_MAKERS) {
        true
    } else if is(&FINDERS) {
        let executed = rest.iter().enumerate().filter(|(_, word)| EXECS.contains(word));
        executed.into_iter().any(|(at, _)| hands_a_line(&rest[at + 1..]))
    } else if is(&LINE_TAKERS) {
        rest.iter().any(|word| is_line_option("", word)) || starts_one(rest)
    } else if name == "env" {
        split_by_env(rest).iter().any(|split| starts_one(split)) || starts_one(rest)
    } else if is(&STARTERS) || STARTERS_BEGINS.iter().any(|begin| name.starts_with(begin)) {
        starts_one(rest)
    } else {
        false
    }
}

/// Whether some word is a program that is handed a line by those behind it. What stands before it is not understood: each
/// starter has options of its own.
fn starts_one(words: &[&str]) -> bool {
    let starts = |word: &str| {
        let name = name_of(word);
        let lists: [&[&str]; 5] = [&SHELLS, &LINE_MAKERS, &FINDERS, &LINE_TAKERS, &["env"]];
        lists.into_iter().any(|list| list.contains(&name))
    };
    words.iter().enumerate().any(|(at, word)| starts(word) && hands_a_line(&words[at..]))
}

/// The name of a program without its folder, and without a version or a kind at its end.
fn name_of(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or_default();
    let plain = [".exe", ".static", "-static", ".distrib"].into_iter().find_map(|end| name.strip_suffix(end));
    let name = plain.unwrap_or(name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if SHELLS.contains(&stem) { stem } else { name }
}

/// The words that `env -S` makes of one.
fn split_by_env<'w>(words: &[&'w str]) -> Vec<Vec<&'w str>> {
    let value_of = |at: usize, word: &'w str| {
        let next = || words.get(at + 1).copied();
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            return (!name.is_empty() && "split-string".starts_with(name))
                .then(|| value.or_else(next))
                .flatten();
        }
        let (_, value) = word.strip_prefix('-')?.split_once('S')?;
        if value.is_empty() { next() } else { Some(value) }
    };
    let split = |text: &'w str| -> Vec<&'w str> {
        text.split(|c: char| c.is_whitespace() || "\"'\\".contains(c))
            .filter(|word| !word.is_empty())
            .collect()
    };
    words.iter().enumerate().filter_map(|(at, word)| value_of(at, word)).map(split).collect()
}

/// Whether a shell is handed a line by the words behind its name.
fn takes_line(shell: &str, words: &[&str]) -> bool {
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        if matches!(word, "-" | "--") || !word.starts_with(['-', '+']) {
            return false;
        }
        if is_line_option(shell, word) {
            return true;
        }
        let has_value = match long_option(shell, word) {
            Some(long) => !long.contains('=') && !LONG_FLAGS.contains(&long),
            None => word.contains(value_letters(shell)),
        };
        if has_value {
            // What begins like an option is read as one, whatever the shell makes of it.
            words.next_if(|value| !value.starts_with(['-', '+']));
        }
    }
    false
}

fn is_line_option(shell: &str, word: &str) -> bool {
    if let Some(long) = long_option(shell, word) {
        let name = long.split('=').next().unwrap_or_default();
        return !name.is_empty() && LONG_LINES.iter().any(|line| line.starts_with(name));
    }
    let letters: &[char] = match shell {
        "fish" => &['c', 'C'],
        "nu" => &['c', 'e'],
        _ => &['c'],
    };
    word.strip_prefix(['-', '+']).is_some_and(|cluster| cluster.contains(letters))
}

fn long_option<'w>(shell: &str, word: &'w str) -> Option<&'w str> {
    word.strip_prefix("--").or_else(|| {
        let name = word.strip_prefix('-')?;
        let known = LONG_FLAGS.contains(&name) || BASH_FILES.contains(&name);
        (matches!(shell, "bash" | "rbash") && known).then_some(name)
    })
}

/// Letters of options that a value follows.
fn value_letters(shell: &str) -> &'static [char] {
    match shell {
        "fish" => &['d', 'D', 'f', 'o', 'p'],
        _ => &['o', 'O'],
    }
}

#[cfg(test)]
mod tests;
