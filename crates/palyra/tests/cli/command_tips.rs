//! What is said after each command line of the table, and after others.

use std::ffi::OsString;

use palyra_cli::{TYPED_COMMANDS, refusal_of};

fn error(words: &[&str]) -> String {
    let typed = ["palyra"].iter().chain(words).map(OsString::from).collect();
    refusal_of(typed).unwrap()
}

/// Returns a command of the table as it is typed.
fn as_typed(command: &str) -> Vec<&str> {
    let words = command.split(' ').filter(|word| *word != ".");
    words.map(|word| if ["*", "@"].contains(&word) { "XN8H9D" } else { word }).collect()
}

#[test]
fn each_command_line_of_the_table_names_one_that_exists() {
    let rows = TYPED_COMMANDS.iter().flat_map(|(patterns, command, effect)| {
        patterns.iter().map(move |pattern| (*pattern, *command, *effect))
    });
    for (typed, command, effect) in rows {
        let command = as_typed(command);
        assert_eq!(refusal_of(command.iter().map(OsString::from).collect()), None, "{command:?}");
        let message = error(&as_typed(typed));
        let tip = format!("tip: `{}` {effect}\n", command.join(" "));
        assert!(message.contains(&tip) && message.matches("tip:").count() == 1, "{typed}: {message}");
    }
}

#[test]
fn a_verb_that_lacks_its_run_is_shown_with_the_newest_one() {
    for (words, wanted) in [
        (&["runs", "undo", "--dry-run"][..], "tip: `palyra runs undo last --dry-run` "),
        (&["runs", "undo"], "tip: `palyra runs undo last --dry-run` "),
        (&["runs", "show"], "tip: `palyra runs show last` "),
        (&["runs", "tail", "--json"], "tip: `palyra runs tail last` "),
        (&["runs", "wait"], "tip: `palyra runs wait last` "),
        (&["runs", "cancel"], "tip: `palyra runs cancel last` "),
        (&["sessions", "branch"], "tip: `palyra sessions branch last` "),
    ] {
        let message = error(words);
        assert!(message.contains(wanted) && message.matches("tip:").count() == 1, "{words:?}: {message}");
    }
    // Where the run is named, something else is missing.
    let message = error(&["runs", "answer", "last"]);
    assert!(!message.contains("tip:"), "{message}");
}

#[test]
fn a_branch_is_looked_for_in_the_chat_that_has_it() {
    let message = error(&["chat", "--session", "2Q7CR5", "--branch", "5"]);
    assert!(message.contains("tip: `palyra chat` ") && message.contains("/branch there"), "{message}");
}

#[test]
fn words_of_other_programs_lead_to_the_verb_that_does_it() {
    for (words, wanted) in [
        (&["chat", "--continue"][..], "`palyra chat --session last` goes on"),
        (&["chat", "--resume"], "`palyra chat --session last` goes on"),
        (&["resume"], "`palyra chat --session last` goes on"),
        (&["run", "--continue", "fix it now"], "`palyra run --session last 'fix it now'` asks"),
        (&["--continue", "fix it now"], "`palyra run --session last 'fix it now'` asks"),
        (&["sessions", "switch", "last"], "`palyra chat --session last` goes on"),
        (&["sessions", "erase", "last"], "`palyra journal erase --session last` erases"),
        (&["sessions", "undo", "last"], "`palyra runs list --session last` lists"),
        (&["rename", "last", "x"], "`palyra sessions rename last TITLE` gives"),
        (&["rename"], "`palyra sessions rename last TITLE` gives"),
        (&["branch"], "`palyra sessions branch last` branches"),
        (&["runs", "rm", "last"], "`palyra journal erase last` erases"),
        (&["runs", "approve", "last"], "`palyra approve list --run last` lists"),
        (&["approve", "--list"], "`palyra approve list` lists"),
        (&["approve", "deny"], "`palyra approve no last` denies"),
        (
            &["approve", "yes", "MJGPYC", "2DJP5T"],
            "`palyra approve yes MJGPYC` lets that call run; each of the others",
        ),
        (&["approve", "no", "F2M0YZ", "-m", "x"], "`palyra approve no F2M0YZ --note TEXT` denies"),
        (&["usage", "last"], "`palyra runs show last` shows"),
        (&["policy", "deny", "src"], "`palyra explain docs/policy.md#folders` shows"),
        (&["policy", "list"], "`palyra policy show` shows"),
        (&["model", "show"], "`palyra model list` lists"),
        (&["vault", "put", "tide"], "`palyra admin vault put tide` saves"),
        (&["secret", "add", "tide"], "`palyra admin vault put tide` saves"),
        (&["secret", "rm", "tide"], "`palyra admin vault remove tide` deletes"),
    ] {
        let message = error(words);
        assert!(message.contains(&format!("tip: {wanted} ").replace("  ", " ")), "{words:?}: {message}");
    }
}

