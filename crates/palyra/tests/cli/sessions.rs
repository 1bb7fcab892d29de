//! Sessions by verbs: found, named, branched, put away; and what goes along with a run.

use palyra_model_server::{Behaviour, ModelServer, Reply};

use crate::home::Home;
use crate::pty::Pty;
use crate::scene::{Scene, said};

#[test]
fn sessions_are_found_named_and_put_away() {
    let home = Home::new();
    home.palyra(&["run", "--session", "notes", "what can you do about lanterns"]).expect(0);
    home.palyra(&["run", "--session", "other", "what can you do"]).expect(0);
    let found = |arguments: &[&str]| {
        let listed = home.palyra(&[&["sessions", "list", "--json"], arguments].concat()).expect(0).json();
        let keys = listed.iter().map(|session| session["session_key"].as_str().unwrap().to_owned());
        keys.collect::<Vec<_>>()
    };
    assert_eq!(found(&[]), ["other", "notes"]);
    assert_eq!(found(&["--search", "LANTERNS"]), ["notes"]);
    home.palyra(&["sessions", "rename", "notes", "Red \u{1b}[31m"]).expect(2);
    let renamed = home.palyra(&["sessions", "rename", "notes", "Light of May"]).expect(0);
    assert!(renamed.err.contains("the session is called Light of May"), "{}", renamed.err);
    let table = home.palyra(&["sessions", "list"]).expect(0).out;
    assert!(table.contains("Light of May") && table.contains("other"), "{table}");

    home.palyra(&["sessions", "archive", "notes"]).expect(0);
    assert_eq!(found(&[]), ["other"]);
    assert_eq!(found(&["--archived"]), ["notes"]);
    assert_eq!(found(&["--all"]).len(), 2);
    home.palyra(&["run", "--session", "notes", "more"]).expect(5);
    let restored = home.palyra(&["sessions", "restore", "notes"]).expect(0).err;
    assert!(restored.contains("session restored; it takes input again"), "{restored}");
    let unchanged = home.palyra(&["sessions", "restore", "notes"]).expect(0).err;
    assert!(
        unchanged.contains("is not archived, so nothing was changed") && !unchanged.contains("restored"),
        "{unchanged}"
    );
    home.palyra(&["run", "--session", "notes", "what can you do"]).expect(0);
    home.palyra(&["sessions", "archive", "nothing"]).expect(1);
}

#[test]
fn a_branch_goes_on_from_its_place_and_leaves_the_rest_alone() {
    let scene = Scene::new();
    let run = |arguments: &[&str]| scene.home.palyra(&[&["run"], arguments].concat()).expect(0).out;
    run(&["--session", "trunk", "one"]);
    let first = scene.runs()[0]["run_id"].as_str().unwrap().to_owned();
    run(&["--session", "trunk", "two"]);
    let branch = scene.home.palyra(&["sessions", "branch", &first, "--label", "twig"]).expect(0).out;
    assert_eq!(run(&["--session", branch.trim(), "three"]), "<one|three>\n");
    assert_eq!(run(&["--session", "trunk", "four"]), "<one|two|four>\n");
    let shown = scene.home.palyra(&["sessions", "show", branch.trim()]).expect(0).out;
    assert!(shown.contains("twig") && shown.contains(&format!("branched {first}@")), "{shown}");
    let session = &branch.trim()[20..];
    for verb in [&["sessions", "branch"][..], &["runs", "tail"]] {
        let named = scene.home.palyra(&[verb, &[session]].concat());
        assert_eq!(named.code, 1, "{}", named.err);
        let told = format!("`{session}`: it names a session\n");
        assert!(named.err.contains(&told), "{}", named.err);
        let mend = format!("`palyra runs list --session {session}` lists its runs");
        assert!(named.err.contains(&mend), "{}", named.err);
        scene.home.palyra(&["runs", "list", "--session", session]).expect(0);
    }
    let late = scene.home.palyra(&["sessions", "branch", "last@9999"]).expect(1);
    assert!(late.err.contains("error[PLY-1113]: "), "{}", late.err);
}

