//! What belongs to another principal: folders by their session's id (107), runs by a token (91), and the port of a
//! daemon that is down (114).

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use palyra_client::{Client, ConnectOptions, DaemonTarget, TcpAddress};
use palyra_model_server::{Behaviour, Reply};
use palyra_wire::v1::{SessionSelector, StartRunRequest};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::home::{ServedHome, ServingDaemon, blocking};
use crate::pair::{AttackerUser, CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::SECRET;

const SESSION: &str = "01JZZZZZZZZZZZZZZZZZZZZZZZ";
const KEY: &str = "the-same-key";
/// The user who has nothing.
const NOBODY: u32 = 65534;

/// What the other principal calls in a session of the same name, and whether by its key.
const CALLS: &[(&str, bool, &str, &str)] = &[
    ("a file is read by the session's id", false, "read_file", r#"{"path":"kept.txt"}"#),
    ("a folder is searched by the session's id", false, "search", r#"{"pattern":"canary"}"#),
    ("a file is read by the session's key", true, "read_file", r#"{"path":"kept.txt"}"#),
    ("a folder is searched by the session's key", true, "search", r#"{"pattern":"canary"}"#),
    ("a folder is listed by the session's id", false, "list_dir", r#"{"path":"."}"#),
    ("names are looked for by the session's id", false, "glob", r#"{"pattern":"**/canary*"}"#),
];

/// What is done to a token of the run's principal.
const TOKENS: &[&str] = &[
    "no token",
    "a word",
    "another principal's token",
    "a token that was revoked",
    "a token whose last letter is another",
    "a token without its last letter",
    "a token in upper case",
    "a token twice",
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let calls = CALLS.iter().map(|&(variant, by_key, tool, arguments)| {
        let pair = CasePair::new(107, variant, "folders by principal and session");
        AttackTrial::new(vec![pair], move |place, pairs| {
            in_their_folder(SessionCall { by_key, tool, arguments }, place, pairs)
        })
    });
    let tokens = TOKENS.iter().flat_map(|&variant| {
        ["runs tail", "runs show", "sessions list"]
            .map(|verb| CasePair::new(91, format!("{variant}, {verb}"), "tokens"))
    });
    let tokens = AttackTrial::new(tokens.collect(), by_a_token);
    let port = CasePair::new(114, "a port that another user took", "the client's look at who listens");
    calls.chain([tokens, AttackTrial::new(vec![port], at_a_foreign_port)]).collect()
}

/// Makes the call that its input is.
fn caller() -> Behaviour {
    Behaviour::by(|body| {
        let last = body["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
        let input = last["content"].as_str().unwrap_or_default();
        match serde_json::from_str::<Value>(input) {
            Ok(call) if last["role"] == "user" => {
                Reply::empty().call(call["tool"].as_str().unwrap_or_default(), &call["arguments"].to_string())
            }
            _ => Reply::text("That is that."),
        }
    })
}

/// A call of a tool in a session that the client names by its id or its key.
#[derive(Clone, Copy)]
struct SessionCall {
    by_key: bool,
    tool: &'static str,
    arguments: &'static str,
}

/// Has a tool called in a session that the client names; returns the run's tape.
fn call_in(
    home: &ServedHome,
    serving: &ServingDaemon,
    token: &str,
    SessionCall { by_key, tool, arguments }: SessionCall,
) -> io::Result<String> {
    let address =
        TcpAddress::parse(&serving.address(), Some(token.to_owned().into())).map_err(io::Error::other)?;
    let session = match by_key {
        false => SessionSelector { session_id: SESSION.to_owned(), ..SessionSelector::default() },
        true => SessionSelector { session_key: KEY.to_owned(), ..SessionSelector::default() },
    };
    let arguments: Value = serde_json::from_str(arguments)?;
    let input = json!({ "tool": tool, "arguments": arguments }).to_string();
    let request = StartRunRequest { session: Some(session), input, ..StartRunRequest::default() };
    let run = Handle::current().block_on(async {
        let client = Client::connect(ConnectOptions::new(DaemonTarget::Tcp(address))).await?;
        client.start_run(request).await
    });
    let run = run.map_err(io::Error::other)?.run_id;
    let tail = ["--connect", &serving.address(), "runs", "tail", &run, "--json"];
    Ok(home.palyra_with(&[("PALYRA_TOKEN", token)], &tail)?.expect(0)?.out)
}

/// Puts a file into every folder below one that holds no other folder.
fn plant(folder: &Path) -> io::Result<usize> {
    let mut planted = 0;
    let mut leaf = true;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            (leaf, planted) = (false, planted + plant(&path)?);
        }
    }
    if leaf {
        for name in ["kept.txt", "canary-7f3a91.txt"] {
            fs::write(folder.join(name), SECRET)?;
        }
        planted += 1;
    }
    Ok(planted)
}

async fn in_their_folder(call: SessionCall, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| {
        let place = place.clone();
        blocking(move || {
            let home = ServedHome::with_model(&place, caller())?;
            let serving = home.serve()?;
            let (carol, bob) = (home.token("user:carol")?, home.token("user:bob")?);
            let seen = |token: &str| -> io::Result<Vec<String>> {
                let tape = call_in(&home, &serving, token, call)?;
                // The search's own pattern is a part of the canary only.
                Ok(if tape.contains(SECRET) {
                    vec!["Carol's canary was seen".to_owned()]
                } else {
                    Vec::new()
                })
            };
            seen(&carol)?;
            if plant(&home.state_dir().join("workspaces"))? != 1 {
                return Err(io::Error::other("there is not exactly one folder"));
            }
            Ok(Some((seen(&bob)?, seen(&carol)?)))
        })
    })
    .await
}

/// Looks at one run with many tokens, at one daemon.
async fn by_a_token(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let (half, lost) = (place.half, pairs.clone());
    let looked = blocking(move || {
        let home = ServedHome::new(&place)?;
        let serving = home.serve()?;
        let (carol, bob, gone) =
            (home.token("user:carol")?, home.token("user:bob")?, home.token("user:carol")?);
        let address = serving.address();
        let by = |token: &str, arguments: &[&str]| {
            let arguments = [&["--connect", &address], arguments].concat();
            home.palyra_with(&[("PALYRA_TOKEN", token)], &arguments)
        };
        let started = by(&carol, &["run", "--json", SECRET])?;
        let runs = by(&carol, &["runs", "list", "--json"])?.json()?;
        let run = runs.first().and_then(|run| run["run_id"].as_str()).map(str::to_owned);
        let run = run.ok_or_else(|| io::Error::other(format!("there is no run: {started:?}")))?;
        let session = runs[0]["session_id"].as_str().unwrap_or_default().to_owned();
        let listed = home.palyra(&["admin", "tokens", "list", "--json"])?.json()?;
        let newest = listed.iter().filter_map(|token| token["token_id"].as_str()).max();
        home.palyra(&["admin", "tokens", "revoke", newest.unwrap_or_default()])?.expect(0)?;
        let mut found = Vec::new();
        for pair in pairs {
            let (variant, verb) = pair.variant.split_once(", ").unwrap_or_default();
            let token = changed(variant, &carol, &bob, &gone);
            let seen = |token: &str| -> io::Result<Vec<String>> {
                let arguments: Vec<&str> = match verb {
                    "runs tail" => vec!["runs", "tail", &run, "--json"],
                    "runs show" => vec!["runs", "show", &run, "--json"],
                    _ => vec!["sessions", "list", "--json"],
                };
                let said = by(token, &arguments)?.out;
                let seen = [SECRET, &run, &session].iter().any(|canary| said.contains(*canary));
                Ok(if seen { vec!["Carol's run was seen".to_owned()] } else { Vec::new() })
            };
            found.push(PairResult::new(pair.clone(), half, seen(&token)?, seen(&carol)?));
        }
        Ok(found)
    });
    looked.await.unwrap_or_else(|error| {
        lost.into_iter().map(|pair| PairResult::broken(pair, half, error.to_string())).collect()
    })
}

fn changed(variant: &str, carol: &str, bob: &str, gone: &str) -> String {
    let without_last = &carol[..carol.len().saturating_sub(1)];
    let other = if carol.ends_with('A') { 'B' } else { 'A' };
    match variant {
        "a word" => "sesame".to_owned(),
        "another principal's token" => bob.to_owned(),
        "a token that was revoked" => gone.to_owned(),
        "a token whose last letter is another" => format!("{without_last}{other}"),
        "a token without its last letter" => without_last.to_owned(),
        "a token in upper case" => carol.to_uppercase(),
        "a token twice" => format!("{carol}{carol}"),
        _ => String::new(),
    }
}

/// A listener of another user on a port of this machine, which closes what it gets.
struct PortSquatter {
    child: Child,
    port: String,
}

impl PortSquatter {
    fn start(user: Option<u32>) -> io::Result<Self> {
        const LISTENS: &str = "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\n\
                               print(s.getsockname()[1], flush=True)\nwhile True: s.accept()[0].close()\n";
        let mut command = Command::new("python3");
        command.args(["-c", LISTENS]).current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped());
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let mut child = command.spawn()?;
        let out = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        let mut port = String::new();
        BufReader::new(out).read_line(&mut port)?;
        Ok(Self { child, port: port.trim().to_owned() })
    }
}

impl Drop for PortSquatter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn at_a_foreign_port(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| {
        let place = place.clone();
        blocking(move || {
            if place.half == AttackerUser::User {
                // Only root can have a program of another user listen.
                return Ok(None);
            }
            let home = ServedHome::new(&place)?;
            let silent = |user| -> io::Result<Vec<String>> {
                let squatter = PortSquatter::start(user)?;
                let address = format!("http://127.0.0.1:{}", squatter.port);
                let called = home
                    .palyra_with(&[("PALYRA_TOKEN", "sesame")], &["--connect", &address, "runs", "list"])?;
                let named = called.err.contains(&format!("a program of user {NOBODY} listens"));
                Ok(if named { Vec::new() } else { vec!["nothing was said of the listener".to_owned()] })
            };
            Ok(Some((silent(Some(NOBODY))?, silent(None)?)))
        })
    })
    .await
}
