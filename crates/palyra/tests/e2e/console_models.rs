//! Adding a server of models on the page *Models*: tested with its key first, which only the vault keeps.

use std::path::Path;

use palyra_model_server::{Behaviour, Reply};
use rustix::process::Signal;
use serde_json::Value;

use crate::console::{PageAnswer, Visitor, signed_in};
use crate::home::{Home, until_ended};
use crate::http_api::port;
use crate::openai_server::{runtime, serve};

const MODELS: &str = "/console/models";
const ADD: &str = "/console/models/add";
const KEY: &str = "canary-lantern-of-amber-4711";
const WRONG_KEY: &str = "canary-harbour-of-walnut-1147";

/// The fields of a form, as a browser sends them.
fn encoded(fields: &[(&str, &str)]) -> String {
    let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let pairs: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    pairs.join("&")
}

/// A browser at the form, and the server to add.
struct FormVisit<'a> {
    home: &'a Home,
    visitor: Visitor,
    base_url: String,
}

impl FormVisit<'_> {
    fn code(&self) -> String {
        self.home.palyra(&["admin", "confirm"]).expect(0).out.trim().to_owned()
    }

    /// Sends the form with other values in the place of the usual ones.
    fn send(&self, others: &[(&str, &str)]) -> PageAnswer {
        let (token, code) = (self.visitor.get(MODELS).token_for(ADD), self.code());
        let usual = [
            ("token", token.as_str()),
            ("name", "box"),
            ("format", "openai_chat"),
            ("base_url", &self.base_url),
            ("model", "test-model"),
            ("key", KEY),
            ("context_tokens", ""),
            ("new_default", "this_model"),
            ("existing", "keep"),
            ("confirmation", &code),
        ];
        let value = |name: &str| others.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        let fields = usual.map(|(name, usual)| (name, value(name).unwrap_or(usual)));
        self.visitor.post(ADD, &encoded(&fields))
    }
}

fn secrets(home: &Home) -> Vec<String> {
    let listed = home.palyra(&["admin", "vault", "list", "--json"]).expect(0).json();
    listed.iter().filter_map(|secret| secret["name"].as_str().map(str::to_owned)).collect()
}

/// Returns the files below a folder that have a text in their bytes.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && let Ok(bytes) = std::fs::read(&path)
                && bytes.windows(text.len()).any(|part| part == text.as_bytes())
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// The control is the same form with the right key.
#[test]
fn a_server_is_saved_once_it_answered_with_its_key_and_not_before() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("At your service.")).with_key(KEY));
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let folder = home.config_file().parent().unwrap().to_owned();
    std::fs::create_dir_all(&folder).unwrap();
    let before = "# mine\n[limits]\nturns_max = 9 # few\n";
    std::fs::write(home.config_file(), before).unwrap();
    let visit = FormVisit { home: &home, visitor: signed_in(&home), base_url: server.base_url() };

    let refused = visit.send(&[("key", WRONG_KEY)]);
    assert_eq!(refused.status, 502, "{refused:?}");
    for part in
        ["PLY-3001", "nothing was saved", "value=\"box\"", "value=\"test-model\"", "palyra admin confirm"]
    {
        assert!(refused.body.contains(part), "{part}: {}", refused.body);
    }
    assert!(!refused.body.contains("canary"), "{}", refused.body);
    assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), before);
    assert!(secrets(&home).is_empty() && files_with(&home.state_dir(), WRONG_KEY).is_empty());
    let silent = visit.send(&[("base_url", "http://127.0.0.1:1/v1")]);
    assert!(silent.body.contains("PLY-3010") && secrets(&home).is_empty(), "{silent:?}");

    let address = server.base_url().replace("http://", "http://user:canary-password@");
    let named = visit.send(&[("base_url", &address)]);
    assert!(named.status == 400 && named.body.contains("user name or password"), "{named:?}");
    let kept = format!("value=\"{}\"", server.base_url());
    assert!(named.body.contains(&kept) && !named.body.contains("canary"), "{}", named.body);

    let added = visit.send(&[]);
    assert_eq!(
        (added.status, added.header("location")),
        (303, Some("/console/models?added=box")),
        "{added:?}"
    );
    let page = visit.visitor.get("/console/models?added=box");
    let said = "answered and was added. The default model is <strong>box/test-model</strong>";
    assert!(page.body.contains(said) && !page.body.contains("canary"), "{}", page.body);
    let text = std::fs::read_to_string(home.config_file()).unwrap();
    assert!(text.starts_with(before) && text.contains("key = \"vault:model-box\""), "{text}");
    assert_eq!(secrets(&home), ["model-box"]);
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "At your service.\n");

    let again = visit.send(&[]);
    assert!(again.status == 400 && again.body.contains("a server of this name"), "{again:?}");
    let replaced = visit.send(&[("existing", "replace"), ("new_default", "unchanged")]);
    assert_eq!(replaced.status, 303, "{replaced:?}");
    assert_eq!(secrets(&home), ["model-box-2"], "the secret of before has gone");
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn a_key_is_used_after_a_restart_and_is_nowhere_but_in_the_vault() {
    let runtime = runtime();
    let said = format!("Your key is {KEY}.");
    let server = serve(&runtime, Behaviour::always(Reply::text(&said)).with_key(KEY));
    let home = Home::new();
    let visit = FormVisit { home: &home, visitor: signed_in(&home), base_url: server.base_url() };
    let pages = [
        visit.send(&[]),
        visit.visitor.get("/console/models?added=box"),
        visit.visitor.get("/console/settings?show=all"),
    ];
    let daemon = home.daemon_pid();
    rustix::process::kill_process(daemon, Signal::TERM).unwrap();
    until_ended(daemon);
    let ran = home.palyra(&["run", "hello"]).expect(0);
    assert!(
        ran.out.contains("Your key is <secret:vault>."),
        "the key that the server echoes is taken out: {}",
        ran.out
    );
    let mut shown: Vec<String> = pages.into_iter().map(|page| page.body).collect();
    for arguments in [
        &["config", "show", "--json"][..],
        &["journal", "show", "--json"],
        &["model", "list", "--ask", "--json"],
        &["status", "--json"],
        &["admin", "vault", "list", "--json"],
        &["runs", "tail", "last", "--json"],
    ] {
        let ended = home.palyra(arguments).expect(0);
        shown.extend([ended.out, ended.err]);
    }
    assert!(shown.iter().any(|text| text.contains("vault:model-box")), "the control: the reference is shown");
    for text in shown {
        assert!(!text.contains("canary"), "{text}");
    }
    let work = home.work();
    let root = work.parent().unwrap();
    assert!(!files_with(root, "vault:model-box").is_empty(), "the control: files are searched");
    assert_eq!(files_with(root, KEY), Vec::<String>::new());
    let authorized = server.asked();
    let expect = format!("Bearer {KEY}");
    assert!(authorized.iter().all(|request| request.authorization.as_deref() == Some(expect.as_str())));

    // A secret that has gone is named with its mend, a daemon starts without it, and it is used once it is there.
    home.palyra(&["admin", "vault", "remove", "model-box"]).expect(0);
    let reloaded = home.palyra(&["config", "reload"]);
    let mend = "palyra admin vault put model-box --host 127.0.0.1:";
    assert!(reloaded.code != 0 && reloaded.out.contains(mend), "{reloaded:?}");
    assert!(reloaded.out.contains("providers.box.key"), "{reloaded:?}");
    let daemon = home.daemon_pid();
    rustix::process::kill_process(daemon, Signal::TERM).unwrap();
    until_ended(daemon);
    let failed = home.palyra(&["run", "hello"]).expect(1);
    assert!(failed.err.contains("PLY-3001") && failed.err.contains(mend), "{}", failed.err);
    let host = server.base_url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let put = home.palyra_reading(&["admin", "vault", "put", "model-box", "--host", "other.example"], KEY);
    assert_eq!(put.code, 0, "{put:?}");
    let unbound = home.palyra(&["run", "hello"]).expect(1);
    assert!(unbound.err.contains("palyra admin vault bind model-box 127.0.0.1:"), "{}", unbound.err);
    home.palyra(&["admin", "vault", "bind", "model-box", &host]).expect(0);
    home.palyra(&["run", "hello"]).expect(0);
}

