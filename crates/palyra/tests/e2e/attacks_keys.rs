//! A credential of a provider goes to the provider and nowhere else, however hard one looks and whoever asks.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use palyra_model_server::{Behaviour, Reply};
use rustix::process::Signal;

use crate::home::{Ended, Home, ended, read_until, signal};
use crate::openai_server::{runtime, serve};

const CANARY: &str = "sk-canary-key-0815-4711";

#[track_caller]
fn is_clean(place: &str, bytes: &[u8]) {
    let found = bytes.windows(CANARY.len()).position(|part| part == CANARY.as_bytes());
    if let Some(at) = found {
        let around = String::from_utf8_lossy(&bytes[at.saturating_sub(200)..at]).into_owned();
        panic!("{place} holds the key, behind: {around}");
    }
}

#[track_caller]
fn all_clean(what: &str, ended: &Ended) {
    is_clean(what, ended.out.as_bytes());
    is_clean(what, ended.err.as_bytes());
}

/// Looks at every file below a folder, the database among them.
fn files_clean(folder: &Path) -> usize {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            seen += files_clean(&entry.path());
        } else if kind.is_file() {
            is_clean(&entry.path().display().to_string(), &std::fs::read(entry.path()).unwrap());
            seen += 1;
        }
    }
    seen
}

#[test]
fn a_key_is_in_no_log_no_tape_no_database_and_no_answer() {
    let runtime = runtime();
    let elsewhere = serve(&runtime, Behaviour::always(Reply::text("never")));
    let echo = format!("Incorrect API key: {CANARY}. You sent Authorization: Bearer {CANARY}");
    let away =
        Reply::status(307, "").header("Location", &format!("{}/chat/completions", elsewhere.base_url()));
    for level in ["debug", "trace"] {
        let misbehaves = Behaviour::times(2, Reply::error(400, "odd", &echo)).then_times(2, away.clone());
        let server = serve(
            &runtime,
            misbehaves.then(Reply::text("fine")).with_models_reply(Reply::status(401, &echo)),
        );
        let home = Home::new().with("CANARY_KEY", CANARY).with("PALYRA_LOG", level).with("RUST_LOG", level);
        let key_file = home.work().join("key");
        std::fs::write(&key_file, format!("{CANARY}\n")).unwrap();
        std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
        let text = format!(
            "model.default = \"a/test-model\"\n\
             [providers.a]\nformat = \"openai_chat\"\nbase_url = \"{}\"\nkey = \"env:CANARY_KEY\"\n\
             [providers.b]\nformat = \"anthropic_messages\"\nbase_url = \"{}\"\nkey = \"file:{}\"\n",
            server.base_url(),
            server.origin(),
            key_file.display()
        );
        std::fs::write(home.config_file(), text).unwrap();
        let log = home.work().join("log");
        let mut serving = home.command(&["serve"]);
        let mut daemon = serving.stderr(File::create(&log).unwrap()).spawn().unwrap();
        read_until(&mut BufReader::new(daemon.stdout.take().unwrap()), "\"ready\":true");
        for model in
            ["a/test-model", "b/test-model", "a/test-model", "b/test-model", "a/test-model", "b/test-model"]
        {
            all_clean("run", &home.palyra(&["run", "--model", model, "hello"]));
        }
        signal(&daemon, Signal::HUP);
        for arguments in [
            &["config", "show"][..],
            &["config", "show", "--origin"],
            &["config", "check"],
            &["doctor"],
            &["doctor", "--json"],
            &["model", "list"],
            &["model", "test", "a/test-model"],
            &["model", "test", "b/test-model"],
            &["runs", "list", "--json"],
            &["runs", "tail", "--json", "last"],
            &["journal", "show"],
            &["journal", "show", "--json"],
            &["sessions", "list"],
        ] {
            all_clean(&format!("{arguments:?}"), &home.palyra(arguments));
        }
        signal(&daemon, Signal::TERM);
        ended(daemon).expect(0);
        let told = std::fs::read(&log).unwrap();
        is_clean("the log", &told);
        let told = String::from_utf8_lossy(&told).into_owned();
        assert!(told.contains(&level.to_uppercase()), "the level was not chosen: {told}");
        assert!(files_clean(&home.state_dir()) > 1, "the database was looked at");
        let sent = server.asked();
        let bearer = format!("Bearer {CANARY}");
        assert!(
            sent.iter().any(|asked| asked.authorization.as_deref() == Some(&bearer)),
            "the key was in use"
        );
    }
    assert_eq!(elsewhere.counts().connections, 0, "a redirect was followed");
}

#[test]
fn a_key_pasted_where_none_belongs_is_not_repeated() {
    for text in [
        format!("[providers.a]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = \"{CANARY}\"\n"),
        format!("[providers.a]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = \"{CANARY}\n"),
        format!("[providers.a]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = {CANARY}\n"),
        format!("[providers.a]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = [\"{CANARY}\"]\n"),
        format!("[providers.a]\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key = \"{CANARY}\"\n"),
        format!("[providers.a]\nbase_url = \"http://user:{CANARY}@127.0.0.1:9/v1\"\n"),
        format!("[providers.a]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = \"env: {CANARY}\"\n"),
        format!("[providers.a]\nformat = \"{CANARY}\"\nbase_url = \"http://127.0.0.1:9/v1\"\n"),
    ] {
        let home = Home::new();
        std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
        std::fs::write(home.config_file(), &text).unwrap();
        for arguments in [
            &["config", "check"][..],
            &["config", "show"],
            &["config", "show", "--origin"],
            &["doctor"],
            &["run", "hello"],
            &["serve"],
        ] {
            let told = home.palyra(arguments);
            assert_ne!(told.code, 0, "{text}: {arguments:?} {}", told.err);
            all_clean(&format!("{arguments:?} with {text}"), &told);
        }
    }
}
