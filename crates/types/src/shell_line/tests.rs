//! Which commands are lines for a shell, and how far a line is read.

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

#[test]
fn the_line_is_found_only_where_it_is_certain() {
    for (argv, line) in [
        (&["sh", "-c", "ls"][..], Some("ls")),
        (&["/bin/bash", "-lc", "a && b"], Some("a && b")),
        (&["bash", "-euo", "pipefail", "-c", "ls"], Some("ls")),
        (&["bash", "-o", "pipefail", "-c", "ls"], Some("ls")),
        (&["env", "A=b", "bash", "-xc", "ls"], Some("ls")),
        (&["timeout", "5", "nice", "sh", "-c", "ls"], Some("ls")),
        (&["sudo", "-u", "sh", "-c", "staff", "bash", "-c", "rm x"], None),
        (&["xargs", "sh", "-c", "ls {}"], None),
        (&["find", ".", "-exec", "sh", "-c", "ls {}", ";"], None),
        (&["fish", "-c", "ls"], None),
        (&["bash", "-c", "-e", "ls"], None),
        (&["bash", "-O", "extglob", "-c", "ls"], None),
        (&["bash", "--norc", "-c", "ls"], None),
        (&["watch", "ls"], None),
        (&["env", "-S", "sh -c ls"], None),
    ] {
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(line_for_shell(&argv), line, "{argv:?}");
        assert!(is_shell_line(&argv), "{argv:?}");
    }
}

#[test]
fn a_line_is_read_as_far_as_it_is_certain() {
    for (line, commands, unread) in [
        ("ls", &["ls"][..], ""),
        ("cd src && cargo test 2>&1 | tail -5", &["cd src", "cargo test 2>&1", "tail -5"], ""),
        ("a; b & c || d |& e\nf", &["a", "b", "c", "d", "e", "f"], ""),
        ("echo 'a; b' \"c | d\" e\\;f", &["echo 'a; b' \"c | d\" e\\;f"], ""),
        ("A=1 make > out.txt &> all # then; rm", &["A=1 make > out.txt &> all"], ""),
        ("echo $HOME \"$A\" x#y", &["echo $HOME \"$A\" x#y"], ""),
        ("echo one && echo $(rm x)", &["echo one"], "a command substitution"),
        ("echo one; echo \"`rm x`\"", &["echo one"], "a command substitution"),
        ("echo ${A:-$(rm x)}", &[], "an expansion in braces"),
        ("a; (b; c)", &["a"], "a group"),
        ("a; { b; }", &["a"], "`{` begins more"),
        ("a; for x in *; do rm $x; done", &["a"], "`for` begins more"),
        ("! rm x", &[], "`!` begins more"),
        ("a\ncat <<E\nrm\nE", &["a"], "a here-document"),
        ("a; $X y", &["a"], "a variable or a pattern"),
        ("a; A=1 /bin/r? y", &["a"], "a variable or a pattern"),
        ("2>/dev/null > x $X", &[], "a variable or a pattern"),
        ("a; eval b", &["a"], "`eval` reads a line"),
        ("a | 'ev'al b", &["a"], "`eval` reads a line"),
        ("a; bash -c 'b; c'", &["a"], "`bash` reads a line"),
        ("a | xargs sh -c 'rm'", &["a"], "`xargs` reads a line"),
        ("a; echo $'b'", &["a"], "a quote with escapes"),
        ("a; echo 'b", &["a"], "a quote is not closed"),
        ("a \\\n  b", &["a \\\n  b"], ""),
    ] {
        let read = read_shell_line(line);
        assert_eq!(read.commands, commands, "{line}");
        let told = read.unread.unwrap_or_default();
        assert!(told.contains(unread) && told.is_empty() == unread.is_empty(), "{line}: {told}");
    }
    let many = read_shell_line(&"a;".repeat(40));
    assert_eq!((many.commands.len(), many.unread.is_some()), (32, true));
}

proptest! {
    #[test]
    fn what_is_listed_is_the_text_of_the_line_in_order(line in "[a-c '\"\\\\;&|<>#$(){}\n=1]{0,40}") {
        let mut rest = line.as_str();
        for command in read_shell_line(&line).commands {
            let at = rest.find(&command);
            prop_assert!(at.is_some(), "{command:?} of {line:?}");
            rest = &rest[at.unwrap_or_default() + command.len()..];
        }
    }


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

#[test]
fn the_words_of_a_line_are_those_that_its_programs_receive_and_say_where_they_lie() {
    let line = r#"grep -rn 'a b' --include=*.py x"$HOME"y "\n" 2>/dev/null > out | wc -l"#;
    let read = |line: &str| -> Option<Vec<String>> {
        let told = |word: &LineWord| {
            let doubt = if word.is_certain() { String::new() } else { format!(" ({})", word.certain) };
            format!("{}{doubt} = {}", word.text, &line[word.span.clone()])
        };
        Some(read_line_words(line)?.iter().flatten().map(told).collect())
    };
    assert_eq!(
        read(line).unwrap(),
        [
            "grep = grep",
            "-rn = -rn",
            "a b = 'a b'",
            "--include=*.py (10) = --include=*.py",
            r#"x$HOMEy (0) = x"$HOME"y"#,
            r#"n (0) = "\n""#,
            "wc = wc",
            "-l = -l",
        ]
    );
    assert_eq!(read("find . -name {} \\( -a 'x$' \\)").unwrap()[3], "{} = {}");
    assert_eq!(read("grep \"a$\"").unwrap()[1], "a$ = \"a$\"");
    for unread in ["echo $(ls)", "(ls)", "echo 'a", "eval ls", "sh -c ls", "cat <<x"] {
        assert_eq!(read(unread), None, "{unread}");
    }
}
