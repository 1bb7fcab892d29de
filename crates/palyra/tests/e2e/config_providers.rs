//! Providers as the file describes them: their format, their key, their limits, and who is asked instead.

use std::io::{BufReader, Read};

use palyra_model_server::{Behaviour, Reply};
use palyra_testkit::Gate;

use crate::home::{Home, ended, read_until};
use crate::openai_server::{runtime, serve};

fn home_with(text: &str) -> Home {
    let home = Home::new().with("KEY", "sesame");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), text).unwrap();
    home
}

#[test]
fn a_provider_that_speaks_messages_is_asked_in_its_format() {
    let runtime = runtime();
    let reading = Reply::empty().call("read_file", "{\"path\":\"a.md\"}");
    let server = serve(&runtime, Behaviour::each(vec![reading, Reply::text("Lantern.")]).with_key("sesame"));
    let home = home_with(&format!(
        "model.default = \"claude/test-model\"\n[providers.claude]\nformat = \"anthropic_messages\"\n\
         base_url = \"{}\"\nkey = \"env:KEY\"\n",
        server.origin()
    ));
    home.write("a.md", "# Lantern\n");
    let ended = home.palyra(&["run", "read a.md"]).expect(0);
    assert_eq!(ended.out, "Lantern.\n");
    let asked = server.asked();
    assert!(asked.len() == 2 && asked.iter().all(|request| request.path == "/v1/messages"), "{asked:?}");
    assert_eq!(asked[0].body["model"], "test-model");
}

#[test]
fn a_fallback_answers_where_the_default_model_cannot() {
    let runtime = runtime();
    let locked = serve(&runtime, Behaviour::always(Reply::text("never")).with_key("another"));
    let open = serve(&runtime, Behaviour::always(Reply::text("at your service")).with_key("sesame"));
    let home = home_with(&format!(
        "[model]\ndefault = \"first/test-model\"\nfallbacks = [\"first/test-model\", \"second/test-model\"]\n\
         [providers.first]\nbase_url = \"{}\"\nkey = \"env:KEY\"\n\
         [providers.second]\nbase_url = \"{}\"\nkey = \"env:KEY\"\n",
        locked.base_url(),
        open.base_url()
    ));
    let ended = home.palyra(&["run", "hello"]).expect(0);
    assert_eq!(ended.out, "at your service\n");
    assert_eq!((locked.asked().len(), open.asked().len()), (1, 1));
    // Who names a model means that one.
    home.palyra(&["run", "--model", "first/test-model", "hello"]).expect(1);
    assert_eq!(open.asked().len(), 1);
}

#[test]
fn a_provider_gets_no_more_requests_at_once_than_it_takes() {
    let runtime = runtime();
    let gate = Gate::closed();
    let first = Reply::empty().piece("one").hold(&gate);
    let server = serve(&runtime, Behaviour::each(vec![first, Reply::text("two")]));
    let home = home_with(&format!(
        "model.default = \"x/test-model\"\n[providers.x]\nbase_url = \"{}\"\nparallel_requests_max = 1\n",
        server.base_url()
    ));
    let one = home.command(&["run", "first"]).spawn().unwrap();
    runtime.block_on(server.wait_asked(1));
    let mut two = home.command(&["run", "--json", "second"]).spawn().unwrap();
    // The second run is at work, and waits for its turn.
    let mut out = BufReader::new(two.stdout.take().unwrap());
    read_until(&mut out, "model_requested");
    assert_eq!(server.asked().len(), 1);
    gate.open();
    assert_eq!(ended(one).expect(0).out, "one\n");
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(ended(two).expect(0).err.is_empty() && rest.contains("\"two\""), "{rest}");
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn a_provider_of_another_format_is_added_by_the_verb_after_a_real_completion() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("here")).with_key("sesame"));
    let home = Home::new().with("ANTHROPIC_API_KEY", "sesame");
    let listed = home.palyra(&["model", "list"]).expect(0);
    let suggested =
        "palyra model add anthropic --format anthropic_messages --base-url https://api.anthropic.com";
    assert!(format!("{}{}", listed.out, listed.err).contains(suggested), "{listed:?}");
    let origin = server.origin();
    let add = ["model", "add", "claude", "--format", "anthropic_messages", "--base-url", &origin];
    let rest = ["--key", "env:ANTHROPIC_API_KEY", "--model", "test-model"];
    home.palyra(&[&add[..], &rest[..]].concat()).expect(0);
    home.palyra(&["config", "check"]).expect(0);
    let ended = home.palyra(&["run", "hello"]).expect(0);
    assert_eq!(ended.out, "here\n");
    assert!(server.asked().iter().all(|request| request.path == "/v1/messages"));
}