#[test]
fn an_answer_with_a_code_or_a_reason_leads_to_the_call_that_waits() {
    for words in [&["approve", "yes", "0NRK9V", "RK9V"][..], &["approve", "yes", "0NRK9V", "--code", "RK9V"]]
    {
        let message = error(words);
        let tip = "tip: `palyra approve yes 0NRK9V` lets that call run: where its risk is high, it asks for the code";
        assert!(message.contains(tip) && !message.contains("each of the others"), "{words:?}: {message}");
    }
    let message = error(&["approve", "no", "because", "it", "is", "not", "wanted"]);
    assert!(
        message.contains("tip: `palyra approve no last --note 'because it is not wanted'` "),
        "{message}"
    );
}

#[test]
fn help_behind_a_verb_and_a_question_of_one_word_lead_on() {
    for (words, wanted) in [
        (&["runs", "help"][..], "tip: `palyra help runs` explains that verb"),
        (&["admin", "vault", "help"], "tip: `palyra help admin vault` explains that verb"),
        (
            &["hello"],
            "tip: `palyra help` lists the verbs; a question of one or two words is typed behind `palyra run`",
        ),
    ] {
        let message = error(words);
        assert!(message.contains(wanted) && message.matches("tip:").count() == 1, "{words:?}: {message}");
    }
    // A slip of the pen in a verb is no question.
    assert!(!error(&["statsu"]).contains("question"));
}

#[test]
fn a_secret_that_was_typed_behind_its_name_goes_to_no_model() {
    for words in [
        &["admin", "vault", "put", "harbour", "sk-harbour-41"][..],
        &["vault", "put", "harbour", "sk-harbour-41"],
    ] {
        let message = error(words);
        assert!(message.contains("tip: `palyra admin vault put harbour` asks for the value"), "{message}");
        let tips = message.split("tip:").skip(1).collect::<String>();
        assert!(!tips.contains("sk-harbour-41"), "{message}");
    }
    // The value of an option is no word too many.
    let message = error(&["admin", "vault", "put", "harbour", "--hots", "a.example"]);
    assert!(message.contains("'--host'") && !message.contains("asks for the value"), "{message}");
}

#[test]
fn seconds_with_a_unit_are_shown_as_a_number() {
    for (typed, wanted) in [("3s", "--timeout 3`"), ("2m", "--timeout 120`"), ("3.5", "--timeout 30`")] {
        let message = error(&["run", "--timeout", typed, "hello there"]);
        let tip = format!("tip: --timeout takes seconds as a number: `{wanted}");
        assert!(message.contains(&tip), "{typed}: {message}");
    }
    assert!(!error(&["run", "--timeout", "0", "hello there"]).contains("tip:"));
}

#[test]
fn no_two_rows_say_the_same() {
    for (at, (patterns, command, effect)) in TYPED_COMMANDS.iter().enumerate() {
        let again =
            TYPED_COMMANDS[at + 1..].iter().any(|(_, other, does)| (other, does) == (command, effect));
        assert!(!again, "{patterns:?}: {command}");
    }
}

#[test]
fn a_difference_that_is_looked_for_is_the_preview_of_taking_it_back() {
    for (words, wanted) in [
        (&["runs", "diff", "last"][..], "tip: `palyra runs undo last --dry-run` "),
        (&["runs", "diff"], "tip: `palyra runs undo last --dry-run` "),
        (&["runs", "diff", "XN8H9D"], "tip: `palyra runs undo XN8H9D --dry-run` "),
        (&["diff"], "tip: `palyra runs undo last --dry-run` "),
    ] {
        let message = error(words);
        assert!(message.contains(wanted), "{words:?}: {message}");
    }
}

#[test]
fn an_option_before_its_verb_is_put_behind_it() {
    for (words, wanted) in [
        (&["--session", "work", "chat"][..], "tip: `palyra chat --session work` has"),
        (
            &["--model", "demo/demo", "run", "say hello"],
            "tip: `palyra run --model demo/demo 'say hello'` has",
        ),
        (&["--json", "runs", "list"], "tip: `palyra runs list --json` has"),
        (&["--limit", "3", "runs", "list", "--open"], "tip: `palyra runs list --limit 3 --open` has"),
    ] {
        let message = error(words);
        assert!(message.contains(wanted) && !message.contains("asks a model"), "{words:?}: {message}");
    }
}

