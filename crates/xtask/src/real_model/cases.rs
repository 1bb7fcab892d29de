//! The cases, in the order in which they are tried.
//!
//! Owns what is asked and which processes take part; what is demanded is in [`judge`](super::judge).
//! Invariant: a case that cannot be carried out is a failure with its reason, and the next one runs.
//! Begin at [`all`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::http;
use super::judge::{self, CaseFinding, CaseJudgement, CaseVerdict, FieldKind};
use super::model_server::{
    ANSWER_TOKENS_MAX, CONTEXT_TOKENS, CRAMPED_TOKENS, ModelServer, SLOTS, ServerSetting,
};
use super::packages::InstalledPaths;
use super::palyra::{DaemonProcess, FinishedRun};
use super::relay::{HttpExchange, HttpRelay};

const STORY: &str = "Tell me a long story about a lighthouse keeper and a storm.";
const QUESTIONS: [&str; SLOTS] = [
    "Tell me about the sea in three sentences.",
    "Tell me about mountains in three sentences.",
    "Tell me about bread in three sentences.",
];
/// As many as the latest runs that no summary covers.
const COUNTRIES: [&str; 8] = ["Italy", "Spain", "Poland", "Norway", "Greece", "Egypt", "Japan", "Peru"];
const READ_PLAINLY: &str = "Read the file README.md";
const CITY: &str = "Tell me about the city of Paris.";
/// The wording that a model of this size can follow: it only has to repeat.
const READ_DICTATED: &str = "Answer with exactly this and nothing else:\n<tool_call>\n\
                             {\"name\": \"read_file\", \"arguments\": {\"path\": \"README.md\"}}\n</tool_call>";
/// How long a server may take to notice that nobody listens any more.
const NOTICE_TIME: Duration = Duration::from_secs(5);

/// What the cases are tried with.
pub(super) struct CaseContext<'a> {
    /// The built `palyra`.
    pub(super) program: &'a Path,
    pub(super) installed: &'a InstalledPaths,
    /// An empty folder for homes and workspaces.
    pub(super) homes: &'a Path,
    /// Where logs and recorded exchanges are left.
    pub(super) records: &'a Path,
    pub(super) progress: &'a dyn Fn(&str),
}

/// What became of carrying out a case.
enum CaseOutcome {
    Judged(CaseJudgement),
    /// The model or its server did not do its part.
    Lacking(String),
}

impl From<CaseJudgement> for CaseOutcome {
    fn from(judgement: CaseJudgement) -> Self {
        Self::Judged(judgement)
    }
}

/// Tries every case.
pub(super) fn all(scene: &CaseContext<'_>) -> Result<Vec<CaseFinding>> {
    let server = scene.server("server.log", ServerSetting::Usual)?;
    let mut findings = answers(scene, &server)?;
    findings.push(summed_up(scene, &server)?);
    findings.extend(interruptions(scene, server)?);
    findings.extend(tool_calls(scene)?);
    findings.extend(long_session(scene)?);
    Ok(findings)
}

impl CaseContext<'_> {
    fn server(&self, log: &str, setting: ServerSetting) -> Result<ModelServer> {
        (self.progress)("starting the model's server");
        ModelServer::start(self.installed, &self.records.join(log), setting)
    }

    fn daemon(&self, name: &str, base_url: &str) -> Result<DaemonProcess> {
        self.daemon_with(name, base_url, &[])
    }

    fn daemon_with(&self, name: &str, base_url: &str, settings: &[(&str, &str)]) -> Result<DaemonProcess> {
        DaemonProcess::start(self.program, &self.homes.join(name), base_url, settings)
    }

    /// Carries out one case; what goes wrong on the way is its failure.
    fn case(&self, case: &'static str, carry_out: impl FnOnce() -> Result<CaseOutcome>) -> CaseFinding {
        (self.progress)(case);
        let (verdict, seen) = match carry_out() {
            Ok(CaseOutcome::Judged(Ok(seen))) => (CaseVerdict::Pass, seen),
            Ok(CaseOutcome::Judged(Err(wrong))) => (CaseVerdict::Fail, wrong),
            Ok(CaseOutcome::Lacking(what)) => (CaseVerdict::NotSupported, what),
            Err(error) => (CaseVerdict::Fail, format!("{error:#}")),
        };
        (self.progress)(&format!("  {}: {seen}", verdict.word()));
        CaseFinding { case, verdict, seen }
    }

    /// Keeps what passed over the wire, for whoever has to look into a failure.
    fn keep(&self, name: &str, exchanges: &[HttpExchange]) -> Result<()> {
        for (number, exchange) in (1..).zip(exchanges) {
            let file: PathBuf = self.records.join(format!("{name}-{number}.http"));
            let bytes = [&exchange.request[..], b"\r\n\r\n", &exchange.response].concat();
            std::fs::write(&file, bytes).with_context(|| format!("could not write {}", file.display()))?;
        }
        Ok(())
    }
}

