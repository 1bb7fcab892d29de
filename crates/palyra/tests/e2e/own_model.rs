//! The model that answers is the one that this environment selects, or the answer is a refusal.

use std::io::{BufReader, Write as _};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use palyra_model_server::{Behaviour, ModelServer, Reply};
use palyra_testkit::Gate;
use rustix::process::Signal;

use crate::home::{Ended, Home, ended, read_until, signal};
use crate::openai_server::{runtime, serve};

fn server_saying(runtime: &tokio::runtime::Runtime, text: &str) -> ModelServer {
    serve(runtime, Behaviour::always(Reply::text(text)))
}

/// The variables that select a server.
fn selecting(server: &ModelServer) -> [(&'static str, String); 2] {
    [("OPENAI_BASE_URL", server.base_url()), ("PALYRA_MODEL", "test-model".to_owned())]
}

fn ask(home: &Home, server: Option<&ModelServer>, arguments: &[&str]) -> Ended {
    let mut command = home.command(arguments);
    command.envs(server.into_iter().flat_map(selecting));
    ended(command.spawn().unwrap())
}

/// Makes the last replacement older than a minute.
fn a_minute_later(home: &Home) {
    let stamp = std::fs::File::options().write(true).open(home.state_dir().join("model-replaced")).unwrap();
    stamp.set_modified(SystemTime::now() - Duration::from_secs(90)).unwrap();
}

/// How often a daemon of this home made room.
fn replacements(home: &Home) -> usize {
    let log = std::fs::read_to_string(home.state_dir().join("log/palyrad.log")).unwrap_or_default();
    log.matches("making room for a daemon with another model").count()
}

#[test]
fn an_idle_demo_daemon_is_replaced_once_a_minute_and_one_line_says_so() {
    let runtime = runtime();
    let mine = server_saying(&runtime, "mine");
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);

    let asked = ask(&home, Some(&mine), &["run", "hello"]).expect(0);
    assert_eq!(asked.out, "mine\n");
    let lines: Vec<&str> = asked.err.lines().filter(|line| line.contains("demo/demo")).collect();
    let line =
        "· replacing the idle daemon, which uses demo/demo: this environment selects openai/test-model";
    assert_eq!(lines, [line], "{}", asked.err);
    let again = ask(&home, Some(&mine), &["run", "hello"]).expect(0);
    assert_eq!((again.out.as_str(), again.err.as_str()), ("mine\n", ""));

    // The reverse, within the minute: refused with a mend, and the mend works.
    let refused = ask(&home, None, &["run", "hello"]).expect(2);
    assert!(refused.out.is_empty() && refused.err.contains("error[PLY-1408]"), "{}", refused.err);
    assert!(refused.err.contains("less than a minute ago"), "{}", refused.err);
    assert!(refused.err.contains("`palyra run --model openai/test-model TEXT`"), "{}", refused.err);
    let followed = ask(&home, None, &["run", "--model", "openai/test-model", "hello"]).expect(0);
    assert_eq!(followed.out, "mine\n", "{}", followed.err);
    let untested = ask(&home, None, &["model", "test"]).expect(2);
    assert!(untested.err.contains("`palyra model test openai/test-model`"), "{}", untested.err);
    ask(&home, None, &["model", "test", "openai/test-model"]).expect(0);
    let named = ask(&home, None, &["run", "--model", "demo/demo", "hello"]).expect(0);
    assert!(named.out.contains("demo model"), "{}", named.out);
    ask(&home, None, &["run", "--no-start", "hello"]).expect(2);
    assert_eq!(replacements(&home), 1);

    a_minute_later(&home);
    let back = ask(&home, None, &["run", "hello"]).expect(0);
    assert!(back.out.contains("demo model"), "{}", back.out);
    assert_eq!(replacements(&home), 2);
}