#[test]
fn a_tip_names_the_word_that_was_typed_as_a_shell_takes_it() {
    assert!(error(&["sessions", "search", "my moon"]).contains("--search 'my moon'`"));
    assert!(error(&["--no-start", "chat", "2Q7CR5", "--json"]).contains("`palyra chat --session 2Q7CR5`"));
    assert!(error(&["undo", "that"]).contains("`palyra runs undo last`"));
    assert!(error(&["undo", "XN8H9D"]).contains("`palyra runs undo XN8H9D`"));
}

#[test]
fn no_tip_names_a_verb_that_acts_or_an_option_that_is_not_alike() {
    for (words, unwanted) in [
        (&["sessions", "serch", "moon"][..], "archive"),
        (&["sessions", "archiv", "x"], "archive"),
        (&["journal", "erasing"], "erase"),
        (&["policy", "explain", "last", "x"], "--tool"),
        (&["chat", "--continues"], "--connect"),
        (&["resumed"], "serve"),
        (&["approve", "no", "--whole"], "-- --whole"),
        (&["runs", "cancl"], "cancel"),
        (&["--model", "local/m", "say hello"], "palyra run local/m"),
        (&["what", "changed"], "nearest"),
        (&["run", "what", "--is-this"], "as a value"),
        (&["runs", "answer", "last", "--loud", "yes"], "as a value"),
        (&["runs", "lits"], "as a value"),
    ] {
        let message = error(words);
        assert!(!message.contains(unwanted), "{words:?}: {message}");
    }
    for (words, wanted) in [
        (&["statsu"][..], "the nearest verb is 'status'"),
        (&["rum"], "the nearest verb is 'run'"),
        (&["rnu"], "the nearest verb is 'run'"),
        (&["rn", "hello"], "the nearest verb is 'run'"),
        (&["run", "-a", "x.png", "what is this"], "--attach"),
        (&["runs", "lits"], "'list'"),
        (&["sesions", "list"], "'sessions'"),
        (&["runs", "list", "--jsn"], "'--json'"),
        (&["xyzzy"], "`palyra help` lists the verbs"),
        (&["revert"], "`palyra runs undo last` takes back"),
        (&["completion", "bash"], "`palyra admin completions bash` writes"),
        (&["runs", "bookmarks", "remove", "spot"], "`palyra runs bookmarks --remove spot` removes"),
        (&["approve", "2JD9X1", "no"], "`palyra approve no 2JD9X1` denies"),
        (&["policy", "remove", "mine"], "`palyra explain docs/policy.md`"),
        (&["budget", "delete", "day"], "`palyra budget remove day`"),
        (&["memory", "delete", "XN8H9D"], "`palyra memory forget XN8H9D`"),
        (&["admin", "schedules", "delete", "last"], "`palyra admin schedules remove last`"),
        (&["--model", "local/m", "say hello"], "`palyra run --model local/m 'say hello'` asks a model"),
        (
            &["--attach", "a.png", "--attach", "b.png", "what is this"],
            "`palyra run --attach a.png --attach b.png 'what is this'` asks a model",
        ),
        (&["what", "changed", "here"], "`palyra run 'what changed here'` asks a model"),
        (&["ask", "what", "changed"], "`palyra run 'what changed'` asks a model"),
        (&["why", "is", "it", "slow"], "`palyra run 'why is it slow'` asks a model"),
        (&["why"], "`palyra policy explain last` shows why"),
        (&["why", "XN8H9D"], "`palyra policy explain XN8H9D` shows why"),
        (&["today"], "`palyra runs list` lists the runs"),
        (&["status", "of", "this", "project"], "`palyra run 'status of this project'` asks a model"),
        (&["policy", "reload"], "`palyra config reload`"),
        (&["policy", "rules"], "`palyra policy show`"),
        (&["policy", "explain", "read_file"], "`palyra policy explain --tool read_file` says how"),
        (
            &["policy", "explain", "write_file", "src/a"],
            r#"`palyra policy explain --tool write_file --arguments '{"path":"src/a","content":"text"}'` says"#,
        ),
        (&["policy", "explain"], "`palyra policy explain last`"),
        (&["sessions", "branch", "3B7Q2K", "3"], "`palyra sessions branch 3B7Q2K@3`"),
        (&["branch", "last", "3", "--json"], "`palyra sessions branch last@3`"),
        (&["branch", "3B7Q2K@3"], "`palyra sessions branch 3B7Q2K@3`"),
        (&["runs", "branch", "last"], "`palyra sessions branch last`"),
    ] {
        let message = error(words);
        assert!(message.contains(wanted), "{words:?}: {message}");
    }
}

