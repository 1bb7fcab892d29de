//! The web console of the real daemon: the way in and out, forms without scripts, and a browser that follows a run.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::asked::{asked, asked_by, of, tape, writer};
use crate::home::Home;
use crate::http_api::{get, port};
use crate::openai_server::{home_with, runtime, serve};
use crate::tcp::token;

/// How long a read may wait.
const PATIENCE: Duration = Duration::from_secs(30);
/// A whole visit of a browser, its start included.
const VISIT_SPAN_MAX: Duration = Duration::from_secs(120);

/// A browser as far as requests go: one origin, one cookie.
pub(crate) struct Visitor {
    port: u16,
    cookie: String,
}

#[derive(Debug)]
pub(crate) struct PageAnswer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl PageAnswer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    /// Returns the token of the form that is sent to a path.
    #[track_caller]
    pub(crate) fn token_for(&self, path: &str) -> String {
        let form = format!("action=\"{path}\"");
        let (_, after) =
            self.body.split_once(&form).unwrap_or_else(|| panic!("no form for {path}: {}", self.body));
        let (_, value) = after.split_once("name=\"token\" value=\"").unwrap();
        value.split('"').next().unwrap().to_owned()
    }
}

impl Visitor {
    pub(crate) fn new(port: u16) -> Self {
        Self { port, cookie: String::new() }
    }