#[test]
fn a_daemon_that_lacks_the_key_of_a_new_provider_makes_room_or_says_whose_environment_lacks_it() {
    let add = ["model", "add", "x", "--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--no-test"];
    let add = [&add[..], &["--key", "env:LATE_KEY"]].concat();
    // An idle daemon that a client started is replaced by one of this environment.
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let home = home.with("LATE_KEY", "sesame");
    let added = home.palyra(&add).expect(0);
    let stopped =
        "the running daemon was stopped, because LATE_KEY is not set in its environment; your next command";
    assert!(added.err.contains(stopped) && !added.err.contains("PLY-"), "{}", added.err);
    let config = home.palyra(&["config", "show"]).expect(0);
    assert!(config.out.contains("model.default = \"x/m\""), "{}", config.out);
    // One that a person started stays.
    let home = Home::new();
    let mut daemon = home.command(&["serve"]).spawn().unwrap();
    read_until(&mut BufReader::new(daemon.stdout.take().unwrap()), "\"ready\":true");
    let home = home.with("LATE_KEY", "sesame");
    let added = home.palyra(&add).expect(0);
    assert!(added.err.contains("the running daemon does not use it: "), "{}", added.err);
    assert!(added.err.contains("It stays: it was not started by a command of yours"), "{}", added.err);
    home.palyra(&["admin", "stop"]).expect(0);
    daemon.wait().unwrap();
}

/// One server without its key leaves the daemon and the other servers as they are.
#[test]
fn a_server_that_is_not_the_default_one_needs_its_key_when_it_is_asked() {
    let home = Home::new();
    home.configure(
        "[providers.work]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\nkey = \"env:WORK_KEY\"\n",
    );
    home.palyra(&["run", "hello"]).expect(0);
    let asked = home.palyra(&["run", "--model", "work/m", "hello"]).expect(1);
    assert!(
        asked.err.contains("PLY-3001")
            && asked.err.contains("no key for `work`: `WORK_KEY` is not set in the daemon's environment"),
        "{}",
        asked.err
    );
    // As the default model it is refused, and the way back works without the key.
    let refused = home.palyra(&["model", "use", "work/m"]).expect(2);
    assert!(refused.err.contains("WORK_KEY"), "{}", refused.err);
    home.configure("[model]\ndefault = \"work/m\"\n");
    home.palyra(&["model", "use", "demo/demo"]).expect(0);
    home.palyra(&["run", "hello"]).expect(0);
}

/// The server that the tests below ask, with its key in `LATE_KEY`.
fn late_section(base_url: &str) -> String {
    format!("[providers.late]\nbase_url = \"{base_url}\"\nkey = \"env:LATE_KEY\"\n")
}

#[test]
fn a_key_that_was_exported_later_leads_to_a_daemon_that_has_it() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("At your service.")).with_key("sesame"));
    let home = Home::new();
    home.configure(&late_section(&server.base_url()));
    home.palyra(&["run", "hello"]).expect(0);
    // A variable that is exported from here on is not one of the daemon's.
    let home = home.with("LATE_KEY", "sesame");
    let command = "in a shell where LATE_KEY is exported: `palyra admin stop`, ";
    for words in [&["run", "--model", "late/test-model", "hello"][..], &["model", "test", "late/test-model"]]
    {
        let asked = home.palyra(words).expect(1);
        assert!(asked.err.contains("PLY-3001") && asked.err.contains("LATE_KEY"), "{}", asked.err);
        assert!(asked.err.contains(&format!("{command}then the same command")), "{}", asked.err);
        assert!(!asked.err.contains("palyra model use"), "{}", asked.err);
    }
    let looked = home.palyra(&["doctor"]);
    assert!(looked.out.contains(command), "{}", looked.out);
    let checked = home.palyra(&["config", "check"]).expect(0);
    assert!(checked.err.contains("has no mistakes"), "{}", checked.err);
    assert!(checked.err.contains(command), "{}", checked.err);
    let listed = home.palyra(&["model", "list", "--json"]).expect(0);
    assert!(listed.out.contains("PLY-3001: no key for `late`: `LATE_KEY` is not set"), "{}", listed.out);
    let unnamed = home.palyra(&["model", "use", "late"]).expect(2);
    assert!(unnamed.err.contains("no key for `late`") && unnamed.err.contains("LATE_KEY"), "{}", unnamed.err);
    // Another daemon was replaced just now; the command that the first line names helps all the same, for one run.
    std::fs::write(home.state_dir().join("model-replaced"), "").unwrap();
    home.palyra(&["admin", "stop"]).expect(0);
    let once = home.palyra(&["run", "--model", "late/test-model", "hello"]).expect(0);
    assert_eq!(once.out, "At your service.\n", "{}", once.err);
    let kept = home.palyra(&["model", "use"]).expect(0);
    assert_eq!(kept.out, "demo/demo\n", "{}", kept.err);
    home.palyra(&["model", "use", "late/test-model"]).expect(0);
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "At your service.\n");
    let checked = home.palyra(&["config", "check"]).expect(0);
    assert!(!checked.err.contains("LATE_KEY"), "{}", checked.err);
}

