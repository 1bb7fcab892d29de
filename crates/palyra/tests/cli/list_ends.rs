//! The ends of lists, what they leave out, and how the user goes on from there.

use crate::home::Home;
use crate::pty::Pty;

const WRITE: &str = "create notes.txt with tea";

fn at_terminal(home: &Home, arguments: &[&str], columns: u16) -> String {
    let mut pty = Pty::spawn(&home.command(arguments), columns);
    pty.ended();
    pty.text()
}

#[test]
fn a_list_that_stops_says_how_much_follows_and_how_to_go_on() {
    let home = Home::new().with("TERM", "xterm");
    for what in ["about the moon", "about the sun", "about tea"] {
        home.palyra(&["run", "--session", what, &format!("hello {what}")]).expect(0);
    }
    for verb in ["runs", "sessions"] {
        let listed = home.palyra(&[verb, "list", "--limit", "1"]).expect(0);
        assert!(
            listed.out.lines().count() == 2 && listed.err.contains("2 more; `--limit 3` shows them"),
            "{}",
            listed.err
        );
        let json = home.palyra(&[verb, "list", "--limit", "1", "--json"]).expect(0);
        assert!(json.json().len() == 1 && json.err.contains("`--limit 3`"), "{}", json.err);
        assert!(!home.palyra(&[verb, "list"]).expect(0).err.contains("more"));
    }
    let found = home.palyra(&["runs", "list", "--search", "MOON"]).expect(0).out;
    assert!(found.lines().count() == 2 && found.contains("hello about the moon"), "{found}");
    assert!(
        home.palyra(&["runs", "list", "--search", "mars"])
            .expect(0)
            .err
            .contains("no run has \"mars\" in the first 120 characters of its input")
    );
    let none = |more: &[&str]| {
        let search = ["sessions", "list", "--search", "mars"];
        home.palyra(&[&search[..], more].concat()).expect(0).err
    };
    for told in [
        "no session has \"mars\" in its key",
        "answers are not searched; `--all` looks at archived ones too",
        "`palyra runs tail RUN` shows all of one",
    ] {
        assert!(none(&[]).contains(told), "{}", none(&[]));
    }
    assert!(!none(&["--all"]).contains("--all") && none(&["--archived"]).contains("no archived session has"));
    let sessions = at_terminal(&home, &["sessions", "list"], 80);
    assert!(sessions.contains("`palyra chat --session "), "{sessions}");
    let narrow = at_terminal(&home, &["runs", "list"], 40);
    assert!(narrow.contains("state done; age ") && narrow.contains("hello about the moon"), "{narrow}");
}

#[test]
fn runs_are_listed_since_a_time() {
    let home = Home::new();
    home.palyra(&["run", "hello moon"]).expect(0);
    let since = |time: &str, code: i32| home.palyra(&["runs", "list", "--since", time]).expect(code);
    for time in ["1h", "yesterday", "2026-01-01", "2026-01-01T00:00:00Z"] {
        assert!(since(time, 0).out.contains("hello moon"), "{time}");
    }
    let none = since("2099-01-01", 0);
    assert!(none.out.is_empty() && none.err.contains("no run was begun since then"), "{}", none.err);
    let wrong = since("tomorrow", 2);
    assert!(wrong.err.contains("today, yesterday, a span until now such as 30m, 12h or 7d"), "{}", wrong.err);
}

#[test]
fn a_session_is_named_by_its_title_unless_several_have_it() {
    let home = Home::new();
    home.palyra(&["run", "--session", "moon", "hello"]).expect(0);
    home.palyra(&["sessions", "rename", "moon", "the slips"]).expect(0);
    let sessions = || home.palyra(&["sessions", "list", "--json"]).expect(0).json();
    let known = home.palyra(&["run", "--session", "the slips", "hello"]).expect(0).err;
    assert!(!known.contains("no session") && sessions().len() == 1, "{known}");
    let shown = home.palyra(&["sessions", "show", "the slips"]).expect(0).out;
    assert!(shown.contains("moon"), "{shown}");
    // A key comes first, and a title that two have names neither.
    home.palyra(&["run", "--session", "sun", "hello"]).expect(0);
    home.palyra(&["sessions", "rename", "sun", "moon"]).expect(0);
    home.palyra(&["sessions", "rename", "moon", "one title"]).expect(0);
    home.palyra(&["sessions", "rename", "sun", "one title"]).expect(0);
    let unclear = home.palyra(&["run", "--session", "one title", "hello"]).expect(2).err;
    assert!(unclear.contains("is the title of several sessions"), "{unclear}");
    assert_eq!(sessions().len(), 2);
}

