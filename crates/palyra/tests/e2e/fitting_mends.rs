//! The line below an error says what to do about exactly that error.

use palyra_model_server::{Behaviour, Reply};

use crate::home::{Ended, Home};
use crate::openai_server::{home_with, runtime, serve};

const VALUE: &str = "walnut-harbour-lantern-0417";

fn first_line(ended: &Ended) -> String {
    ended.err.lines().skip_while(|line| !line.starts_with("error")).take(2).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_file_that_is_not_there_is_a_mistake_of_the_command_line_with_its_path() {
    let home = Home::new();
    for (arguments, code) in [
        (&["run", "--attach", "nope.png", "what is this?"][..], "PLY-1112"),
        (&["run", "--schema", "nope.json", "what is this?"], "PLY-1004"),
        (&["tools", "add", "nope.wasm"], "PLY-4806"),
        (&["tools", "add", "nope.wasm", "--yes"], "PLY-4806"),
        (&["tools", "skills", "install", "nope"], "PLY-4301"),
    ] {
        let named = arguments.iter().find(|word| word.starts_with("nope")).unwrap();
        let wanted = format!("error[{code}]: {named} cannot be read: nothing is there\n  check the path");
        let ended = home.palyra(arguments).expect(2);
        assert_eq!(first_line(&ended), wanted, "{}", ended.err);
    }
    assert!(!home.state_dir().exists(), "no daemon was started for them");
}

#[test]
fn a_secret_that_is_refused_has_no_mend_about_its_length_unless_that_is_the_fault() {
    let home = Home::new();
    let put = |words: &[&str], value: &str| {
        let words = [&["admin", "vault", "put"], words].concat();
        home.palyra_reading(&words, &format!("{value}\n"))
    };
    put(&["forge", "--host", "api.forge.example"], VALUE).expect(0);
    for (words, reason) in [
        (&["forge", "--host", "api.forge.example"][..], "palyra admin vault rotate forge"),
        (&["other", "--host", "!!"], "`!!` is no"),
        (&["No Name", "--host", "api.forge.example"], "`No Name` is no"),
        (&["pair", "--as", "basic", "--host", "api.forge.example"], "user:password"),
    ] {
        let refused = put(words, "another-value-entirely").expect(1);
        assert!(refused.err.contains(reason), "{}", refused.err);
        assert!(!refused.err.contains("12 characters"), "{}", refused.err);
    }
    let short = put(&["short", "--host", "api.forge.example"], "short").expect(1);
    assert!(short.err.contains("12 characters"), "{}", short.err);
}

#[test]
fn an_empty_question_and_an_unanswerable_one_say_what_to_type() {
    let home = Home::new();
    let empty = home.palyra_reading(&["run"], "").expect(2);
    assert!(empty.err.contains("for example: palyra run \"What is in this folder?\""), "{}", empty.err);
    home.write("tool.wasm", "no component");
    let unasked = home.palyra(&["tools", "add", "tool.wasm"]).expect(2);
    assert!(unasked.err.contains("add --yes to add it without a question"), "{}", unasked.err);
    assert!(!home.state_dir().exists(), "it was refused before anything was compiled");
    let erased = home.palyra(&["journal", "erase", "--run", "last"]);
    assert!(!erased.err.contains("lists the verbs"), "{}", erased.err);
}

#[test]
fn a_mistake_of_the_environment_is_not_one_of_the_file() {
    let home = Home::new().with("PALYRA__LIMITS__TURNS_MAX", "many");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), "[limits]\ntool_calls_max = 5\n").unwrap();
    let checked = home.palyra(&["config", "check"]).expect(2);
    assert!(checked.err.contains("✗ the environment has a mistake\n"), "{}", checked.err);
    std::fs::write(home.config_file(), "[limits]\nturn_max = 5\n").unwrap();
    let both = home.palyra(&["config", "check"]).expect(2);
    assert!(both.err.contains("palyra.toml and the environment have 2 mistakes\n"), "{}", both.err);
    let file = Home::new();
    std::fs::create_dir_all(file.config_file().parent().unwrap()).unwrap();
    std::fs::write(file.config_file(), "[limits]\nturn_max = 5\n").unwrap();
    let checked = file.palyra(&["config", "check"]).expect(2);
    assert!(checked.err.contains("palyra.toml has a mistake\n"), "{}", checked.err);
}

