//! An empty home and no key: one command gives an answer.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::home::Home;

const ASK: &str = "Read README.md and tell me what this project does";

#[test]
fn the_first_command_starts_what_it_needs_reads_and_answers() {
    let home = Home::new();
    let unlike_any_other = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let heading = format!("Heading {unlike_any_other}");
    home.write("README.md", &format!("# {heading}\n\nA box that keeps the wind in.\n"));

    let first = home.palyra(&["run", ASK]).expect(0);
    assert!(first.out.contains(&heading), "{}", first.out);
    assert!(first.err.contains("· starting the daemon\n"), "{}", first.err);
    assert!(first.err.contains("· read_file {"), "{}", first.err);

    let tape = home.palyra(&["runs", "tail", "last", "--json"]).expect(0).json();
    let pieces = tape.iter().filter(|entry| entry.get("model_text").is_some()).count();
    assert!(pieces > 1, "the text came in {pieces} pieces");
    let numbers: Vec<_> = tape.iter().map(|entry| entry["tape_seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=tape.len() as u64).collect::<Vec<_>>());

    let verified = home.palyra(&["journal", "verify"]).expect(0);
    assert!(verified.out.starts_with("ok: "), "{}", verified.out);

    let second = home.palyra(&["run", ASK]).expect(0);
    assert!(second.out.contains(&heading) && !second.err.contains("starting"), "{}", second.err);
}

#[test]
fn init_writes_a_file_once_and_doctor_finds_all_well() {
    let home = Home::new();
    home.palyra(&["init"]).expect(0);
    std::fs::write(home.config_file(), "[limits]\nturns_max = 7\n").unwrap();
    let again = home.palyra(&["init"]).expect(0);
    assert!(again.err.contains("exists and stays as it is"), "{}", again.err);
    home.palyra(&["admin", "stop"]).expect(0);
    let config = home.palyra(&["config", "show", "--origin"]).expect(0);
    let turns = config.out.lines().find(|line| line.starts_with("limits.turns_max")).unwrap();
    assert!(turns.contains("= 7") && turns.contains("palyra.toml"), "{turns}");
    let checks = home.palyra(&["doctor", "--json"]).expect(0).json();
    assert!(checks.iter().all(|check| check["level"] != "error"), "{checks:?}");
    assert!(checks.iter().any(|check| check["name"] == "build" && check["level"] == "ok"), "{checks:?}");
}

#[test]
fn the_written_configuration_is_one_the_daemon_takes_line_by_line() {
    let home = Home::new();
    home.palyra(&["init"]).expect(0);
    home.palyra(&["admin", "stop"]).expect(0);
    let text = std::fs::read_to_string(home.config_file()).unwrap();
    let settings =
        text.lines().filter_map(|line| line.strip_prefix('#')).filter(|line| !line.starts_with(' '));
    let settings: Vec<_> =
        settings.filter(|line| !line.starts_with("key = ") && !line.starts_with("tcp = ")).collect();
    std::fs::write(home.config_file(), settings.join("\n")).unwrap();
    let config = home.palyra(&["config", "show", "--json"]).expect(0).json();
    let from_file = config[0]["values"].as_array().unwrap().iter();
    let from_file =
        from_file.filter(|value| value["origin"].as_str().unwrap().contains("palyra.toml")).count();
    assert_eq!(from_file, settings.iter().filter(|line| line.contains(" = ")).count());
}