    fn origin(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// Sends a request with these lines beside its usual ones.
    fn send(&self, line: &str, lines: &[(&str, &str)], body: &str) -> PageAnswer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!("{line} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !lines.iter().any(|(name, _)| *name == "host") {
            head += &format!("host: localhost:{}\r\n", self.port);
        }
        if !self.cookie.is_empty() {
            head += &format!("cookie: {}\r\n", self.cookie);
        }
        for (name, value) in lines {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        PageAnswer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> PageAnswer {
        self.send(&format!("GET {path}"), &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")], "")
    }

    /// Sends a form as a browser does.
    pub(crate) fn post(&self, path: &str, body: &str) -> PageAnswer {
        let origin = self.origin();
        let lines = [
            ("origin", origin.as_str()),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        self.send(&format!("POST {path}"), &lines, body)
    }

    /// Uses a link; keeps the cookie.
    #[track_caller]
    pub(crate) fn sign_in(&mut self, link: &str) {
        let answer = self.post(link.strip_prefix(&self.origin()).unwrap(), "");
        assert_eq!((answer.status, answer.header("location")), (303, Some("/console")), "{answer:?}");
        let cookie = answer.header("set-cookie").unwrap();
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/; Max-Age=604800"), "{cookie}");
        self.cookie = cookie.split(';').next().unwrap().to_owned();
    }
}

fn link(home: &Home) -> String {
    home.palyra(&["console", "--print"]).expect(0).out.trim().to_owned()
}

pub(crate) fn signed_in(home: &Home) -> Visitor {
    let mut visitor = Visitor::new(port(home));
    visitor.sign_in(&link(home));
    visitor
}

#[test]
fn a_link_signs_one_browser_in_and_a_second_use_signs_it_out() {
    let home = Home::new();
    let mut visitor = Visitor::new(port(&home));
    assert_eq!(visitor.get("/console").status, 401, "no session");
    let first = link(&home);
    let path = first.strip_prefix(&visitor.origin()).unwrap();
    for preview in [visitor.get(path), visitor.get(path)] {
        assert!(preview.status == 200 && preview.header("set-cookie").is_none(), "{preview:?}");
    }
    visitor.sign_in(&first);
    let page = visitor.get("/console");
    assert!(page.status == 200 && page.body.contains("Palyra is running"), "{page:?}");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(page.header("referrer-policy"), Some("same-origin"));

    let other = signed_in(&home);
    let second_use = Visitor::new(visitor.port).post(path, "");
    assert!(second_use.status == 401 && second_use.header("set-cookie").is_none(), "{second_use:?}");
    assert_eq!(visitor.get("/console").status, 401, "the session of the first use is over");
    assert_eq!(other.get("/console").status, 200, "the session of another link is not");

    let token = other.get("/console").token_for("/console/sign-out");
    assert_eq!(other.post("/console/sign-out", &format!("token={token}")).status, 200);
    assert_eq!(other.get("/console").status, 401);
    let (third, unused) = (signed_in(&home), link(&home));
    let ended = home.palyra(&["console", "--sign-out-all"]).expect(0);
    assert_eq!(ended.out.trim(), "1 session of the console ended");
    assert_eq!(third.get("/console").status, 401);
    assert_eq!(
        third.post(unused.strip_prefix(&third.origin()).unwrap(), "").status,
        401,
        "unused links end too"
    );
}

/// The control is the owner's own session, which sees the daemon's status.
#[test]
fn an_invitation_signs_another_person_in_with_their_role() {
    let home = Home::new();
    let invite = ["admin", "people", "invite", "user:alice", "--role", "viewer"];
    let invited = home.palyra(&invite).expect(0);
    assert!(invited.err.contains("user:alice, within 24 hours"), "{invited:?}");
    let mut alice = Visitor::new(port(&home));
    alice.sign_in(invited.out.trim());
    assert_eq!(alice.get("/console/runs").status, 200);
    assert_eq!(alice.get("/console/status").status, 403);
    assert_eq!(signed_in(&home).get("/console/status").status, 200, "the control");

    let entries = home.palyra(&["journal", "show", "--json"]).expect(0).json();
    let begun = entries.iter().filter(|entry| entry["kind"] == "page_session_begun");
    assert_eq!(begun.count(), 2, "both ways in are on record: {entries:?}");
    let again = home.palyra(&["admin", "people", "invite", "user:alice", "--json"]).expect(0);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["seconds"], 86_400, "the person is there already");
    // The list of people shows the end of an id, and that names one.
    let people = home.palyra(&["admin", "people", "list", "--json"]).expect(0).json();
    let person = people.iter().find(|person| person["name"] == "user:alice").unwrap();
    let end = &person["principal_id"].as_str().unwrap()[20..];
    home.palyra(&["admin", "people", "disable", end]).expect(0);
    assert_eq!(alice.get("/console/runs").status, 401);
    let path = again["url"].as_str().unwrap().strip_prefix(&alice.origin()).unwrap().to_owned();
    assert_eq!(alice.post(&path, "").status, 401, "invitations of a disabled person end");
    let refused = home.palyra(&invite).expect(2);
    assert!(refused.err.contains("`palyra admin people enable user:alice`"), "{}", refused.err);
}

#[test]
fn a_session_of_a_page_is_for_pages_of_its_own_origin_only() {
    let home = Home::new();
    let visitor = signed_in(&home);
    let bearer = token(&home, "user:alice");
    let (port, origin) = (visitor.port, visitor.origin());
    // The cookie proves nothing to the API, and a token nothing to a page.
    let over_api = visitor.send("GET /api/v1/runs", &[], "");
    assert_eq!(over_api.status, 401, "{over_api:?}");
    let authorization = format!("Bearer {bearer}");
    let with_token = Visitor::new(port).send("GET /console", &[("authorization", &authorization)], "");
    assert_eq!(with_token.status, 401, "{with_token:?}");
    assert_eq!(get("GET /api/v1/runs", &bearer).answer(port).0, 200, "the control: the token works");

    // Another name leads to the canonical one, and takes no form.
    let by_address = format!("127.0.0.1:{port}");
    let moved = visitor.send("GET /console/runs", &[("host", &by_address)], "");
    let there = format!("{origin}/console/runs");
    assert_eq!((moved.status, moved.header("location")), (308, Some(there.as_str())));
    let link = link(&home);
    let path = link.strip_prefix(&origin).unwrap().to_owned();
    let posted = visitor.send(&format!("POST {path}"), &[("host", &by_address)], "");
    assert_eq!(posted.status, 421, "{posted:?}");

    // A page of another site gets a page that loads itself again, and nothing of the person.
    for site in ["cross-site", "same-site"] {
        let lines = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate")];
        let reload = visitor.send("GET /console/runs?only=open", &lines, "");
        assert!(reload.status == 200 && reload.body.contains("0;url=/console/runs?only=open"), "{reload:?}");
        assert!(!reload.body.contains("<nav"), "{reload:?}");
        let stream = [("sec-fetch-site", site), ("sec-fetch-mode", "cors")];
        assert_eq!(visitor.send("GET /console/events", &stream, "").status, 403, "{site}");
    }

    // A form needs the token of its own session and path, and a page of ours that sends it.
    let sign_out = "/console/sign-out";
    let good = visitor.get("/console").token_for(sign_out);
    let foreign = signed_in(&home).get("/console").token_for(sign_out);
    let of_chat = visitor.get("/console/chat").token_for("/console/chat/start");
    for token in ["", foreign.as_str(), of_chat.as_str()] {
        let refused = visitor.post(sign_out, &format!("token={token}"));
        assert_eq!(refused.status, 403, "{refused:?}");
    }
    let body = format!("token={good}");
    let senders: [&[(&str, &str)]; 4] = [
        &[],
        &[("origin", "null")],
        &[("origin", "http://localhost:1")],
        &[("origin", origin.as_str()), ("sec-fetch-site", "same-site")],
    ];
    for lines in senders {
        let refused = visitor.send(&format!("POST {sign_out}"), lines, &body);
        assert_eq!(refused.status, 403, "{lines:?}: {refused:?}");
    }
    assert_eq!(visitor.get("/console").status, 200, "none of them signed out");
    assert_eq!(visitor.post(sign_out, &body).status, 200, "the control");
}

#[test]
fn an_approval_is_decided_by_forms_and_recorded_as_an_act_in_the_console() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let visitor = signed_in(&home);

    let chat = visitor.get("/console/chat");
    let token = chat.token_for("/console/chat/start");
    let opened = visitor.post("/console/chat/start", &format!("token={token}&key=k1&input=todo.txt+milk"));
    assert_eq!(opened.status, 303, "{opened:?}");
    let again = visitor.post("/console/chat/start", &format!("token={token}&key=k1&input=todo.txt+milk"));
    assert_eq!(
        opened.header("location"),
        again.header("location"),
        "a form that is sent twice starts one run"
    );
    let session = opened.header("location").unwrap().to_owned();
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(runs.len(), 1, "{runs:?}");
    let run = runs[0]["run_id"].as_str().unwrap().to_owned();
    home.palyra(&["runs", "wait", &run]);
    let waiting = home.palyra(&["approve", "list", "--json"]).expect(0).json();
    let approval = waiting[0]["approval_id"].as_str().unwrap();

    let path = format!("/console/approvals/{approval}");
    assert!(visitor.get("/console").body.contains(&path), "it is listed");
    assert!(visitor.get(&session).body.contains(&path), "and in its conversation");
    let card = visitor.get(&path);
    assert!(card.body.contains("todo.txt") && card.body.contains("Approve this call"), "{}", card.body);
    let decide = format!("{path}/decide");
    let token = card.token_for(&decide);
    let answer = visitor.post(&decide, &format!("token={token}&run_id={run}&note=fine&decision=approve"));
    assert_eq!((answer.status, answer.header("location")), (303, Some(path.as_str())), "{answer:?}");
    let decided = visitor.get(&path);
    assert!(decided.body.contains("by <strong>you</strong>") && !decided.body.contains("value=\"approve\""));
    let late = visitor.post(&decide, &format!("token={token}&run_id={run}&decision=deny"));
    assert_eq!(late.status, 303, "a late answer leads to what was decided: {late:?}");

    let entries = tape(&home, &run);
    assert_eq!(of(&entries, "approval_resolved")[0]["state"], "APPROVAL_STATE_APPROVED");
    let acts: Vec<&Value> = entries.iter().filter(|entry| entry.get("approval_resolved").is_some()).collect();
    assert_eq!(acts[0]["acted_by"]["surface"], "SURFACE_CONSOLE", "{}", acts[0]);
    assert!(acts[0]["acted_by"]["token_id"].as_str().is_some_and(|id| id.len() == 26), "{}", acts[0]);
    let shown = visitor.get(&format!("/console/runs/{run}"));
    assert!(shown.body.contains("The run is done") && !shown.body.contains("Stop the run"), "{}", shown.body);
    for (screen, part) in [
        ("/console/runs", run.as_str()),
        ("/console/sessions", "todo.txt milk"),
        ("/console/status", "Checks"),
        ("/console/effects", "No effect is in doubt."),
        ("/console/policies", "<code>reads-in-the-workspace</code>"),
        ("/console/proofs", "Check it without this daemon"),
        ("/console/proofs/check", "Every entry verified."),
        ("/console/models", "Runs use <strong>"),
        ("/console/tools", "<code>write_file</code>"),
        ("/console/people", "<strong>user:local</strong>"),
        ("/console/settings?show=all", "<code>http.listen</code>"),
        (format!("/console/runs/{run}/why").as_str(), "decided by <strong>you</strong>"),
    ] {
        let page = visitor.get(screen);
        assert!(page.status == 200 && page.body.contains(part), "{screen}: {page:?}");
    }
    let unknown = visitor.get("/console/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert!(unknown.status == 404 && unknown.body.contains("PLY-1103"), "{unknown:?}");
}

#[test]
fn a_browser_decides_without_scripts_and_follows_a_run_with_them() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let port = port(&home);
    let (by_form, followed) = (asked(&home, "one.txt a"), asked(&home, "two.txt b"));
    let profile = tempfile::tempdir().unwrap();
    let mut browser = Command::new("node");
    browser
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/console/browser.mjs"))
        .env("PALYRA_TEST_PORT", port.to_string())
        .env("PALYRA_TEST_LINK", link(&home))
        .env("PALYRA_TEST_APPROVAL", &by_form.approval)
        .env("PALYRA_TEST_RUN", &followed.run)
        .env("PALYRA_TEST_SPAN_MS", VISIT_SPAN_MAX.as_millis().to_string())
        .env("PALYRA_TEST_PROFILE", profile.path())
        .env("HOME", profile.path());
    let mut browser = browser.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(browser.stdout.take().unwrap()).lines();
    let mut next = |wanted: &str| -> Value {
        let line = lines.next().unwrap_or_else(|| panic!("no `{wanted}`")).unwrap();
        let report: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(report["kind"], wanted, "{report}");
        report["data"].clone()
    };

    assert_eq!(next("signed_in"), "Waiting");
    let decided = next("decided");
    assert!(decided.as_str().unwrap().contains("approved by you"), "{decided}");
    home.palyra(&["runs", "wait", &by_form.run]).expect(0);
    assert_eq!(std::fs::read_to_string(home.work().join("one.txt")).unwrap(), "a");

    next("following");
    home.palyra(&["approve", "yes", &followed.approval]).expect(0);
    let live = next("live");
    let rows: Vec<u64> = live["rows"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap()).collect();
    let last = tape(&home, &followed.run).last().unwrap()["tape_seq"].as_u64().unwrap();
    assert!(rows.is_sorted() && rows.last() == Some(&last), "{rows:?} of {last}");
    let loaded = live["loaded"].as_u64().unwrap();
    assert!(
        loaded < last && rows.iter().filter(|row| **row > loaded).count() as u64 == last - loaded,
        "{live}"
    );
    assert!(live["text"].as_str().unwrap().contains("The run is done"), "{live}");
    assert_eq!(next("from_another_site"), "Waiting");
    assert_eq!(next("narrow"), false, "a page of 320 pixels does not scroll sideways");
    let problems = next("problems");
    assert_eq!(problems.as_array().map(Vec::len), Some(0), "{problems}");
    assert!(browser.wait().unwrap().success());
}

/// The control is the folder that the browser was opened in.
#[test]
fn a_run_of_the_console_works_in_the_folder_that_its_browser_was_opened_in_and_in_no_other() {
    let home = Home::new();
    let visitor = signed_in(&home);
    let work = std::fs::canonicalize(home.work()).unwrap();
    let work = work.to_str().unwrap();
    let chat = visitor.get("/console/chat");
    assert!(chat.body.contains(&format!("<option value=\"{work}\">")), "{}", chat.body);
    let token = chat.token_for("/console/chat/start");
    let start = |key: &str, folder: &str| {
        let body = format!("token={token}&key={key}&input=list+the+files&folder={folder}");
        visitor.post("/console/chat/start", &body)
    };
    let other = tempfile::tempdir().unwrap();
    let refused = start("k1", other.path().to_str().unwrap());
    assert!(refused.status >= 400 && refused.body.contains("PLY-"), "{refused:?}");
    for (key, folder, is_there) in [("k2", work, true), ("k3", "", false)] {
        assert_eq!(start(key, folder).status, 303, "{key}");
        let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
        let started = tape(&home, runs[0]["run_id"].as_str().unwrap())[0]["run_started"].clone();
        assert_eq!(started["workspace_root"] == work, is_there, "{started}");
    }
    let over_tcp = home.palyra(&["admin", "people", "invite", "user:alice", "--role", "member"]).expect(0);
    let mut alice = Visitor::new(port(&home));
    alice.sign_in(over_tcp.out.trim());
    assert!(!alice.get("/console/chat").body.contains("Where it works"), "an invitation brings no folder");
}

#[test]
fn a_message_is_sent_again_as_another_version_and_files_are_undone_by_forms() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let visitor = signed_in(&home);
    let [first, second] = ["one.txt a", "two.txt b"].map(|input| {
        let one = asked_by(&home, &["run", "--session", "pair", input]);
        home.palyra(&["approve", "yes", &one.approval]).expect(0);
        home.palyra(&["runs", "wait", &one.run]).expect(0);
        one
    });
    let listed = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let session = format!("/console/sessions/{}", listed[0]["session_id"].as_str().unwrap());
    let page = visitor.get(&session);
    assert!(page.body.contains("undo its changes"), "{}", page.body);

    let undo = format!("/console/runs/{}/undo", second.run);
    let preview = visitor.get(&undo);
    assert!(preview.body.contains("is removed: the run made it"), "{}", preview.body);
    let token = preview.token_for(&undo);
    assert_eq!(visitor.post(&undo, &format!("token={token}")).status, 303);
    assert!(!home.work().join("two.txt").exists() && home.work().join("one.txt").exists());
    assert!(visitor.get(&undo).body.contains("1 file as before the run"));

    let revise = format!("/console/runs/{}/revise", second.run);
    let token = page.token_for(&revise);
    let body = format!("token={token}&key=again1&after_run={}&input=three.txt+c", first.run);
    let sent: Vec<PageAnswer> = (0..2).map(|_| visitor.post(&revise, &body)).collect();
    assert_eq!(sent[0].status, 303, "{:?}", sent[0]);
    assert_eq!(sent[0].header("location"), sent[1].header("location"), "a repeated form finds its version");
    let version = sent[0].header("location").unwrap();
    assert!(!version.starts_with(&session), "{version} is another conversation");
    let shown = visitor.get(version);
    assert!(shown.body.contains(&format!("href=\"{session}\">1<")), "{}", shown.body);
    assert!(visitor.get(&session).body.contains("aria-label=\"Versions\""));
}

#[test]
fn a_run_is_saved_as_one_file_that_only_those_who_may_read_it_get() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let asked = asked(&home, "kept.txt words");
    home.palyra(&["approve", "yes", &asked.approval]).expect(0);
    home.palyra(&["runs", "wait", &asked.run]).expect(0);
    let path = format!("/console/runs/{}/export", asked.run);
    let file = signed_in(&home).get(&path);
    assert_eq!((file.status, file.header("x-content-type-options")), (200, Some("nosniff")), "{file:?}");
    let name = file.header("content-disposition").unwrap();
    assert!(name.starts_with("attachment; filename=\"run-") && name.ends_with(".html\""), "{name}");
    for part in ["kept.txt", "The run is done", &asked.run, "<style>", "default-src 'none'"] {
        assert!(file.body.contains(part), "{part}: {}", file.body);
    }
    assert!(!file.body.contains("<script") && !file.body.contains("stylesheet"), "{}", file.body);
    assert_eq!(Visitor::new(port(&home)).get(&path).status, 401, "without a session");
    assert_eq!(signed_in(&home).get("/console/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/export").status, 404);
}