#[test]
fn a_program_that_is_not_found_or_not_readable_names_the_setting() {
    let home = Home::new();
    let missing = home.palyra(&["run", "run `frobnicate --now`"]);
    assert!(
        missing.err.contains("there is no program `frobnicate`; if it is installed elsewhere"),
        "{}",
        missing.err
    );
    assert!(
        missing.err.contains("`commands.path` of palyra.toml, then `palyra admin stop`"),
        "{}",
        missing.err
    );

    // As the Python of a virtual environment: a link in the workspace to a program outside of it.
    let outside = tempfile::tempdir().unwrap();
    let program = outside.path().join("python");
    std::fs::copy("/bin/true", &program).unwrap();
    std::os::unix::fs::symlink(&program, home.work().join("python")).unwrap();
    let unreadable = home.palyra(&["run", "run `./python`"]);
    assert!(
        unreadable
            .err
            .contains("name its folder in `commands.readable` of palyra.toml, then `palyra admin stop`"),
        "{}",
        unreadable.err
    );

    // The mend as it is written.
    std::fs::copy("/bin/true", outside.path().join("frobnicate")).unwrap();
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let folder = outside.path().display().to_string();
    let text = format!("[commands]\npath = [{folder:?}]\nreadable = [\"/usr\", {folder:?}]\n");
    std::fs::write(home.config_file(), text).unwrap();
    home.palyra(&["admin", "stop"]).expect(0);
    let found = home.palyra(&["run", "run `frobnicate --now`"]);
    assert!(!found.err.contains("there is no program"), "{}", found.err);
}

/// Where no daemon could be started any more, the one that runs is not to be stopped.
#[test]
fn a_configuration_that_starts_no_daemon_is_to_be_corrected_first() {
    let home = Home::new().with("OPENAI_BASE_URL", "http://127.0.0.1:9/v1").with("PALYRA_MODEL", "local");
    home.palyra(&["status"]);
    home.palyra(&["runs", "list"]).expect(0);
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), "[providers.openai]\nimages = true\n").unwrap();
    let refused = home.palyra(&["run", "hello"]).expect(2).err;
    assert!(refused.contains("PLY-1408") && refused.contains("no other could be started"), "{refused}");
    assert!(refused.contains("`palyra config check`") && !refused.contains("admin stop"), "{refused}");
}

#[test]
fn a_model_without_its_provider_says_how_models_are_written() {
    let home = Home::new();
    let refused = home.palyra(&["run", "--model", "good", "hello"]).expect(2);
    assert!(
        refused.err.contains("such as demo/demo; `palyra model list --ask` shows them"),
        "{}",
        refused.err
    );
}

#[test]
fn a_daemon_that_cannot_start_says_which_of_its_settings_to_correct() {
    let home = Home::new().with("PALYRA__LIMITS__TURNS_MAX", "many");
    let refused = home.palyra(&["run", "hello"]).expect(4);
    let mend = "\n  correct or unset the variable; `palyra config check` lists every mistake\n";
    assert!(refused.err.contains(mend), "{}", refused.err);
    let home = Home::new();
    let refused = home.palyra(&["--config", "nope.toml", "run", "hello"]).expect(4);
    assert!(refused.err.contains("\n  check the path: --config names the file"), "{}", refused.err);
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), "[limits]\nturn_max = 5\n").unwrap();
    let refused = home.palyra(&["run", "hello"]).expect(4);
    let mend = "\n  correct what the message names; `palyra config check` lists every mistake\n";
    assert!(refused.err.contains(mend), "{}", refused.err);
    let against = home.palyra(&["policy", "diff", "--against", "nope"]).expect(2);
    assert!(
        against.err.contains("nope cannot be read: nothing is there\n  check the path\n"),
        "{}",
        against.err
    );
}

#[test]
fn an_effect_that_a_run_does_not_have_is_not_reported_as_a_missing_run() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let none = home.palyra(&["policy", "explain", "last"]).expect(2);
    assert!(none.err.contains("called no tool, so nothing was decided"), "{}", none.err);
    home.palyra(&["run", "list the files"]).expect(0);
    home.palyra(&["run", "why not?"]).expect(0);
    let before = home.palyra(&["policy", "explain", "last"]).expect(0);
    assert!(before.err.contains("the last run called no tool; this is about run "), "{}", before.err);
    assert!(before.out.contains("list_dir"), "{}", before.out);
    let refused = home.palyra(&["policy", "explain", "last", "99"]).expect(2);
    assert!(refused.err.contains("the run has no decision about an effect 99\n"), "{}", refused.err);
    assert!(
        refused.err.contains("` lists its effects with their numbers")
            && !refused.err.contains("effects RUN"),
        "{}",
        refused.err
    );
}

#[test]
fn a_model_that_edits_a_file_which_does_not_exist_reads_which_tool_creates_it() {
    let runtime = runtime();
    let arguments = r#"{"path":"new.txt","old":"","new":"hello"}"#;
    let replies = vec![Reply::empty().call("edit_file", arguments), Reply::text("so be it")];
    let server = serve(&runtime, Behaviour::each(replies));
    let home = home_with(&server);
    let ended = home.palyra(&["run", "create new.txt"]).expect(0);
    assert!(ended.err.contains("to create a file use write_file"), "{}", ended.err);
    let read = server.asked().last().unwrap().body["messages"].to_string();
    assert!(read.contains("to create a file use write_file"), "{read}");
    assert!(!home.work().join("new.txt").exists());
}

