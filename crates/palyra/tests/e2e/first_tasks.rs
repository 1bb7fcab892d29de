//! What a new user does first, and the line that says what to do next.

use crate::home::Home;

fn configure(home: &Home, text: &str) {
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), text).unwrap();
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
