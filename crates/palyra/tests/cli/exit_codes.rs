//! The table of exit codes, each seen on the real program. (docs/cli.md holds the same table.)

use palyra_model_server::{Behaviour, ModelServer, Reply};

use crate::home::{Home, signal};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

fn home_with(server: &ModelServer) -> Home {
    Home::new().with("OPENAI_BASE_URL", &server.base_url()).with("PALYRA_MODEL", "test-model")
}

#[test]
fn done_is_0() {
    let ended = Home::new().palyra(&["run", "what can you do"]).expect(0);
    assert!(!ended.out.is_empty());
}

#[test]
fn failed_is_1() {
    let ended = Home::new().palyra(&["runs", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]).expect(1);
    assert!(ended.err.contains("error[PLY-1103]: "), "{}", ended.err);
}

#[test]
fn a_wrong_command_line_is_2_and_the_nearest_word_is_named() {
    let home = Home::new();
    for (arguments, nearest) in [
        (&["rum", "hello"][..], "'run'"),
        (&["runs", "lits"], "'list'"),
        (&["runs", "list", "--jsn"], "'--json'"),
        (&["help", "sesions"], "'sessions'"),
        (&["admin", "completions", "bsh"], "'bash'"),
    ] {
        let ended = home.palyra(arguments).expect(2);
        assert!(ended.out.is_empty() && ended.err.starts_with("error: "), "{}", ended.err);
        assert!(ended.err.contains(nearest), "{nearest}: {}", ended.err);
    }
    home.palyra(&[]).expect(2);
}

#[test]
fn a_command_line_that_people_type_names_the_one_that_exists() {
    let home = Home::new();
    for (arguments, wanted, unwanted) in [
        (&["sessions", "search", "moon"][..], "`palyra sessions list --search moon`", "archive"),
        (&["chat", "XN8H9D"], "`palyra chat --session XN8H9D`", "-- XN8H9D"),
        (&["chat", "--continue"], "`palyra chat --session last`", "--connect"),
        (&["resume"], "`palyra chat --session last`", "serve"),
        (&["undo"], "`palyra runs undo last`", "nearest verb"),
        (&["history"], "`palyra runs list`", "asks a model"),
        (&["config", "set", "a", "b"], "`palyra config check`", "tip: a similar"),
        (&["approve", "yes", "--all"], "`palyra approve`", "-- --all"),
        (&["erase", "last"], "`palyra journal erase last`", "asks a model"),
        (&["grants"], "`palyra approve grants`", "asks a model"),
        (&["attach", "logo.png"], "`palyra run --attach logo.png QUESTION`", "asks a model"),
        (&["model", "remove", "local"], "`palyra explain docs/providers.md`", "tip: a similar"),
        (&["policy", "add", "src"], "`palyra explain docs/policy.md`", "tip: a similar"),
        (&["explain", "this", "project"], "`palyra run 'explain this project'` asks a model", "unrecognized"),
        (&["policy", "explain", "read_file"], "`palyra policy explain --tool read_file`", "asks a model"),
        (&["run", "--attach", "what is it?"], "palyra run --attach FILE 'what is it?'", "the input is empty"),
        (&["tools", "skills", "install", "https://a.example/x"], "download it first", "nothing is there"),
    ] {
        let told = home.palyra(arguments).expect(2).err;
        assert!(told.contains(wanted) && !told.contains(unwanted), "{arguments:?}: {told}");
    }
    for verb in ["help", "explain"] {
        let shown = home.palyra(&[verb, "undo"]).expect(0).out;
        assert!(shown.contains("palyra runs undo"), "{shown}");
    }
    let absent = home.palyra(&["explain", "docs/evidence.md"]).expect(2).err;
    assert!(
        absent.contains("is not part of the program") && absent.contains("`palyra help topics`"),
        "{absent}"
    );
    let asked = home.palyra(&["run", "list"]).expect(0).err;
    assert!(asked.contains("`palyra runs list` is the command about runs"), "{asked}");
    let proved = home.palyra(&["journal", "prove", "last"]).expect(0);
    assert!(proved.out.starts_with("entry "), "{}", proved.out);
}

#[test]
fn a_misspelled_secret_names_the_one_that_exists() {
    let home = Home::new();
    home.palyra_reading(&["admin", "vault", "put", "forge", "--host", "a.example"], "a value of a secret")
        .expect(0);
    let missing = home.palyra(&["admin", "vault", "bind", "forg", "b.example"]).expect(1).err;
    assert!(missing.contains("PLY-4601") && missing.contains("did you mean `forge`?"), "{missing}");
    let unlike = home.palyra(&["admin", "vault", "remove", "maps"]).expect(1).err;
    assert!(!unlike.contains("did you mean"), "{unlike}");
}

#[test]
fn a_denied_call_is_3() {
    let runtime = runtime();
    let replies = vec![Reply::empty().call("run_command", "{\"argv\":[\"ls\"]}"), Reply::text("I may not.")];
    let server = runtime.block_on(ModelServer::start(Behaviour::each(replies))).unwrap();
    home_with(&server).palyra(&["run", "list files with ls"]).expect(3);
}

#[test]
fn no_daemon_is_4() {
    Home::new().palyra(&["--no-start", "runs", "list"]).expect(4);
}

#[test]
fn a_conflict_is_5() {
    let home = Home::new();
    home.palyra(&["run", "--session", "notes", "what can you do"]).expect(0);
    home.palyra(&["sessions", "archive", "notes"]).expect(0);
    let ended = home.palyra(&["run", "--session", "notes", "what can you do"]).expect(5);
    assert!(ended.err.contains("error[PLY-1111]: "), "{}", ended.err);
}

#[test]
fn a_time_limit_is_124() {
    let runtime = runtime();
    let server = runtime.block_on(ModelServer::start(Behaviour::always(Reply::silent()))).unwrap();
    let home = home_with(&server);
    let ended = home.palyra(&["run", "--timeout", "1", "hello"]).expect(124);
    assert!(ended.err.contains("the time limit of 1.0 s is reached"), "{}", ended.err);
    let run = &home.palyra(&["runs", "show", "last", "--json"]).expect(0).json()[0];
    assert_eq!(run["state"], "RUN_STATE_CANCELLED");
}

#[test]
fn an_interrupt_is_130() {
    let runtime = runtime();
    let server = runtime.block_on(ModelServer::start(Behaviour::always(Reply::silent()))).unwrap();
    let home = home_with(&server);
    let child = home.command(&["run", "hello"]).spawn().unwrap();
    runtime.block_on(server.wait_until(|counts| counts.requests >= 1));
    signal(&child, rustix::process::Signal::INT);
    crate::home::ended(child).expect(130);
}

#[test]
fn the_table_is_told() {
    let told = Home::new().palyra(&["help", "exit-codes"]).expect(0).out;
    for number in ["0", "1", "2", "3", "4", "5", "124", "130"] {
        assert!(told.lines().any(|line| line.split_whitespace().next() == Some(number)), "{told}");
    }
}