#[test]
fn an_option_that_no_verb_has_is_never_offered_as_text_and_leads_to_what_was_meant() {
    for (words, wanted) in [
        (
            &["run", "--file", "tiny.png", "what is attached?"][..],
            "tip: `palyra run --attach tiny.png 'what is attached?'` attaches the file",
        ),
        (&["run", "--image=a.png", "what is it?"], "tip: `palyra run --attach a.png 'what is it?'` attaches"),
        (&["run", "-f", "a.png", "what is it?"], "tip: `palyra run --attach a.png 'what is it?'` attaches"),
        (
            &["run", "--yes", "create q.txt with q"],
            "tip: `palyra run 'create q.txt with q'` asks at its prompt",
        ),
        (&["run", "-y", "create q.txt with q"], "`palyra approve yes last` lets that call run"),
        (&["run", "--dry-run", "create q.txt"], "tip: `palyra run --approve never 'create q.txt'` denies"),
        (&["run", "--no-wait", "make"], "tip: `palyra run --approve later make` asks a model, and ends at"),
        (
            &["sessions", "branch", "last@5", "--name", "half"],
            "tip: `palyra sessions branch last@5 --label half` branches",
        ),
        (&["run", "--quiet", "hello"], "tip: `palyra run hello` prints the answer to standard output"),
        (&["-p", "hello there"], "tip: `palyra run 'hello there'` asks once"),
        (&["--print", "hello"], "tip: `palyra run hello` asks once"),
        (&["-m", "demo", "hello"], "tip: `palyra run --model demo hello` asks that model"),
        (&["run", "-m", "demo", "hello"], "tip: `palyra run --model demo hello` asks that model"),
        (&["logs", "--tail", "3"], "tip: `palyra logs --lines 3` begins"),
        (&["runs", "list", "-n", "3"], "tip: `palyra runs list --limit 3` lists"),
        (&["runs", "list", "--all"], "tip: `palyra runs list --limit 1000` lists"),
        (&["runs", "tail", "--follow", "last"], "tip: `palyra runs tail last` shows the run"),
    ] {
        let message = error(words);
        assert!(message.contains(wanted) && message.matches("tip:").count() == 1, "{words:?}: {message}");
        let command = message.split("tip: `palyra ").nth(1).unwrap().split('`').next().unwrap();
        let typed = ["palyra"].into_iter().chain(command.split(' ')).map(OsString::from);
        assert_eq!(refusal_of(typed.collect()), None, "{command}");
    }
    // With nothing in the table only the usage and the nearest option are left.
    let message = error(&["run", "--attahc", "a.png", "what is it?"]);
    assert!(message.contains("'--attach'") && message.contains("Usage:"), "{message}");
}

#[test]
fn a_text_behind_chat_is_asked_and_never_a_name_of_a_session() {
    for words in [&["chat", "hello"][..], &["chat", "--model", "demo/demo", "hello"]] {
        let message = error(words);
        assert!(message.contains("tip: `palyra run hello` asks that once; in `palyra chat` "), "{message}");
        assert!(!message.contains("goes on") && message.matches("tip:").count() == 1, "{message}");
    }
    assert!(error(&["chat", "what", "is new"]).contains("`palyra run 'what is new'` asks"));
    assert!(error(&["chat", "2Q7CR5"]).contains("`palyra chat --session 2Q7CR5` goes on"));
}

#[test]
fn a_command_line_that_lacks_its_option_or_its_value_is_shown_with_it() {
    for (words, wanted) in [
        (
            &["policy", "explain", "--tool", "edit_file", "path=src/lib.rs"][..],
            r#"`palyra policy explain --tool edit_file --arguments '{"path":"src/lib.rs","#,
        ),
        (&["policy", "explain", "--tool", "read_file", "a=b=c"], r#"--arguments '{"path":"b=c"}'`"#),
        (&["set", "model", "demo"], "tip: `palyra model use demo` makes it the default model"),
        (&["model", "set", "demo/demo"], "tip: `palyra model use demo/demo` makes"),
        (&["export", "last"], "tip: `palyra journal export last proof` writes that run"),
        (&["backup", "list"], "tip: `palyra explain docs/backup.md` says"),
        (&["admin", "completions"], "tip: `palyra admin completions bash` prints"),
    ] {
        let message = error(words);
        assert!(message.contains(wanted), "{words:?}: {message}");
    }
}
