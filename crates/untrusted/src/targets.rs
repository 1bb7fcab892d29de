//! The targets: one function of bytes each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use palyra_ledger::Envelope;
use palyra_policy::{CallEvidence, ToolCallPolicySnapshot, ToolPolicyRules, decide_tool_call};
use palyra_ports::ToolRuntime;
use palyra_tools::BuiltinTools;
use palyra_types::approval::ApproverPresence;
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::run::Surface;
use palyra_types::tool::{CallContext, Taints, ToolCall, ToolName, ToolVerdict};
use palyra_types::{AgentId, PrincipalId, Redacted, RunId, SessionId, Timestamp};
use palyra_wire::json::{bytes_to_json, from_json};
use palyra_wire::operations::OPERATIONS;
use palyra_wire::v1::RunStreamRequest;
use prost::Message;
use sha2::{Digest, Sha256};

/// A function that must not panic, whatever it is given.
pub type FuzzTarget = fn(&[u8]);

/// All targets by the name of their corpus.
pub const ALL: [(&str, FuzzTarget); 10] = [
    ("envelope", envelope),
    ("stored_entry", stored_entry),
    ("grpc_frame", grpc_frame),
    ("http_request", http_request),
    ("chat_completions", chat_completions),
    ("messages", messages),
    ("responses", responses),
    ("tool_arguments", tool_arguments),
    ("patch", patch),
    ("configuration", configuration),
];

/// What an envelope's bytes mean is written back as the same bytes: two readers cannot disagree.
pub fn envelope(bytes: &[u8]) {
    if let Ok(envelope) = Envelope::decode(bytes) {
        assert_eq!(envelope.encode().as_deref(), Ok(bytes), "an envelope has two forms");
    }
}

/// An entry as it is stored: kind, length of the facts, facts, payload. What can be read can be written, and is then
/// read as the same.
pub fn stored_entry(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first_chunk::<2>() else { return };
    let Some((length, rest)) = rest.split_first_chunk::<2>() else { return };
    let (kind, length) = (u16::from_le_bytes(*kind), usize::from(u16::from_le_bytes(*length)));
    let (facts, payload) = rest.split_at(length.min(rest.len()));
    for read in [palyra_journal::untrusted::read_tape_entry, palyra_journal::untrusted::read_log_entry] {
        let Some(event) = read(kind, facts, payload) else { continue };
        if matches!(event, JournalEvent::Unknown { .. } | JournalEvent::Tape(TapeEvent::Unknown { .. })) {
            continue;
        }
        let stored = palyra_journal::untrusted::stored(&event);
        let again = stored.and_then(|(kind, facts, payload)| read(kind, &facts, &payload));
        assert_eq!(again, Some(event), "what was read is not what is written");
    }
}

/// A frame of `RunStream` as it comes off the wire.
pub fn grpc_frame(bytes: &[u8]) {
    let Ok(message) = RunStreamRequest::decode(bytes) else { return };
    let again = RunStreamRequest::decode(message.encode_to_vec().as_slice());
    assert_eq!(again.as_ref(), Ok(&message), "a frame is not written as it was read");
    let _ = palyra_grpc::untrusted::frame(message);
}

/// A request of the HTTP API: which operation, its query, a line feed, its body. Its message as JSON is read as the same message.
pub fn http_request(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    let Some(operation) = OPERATIONS.get(usize::from(*which) % OPERATIONS.len()) else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let (query, body) = text.split_once('\n').unwrap_or((text, ""));
    let Some(message) = palyra_http::untrusted::message(operation, query, body) else { return };
    let Some(json) = bytes_to_json(operation.input, &message) else {
        panic!("a message that was read is none")
    };
    assert_eq!(from_json(operation.input, &json.to_string()), Ok(message), "a message has two forms");
}

/// An answer of a server that speaks Chat Completions.
pub fn chat_completions(bytes: &[u8]) {
    answer(
        bytes,
        palyra_providers::untrusted::chat_completions,
        palyra_providers::untrusted::chat_completions,
    );
}

/// An answer of a server that speaks Messages.
pub fn messages(bytes: &[u8]) {
    answer(bytes, palyra_providers::untrusted::messages, palyra_providers::untrusted::messages);
}

/// An answer of a server that speaks Responses.
pub fn responses(bytes: &[u8]) {
    answer(bytes, palyra_providers::untrusted::responses, palyra_providers::untrusted::responses);
}