#[test]
fn a_server_that_is_added_beside_the_default_one_is_used_by_a_daemon_that_has_its_key() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("At your service.")).with_key("sesame"));
    let url = server.base_url();
    let add = ["model", "add", "late", "--base-url", &url, "--model", "test-model", "--key", "env:LATE_KEY"];
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let home = home.with("LATE_KEY", "sesame");
    let added = home.palyra(&[&add[..], &["--no-default"]].concat()).expect(0);
    // Its default model works, so the daemon stays, and the note says how the key gets to one.
    assert!(!added.err.contains("was stopped"), "{}", added.err);
    assert!(added.err.contains("`palyra admin stop` lets your next command"), "{}", added.err);
    home.palyra(&["admin", "stop"]).expect(0);
    let asked = home.palyra(&["run", "--model", "late/test-model", "hello"]).expect(0);
    assert_eq!(asked.out, "At your service.\n");
    // Where this environment lacks it as well, the daemon stays, and the note says where it has to be.
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let added = home.palyra(&[&add[..], &["--no-default", "--no-test"]].concat()).expect(0);
    assert!(added.err.contains("the running daemon cannot ask it: PLY-3001"), "{}", added.err);
    assert!(
        added.err.contains("in a shell where LATE_KEY is exported: `palyra admin stop`"),
        "{}",
        added.err
    );
    assert!(!added.err.contains("was stopped"), "{}", added.err);
}

#[test]
fn a_default_whose_key_the_daemon_lacks_is_refused_by_a_reload_with_the_way_on() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    home.configure(&format!("[model]\ndefault = \"late/m\"\n{}", late_section("http://127.0.0.1:1/v1")));
    let refused = home.palyra(&["config", "reload"]).expect(2);
    assert!(refused.out.contains("`LATE_KEY` is not set in the daemon's environment"), "{}", refused.out);
    assert!(
        refused.err.contains("in a shell where LATE_KEY is exported: `palyra admin stop`"),
        "{}",
        refused.err
    );
}

#[test]
fn a_server_that_the_file_has_no_more_leads_to_a_daemon_with_the_file_as_it_is() {
    let home = Home::new();
    home.configure(&late_section("http://127.0.0.1:1/v1"));
    home.palyra(&["run", "hello"]).expect(0);
    std::fs::write(home.config_file(), "").unwrap();
    let checked = home.palyra(&["config", "check"]).expect(0);
    assert!(
        checked.err.contains("still has the server `late`, which this file has no more"),
        "{}",
        checked.err
    );
    assert!(
        checked.err.contains("`palyra admin stop`") && !checked.err.contains("LATE_KEY"),
        "{}",
        checked.err
    );
    // As it is written; a file that the daemon does not read says nothing about its servers.
    home.palyra(&["admin", "stop"]).expect(0);
    home.palyra(&["run", "hello"]).expect(0);
    let checked = home.palyra(&["config", "check"]).expect(0);
    assert!(!checked.err.contains("late"), "{}", checked.err);
    home.write("other.toml", "");
    let other = home.work().join("other.toml").display().to_string();
    let checked = home.palyra(&["--config", &other, "config", "check"]).expect(0);
    assert!(checked.err.contains("the running daemon reads "), "{}", checked.err);
    assert!(!checked.err.contains("model use"), "{}", checked.err);
}

#[test]
fn a_key_that_a_start_refuses_is_a_mistake_of_the_configuration() {
    let home = Home::new().with("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let home = home.with("OPENAI_API_KEY", "sesame\u{7f}sesame").with("PALYRA_MODEL", "m");
    let refused = home.palyra(&["run", "hello"]).expect(4);
    assert!(
        refused.err.contains("PLY-1301") && refused.err.contains("palyra config check"),
        "{}",
        refused.err
    );
    let checked = home.palyra(&["config", "check"]).expect(2);
    assert!(checked.out.contains("OPENAI_API_KEY") && !checked.out.contains("sesame"), "{}", checked.out);
}
