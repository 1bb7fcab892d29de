//! What a new user does first, and the line that says what to do next.

use palyra_testkit::model_server::{Behaviour, Reply};

use crate::home::Home;
use crate::openai_server::{runtime, serve};

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