#[test]
fn a_list_in_the_home_folder_names_a_command_that_is_not_refused_there() {
    let home = Home::new().with("TERM", "xterm");
    home.palyra(&["run", "what can you do"]).expect(0);
    let listed = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.current_dir(home.work().with_file_name("home"));
        let mut pty = Pty::spawn(&command, 240);
        assert_eq!(pty.ended(), 0, "{}", pty.text());
        pty.text()
    };
    let id = home.palyra(&["sessions", "list", "--json"]).expect(0).json()[0]["session_id"].clone();
    let id = &id.as_str().unwrap()[20..];
    let named = format!("`palyra chat --session {id} --workspace DIR`");
    for arguments in [&["sessions", "list"][..], &["sessions", "show", id]] {
        let text = listed(arguments);
        assert!(text.contains(&named), "{arguments:?}: {text}");
    }
    let mut pty = Pty::spawn(&home.command(&["sessions", "list"]), 200);
    pty.expect(&format!("`palyra chat --session {id}` goes on"));
    assert_eq!(pty.ended(), 0);
}

#[test]
fn a_cleanup_stops_what_is_open_and_puts_the_session_away() {
    let scene = Scene::new();
    let child = scene.home.command(&["run", "--session", "busy", "go slowly"]).spawn().unwrap();
    scene.until_held();
    let cleaned = scene.home.palyra(&["sessions", "cleanup", "busy"]).expect(0);
    assert!(cleaned.err.contains("1 run asked to stop; the session is archived"), "{}", cleaned.err);
    crate::home::ended(child).expect(130);
    scene.home.palyra(&["run", "--session", "busy", "more"]).expect(5);
}

#[test]
fn a_run_is_steered_and_interrupted_from_elsewhere() {
    let scene = Scene::new();
    let first = scene.home.command(&["run", "--session", "busy", "go slowly"]).spawn().unwrap();
    scene.until_held();
    let steered = scene.home.palyra(&["runs", "steer", "last", "be", "brief"]).expect(0);
    assert!(steered.err.contains("the run takes it into account"), "{}", steered.err);
    let second = scene.home.palyra(&["run", "--session", "busy", "--interrupt", "stop that"]).expect(0);
    assert!(second.out.ends_with("stop that>\n"), "{}", second.out);
    crate::home::ended(first).expect(130);
    scene.home.palyra(&["run", "--steer", "no session is named"]).expect(2);
}

#[test]
fn files_and_a_schema_go_along_with_a_run() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let behaviour = Behaviour::by(|body| {
        let asked = body.get("response_format").is_some_and(|format| format["type"] == "json_schema");
        let heard = said(body).concat().contains("it is green");
        Reply::text(&format!("{{\"asked\":{asked},\"heard\":{heard}}}"))
    });
    let server = runtime.block_on(ModelServer::start(behaviour)).unwrap();
    let home = Home::new().with("OPENAI_BASE_URL", &server.base_url()).with("PALYRA_MODEL", "test-model");
    home.write("notes.md", "it is green");
    home.write("schema.json", "{\"type\":\"object\",\"required\":[\"asked\",\"heard\"]}");
    home.write("list.json", "[]");
    let ended =
        home.palyra(&["run", "--attach", "notes.md", "--schema", "schema.json", "which colour?"]).expect(0);
    assert_eq!(ended.out, "{\"asked\":true,\"heard\":true}\n");
    let not_one = home.palyra(&["run", "--schema", "list.json", "which colour?"]).expect(2);
    assert!(not_one.err.contains("is not a JSON object"), "{}", not_one.err);
    let missing = home.palyra(&["run", "--attach", "none.png", "which colour?"]).expect(2);
    assert!(missing.err.contains("error[PLY-1112]: none.png cannot be read"), "{}", missing.err);
    assert_eq!(home.palyra(&["runs", "list", "--json"]).expect(0).json().len(), 1, "nothing else was sent");
}

#[test]
fn a_script_talks_line_by_line_with_the_same_commands() {
    let scene = Scene::new();
    let script =
        "one \\\ntwo\n/branch here\nthree\n/reset\n/steer four\n/model other\n/attach none\n/cancel\nfive\n";
    let talked = scene.home.palyra_reading(&["chat"], script);
    assert_eq!(talked.out, "<one /two>\n<one /two|three>\n<four>\n", "{}", talked.err);
    assert_eq!(talked.code, 2, "a file that is not there ends a script");
    assert!(talked.err.contains("a model is named as provider/model"), "{}", talked.err);
    assert!(talked.err.contains("error[PLY-1112]: none cannot be read"), "{}", talked.err);
}