/// Cases about an answer that comes to its end.
fn answers(scene: &CaseContext<'_>, server: &ModelServer) -> Result<Vec<CaseFinding>> {
    let relay = HttpRelay::start(server.address)?;
    let daemon = scene.daemon("answers", &format!("http://{}/v1", relay.address))?;
    let mut told: Option<(FinishedRun, HttpExchange)> = None;
    let streamed = scene.case("a streamed answer", || {
        let ran = daemon.run(&[STORY])?.finish()?;
        let exchanges = relay.take();
        scene.keep("streamed", &exchanges)?;
        let exchange = exchanges.into_iter().next().context("the server was not asked")?;
        let judgement = judge::streamed(&ran.tape, ran.started, exchange.last_byte);
        told = Some((ran, exchange));
        Ok(judgement.into())
    });
    let usage = scene.case("usage as the server reports it", || {
        let (ran, exchange) = told.as_ref().context("there was no answer")?;
        Ok(judge::usage(&ran.tape, &http::parse(&exchange.response)?.events()).into())
    });
    let obeys = scene.case("a JSON schema, sent to the server directly", || obeys(server));
    let schema = scene.case("a JSON schema, through palyra run --schema", || schema_case(&daemon));
    scene.keep("schema", &relay.take())?;
    let at_once = scene.case("three runs at once", || at_once(server, &daemon).map(CaseOutcome::from));
    scene.keep("at-once", &relay.take())?;
    let too_long = scene.case("an input longer than the model's context", || {
        let ran = daemon.run(&[&"lamp ".repeat(CONTEXT_TOKENS)])?.finish()?;
        Ok(judge::too_long(&ran.tape).into())
    });
    scene.keep("too-long", &relay.take())?;
    Ok(vec![streamed, usage, obeys, schema, at_once, too_long])
}

/// A case asks for its summary itself; a task beside it would have the only slot of the model.
const NO_COMPACTION: (&str, &str) = ("PALYRA__COMPACTION__AUTOMATIC", "false");

/// The fields of the schema, and their kinds.
const FIELDS: [(&str, FieldKind); 3] =
    [("city", FieldKind::Text), ("millions", FieldKind::Integer), ("coastal", FieldKind::Boolean)];

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "maxLength": 40},
            "millions": {"type": "integer", "minimum": 0, "maximum": 100},
            "coastal": {"type": "boolean"},
        },
        "required": ["city", "millions", "coastal"],
        "additionalProperties": false,
    })
}

fn obeys(server: &ModelServer) -> Result<CaseOutcome> {
    let format = json!({"name": "answer", "strict": true, "schema": schema()});
    let body = json!({
        "messages": [{"role": "user", "content": CITY}],
        "response_format": {"type": "json_schema", "json_schema": format},
    });
    let said = http::post(server.address, "/v1/chat/completions", &body)?.json()?;
    let text = said.pointer("/choices/0/message/content").and_then(Value::as_str);
    let text = text.with_context(|| format!("no answer: {said}"))?;
    Ok(judge::fits(text, &FIELDS).map_or_else(CaseOutcome::Lacking, |seen| Ok(seen).into()))
}

fn schema_case(daemon: &DaemonProcess) -> Result<CaseOutcome> {
    let file = daemon.work().join("schema.json");
    std::fs::write(&file, schema().to_string()).context("could not write schema.json")?;
    let ran = daemon.run(&["--schema", "schema.json", CITY])?.finish()?;
    let end = judge::ended(&ran.tape, "RUN_STATE_DONE");
    Ok(end.and_then(|_| judge::fits(&ran.tape.text(), &FIELDS)).into())
}