#[test]
fn a_saved_model_of_the_environments_server_is_that_of_a_daemon_which_has_the_variable() {
    let runtime = runtime();
    let mine = server_saying(&runtime, "mine");
    let home = Home::new();
    ask(&home, Some(&mine), &["run", "hello"]).expect(0);
    let saved = ask(&home, Some(&mine), &["model", "use", "openai/test-model"]).expect(0);
    assert!(saved.err.contains("only where OPENAI_BASE_URL is set"), "{}", saved.err);
    // A shell without the variable asks the daemon that has it, which is not replaced by one that cannot start.
    assert_eq!(ask(&home, None, &["run", "hello"]).expect(0).out, "mine\n");
    home.palyra(&["admin", "stop"]).expect(0);
    let refused = ask(&home, None, &["run", "hello"]).expect(4);
    assert!(refused.err.contains("the one of OPENAI_BASE_URL, which is not set here"), "{}", refused.err);
    home.palyra(&["model", "use", "demo/demo"]).expect(0);
    assert!(ask(&home, None, &["run", "hello"]).expect(0).out.contains("demo model"));
}

#[test]
fn a_saved_model_whose_server_no_daemon_has_is_not_answered_by_another_one() {
    let home = Home::new();
    assert!(home.palyra(&["run", "hello"]).expect(0).out.contains("demo model"));
    home.configure("[model]\ndefault = \"openai/test-model\"\n");
    let refused = home.palyra(&["run", "hello"]).expect(2);
    assert!(
        refused.err.contains("PLY-1408") && refused.err.contains("no other could be started"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("OPENAI_BASE_URL, which is not set here"), "{}", refused.err);
    // The daemon that runs stays, and is named.
    let named = home.palyra(&["run", "--model", "demo/demo", "hello"]).expect(0);
    assert!(named.out.contains("demo model"), "{}", named.out);
}

#[test]
fn a_chat_whose_daemon_was_replaced_goes_on_with_the_model_that_it_names() {
    let runtime = runtime();
    let mine = server_saying(&runtime, "mine");
    let home = Home::new();
    let mut chat = home.command(&["chat"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut lines = chat.stdin.take().unwrap();
    let mut answers = BufReader::new(chat.stdout.take().unwrap());
    writeln!(lines, "hello").unwrap();
    read_until(&mut answers, "demo model");
    ask(&home, Some(&mine), &["run", "hello"]).expect(0);
    // Within the minute the daemon stays; the name of its model is enough.
    writeln!(lines, "/model openai/test-model\nhello").unwrap();
    read_until(&mut answers, "mine");
    drop(lines);
    assert!(chat.wait().unwrap().success());
    assert_eq!(replacements(&home), 1);
}

#[test]
fn another_key_or_server_is_another_model() {
    let runtime = runtime();
    let (one, two) = (server_saying(&runtime, "one"), server_saying(&runtime, "two"));
    let home = Home::new();
    assert_eq!(ask(&home, Some(&one), &["run", "hello"]).expect(0).out, "one\n");
    assert_eq!(ask(&home, Some(&two), &["run", "hello"]).expect(0).out, "two\n");
    a_minute_later(&home);
    let mut keyed = home.command(&["run", "hello"]);
    keyed.envs(selecting(&two)).env("OPENAI_API_KEY", "sesame");
    assert_eq!(ended(keyed.spawn().unwrap()).expect(0).out, "two\n");
    assert_eq!(two.asked().last().unwrap().authorization.as_deref(), Some("Bearer sesame"));
    assert_eq!(one.asked().len(), 1);
}

#[test]
fn a_model_that_the_server_names_is_the_same_as_one_that_a_variable_names() {
    let runtime = runtime();
    let (mine, other) = (server_saying(&runtime, "mine"), server_saying(&runtime, "other"));
    let home = Home::new();
    let mut unnamed = home.command(&["run", "hello"]);
    unnamed.env("OPENAI_BASE_URL", mine.base_url());
    assert_eq!(ended(unnamed.spawn().unwrap()).expect(0).out, "mine\n");
    let named = ask(&home, Some(&mine), &["run", "hello"]).expect(0);
    assert_eq!((named.out.as_str(), named.err.as_str(), replacements(&home)), ("mine\n", "", 0));
    // The control: the same name at another server.
    let elsewhere = ask(&home, Some(&other), &["run", "hello"]).expect(0);
    assert_eq!(elsewhere.out, "other\n");
    let differs = "this environment selects openai/test-model at another server, or with another key";
    assert!(elsewhere.err.contains(differs), "{}", elsewhere.err);
}

#[test]
fn a_model_that_a_file_names_stays_and_one_line_says_that_the_variable_is_not_used() {
    let runtime = runtime();
    let (filed, mine) = (server_saying(&runtime, "filed"), server_saying(&runtime, "mine"));
    let home = Home::new();
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!("model.default = \"box/m\"\n[providers.box]\nbase_url = \"{}\"\n", filed.base_url());
    std::fs::write(home.config_file(), text).unwrap();
    for _ in 0..2 {
        let asked = ask(&home, Some(&mine), &["run", "hello"]).expect(0);
        assert_eq!(asked.out, "filed\n");
        let told = "! OPENAI_BASE_URL, PALYRA_MODEL of this environment are not used: the model is box/m, model.default of ";
        assert_eq!(asked.err.matches(told).count(), 1, "{}", asked.err);
    }
    assert_eq!(ask(&home, None, &["run", "hello"]).expect(0).err, "");
    assert!(mine.asked().is_empty() && replacements(&home) == 0);
}

#[test]
fn a_default_that_was_edited_into_the_file_counts_with_the_next_run() {
    let runtime = runtime();
    let filed = server_saying(&runtime, "filed");
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!("model.default = \"box/m\"\n[providers.box]\nbase_url = \"{}\"\n", filed.base_url());
    std::fs::write(home.config_file(), text).unwrap();
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "filed\n");
}

#[test]
fn a_run_at_work_is_never_ended_by_a_replacement() {
    let runtime = runtime();
    let gate = Gate::closed();
    let held = serve(&runtime, Behaviour::always(Reply::empty().piece("held to the end").hold(&gate)));
    let mine = server_saying(&runtime, "mine");
    let home = Home::new();
    let mut command = home.command(&["run", "hello"]);
    command.envs(selecting(&held));
    let first = command.spawn().unwrap();
    runtime.block_on(held.wait_asked(1));
    let refused = ask(&home, Some(&mine), &["run", "hello"]).expect(2);
    assert!(refused.err.contains("PLY-1408") && refused.err.contains("it has 1 open run"), "{}", refused.err);
    gate.open();
    assert_eq!(ended(first).expect(0).out, "held to the end\n");
    assert_eq!((held.asked().len(), mine.asked().len()), (1, 0));
    assert_eq!(ask(&home, Some(&mine), &["run", "hello"]).expect(0).out, "mine\n");
}

#[test]
fn a_daemon_that_a_person_started_is_not_replaced() {
    let runtime = runtime();
    let mine = server_saying(&runtime, "mine");
    let home = Home::new();
    let mut daemon = home.command(&["serve"]).spawn().unwrap();
    let mut out = BufReader::new(daemon.stdout.take().unwrap());
    read_until(&mut out, "\"ready\":true");
    let refused = ask(&home, Some(&mine), &["run", "hello"]).expect(2);
    assert!(refused.err.contains("`palyra serve`"), "{}", refused.err);
    home.palyra(&["run", "hello"]).expect(0);
    signal(&daemon, Signal::TERM);
    daemon.wait().unwrap();
    assert!(mine.asked().is_empty());
}

#[test]
fn a_selection_that_cannot_be_used_is_not_answered_by_the_demo_model() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let mut command = home.command(&["run", "hello"]);
    let refused = ended(command.env("OPENAI_BASE_URL", "nonsense").spawn().unwrap()).expect(2);
    assert!(refused.err.contains("OPENAI_BASE_URL cannot be used"), "{}", refused.err);
    let mut command = home.command(&["run", "hello"]);
    let noted = ended(command.env("PALYRA_MODEL", "m").spawn().unwrap()).expect(0);
    assert!(noted.err.contains("! PALYRA_MODEL of this environment is not used"), "{}", noted.err);
}

#[test]
fn clients_with_different_environments_at_once_are_answered_by_their_own_model_or_refused() {
    const ROUNDS: usize = 4;
    let runtime = runtime();
    let servers = [server_saying(&runtime, "one"), server_saying(&runtime, "two")];
    for round in 0..ROUNDS {
        let home = Home::new();
        if round % 2 == 1 {
            home.palyra(&["run", "hello"]).expect(0);
        }
        let started: Vec<_> = (0..6)
            .map(|number| {
                let mut command = home.command(&["run", "hello"]);
                command.envs(selecting(&servers[number % 2]));
                (number % 2, command.spawn().unwrap())
            })
            .collect();
        let mut answered = 0;
        for (number, child) in started {
            let asked = ended(child);
            match asked.code {
                0 => {
                    answered += 1;
                    assert_eq!(asked.out, ["one\n", "two\n"][number], "{}", asked.err);
                }
                2 => assert!(asked.err.contains("error[PLY-1408]") && asked.out.is_empty(), "{asked:?}"),
                _ => panic!("{asked:?}"),
            }
        }
        assert!(answered >= 1 && replacements(&home) <= 1, "{answered}, {}", replacements(&home));
        home.palyra(&["journal", "verify"]).expect(0);
    }
}

#[test]
fn a_daemon_that_lacked_only_the_key_is_replaced_at_once() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("keyed")).with_key("sesame"));
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let home = home.with("OPENAI_BASE_URL", &server.base_url()).with("PALYRA_MODEL", "test-model");
    // It replaces the demo daemon, and has no key.
    home.palyra(&["run", "hello"]).expect(1);
    let home = home.with("OPENAI_API_KEY", "sesame");
    let asked = home.palyra(&["run", "hello"]).expect(0);
    assert_eq!(asked.out, "keyed\n", "{}", asked.err);
}