#[test]
fn a_window_that_is_not_known_is_no_window_of_zero() {
    let home = Home::new();
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), "[providers.box]\nbase_url = \"http://127.0.0.1:1/v1\"\n").unwrap();
    let listed = home.palyra(&["model", "list"]).expect(0).out;
    let window = |name: &str| {
        let row = listed.lines().find(|line| line.contains(name)).unwrap();
        row.split_whitespace().skip_while(|word| *word != name).nth(1).unwrap().to_owned()
    };
    assert_eq!(window("box/*"), "-", "{listed}");
    assert!(window("demo/demo").parse::<u64>().unwrap() > 0, "{listed}");
}

/// Returns the words of the first command in backticks that has these words, without the program's name.
fn command_with(text: &str, words: &str) -> Vec<String> {
    let mut quoted = text.split('`').skip(1).step_by(2);
    let command = quoted.find(|quoted| quoted.starts_with("palyra ") && quoted.contains(words));
    let command = command.unwrap_or_else(|| panic!("no command with {words}: {text}"));
    command.split(' ').skip(1).map(str::to_owned).collect()
}

fn obey(home: &Home, text: &str, words: &str) -> Ended {
    let command = command_with(text, words);
    home.palyra(&command.iter().map(String::as_str).collect::<Vec<_>>()).expect(0)
}

#[test]
fn a_command_that_a_message_names_reaches_the_daemon_that_the_message_is_about() {
    let home = Home::new();
    let elsewhere = home.work().with_file_name("elsewhere");
    let other = elsewhere.to_str().unwrap();
    let asked = home.palyra(&["--state-dir", other, "run", "create notes.txt with hello"]).expect(3);
    obey(&home, &asked.err, "approve yes ");
    let shown = home.palyra(&["--state-dir", other, "status"]).expect(0).out;
    assert!(!shown.contains("approval\n"), "it was answered there: {shown}");
    assert!(!home.state_dir().exists(), "no other daemon was started");
    let failed = home.palyra(&["--state-dir", other, "runs", "show", "ZZZZ", "--json"]).expect(1);
    assert!(failed.err.contains(&format!("`palyra --state-dir {other} runs list`")), "{}", failed.err);
    home.palyra(&["--state-dir", other, "admin", "stop"]).expect(0);
}

#[test]
fn a_refusal_about_an_archived_session_names_that_session() {
    let home = Home::new();
    home.palyra(&["run", "--session", "work", "hello"]).expect(0);
    home.palyra(&["sessions", "archive", "work"]).expect(0);
    let answer = ["runs", "answer", "last", "--new", "hello"];
    let refused = home.palyra(&answer).expect(5);
    obey(&home, &refused.err, "sessions restore ");
    home.palyra(&answer).expect(0);
    home.palyra(&["sessions", "archive", "work"]).expect(0);
    let refused = home.palyra(&["sessions", "reset", "work"]).expect(5);
    obey(&home, &refused.err, "sessions restore ");
    home.palyra(&["sessions", "reset", "work"]).expect(0);
    home.palyra(&["sessions", "archive", "work"]).expect(0);
    let listed = home.palyra(&["sessions", "list"]).expect(0).err;
    assert!(listed.contains("`palyra sessions list --archived`"), "{listed}");
}

#[test]
fn a_run_that_waits_for_a_budget_is_led_on_by_every_verb_that_meets_it() {
    let home = Home::new();
    home.palyra(&["budget", "set", "cap", "--limit", "tokens=100"]).expect(0);
    let begin = || home.palyra(&["run", "--session", "work", "list the files"]).expect(3);
    begin();
    let refused = home.palyra(&["runs", "undo", "last"]).expect(5);
    assert!(!refused.err.contains("`palyra approve`"), "{}", refused.err);
    obey(&home, &refused.err, "budget go-on ");
    let wait = || home.palyra(&["runs", "wait", "last"]);
    // Its next request waits again.
    wait().expect(3);
    let nothing = home.palyra(&["approve"]).expect(0);
    obey(&home, &nothing.err, "budget go-on ");
    wait().expect(0);
    let refused = home.palyra(&["budget", "go-on", "last"]).expect(5);
    assert!(!refused.err.contains("show ID"), "{}", refused.err);
    obey(&home, &refused.err, "runs show ");
}

#[test]
fn a_list_that_a_filter_empties_does_not_say_that_there_is_nothing() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    home.palyra(&["memory", "add", "I like tea"]).expect(0);
    let memory = home.palyra(&["memory", "list", "--folder", "."]).expect(0).err;
    assert!(obey(&home, &memory, "memory list").out.contains("I like tea"));
    let sessions = home.palyra(&["sessions", "list", "--surface", "openai"]).expect(0).err;
    assert!(obey(&home, &sessions, "sessions list").out.contains("hello"));
}
