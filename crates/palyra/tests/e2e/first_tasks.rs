//! What a new user does first, and the line that says what to do next.

use palyra_model_server::{Behaviour, Reply};

use crate::home::Home;
use crate::openai_server::{runtime, serve};

const VALUE: &str = "walnut-harbour-lantern-0417";

fn configure(home: &Home, text: &str) {
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), text).unwrap();
}

fn box_at(base_url: &str) -> String {
    format!("# mine\n[model]\ndefault = \"box/m\"\n\n[providers.box]\nbase_url = \"{base_url}\"\n")
}

#[test]
fn a_reload_without_a_daemon_checks_the_file_and_is_done() {
    let home = Home::new();
    configure(&home, "[limits]\ntool_calls_max = 5\n");
    let reloaded = home.palyra(&["config", "reload"]).expect(0);
    assert!(
        reloaded.err.contains("no daemon runs; the next start reads the configuration"),
        "{}",
        reloaded.err
    );
    let told = home.palyra(&["config", "reload", "--json"]).expect(0).json();
    assert_eq!(
        (told[0]["running"].clone(), told[0]["mistakes"].clone()),
        (false.into(), serde_json::json!([]))
    );
    configure(&home, "[limits]\nturn_max = 5\n");
    let mistaken = home.palyra(&["config", "reload"]).expect(2);
    assert!(mistaken.out.contains("turn_max"), "{}", mistaken.out);
    assert!(!home.state_dir().exists(), "no daemon was started for it");
    // The control: one that runs is asked.
    configure(&home, "[limits]\ntool_calls_max = 5\n");
    home.palyra(&["run", "hello"]).expect(0);
    let told = home.palyra(&["config", "reload", "--json"]).expect(0).json();
    assert_eq!(told[0]["running"], true);
}

#[test]
fn a_reload_without_a_daemon_checks_the_rules_too() {
    let home = Home::new();
    configure(&home, "");
    let rules = home.config_file().with_file_name("policies");
    std::fs::create_dir_all(&rules).unwrap();
    std::fs::write(rules.join("mine.cedar"), "permit (nonsense").unwrap();
    let mistaken = home.palyra(&["config", "reload"]).expect(2);
    assert!(mistaken.out.contains("mine.cedar"), "{} {}", mistaken.out, mistaken.err);
}

#[test]
fn a_default_model_is_chosen_by_its_name_and_the_way_back_is_named() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("boxed")));
    let home = Home::new();
    configure(&home, &box_at(&server.base_url()));
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "boxed\n");

    let used = home.palyra(&["model", "use", "demo/demo"]).expect(0);
    assert!(used.err.contains("the default model is now demo/demo (was box/m)"), "{}", used.err);
    assert!(used.err.contains("`palyra model use box/m` goes back"), "{}", used.err);
    assert!(used.err.contains("the running daemon uses it"), "{}", used.err);
    let text = std::fs::read_to_string(home.config_file()).unwrap();
    assert!(text.contains("# mine") && text.contains("default = \"demo/demo\""), "{text}");
    assert!(home.palyra(&["run", "hello"]).expect(0).out.contains("demo model"));

    let shown = home.palyra(&["model", "default"]).expect(0);
    assert!(shown.out.starts_with("demo/demo"), "{} {}", shown.out, shown.err);
    let back = home.palyra(&["model", "default", "box/m", "--json"]).expect(0).json();
    assert_eq!(
        (&back[0]["default_before"], &back[0]["default_model"]),
        (&"demo/demo".into(), &"box/m".into())
    );
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "boxed\n");
    // The name of the built-in provider is enough: it has one model.
    home.palyra(&["model", "use", "demo"]).expect(0);
    assert!(home.palyra(&["run", "hello"]).expect(0).out.contains("demo model"));
}

#[test]
fn a_model_that_cannot_be_asked_does_not_become_the_default() {
    let home = Home::new();
    let none = home.palyra(&["model", "use", "nowhere/m"]).expect(2);
    assert!(none.err.contains("nowhere/m"), "{}", none.err);
    assert!(!home.config_file().exists(), "nothing was written");
    home.palyra(&["model", "use", "nonsense"]).expect(2);
    let first = home.palyra(&["model", "use", "demo/demo"]).expect(0);
    assert!(first.err.contains("no default model was named before"), "{}", first.err);
}

#[test]
fn adding_the_demo_model_says_that_it_is_there() {
    let home = Home::new();
    let refused =
        home.palyra(&["model", "add", "demo", "--base-url", "http://127.0.0.1:1/v1", "--model", "demo"]);
    let refused = refused.expect(2);
    assert!(refused.err.contains("built in"), "{}", refused.err);
    assert!(refused.err.contains("palyra model use demo/demo"), "{}", refused.err);
}

#[test]
fn a_variable_that_is_not_used_names_what_counts_and_the_option() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("boxed")));
    let home = Home::new();
    configure(&home, &box_at(&server.base_url()));
    let mut command = home.command(&["run", "hello"]);
    let noted = crate::home::ended(command.env("PALYRA_MODEL", "demo/demo").spawn().unwrap()).expect(0);
    let place = home.config_file().canonicalize().unwrap();
    assert!(noted.err.contains("! PALYRA_MODEL of this environment is not used"), "{}", noted.err);
    assert!(noted.err.contains("box/m") && noted.err.contains(place.to_str().unwrap()), "{}", noted.err);
    assert!(noted.err.contains("`--model demo/demo`"), "{}", noted.err);
    assert!(!noted.err.contains("it needs"), "{}", noted.err);
}

