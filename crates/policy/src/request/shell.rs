//! Whether the words of a command hand a line to a shell.
//!
//! Owns the shells, the programs that start another one out of their own words, and what their options look like. Pure;
//! it reads words and knows no file: a shell under a name of its own is not seen. Invariant: in doubt whether a word is
//! an option or its value, it is taken for what makes it a line.
//! Begin at [`is_shell_line`].

/// Shells that take a line after `-c`.
const SHELLS: [&str; 25] = [
    "ash", "bash", "csh", "dash", "elvish", "fish", "hush", "ksh", "lksh", "loksh", "mksh", "nu", "oksh",
    "osh", "pdksh", "posh", "rbash", "rksh", "rzsh", "sh", "tcsh", "xonsh", "yash", "ysh", "zsh",
];
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
pub(crate) fn is_shell_line(argv: &[String]) -> bool {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    hands_a_line(&words)
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_line(argv: &[&str]) -> bool {
        hands_a_line(argv)
    }

    #[test]
    fn a_line_is_seen_however_a_shell_is_started() {
        for argv in [
            &["sh", "-c", "ls"][..],
            &["/bin/bash", "-lc", "ls"],
            &["bash", "-ce", "ls"],
            &["bash", "+c", "ls"],
            &["bash", "-e", "-o", "pipefail", "-c", "ls"],
            &["bash", "-eo", "pipefail", "-c", "ls"],
            &["bash", "-O", "extglob", "-c", "ls"],
            &["bash", "--norc", "-c", "ls"],
            &["bash", "-norc", "-c", "ls"],
            &["bash", "--rcfile", "x", "-c", "ls"],
            &["bash", "-rcfile", "x", "-c", "ls"],
            &["bash-5.2", "-c", "ls"],
            &["zsh", "-oerrexit", "-c", "ls"],
            &["zsh", "--emulate", "sh", "-c", "ls"],
            &["mksh", "-c", "ls"],
            &["/opt/tcsh", "-c", "ls"],
            &["fish", "--command=ls"],
            &["fish", "-d", "3", "-C", "ls"],
            &["fish", "--init-c", "ls"],
            &["nu", "-e", "ls"],
            &["busybox", "sh", "-c", "ls"],
            &["busybox-static", "sh", "-c", "ls"],
            &["env", "sh", "-c", "ls"],
            &["env", "A=b", "-i", "bash", "-xc", "ls"],
            &["env", "-S", "sh -c ls"],
            &["env", "-vSsh -c ls"],
            &["/usr/bin/env", "--split-string=sh -c ls"],
            &["nice", "-n", "5", "sh", "-c", "ls"],
            &["nice", "env", "-S", "sh -c ls"],
            &["timeout", "5", "sh", "-c", "ls"],
            &["xargs", "-I{}", "sh", "-c", "ls {}"],
            &["nice", "timeout", "5", "env", "dash", "-c", "ls"],
            &["/lib64/ld-linux-x86-64.so.2", "/bin/sh", "-c", "ls"],
            &["find", ".", "-exec", "sh", "-c", "ls {}", ";"],
            &["find", ".", "-execdir", "env", "sh", "-c", "ls {}", "+"],
            &["setsid", "find", ".", "-ok", "sh", "-c", "ls {}", ";"],
            &["flock", "lock", "-c", "ls"],
            &["script", "-qc", "ls", "out"],
            &["su", "me", "--command=ls"],
            &["watch", "ls"],
            &["nice", "watch", "ls"],
        ] {
            assert!(is_line(argv), "{argv:?}");
        }
    }

    #[test]
    fn a_script_and_its_words_are_no_line() {
        for argv in [
            &[][..],
            &["sh"],
            &["bash", "build.sh"],
            &["bash", "build.sh", "--x", "doc", "y"],
            &["bash", "build.sh", "-c", "doc"],
            &["bash", "-eu", "build.sh", "-c", "doc"],
            &["bash", "-euo", "pipefail", "build.sh", "-c", "doc"],
            &["bash", "--posix", "build.sh", "-c", "doc"],
            &["bash", "-norc", "build.sh", "-c"],
            &["bash", "--rcfile", "x", "build.sh", "-c"],
            &["bash", "--", "-c"],
            &["./build.sh", "-c", "doc"],
            &["tools/refresh", "-c"],
            &["grep", "-r", "bash", "-c", "notes"],
            &["cargo", "test", "--", "-c"],
            &["git", "-c", "a=b", "status"],
            &["env", "A=sh -c ls", "make"],
            &["/usr/bin/env"],
            &["nice", "bash", "build.sh", "-c", "doc"],
            &["timeout", "5", "sh", "build.sh"],
            &["find", ".", "-name", "sh", "-cmin", "5"],
            &["find", ".", "-exec", "grep", "-c", "x", "{}", ";"],
            &["flock", "lock", "make"],
            &["xargs", "-a", "names", "rm"],
        ] {
            assert!(!is_line(argv), "{argv:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_stands_before_it_a_line_is_a_line(
            before in prop::collection::vec("(nice|env|timeout|nohup|-n|5|A=b|--foreground)", 0..5),
            options in prop::collection::vec("(-e|-u|-x|--posix|-o pipefail)", 0..4),
        ) {
            let mut words: Vec<&str> = vec!["nice"];
            words.extend(before.iter().map(String::as_str));
            words.push("bash");
            words.extend(options.iter().flat_map(|option| option.split(' ')));
            prop_assert!(!is_line(&[&words[..], &["build.sh", "-c", "x"]].concat()));
            prop_assert!(is_line(&[&words[..], &["-c", "x"]].concat()));
        }
    }
}
