//! What shells and manuals are given is something they take.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::closed_outputs::shell;
use crate::home::Home;

/// Gives a program something on standard input; `None` where it is not installed.
fn take(program: &str, arguments: &[&str], input: &str) -> Option<(bool, String)> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => panic!("{program}: {error}"),
    };
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

#[test]
fn each_shell_takes_its_completions() {
    let home = Home::new();
    for (shell, mark) in [
        ("bash", "complete -F _palyra"),
        ("zsh", "#compdef palyra"),
        ("fish", "complete -c palyra"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer[palyra]"),
    ] {
        let script = home.palyra(&["admin", "completions", shell]).expect(0).out;
        assert!(script.contains(mark) && script.contains("tail"), "{shell}");
        let taken = match shell {
            "bash" | "zsh" => take(shell, &["-n"], &script),
            "fish" => take(shell, &["--no-execute"], &script),
            _ => None,
        };
        assert!(taken.as_ref().is_none_or(|(well, said)| *well && said.is_empty()), "{shell}: {taken:?}");
        assert!(shell != "bash" || taken.is_some(), "bash is needed here");
    }
    assert!(!home.state_dir().exists(), "no daemon is needed");
}

#[test]
fn bash_completes_verbs_and_options() {
    let script = Home::new().palyra(&["admin", "completions", "bash"]).expect(0).out;
    let completed = |words: &str, at: usize| {
        let ask = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD={at}; _palyra palyra '' ''; echo \"${{COMPREPLY[@]}}\""
        );
        take("bash", &["-s"], &ask).unwrap().1
    };
    assert!(completed("palyra ru", 1).contains("run runs"), "{}", completed("palyra ru", 1));
    assert!(completed("palyra runs ta", 2).contains("tail"));
    assert!(completed("palyra run --js", 2).contains("--json"));
}

#[test]
fn bash_completes_what_the_daemon_knows_and_starts_none() {
    let home = Home::new();
    let script = home.palyra(&["admin", "completions", "bash"]).expect(0).out;
    home.write("complete.bash", &script);
    let completed = |words: &str, at: usize| {
        let ask = format!(
            "source ./complete.bash; COMP_WORDS=({words}); COMP_CWORD={at}; _palyra_known palyra '' ''; \
             echo \"${{COMPREPLY[@]}}\""
        );
        shell(&home, &ask).expect(0).out
    };
    assert!(!completed("palyra runs show ''", 3).contains("ABC"));
    assert!(completed("palyra explain PLY-11", 2).contains("PLY-1103"));
    assert!(completed("palyra explain docs/po", 2).contains("docs/policy.md"));
    assert!(completed("palyra api ListR", 2).contains("ListRuns"));
    assert!(!home.state_dir().exists(), "no daemon is started to complete a line");
    home.palyra(&["run", "hello"]).expect(0);
    let listed = |verb: &str, id: &str| {
        let all = home.palyra(&[verb, "list", "--json"]).expect(0).json();
        let id = all[0][id].as_str().unwrap().to_owned();
        id[id.len() - 6..].to_owned()
    };
    let (run, session) = (listed("runs", "run_id"), listed("sessions", "session_id"));
    for (words, at, expected) in [
        ("palyra runs show ''", 3, &run),
        ("palyra sessions branch ''", 3, &run),
        ("palyra sessions show ''", 3, &session),
        ("palyra run --session ''", 3, &session),
    ] {
        let told = completed(words, at);
        assert!(told.contains(expected.as_str()), "{words}: {told}");
    }
    let lower = run[..2].to_lowercase();
    assert!(completed(&format!("palyra runs tail {lower}"), 3).contains(&run));
    assert!(completed("palyra run --model ''", 3).contains("demo/demo"));
    assert!(!completed("palyra runs list ''", 3).contains(&run), "the control: a verb that names no run");
}

#[test]
fn man_pages_are_written_for_every_verb_and_render() {
    let home = Home::new();
    let folder = home.work().join("man1");
    let told = home.palyra(&["admin", "man", "--dir", folder.to_str().unwrap()]).expect(0).err;
    let pages: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|page| page.unwrap().path()).collect();
    assert!(told.contains(&format!("wrote {} pages", pages.len())) && pages.len() > 30, "{told}");
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap();
        let footer = concat!(" 1  \"palyra ", env!("CARGO_PKG_VERSION"), "\" \"Palyra Manual\"\n");
        for section in [".TH ", footer, "\n.SH NAME\n", "\n.SH SYNOPSIS\n", "\n.SH \"EXIT STATUS\"\n"] {
            assert!(text.contains(section), "{}: {section}", page.display());
        }
    }
    let printed = home.palyra(&["admin", "man"]).expect(0).out;
    assert_eq!(printed, std::fs::read_to_string(folder.join("palyra.1")).unwrap());
    let tail = std::fs::read_to_string(folder.join("palyra-runs-tail.1")).unwrap();
    for (renderer, arguments) in [("groff", &["-man", "-Tascii", "-ww"][..]), ("mandoc", &["-T", "ascii"])] {
        if let Some((well, text)) = take(renderer, arguments, &tail) {
            assert!(
                well && text.contains("palyra runs tail") && !text.contains("warning"),
                "{renderer}: {text}"
            );
        }
    }
}