#[test]
fn a_daemon_with_a_wrong_key_is_replaced_at_once_by_the_same_command_with_the_right_one() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("keyed")).with_key("sesame"));
    let home = Home::new();
    let asked_with = |key: &str| {
        let mut command = home.command(&["run", "hello"]);
        ended(command.envs(selecting(&server)).env("OPENAI_API_KEY", key).spawn().unwrap())
    };
    home.palyra(&["run", "hello"]).expect(0);
    let wrong = asked_with("poppy-seed").expect(1);
    let mend = "`export OPENAI_API_KEY=…` with a key that the server takes in this shell, then the same command again";
    assert!(wrong.err.contains("PLY-3001") && wrong.err.contains(mend), "{}", wrong.err);
    assert_eq!(asked_with("sesame").expect(0).out, "keyed\n");
    assert_eq!(replacements(&home), 2);
}

#[test]
fn a_daemon_whose_model_never_answered_is_replaced_at_once_after_a_correction() {
    let runtime = runtime();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let wrong = format!("http://{}/v1", taken.local_addr().unwrap());
    drop(taken);
    let (mine, other) = (server_saying(&runtime, "mine"), server_saying(&runtime, "other"));
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    // It replaces the demo daemon, at an address where no server is.
    let mut mistaken = home.command(&["run", "hello"]);
    mistaken.env("OPENAI_BASE_URL", &wrong).env("PALYRA_MODEL", "test-model");
    let failed = ended(mistaken.spawn().unwrap()).expect(1);
    assert!(failed.err.contains("PLY-3010") && failed.err.contains("`palyra model test"), "{}", failed.err);
    // The printed command, with the corrected address, within the minute.
    ask(&home, Some(&mine), &["model", "test", "openai/test-model"]).expect(0);
    assert_eq!(ask(&home, Some(&mine), &["run", "hello"]).expect(0).out, "mine\n");
    assert_eq!(replacements(&home), 2);
    // The control: its model has answered, so it works for an environment.
    let refused = ask(&home, Some(&other), &["run", "hello"]).expect(2);
    assert!(refused.err.contains("less than a minute ago"), "{}", refused.err);
    assert!(refused.err.contains("OPENAI_API_KEY is not set here"), "{}", refused.err);
}