/// Whatever comes out does not depend on how the bytes were split, and ends exactly once. The first byte says where
/// they are split.
fn answer<'a>(
    bytes: &'a [u8],
    whole: impl Fn(Vec<&'a [u8]>) -> palyra_providers::untrusted::PieceResults,
    split: impl Fn(Vec<&'a [u8]>) -> palyra_providers::untrusted::PieceResults,
) {
    let Some((size, bytes)) = bytes.split_first() else { return };
    let at_once = whole(vec![bytes]);
    let pieces = split(bytes.chunks(usize::from(*size).max(1)).collect());
    assert_eq!(at_once, pieces, "an answer depends on how it is split");
    let ends = |piece: &Result<palyra_types::model::ModelPiece, _>| {
        !matches!(
            piece,
            Ok(palyra_types::model::ModelPiece::Text(_) | palyra_types::model::ModelPiece::Reasoning(_))
        )
    };
    let ended = at_once.iter().position(ends);
    assert_eq!(ended.map(|at| at + 1), Some(at_once.len()), "an answer ends exactly once, and last");
}

/// Where a call comes from that nobody made.
fn nobody() -> CallContext {
    CallContext {
        principal: PrincipalId::NIL,
        agent: AgentId::NIL,
        session: SessionId::NIL,
        run: RunId::NIL,
        surface: Surface::LocalSocket,
        approvers: ApproverPresence::Inbox,
        taints: Taints::NONE,
        turns: 0,
        tool_calls: 0,
        now: Timestamp::default(),
        isolation: palyra_types::tool::Isolation::DescriptorRelative,
    }
}

/// What ships, compiled once.
fn shipped() -> &'static ToolCallPolicySnapshot {
    static SNAPSHOT: OnceLock<ToolCallPolicySnapshot> = OnceLock::new();
    SNAPSHOT.get_or_init(|| {
        let digest = |text: &str| -> [u8; 32] { Sha256::digest(text.as_bytes()).into() };
        ToolCallPolicySnapshot::compile(BuiltinTools::new().catalog(), ToolPolicyRules::shipped(), digest)
            .expect("what ships compiles")
    })
}

/// Arguments as a model wrote them, for each tool that ships: what is allowed is an object, and judging is a function.
pub fn tool_arguments(bytes: &[u8]) {
    let snapshot = shipped();
    let arguments = String::from_utf8_lossy(bytes).into_owned();
    for tool in snapshot.catalog().iter() {
        let written = Redacted::cleaned(arguments.clone());
        let call = ToolCall { tool: tool.name.clone(), arguments: written, context: nobody() };
        let evidence = CallEvidence::default();
        let decision = decide_tool_call(snapshot, &call, &evidence);
        assert_eq!(decision, decide_tool_call(snapshot, &call, &evidence), "the same call is judged twice");
        if decision.verdict == ToolVerdict::Allow {
            let parsed = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&arguments);
            assert!(parsed.is_ok(), "arguments that are no object are allowed");
        }
    }
}

/// A patch and, behind a NUL, the file that it is for. Whoever judges a patch sees every path that it would change,
/// and nothing but the lines of the patch comes into the file or goes out of it.
pub fn patch(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let text = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let old = parts.next().unwrap_or_default();
    let Some(files) = palyra_tools::untrusted::patch(&text, old) else { return };
    let seen = judged_paths("apply_patch", &serde_json::json!({ "patch": text }));
    let lines = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').count();
    for file in files {
        if let Some(seen) = &seen {
            for path in &file.paths {
                let named = judged_paths("write_file", &serde_json::json!({ "path": path, "content": "" }));
                assert!(
                    named.is_none_or(|named| named.is_subset(seen)),
                    "{path:?} is changed and was not judged"
                );
            }
        }
        let [_, removed, added] = file.lines;
        if let Some(made) = file.made {
            assert_eq!(lines(&made) + removed, lines(old) + added, "lines come from nowhere, or are lost");
        }
    }
}

/// Returns the paths by which a call is judged; `None` for one that is refused before.
fn judged_paths(tool: &str, arguments: &serde_json::Value) -> Option<BTreeSet<String>> {
    let call = ToolCall {
        tool: ToolName::new(tool),
        arguments: Redacted::cleaned(arguments.to_string()),
        context: nobody(),
    };
    let decision = decide_tool_call(shipped(), &call, &CallEvidence::default());
    let request: serde_json::Value = serde_json::from_str(decision.request.expose()).ok()?;
    serde_json::from_value(request["context"]["paths"].clone()).ok()
}

/// A configuration file: it is read, or every mistake in it is told in words.
pub fn configuration(bytes: &[u8]) {
    let file = tempfile::NamedTempFile::new().expect("there is a folder for files of the moment");
    std::fs::write(file.path(), bytes).expect("it can be written");
    match palyra_daemon::config::load(Some(file.path()), &BTreeMap::new(), &[]) {
        Ok(config) => {
            let _ = (config.run_limits(), config.providers(), config.canonical_text());
        }
        Err(mistakes) => {
            let lines: Vec<String> = mistakes.lines();
            assert!(
                !lines.is_empty() && lines.iter().all(|line| !line.is_empty()),
                "a mistake without a word"
            );
        }
    }
}