fn at_once(server: &ModelServer, daemon: &DaemonProcess) -> Result<CaseJudgement> {
    let runs = QUESTIONS.map(|question| daemon.run(&[question]));
    let mut most = 0;
    let overlapped = server.slots_become(Duration::from_secs(120), |slots| {
        most = most.max(slots.iter().filter(|slot| slot.busy).count());
        most == SLOTS
    })?;
    let mut characters = Vec::new();
    for run in runs {
        let ran = run?.finish()?;
        if let Err(wrong) = judge::ended(&ran.tape, "RUN_STATE_DONE") {
            return Ok(Err(wrong));
        }
        characters.push(ran.tape.text().chars().count().to_string());
    }
    let all = format!("answers of {} characters; {most} in the server at once", characters.join(", "));
    Ok(if overlapped { Ok(all) } else { Err(all) })
}

/// Cases in which an answer is cut short; the last one takes the server with it.
fn interruptions(scene: &CaseContext<'_>, mut server: ModelServer) -> Result<Vec<CaseFinding>> {
    let daemon = scene.daemon("interruptions", &server.base_url())?;
    let cancel = scene.case("a cancel in mid-stream", || cancel(&server, &daemon).map(CaseOutcome::from));
    let killed =
        scene.case("the server killed in mid-answer", || killed(&mut server, &daemon).map(CaseOutcome::from));
    let again = scene.case("the same session, once the server is back", || {
        let log = scene.records.join("server-again.log");
        let server = ModelServer::start_at(scene.installed, &log, server.address, ServerSetting::Usual)?;
        let ran = daemon.run(&["--session", "lost", "What is the capital of France?"])?.finish()?;
        let end = judge::ended(&ran.tape, "RUN_STATE_DONE");
        let verified = verify(&daemon)?;
        drop(server);
        let said = format!("answered `{}`; the journal verifies", ran.tape.text());
        Ok(end.and(verified).map(|()| said).into())
    });
    Ok(vec![cancel, killed, again])
}

fn cancel(server: &ModelServer, daemon: &DaemonProcess) -> Result<CaseJudgement> {
    let skip = server.log_lines(0, "").len();
    let mut run = daemon.run(&[STORY])?;
    run.until("model_text", 2)?;
    let id = run.tape.run_id().context("the run has no id")?.to_owned();
    let (code, said) = daemon.say(&["runs", "cancel", &id])?;
    let ran = run.finish()?;
    let idle = server.slots_become(NOTICE_TIME, |slots| slots.iter().all(|slot| !slot.busy))?;
    let noticed = server.log_lines(skip, "cancel task");
    let released = server.log_lines(skip, "stop processing");
    Ok(judge::cancelled(&ran.tape, ran.code).and_then(|seen| {
        if code != 0 {
            return Err(format!("`palyra runs cancel` ended with {code}: {said}"));
        }
        if !idle || noticed.is_empty() {
            return Err(format!("the server went on: idle is {idle}, its log says {released:?}"));
        }
        let tokens = released.last().and_then(|line| line.split("n_tokens = ").nth(1));
        let tokens = tokens.and_then(|rest| rest.split(',').next()).unwrap_or("?");
        let most = ANSWER_TOKENS_MAX;
        Ok(format!("{seen}; the server cancelled its task at {tokens} tokens with the prompt (cap {most})"))
    }))
}

fn killed(server: &mut ModelServer, daemon: &DaemonProcess) -> Result<CaseJudgement> {
    let mut run = daemon.run(&["--session", "lost", STORY])?;
    run.until("model_text", 2)?;
    server.kill()?;
    let before = run.tape.clone();
    let ran = run.finish()?;
    let id = ran.tape.run_id().context("the run has no id")?;
    let (_, told) = daemon.say(&["runs", "tail", "--json", id])?;
    let (kept, shown) = (told.lines().count(), ran.tape.0.len());
    let judgement = judge::server_lost(&before, &ran.tape, ran.code);
    let verified = verify(daemon)?;
    Ok(judgement.and_then(|seen| {
        verified?;
        if kept != shown {
            return Err(format!("{shown} entries were shown, {kept} are told afterwards"));
        }
        Ok(format!("{seen}; all {kept} entries are shown again; the journal verifies"))
    }))
}

