//! The default model that a configuration names: how it is taken out again, and the hints that lead there.

use palyra_model_server::{Behaviour, ModelServer, Reply};

use crate::home::{Ended, Home, ended};
use crate::openai_server::{runtime, serve};

const HINT: &str = "palyra model use --unset";

fn ask(home: &Home, server: &ModelServer, arguments: &[&str]) -> Ended {
    let mut command = home.command(arguments);
    command.env("OPENAI_BASE_URL", server.base_url()).env("PALYRA_MODEL", "test-model");
    ended(command.spawn().unwrap())
}

/// Returns the words of the hint, which have to be in what a command said.
fn hint(said: &Ended) -> Vec<&'static str> {
    assert!(said.err.contains(&format!("`{HINT}`")), "{}", said.err);
    HINT.split(' ').skip(1).collect()
}

#[test]
fn the_hint_about_an_unused_variable_makes_the_environment_count() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("mine")));
    let home = Home::new();
    home.palyra(&["model", "use", "demo"]).expect(0);
    let noted = ask(&home, &server, &["run", "say hi"]).expect(0);
    assert!(!noted.err.contains("--model") && !noted.out.contains("mine"), "{} {}", noted.err, noted.out);
    let unset = ask(&home, &server, &hint(&noted)).expect(0);
    assert!(unset.err.contains("no default model is configured now (was demo/demo)"), "{}", unset.err);
    assert!(unset.err.contains("its default model is "), "it names what answers: {}", unset.err);
    let asked = ask(&home, &server, &["run", "say hi"]).expect(0);
    assert_eq!(asked.out, "mine\n");
    assert!(!asked.err.contains("is not used"), "{}", asked.err);
}

#[test]
fn the_model_of_a_daemon_from_another_environment_is_the_one_that_is_named() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("mine")));
    let home = Home::new();
    ask(&home, &server, &["run", "say hi"]).expect(0);
    // From here on no variable selects the server; the daemon keeps its own.
    let used = home.palyra(&["model", "use", "demo"]).expect(0);
    assert!(used.err.contains("now demo/demo (was openai/test-model)"), "{}", used.err);
    let unset = home.palyra(&hint(&used)).expect(0);
    assert!(unset.err.contains("its default model is openai/test-model"), "{}", unset.err);
    let own = "this environment selects demo/demo; a daemon that is started in it uses that";
    assert!(unset.err.contains(own), "{}", unset.err);
    let shown = home.palyra(&["model", "use"]).expect(0);
    assert_eq!(shown.out, "openai/test-model\n");
    assert!(shown.err.contains("the running daemon uses it, by OPENAI_BASE_URL"), "{}", shown.err);
}

#[test]
fn a_model_of_the_environment_that_is_not_configured_names_the_same_mend() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("mine")));
    let home = Home::new();
    home.palyra(&["model", "use", "demo"]).expect(0);
    home.palyra(&["run", "hello"]).expect(0);
    let words = ["run", "--model", "openai/test-model", "say hi"];
    let refused = ask(&home, &server, &words).expect(1);
    assert!(refused.err.contains("error[PLY-3012]"), "{}", refused.err);
    let said = ask(&home, &server, &[&words[..], &["--json"]].concat()).expect(1);
    assert!(said.err.contains(HINT), "{}", said.err);
    ask(&home, &server, &hint(&refused)).expect(0);
    assert_eq!(ask(&home, &server, &words).expect(0).out, "mine\n");
    // The control: another provider is no matter of the environment.
    let other = ask(&home, &server, &["run", "--model", "nowhere/m", "hi"]).expect(1);
    assert!(other.err.contains("error[PLY-3012]") && !other.err.contains(HINT), "{}", other.err);
    // What lists the models is said once, by the mend.
    for words in [["model", "test", "nowhere/m"], ["chat", "--model", "nowhere/m"]] {
        let refused = ask(&home, &server, &words).expect(1);
        assert_eq!(refused.err.matches("palyra model list").count(), 1, "{}", refused.err);
    }
    assert_eq!(other.err.matches("palyra model list").count(), 1, "{}", other.err);
}

#[test]
fn a_server_of_the_file_that_the_daemon_does_not_use_names_the_command_that_helps() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("mine")));
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!("[providers.box]\nbase_url = \"{}\"\n", server.base_url());
    std::fs::write(home.config_file(), text).unwrap();
    let test = ["model", "test", "box/test-model"];
    let early = home.palyra(&test).expect(1);
    assert!(
        early.err.contains("has the server `box`, and the running daemon read it before that"),
        "{}",
        early.err
    );
    assert!(early.err.contains("`palyra config reload`"), "{}", early.err);
    home.palyra(&["config", "reload"]).expect(0);
    home.palyra(&test).expect(0);

    home.palyra(&["admin", "stop"]).expect(0);
    home.write("other.toml", "");
    let other = home.work().join("other.toml").display().to_string();
    home.palyra(&["--config", &other, "run", "hello"]).expect(0);
    let elsewhere = home.palyra(&test).expect(1);
    assert!(elsewhere.err.contains("the running daemon reads another file"), "{}", elsewhere.err);
    assert!(elsewhere.err.contains("`palyra admin stop`"), "{}", elsewhere.err);
    home.palyra(&["admin", "stop"]).expect(0);
    home.palyra(&test).expect(0);
}

#[test]
fn unsetting_the_default_keeps_the_rest_of_the_file() {
    let home = Home::new();
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = "# mine\n[model]\n# the small one\ndefault = \"box/m\" # fast\n\n[providers.box] # here\n\
                base_url = \"http://127.0.0.1:1/v1\"\n";
    std::fs::write(home.config_file(), text).unwrap();
    let told = home.palyra(&["model", "use", "--unset", "--json"]).expect(0).json();
    assert_eq!(
        (&told[0]["default_before"], &told[0]["default_model"]),
        (&"box/m".into(), &"demo/demo".into())
    );
    let left = std::fs::read_to_string(home.config_file()).unwrap();
    assert_eq!(left, text.replace("default = \"box/m\" # fast", "# fast"));
    let again = home.palyra(&["model", "use", "--unset"]).expect(0);
    assert!(again.err.contains("no default model is configured"), "{}", again.err);
    assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), left);
    assert!(home.palyra(&["run", "hello"]).expect(0).out.contains("demo model"));
    home.palyra(&["model", "use", "--unset", "demo"]).expect(2);
}

#[test]
fn a_home_without_a_default_goes_back_to_that_by_the_command_that_is_named() {
    let home = Home::new();
    let first = home.palyra(&["model", "use", "demo"]).expect(0);
    home.palyra(&hint(&first)).expect(0);
    let shown = home.palyra(&["model", "use"]).expect(0);
    assert!(shown.err.contains("no configuration names it"), "{}", shown.err);
    let introduced = home.palyra(&["run", "who are you?"]).expect(0);
    assert!(introduced.out.contains(HINT), "{}", introduced.out);
}