#[test]
fn a_session_that_does_not_exist_is_named_before_it_begins() {
    let home = Home::new();
    let first = home.palyra(&["run", "--session", "moon", "hello"]).expect(0).err;
    assert!(first.contains("no session moon yet; a new one of that name begins"), "{first}");
    assert!(!home.palyra(&["run", "--session", "moon", "hello"]).expect(0).err.contains("no session"));
    let id = home.palyra(&["sessions", "list", "--json"]).expect(0).json()[0]["session_id"].clone();
    let id = id.as_str().unwrap();
    let short = &id[id.len() - 6..];
    let known = home.palyra(&["run", "--session", short, "hello"]).expect(0).err;
    assert!(!known.contains("no session"), "{known}");
    let like = home.palyra(&["run", "--session", &short[..3], "hello"]).expect(0).err;
    assert!(like.contains(&format!("did you mean {short}?")), "{like}");

    let sessions = || home.palyra(&["sessions", "list", "--json"]).expect(0).json().len();
    let before = sessions();
    let slip = home.palyra(&["run", "--session", "ZZZZ", "hello"]).expect(1).err;
    assert!(slip.contains("no session begins or ends with `ZZZZ`") && sessions() == before, "{slip}");

    let missing = home.palyra(&["runs", "show", "ZZZZ"]).expect(1).err;
    assert_eq!(missing.matches("palyra runs list").count(), 1, "{missing}");
    let branch = home.palyra(&["sessions", "branch", "last"]).expect(0);
    let end = &branch.out.trim()[branch.out.trim().len() - 6..];
    assert!(branch.err.contains(&format!("`palyra chat --session {end}` goes on there")), "{}", branch.err);
    let run = home.palyra(&["runs", "list", "--json"]).expect(0).json()[0]["run_id"].clone();
    let beyond = home.palyra(&["sessions", "branch", "last@999"]).expect(1).err;
    let run = run.as_str().unwrap();
    let tail = format!("`palyra runs tail {}`", &run[run.len() - 6..]);
    assert!(beyond.contains(&tail) && beyond.contains("ends at 5"), "{beyond}");
}

#[test]
fn every_call_of_a_folder_is_denied_by_one_command_after_they_are_listed() {
    let home = Home::new().with("TERM", "xterm");
    for _ in 0..3 {
        home.palyra(&["run", WRITE]).expect(3);
    }
    let waiting = || home.palyra(&["approve", "list", "--json"]).expect(0).json().len();
    let listed = at_terminal(&home, &["approve", "list"], 80);
    assert!(listed.contains("palyra approve yes ") && listed.contains("no --all"), "{listed}");
    let refused = home.palyra(&["approve", "no", "--all"]).expect(2).err;
    assert!(refused.contains("add --yes") && refused.contains("write_file") && waiting() == 3, "{refused}");
    // Another folder's calls are not its.
    let elsewhere = home.work().join("other");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut other = home.command(&["approve", "no", "--all", "--yes"]);
    let other = other.current_dir(&elsewhere).output().unwrap();
    assert!(other.status.success() && waiting() == 3, "{other:?}");
    let mut pty = Pty::spawn(&home.command(&["approve", "no", "--all"]), 80);
    pty.expect("deny 3 calls? [y/N] ");
    assert_eq!((pty.ended_after("n\n"), waiting()), (130, 3), "{}", pty.text());
    let denied = home.palyra(&["approve", "no", "--all", "--yes", "--reason", "not now"]).expect(0);
    assert_eq!((denied.err.matches("✗ denied").count(), waiting()), (3, 0), "{}", denied.err);
    assert!(!home.work().join("notes.txt").exists());
    home.palyra(&["approve", "yes", "--all"]).expect(2);
}

#[test]
fn an_answer_that_names_no_call_is_told_the_command_that_does() {
    let home = Home::new().with("TERM", "xterm");
    home.palyra(&["run", "--approve", "later", WRITE]).expect(3);
    let id = home.palyra(&["approve", "list", "--json"]).expect(0).json()[0]["approval_id"].clone();
    let id = id.as_str().unwrap();
    for verb in ["yes", "no"] {
        let refused = home.palyra(&["approve", verb]).expect(2).err;
        let command = format!("`palyra approve {verb} {}`   write_file creates", &id[id.len() - 6..]);
        assert!(refused.contains("1 call waits in this folder") && refused.contains(&command), "{refused}");
    }
    assert!(!home.work().join("notes.txt").exists(), "nothing was decided");
    let elsewhere = home.work().join("other");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut other = home.command(&["approve", "yes", "last"]);
    let other = other.current_dir(&elsewhere).output().unwrap();
    let other = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(other.contains("asks about those that wait in other folders"), "{other}");
    home.palyra(&["approve", "no", "last"]).expect(0);
    let nothing = home.palyra(&["approve", "yes"]).expect(1).err;
    assert!(nothing.contains("error[PLY-4101]: nothing waits for an approval in this folder"), "{nothing}");
    assert!(nothing.contains("`palyra approve list --all` shows those that are decided"), "{nothing}");
}