fn verify(daemon: &DaemonProcess) -> Result<Result<(), String>> {
    let (code, said) = daemon.say(&["journal", "verify"])?;
    Ok(if code == 0 { Ok(()) } else { Err(format!("`palyra journal verify` ended with {code}: {said}")) })
}

/// Cases that offer our tools through a template that names them to the model.
fn tool_calls(scene: &CaseContext<'_>) -> Result<Vec<CaseFinding>> {
    let server = scene.server("server-tools.log", ServerSetting::WithTools)?;
    let relay = HttpRelay::start(server.address)?;
    let daemon = scene.daemon("tools", &format!("http://{}/v1", relay.address))?;
    let wordings = [
        ("a tool call, asked for in plain words", "tool-plain", READ_PLAINLY),
        ("a tool call, dictated word for word", "tool-dictated", READ_DICTATED),
    ];
    let findings = wordings.map(|(case, name, wording)| {
        scene.case(case, || {
            let ran = daemon.run(&[wording])?.finish()?;
            let exchanges = relay.take();
            scene.keep(name, &exchanges)?;
            if exchanges.iter().any(proposes) {
                return Ok(judge::tool_call(&ran.tape, "read_file").into());
            }
            let said: String = ran.tape.text().chars().take(60).collect();
            Ok(CaseOutcome::Lacking(format!("the model proposed no call; it began with: {said}")))
        })
    });
    Ok(findings.into())
}

/// A conversation that outgrows the model's window.
fn long_session(scene: &CaseContext<'_>) -> Result<Vec<CaseFinding>> {
    let server = scene.server("server-cramped.log", ServerSetting::Cramped)?;
    // With all tools, a window of 8,192 tokens has room for little else.
    let settings =
        [NO_COMPACTION, ("PALYRA__COMMANDS__ENABLED", "false"), ("PALYRA__EGRESS__ENABLED", "false")];
    let daemon = scene.daemon_with("long-session", &server.base_url(), &settings)?;
    let finding = scene.case("a session longer than the model's context", || {
        let mut ran = Vec::new();
        for word in ["lamp", "ship", "storm"] {
            let input = format!("Remember this: {}", format!("{word} ").repeat(CRAMPED_TOKENS / 10));
            ran.push(daemon.run(&["--session", "long", &input])?.finish()?);
        }
        let tapes: Vec<_> = ran.into_iter().map(|ran| ran.tape).collect();
        Ok(judge::shortened(&tapes).into())
    });
    Ok(vec![finding])
}

/// A conversation whose older runs the model sums up, and that goes on behind the summary.
fn summed_up(scene: &CaseContext<'_>, server: &ModelServer) -> Result<CaseFinding> {
    let daemon = scene.daemon_with("summed-up", &server.base_url(), &[NO_COMPACTION])?;
    Ok(scene.case("a run that reads a summary of older runs", || {
        for word in ["lamp", "ship"] {
            let input = format!("Say yes. This is about a {word}: {}", format!("{word} ").repeat(100));
            daemon.run(&["--session", "summed", &input])?.finish()?;
        }
        for country in COUNTRIES {
            let input = format!("What is the capital of {country}?");
            daemon.run(&["--session", "summed", &input])?.finish()?;
        }
        let (code, said) = daemon.say(&["sessions", "compact", "summed", "--json"])?;
        let made: Option<Value> = said.lines().find_map(|line| serde_json::from_str(line).ok());
        let Some(made) = made.filter(|_| code == 0) else {
            return Ok(Err(format!("`palyra sessions compact` ended with {code}: {said}")).into());
        };
        let ran = daemon.run(&["--session", "summed", "What is the capital of France?"])?.finish()?;
        Ok(judge::reads_summary(&made, &ran.tape).into())
    }))
}

/// Whether the server made a call of what the model said.
fn proposes(exchange: &HttpExchange) -> bool {
    let Ok(response) = http::parse(&exchange.response) else { return false };
    response.events().iter().any(|event| event.pointer("/choices/0/delta/tool_calls").is_some())
}