#[test]
fn a_run_that_waits_is_to_be_answered_before_its_daemon_is_stopped() {
    let runtime = runtime();
    let write = || Reply::empty().call("write_file", r#"{"path":"q.txt","content":"x"}"#);
    let mine = serve(&runtime, Behaviour::each(vec![write(), write()]));
    let home = Home::new();
    ask(&home, Some(&mine), &["run", "look around"]).expect(3);
    let refused = home.palyra(&["run", "hello"]).expect(2);
    assert!(refused.err.contains("PLY-1408") && refused.err.contains("it has 1 open run"), "{}", refused.err);
    assert!(refused.err.contains("`palyra runs cancel ID`"), "{}", refused.err);
    assert!(!refused.err.contains("`palyra admin stop`"), "{}", refused.err);
    // The line works as it is written.
    home.palyra(&["runs", "cancel", "last"]).expect(0);
    let asked = home.palyra(&["run", "hello"]).expect(0);
    assert!(asked.out.contains("demo model"), "{}", asked.out);

    // After a stop all the same, the variables and a new run are named, and no test of the model.
    let home = Home::new();
    ask(&home, Some(&mine), &["run", "look around"]).expect(3);
    let stopped = home.palyra(&["admin", "stop"]).expect(0);
    assert!(
        stopped.err.contains("! 1 run was open: unless it has ended, it goes on once a daemon starts"),
        "{}",
        stopped.err
    );
    home.palyra(&["run", "hello"]).expect(0);
    let failed = home.palyra(&["approve", "yes", "last", "--wait"]).expect(1);
    assert!(failed.err.contains("PLY-3006") && failed.err.contains("OPENAI_BASE_URL"), "{}", failed.err);
    assert!(failed.err.contains("a new run") && !failed.err.contains("model test"), "{}", failed.err);
}

#[test]
fn an_open_run_keeps_its_daemon_also_within_the_minute_after_a_replacement() {
    let runtime = runtime();
    let write = Reply::empty().call("write_file", r#"{"path":"q.txt","content":"x"}"#);
    let mine = serve(&runtime, Behaviour::each(vec![write]));
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    ask(&home, Some(&mine), &["run", "look around"]).expect(3);
    assert_eq!(replacements(&home), 1);
    let refused = home.palyra(&["run", "hello"]).expect(2);
    assert!(refused.err.contains("PLY-1408") && refused.err.contains("it has 1 open run"), "{}", refused.err);
    assert!(!refused.err.contains("minute ago") && !refused.err.contains("admin stop"), "{}", refused.err);
}

#[test]
fn a_shell_without_the_key_is_said_to_lack_it_and_the_daemon_is_not_stopped() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("keyed")).with_key("sesame"));
    let home = Home::new();
    let mut keyed = home.command(&["run", "hello"]);
    keyed.envs(selecting(&server)).env("OPENAI_API_KEY", "sesame");
    assert_eq!(ended(keyed.spawn().unwrap()).expect(0).out, "keyed\n");
    let looked = ask(&home, Some(&server), &["doctor"]).expect(0);
    let said = "this environment selects openai/test-model at another server, or with another key";
    assert!(looked.out.contains(said), "{}", looked.out);
    assert!(looked.out.contains("OPENAI_API_KEY is not set here"), "{}", looked.out);
    // As it is written.
    let mut keyed = home.command(&["doctor"]);
    keyed.envs(selecting(&server)).env("OPENAI_API_KEY", "sesame");
    let looked = ended(keyed.spawn().unwrap()).expect(0);
    assert!(!looked.out.contains("this environment selects"), "{}", looked.out);
}