/// The control is the owner's own form with its token and a code.
#[test]
fn only_an_owner_with_a_code_and_the_token_of_the_form_adds_a_server() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("hi")).with_key(KEY));
    let home = Home::new();
    let visit = FormVisit { home: &home, visitor: signed_in(&home), base_url: server.base_url() };
    let owned = visit.visitor.get(MODELS).token_for(ADD);

    let invite = ["admin", "people", "invite", "user:alice", "--role", "owner"];
    let mut alice = Visitor::new(port(&home));
    alice.sign_in(home.palyra(&invite).expect(0).out.trim());
    // The token of a member's own form, from the time when they were an owner.
    let own = alice.get(MODELS).token_for(ADD);
    home.palyra(&["admin", "people", "role", "user:alice", "member"]).expect(0);
    let page = alice.get(MODELS);
    assert!(page.status == 200 && !page.body.contains(ADD), "a member has no form: {}", page.body);
    let base_url = server.base_url();
    let body = |token: &str, code: &str| {
        let fields =
            [("token", token), ("name", "box"), ("base_url", &base_url), ("model", "m"), ("key", KEY)];
        format!("{}&confirmation={code}", encoded(&fields))
    };
    let stolen = alice.post(ADD, &body(&owned, &visit.code()));
    assert!(stolen.status == 403 && stolen.body.contains("PLY-1212"), "another session's token: {stolen:?}");
    let refused = alice.post(ADD, &body(&own, &visit.code()));
    assert!(refused.status == 403 && refused.body.contains("PLY-1203"), "a member: {refused:?}");
    assert!(!refused.body.contains("canary"), "{}", refused.body);

    for token in ["", "0", &owned[1..]] {
        let answer = visit.visitor.post(ADD, &body(token, &visit.code()));
        assert!(answer.status == 403 && answer.body.contains("PLY-1212"), "{answer:?}");
    }
    for code in ["", "WRONGCODE0"] {
        let answer = visit.send(&[("confirmation", code)]);
        assert!(answer.status == 403 && answer.body.contains("PLY-1204"), "{answer:?}");
        assert!(answer.body.contains("value=\"box\"") && !answer.body.contains("canary"), "{}", answer.body);
    }
    assert!(server.requests().is_empty(), "no server was asked");
    assert!(secrets(&home).is_empty() && !home.config_file().exists());
    let entries: Vec<Value> = home.palyra(&["journal", "show", "--json"]).expect(0).json();
    assert!(!entries.iter().any(|entry| entry.to_string().contains("canary")), "{entries:?}");
    assert_eq!(visit.send(&[]).status, 303, "the control");
}
