//! What a person reads before a request leaves, and what is refused without a question.
//!
//! Owns the line that says a request in words, and its preview. Invariant: the preview begins with method and address, then
//! every header and every other host; after an empty line comes the whole content, or how much of it is left out.

use std::fmt::Write;

use palyra_ports::{FetchMethod, PreparedCall, ReadUrl, SecretName, UrlServer};
use palyra_types::effect::PREVIEW_BYTES_MAX;
use palyra_types::{Content, ErrorCode};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::failure::WebFailure;
use crate::http_fetch;
use crate::http_send::{self, KEY_HEADER, RepeatSafety};
use crate::request::{CallManner, CommonArguments, ParsedCall};

/// Characters of an address in the line; the preview holds all of it.
const URL_CHARS_MAX: usize = 400;
const TYPE_CHARS_MAX: usize = 60;
/// The port of a secret that is bound to a host alone.
const HTTPS_PORT: u16 = 443;

/// Returns how a secret is sent, such as `bearer`.
pub type SentAsOf = dyn Fn(&SecretName) -> Option<String> + std::marker::Send + Sync;

/// What is recorded before a request is sent. Its members are in order of name, so that its JSON is canonical.
#[derive(Debug, Serialize)]
struct SendPlan<'p> {
    body_sha256: String,
    host: &'p str,
    method: &'static str,
    port: u16,
    repeatable: bool,
}

/// What is recorded before a page is fetched.
#[derive(Debug, Serialize)]
struct FetchPlan<'p> {
    host: &'p str,
    method: &'static str,
    port: u16,
}

/// Says what a call would fetch, and from whom.
pub(crate) fn prepare_fetch(
    reader: &dyn ReadUrl,
    sent_as: &SentAsOf,
    arguments: &str,
) -> Result<PreparedCall, WebFailure> {
    let fetch = http_fetch::read(arguments)?;
    let asked = ParsedCall::read(reader, &fetch.common, CallManner::Asks)?;
    reachable(reader, &fetch.common)?;
    let server = &asked.server;
    let plan = FetchPlan { host: &server.host, method: fetch.method.as_str(), port: server.port };
    Ok(PreparedCall {
        body: Content::new(serde_json::to_string(&plan).unwrap_or_default()),
        summary: Content::new(line(
            fetch.method,
            UrlCall { common: &fetch.common, asked: &asked },
            "",
            sent_as,
        )),
        preview: Content::new(head(fetch.method, &fetch.common, &asked)),
        secrets: asked.secrets(None),
        ..PreparedCall::default()
    })
}

/// Says what a call would send, and to whom.
pub(crate) fn prepare_send(
    reader: &dyn ReadUrl,
    sent_as: &SentAsOf,
    arguments: &str,
) -> Result<PreparedCall, WebFailure> {
    let send = http_send::read(arguments)?;
    let asked = ParsedCall::read(reader, &send.common, CallManner::Sends)?;
    reachable(reader, &send.common)?;
    let plan = SendPlan {
        body_sha256: Sha256::digest(send.body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect(),
        host: &asked.server.host,
        method: send.method.as_str(),
        port: asked.server.port,
        repeatable: send.repetition == RepeatSafety::MeansTheSame,
    };
    Ok(PreparedCall {
        body: Content::new(serde_json::to_string(&plan).unwrap_or_default()),
        summary: Content::new(line(
            send.method,
            UrlCall { common: &send.common, asked: &asked },
            &sends(&send, &asked),
            sent_as,
        )),
        preview: Content::new(preview(&send, &asked)),
        unbound: Content::new(unbound(&send)),
        secrets: asked.secrets(None),
        ..PreparedCall::default()
    })
}

/// Refuses an address to which no connection is made, with any answer of a person.
fn reachable(reader: &dyn ReadUrl, common: &CommonArguments) -> Result<(), WebFailure> {
    match reader.certain_refusal(&common.url) {
        None => Ok(()),
        Some(why) => Err(WebFailure::Fetch { code: ErrorCode::FetchRefused, told: unsent(&why) }),
    }
}

/// Adds to a reason that nothing was sent; lines to write, behind an empty line, stay at the end.
fn unsent(why: &str) -> String {
    match why.split_once("\n\n") {
        Some((why, lines)) => format!("{why}; nothing was sent\n\n{lines}"),
        None => format!("{why}; nothing was sent"),
    }
}

/// A call as it was written, and as it was read.
#[derive(Clone, Copy)]
struct UrlCall<'a> {
    common: &'a CommonArguments,
    asked: &'a ParsedCall,
}

/// Returns a request in words: method and address, what is sent, whose secret goes along.
fn line(
    method: FetchMethod,
    UrlCall { common, asked }: UrlCall<'_>,
    sends: &str,
    sent_as: &SentAsOf,
) -> String {
    let mut text = format!("{} {}{sends}", method.as_str(), shortened(&common.url, URL_CHARS_MAX));
    if let Some(name) = &asked.credential {
        let _ = write!(text, ", carries your secret `{}`", name.as_str());
        if let Some(manner) = sent_as(name) {
            let _ = write!(text, " as {manner}");
        }
    }
    text
}

fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the size and the type of what is sent.
fn sends(send: &http_send::SendCall, asked: &ParsedCall) -> String {
    if send.body.is_empty() {
        return ", sends no body".to_owned();
    }
    let content_type = asked.headers().iter().find(|(name, _)| name == "content-type");
    let is_plain = |value: &&String| value.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    let content_type = content_type.map(|(_, value)| value).filter(is_plain);
    let content_type =
        content_type.map_or_else(String::new, |value| format!(" of {}", shortened(value, TYPE_CHARS_MAX)));
    let plural = if send.body.len() == 1 { "" } else { "s" };
    format!(", sends {} byte{plural}{content_type}", send.body.len())
}

/// Returns the host that a secret is for, with its port where it is bound with one.
fn bound_host(server: &UrlServer) -> String {
    match server.port {
        HTTPS_PORT => server.host.clone(),
        port => format!("{}:{port}", server.host),
    }
}

/// Returns method and address, and each header and further host in a line of its own.
fn head(method: FetchMethod, common: &CommonArguments, asked: &ParsedCall) -> String {
    let mut text = format!("{} {}\n", method.as_str(), common.url);
    for (name, value) in asked.headers() {
        let _ = writeln!(text, "{name}: {value}");
    }
    if let Some(name) = &asked.credential {
        let _ = writeln!(text, "secret: `{}`, sent to {} only", name.as_str(), bound_host(&asked.server));
    }
    if !common.hosts.is_empty() {
        let _ = writeln!(text, "redirects also to: {}", common.hosts.join(", "));
    }
    text
}

fn preview(send: &http_send::SendCall, asked: &ParsedCall) -> String {
    let mut text = head(send.method, &send.common, asked);
    let _ = writeln!(text, "{KEY_HEADER}: made for this call");
    if !send.body.is_empty() {
        let _ = write!(text, "\n{}", send.body);
    }
    if text.len() > PREVIEW_BYTES_MAX {
        const NOTE: &str = "\n[the rest of the body is not shown here; the arguments hold all of it]";
        text.truncate(text.floor_char_boundary(PREVIEW_BYTES_MAX - NOTE.len()));
        text.push_str(NOTE);
    }
    text
}

fn unbound(send: &http_send::SendCall) -> String {
    let again = match send.repetition {
        RepeatSafety::MeansTheSame => "; after a crash it is sent again under the same key",
        RepeatSafety::MayDoItTwice => "",
    };
    format!("what the server does with it{again}")
}