#[test]
fn the_environment_of_a_daemon_is_called_that_and_left_out_where_a_file_decides() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("mine")));
    let home = Home::new().with("OPENAI_BASE_URL", &server.base_url()).with("PALYRA_MODEL", "m");
    home.palyra(&["run", "hello"]).expect(0);
    let listed = home.palyra(&["model", "list"]).expect(0);
    assert!(listed.err.contains("OPENAI_BASE_URL of the daemon's environment"), "{}", listed.err);
    home.palyra(&["model", "use", "demo/demo"]).expect(0);
    let listed = home.palyra(&["model", "list"]).expect(0);
    assert!(!listed.err.contains("OPENAI_BASE_URL"), "{}", listed.err);
    let checked = home.palyra(&["doctor"]);
    assert!(!checked.out.contains("OPENAI_BASE_URL selects"), "{}", checked.out);
}

#[test]
fn a_name_that_is_taken_has_one_mend_that_names_both_commands() {
    let home = Home::new();
    let put = |host: &str| {
        let words = ["admin", "vault", "put", "forge", "--host", host];
        home.palyra_reading(&words, &format!("{VALUE}\n"))
    };
    let saved = put("127.0.0.1").expect(0);
    let port =
        "127.0.0.1 without a port is port 443; `palyra admin vault bind forge 127.0.0.1:PORT` allows another";
    let words = saved.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(port), "{words}");
    let taken = put("127.0.0.1:18977").expect(1);
    assert!(taken.err.contains("`palyra admin vault rotate forge`"), "{}", taken.err);
    assert!(taken.err.contains("`palyra admin vault bind forge 127.0.0.1:18977`"), "{}", taken.err);
    assert!(!taken.err.contains("correct what the message names"), "{}", taken.err);
    home.palyra(&["admin", "vault", "bind", "forge", "127.0.0.1:18977"]).expect(0);
}

#[test]
fn a_run_is_erased_by_its_name_alone() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    home.palyra(&["journal", "erase", "last", "--dry-run"]).expect(0);
    let twice = home.palyra(&["journal", "erase", "last", "--run", "last", "--yes"]).expect(2);
    assert!(twice.err.contains("cannot be used with"), "{}", twice.err);
    home.palyra(&["journal", "erase", "last", "--yes"]).expect(0);
    let again = home.palyra(&["journal", "erase", "--run", "last", "--yes"]).expect(1);
    assert!(again.err.contains("PLY-2013"), "{}", again.err);
}

#[test]
fn a_run_that_was_erased_says_so_and_shows_no_torn_lines() {
    let home = Home::new();
    home.write("README.md", "# Amber\n");
    home.palyra(&["run", "read README.md"]).expect(0);
    let before = home.palyra(&["runs", "tail", "last"]).expect(0);
    let shown = format!("{}{}", before.out, before.err);
    assert!(shown.contains("asked: read README.md") && shown.contains("allowed by"), "the control: {shown}");
    home.palyra(&["journal", "erase", "last", "--yes"]).expect(0);

    let tail = home.palyra(&["runs", "tail", "last"]).expect(0);
    let shown = format!("{}{}", tail.out, tail.err);
    assert_eq!(shown.matches("was erased").count(), 1, "{shown}");
    let torn = |line: &&str| {
        let words = line.trim_start_matches('·').trim();
        words.ends_with(':') || words.ends_with("asked") || words.split_whitespace().count() < 3
    };
    assert_eq!(shown.lines().filter(torn).collect::<Vec<_>>(), Vec::<&str>::new(), "{shown}");
    let stands = home.palyra(&["runs", "show", "last"]).expect(0);
    let told = stands.out.lines().find(|line| line.starts_with("content")).unwrap_or_default();
    assert!(told.contains("was erased on 20") && told.contains(" by you (request)"), "{}", stands.out);
    let command = told.split('`').nth(1).unwrap().to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(&words[..2], ["journal", "show"], "{told}");
    let entry = home.palyra(&words).expect(0);
    assert!(entry.out.lines().count() == 3 && entry.out.contains(words[2]), "{}", entry.out);
    assert!(entry.out.contains("\nerased the content of the entries "), "{}", entry.out);
    assert!(entry.out.contains(" by you (request)"), "{}", entry.out);
    assert!(entry.err.is_empty(), "one entry was asked for: {}", entry.err);
    home.palyra(&["journal", "show", words[2], "--limit", "3"]).expect(2);
    // The control: another run has its content.
    home.palyra(&["run", "read README.md"]).expect(0);
    let stands = home.palyra(&["runs", "show", "last"]).expect(0);
    assert!(!stands.out.contains("was erased"), "{}", stands.out);
}

#[test]
fn the_steps_of_a_run_are_the_output_of_the_verb_that_shows_them() {
    let home = Home::new();
    home.write("README.md", "# Amber\n");
    let run = home.palyra(&["run", "read README.md"]).expect(0);
    assert!(!run.out.contains("read_file"), "the answer and nothing else: {}", run.out);
    let tail = home.palyra(&["runs", "tail", "last"]).expect(0);
    assert!(tail.out.contains("asked: read README.md") && tail.out.contains("read_file"), "{}", tail.out);
    assert!(run.out.lines().all(|line| tail.out.contains(line)), "{}", tail.out);
}