#[test]
fn a_file_or_a_setting_that_the_daemon_was_not_started_with_is_said_not_to_be_used() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    home.write("other.toml", "nonsense");
    let other = home.work().join("other.toml").display().to_string();
    let asked = home.palyra(&["--config", &other, "run", "--model", "demo/demo", "hello"]).expect(0);
    let unused = format!("! {other} is not used: the running daemon reads ");
    assert!(asked.err.contains(&unused), "{}", asked.err);
    let home = home.with("PALYRA__LIMITS__TURNS_MAX", "7");
    let asked = home.palyra(&["run", "hello"]).expect(0);
    let unused = "! PALYRA__LIMITS__TURNS_MAX of this environment is not used";
    assert_eq!(asked.err.matches(unused).count(), 1, "{}", asked.err);
    // As it is written.
    home.palyra(&["admin", "stop"]).expect(0);
    let asked = home.palyra(&["run", "hello"]).expect(0);
    assert!(!asked.err.contains("not used"), "{}", asked.err);
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).err, "");
}

#[test]
fn a_model_that_this_environment_selects_may_be_named_without_its_server() {
    let runtime = runtime();
    let mine = server_saying(&runtime, "mine");
    let home = Home::new();
    // The daemon that runs knows the demo model alone.
    home.palyra(&["run", "hello"]).expect(0);
    let asked = ask(&home, Some(&mine), &["run", "--model", "test-model", "hello"]).expect(0);
    assert_eq!(asked.out, "mine\n", "{}", asked.err);
    // The control: a name that no server here has.
    let other = ask(&home, Some(&mine), &["run", "--model", "other-model", "hello"]).expect(2);
    assert!(other.err.contains("must be written as provider/model"), "{}", other.err);
}
