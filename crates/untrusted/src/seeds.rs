//! The first files of each corpus, out of our own samples.
//!
//! Invariant: a function of nothing, so that the committed files can be compared with it. Begin at [`of`].

use palyra_ledger::envelope::RedactionMark;
use palyra_ledger::{Envelope, LeafHash};
use palyra_ports::NewEntry;
use palyra_testkit::journal_suite::samples::{SampleRun, principal, session, session_opened};
use palyra_types::{Epoch, LogId, Seq, Timestamp};
use palyra_wire::operations::OPERATIONS;
use palyra_wire::v1::run_stream_request::Frame;
use palyra_wire::v1::{
    Attach, Attachment, Cancel, Input, RunStreamRequest, SessionSelector, StartRunRequest,
};
use prost::Message;

/// Seeds by the names of their files.
pub type SeedFiles = Vec<(String, Vec<u8>)>;

/// Returns the seeds of a target; empty for one that nobody knows.
#[must_use]
pub fn of(target: &str) -> SeedFiles {
    match target {
        "envelope" => envelopes(),
        "stored_entry" => stored_entries(),
        "grpc_frame" => frames(),
        "http_request" => requests(),
        "chat_completions" => named(&CHAT_COMPLETIONS),
        "messages" => named(&MESSAGES),
        "responses" => named(&RESPONSES),
        "tool_arguments" => named(&TOOL_ARGUMENTS),
        "patch" => named(&PATCHES),
        "configuration" => configurations(),
        _ => Vec::new(),
    }
}

fn named(seeds: &[(&str, &str)]) -> SeedFiles {
    seeds.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
}

/// The entries of a run with a tool, in order.
fn entries() -> Vec<NewEntry> {
    let session = session(principal(1), 1);
    let opened = session_opened(session, Some("key"), Timestamp(1));
    let mut run = SampleRun::new(session, 1);
    let mut entries =
        vec![opened, run.started("what is in here?"), run.requested(1), run.text(1, "I will look.")];
    entries.push(run.message(1, 1));
    entries.extend(run.proposed(1));
    entries.extend([run.tool_started(1), run.tool_finished(1, "a file")]);
    entries.extend([run.requested(2), run.text(2, "A file."), run.message(2, 0), run.finished()]);
    entries
}

fn stored(entry: &NewEntry) -> Option<(u16, Vec<u8>, Vec<u8>)> {
    palyra_journal::untrusted::stored(&entry.event)
}

fn stored_entries() -> SeedFiles {
    let entries = entries();
    let seeds = entries.iter().zip(0..).filter_map(|(entry, at)| {
        let (kind, facts, payload) = stored(entry)?;
        let length = u16::try_from(facts.len()).ok()?;
        let bytes = [&kind.to_le_bytes()[..], &length.to_le_bytes()[..], &facts, &payload].concat();
        Some((format!("{at:02}-kind-{kind}"), bytes))
    });
    seeds.collect()
}

fn envelopes() -> SeedFiles {
    let entries = entries();
    let seeds = entries.iter().zip(0..).filter_map(|(entry, at)| {
        let (kind, facts, payload) = stored(entry)?;
        let envelope = Envelope {
            redaction: if at == 1 { RedactionMark::Redacted } else { RedactionMark::Untouched },
            kind,
            epoch: Epoch(1),
            seq: Seq(at),
            time: entry.time,
            log_id: LogId([7; 16]),
            principal: entry.principal,
            session: entry.session,
            run: entry.run,
            redaction_ruleset: 0,
            prev: LeafHash([u8::try_from(at).ok()?; 32]),
            commitment: (!payload.is_empty()).then_some([3; 32]),
            facts,
        };
        Some((format!("{at:02}-kind-{kind}"), envelope.encode().ok()?))
    });
    seeds.filter(|(_, bytes)| !bytes.is_empty()).collect()
}

fn frames() -> SeedFiles {
    let run_id = "01JGFJJZ0005QY2RHDPD3YAC6M".to_owned();
    let attachment = Attachment {
        name: "notes.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        bytes: 5,
        content: b"notes".to_vec(),
    };
    let start = StartRunRequest {
        session: Some(SessionSelector { session_key: "work".to_owned(), ..SessionSelector::default() }),
        input: "what is in here?".to_owned(),
        idempotency_key: "once".to_owned(),
        workspace_root: "/home/somebody/work".to_owned(),
        model: "demo/demo".to_owned(),
        delivery: 2,
        attachments: vec![attachment.clone()],
        response_schema: "{\"type\":\"object\"}".to_owned(),
        ..StartRunRequest::default()
    };
    let input = Input {
        text: "rather so".to_owned(),
        idempotency_key: "twice".to_owned(),
        delivery: 1,
        attachments: vec![attachment],
    };
    let frames = [
        ("start", Frame::Start(start)),
        ("attach", Frame::Attach(Attach { run_id, after_tape_seq: 7 })),
        ("input", Frame::Input(input)),
        ("cancel", Frame::Cancel(Cancel {})),
    ];
    let seeds = frames
        .map(|(name, frame)| (name.to_owned(), RunStreamRequest { frame: Some(frame) }.encode_to_vec()));
    seeds.into()
}

/// One of each form: a query, a body, both of them wrong.
fn requests() -> SeedFiles {
    let of = |name: &str, text: &str| {
        let which = OPERATIONS.iter().position(|operation| operation.name == name)?;
        Some((name.to_owned(), [&[u8::try_from(which).ok()?], text.as_bytes()].concat()))
    };
    let seeds = [
        of("ListRuns", "page_size=7&only=open&page_token=t"),
        of("ReadTape", "run_id=01JGFJJZ0005QY2RHDPD3YAC6M&after_tape_seq=3"),
        of("ExportApprovals", "since=2026-01-01T00:00:00Z"),
        of(
            "StartRun",
            "\n{\"input\":\"hi\",\"session\":{\"session_key\":\"work\"},\"attachments\":[{\"name\":\"a\",\"content\":\"aGk=\"}]}",
        ),
        of("ResolveApproval", "\n{\"approval_id\":\"A\",\"decision\":\"APPROVAL_DECISION_APPROVE\"}"),
        of("EraseContent", "\n{\"range\":{\"from_seq\":\"1\",\"to_seq\":2}}"),
        of("SetPosture", "tool=x\n{\"tool\":\"y\"}"),
    ];
    seeds.into_iter().flatten().collect()
}

fn configurations() -> SeedFiles {
    let mut seeds = named(&[
        (
            "provider",
            "[providers.local]\nbase_url = \"http://127.0.0.1:11434/v1\"\nparallel_requests_max = 2\n",
        ),
        ("wrong", "[model]\ndefault = 7\n[nonsense]\nkey = true\n"),
        ("broken", "[daemon\nlisten_tcp = "),
    ]);
    seeds.push(("everything".to_owned(), palyra_daemon::config::as_toml().into_bytes()));
    seeds
}

/// The first byte says how the answer is split.
const CHAT_COMPLETIONS: [(&str, &str); 5] = [
    (
        "text",
        "\x07data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n\
         data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}],\
         \"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
    ),
    (
        "calls",
        "\x01data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\
         \"read_file\",\"arguments\":\"{\\\"pa\"}}]}}]}\r\n\r\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":\
         [{\"index\":0,\"function\":{\"arguments\":\"th\\\":\\\"x\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\r\n\r\n",
    ),
    (
        "reasoning",
        "\x03: comment\n\ndata: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n\
         data: {\"choices\":[{\"delta\":{\"content\":\"so\"},\"finish_reason\":\"length\"}]}\n\n",
    ),
    (
        "document",
        "\x05{\"id\":\"d\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"hi\"},\
         \"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}",
    ),
    (
        "error",
        "\x02data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\",\"code\":503}}\n\n",
    ),
];

const MESSAGES: [(&str, &str); 4] = [
    (
        "text",
        "\x09event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"c\",\
         \"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\
         \"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
         event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\
         \"text_delta\",\"text\":\"hello\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\
         \"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\
         \"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ),
    (
        "call",
        "\x04event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m2\",\"model\":\"c\"}}\n\n\
         event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\
         \"tool_use\",\"id\":\"t\",\"name\":\"list_dir\",\"input\":{}}}\n\nevent: content_block_delta\ndata: \
         {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\
         \"{\\\"path\\\":\\\".\\\"}\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\
         \"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\
         \"tool_use\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ),
    (
        "document",
        "\x06{\"id\":\"m3\",\"type\":\"message\",\"model\":\"c\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\
         \"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}",
    ),
    (
        "error",
        "\x08event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n",
    ),
];

const RESPONSES: [(&str, &str); 5] = [
    (
        "text",
        "\x09data: {\"type\":\"response.created\",\"response\":{\"id\":\"r1\",\"model\":\"g\"}}\n\n\
         data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"m\",\
         \"type\":\"message\"}}\n\ndata: {\"type\":\"response.output_text.delta\",\
         \"output_index\":0,\"item_id\":\"m\",\"delta\":\"hello\"}\n\ndata: {\"type\":\"response.completed\",\
         \"response\":{\"status\":\"completed\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}}\n\n",
    ),
    (
        "call",
        "\x04data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"f\",\
         \"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"list_dir\"}}\n\ndata: {\"type\":\"response.function_call_arguments.delta\",\
         \"output_index\":0,\"item_id\":\"f\",\"delta\":\"{\\\"path\\\":\\\".\\\"}\"}\n\n\
         data: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\
         \"incomplete_details\":{\"reason\":\"max_output_tokens\"}}}\n\n",
    ),
    (
        "reasoning",
        "\x07data: {\"type\":\"response.reasoning_summary_text.delta\",\"output_index\":0,\
         \"item_id\":\"r\",\"delta\":\"hm\"}\n\ndata: {\"type\":\"response.output_item.done\",\
         \"output_index\":0,\"item\":{\"id\":\"r\",\"type\":\"reasoning\",\"encrypted_content\":\"gA==\"}}\n\n\
         data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\ndata: {\"type\":\"response.completed\",\
         \"response\":{\"output\":[]}}\n\n",
    ),
    (
        "document",
        "\x06{\"id\":\"r3\",\"model\":\"g\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\
         \"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]}]}",
    ),
    (
        "error",
        "\x08data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\",\
         \"message\":\"busy\"}}}\n\n",
    ),
];

const TOOL_ARGUMENTS: [(&str, &str); 6] = [
    ("read_file", "{\"path\":\"src/lib.rs\"}"),
    ("list_dir", "{\"path\":\".\"}"),
    ("glob", "{\"pattern\":\"**/*.rs\"}"),
    ("search", "{\"pattern\":\"fn main\",\"path\":\"src\"}"),
    ("deep", "{\"a\":[[[[[[[[[[[[[[[[{\"b\":1}]]]]]]]]]]]]]]]]}"),
    ("escaped", "{\"path\":\"..\\/..\\u002fetc\\u0000\",\"path\":1e400}"),
];

/// Each with the file that it is for, behind a NUL.
const PATCHES: [(&str, &str); 8] = [
    (
        "change",
        "diff --git a/src/lib.rs b/src/lib.rs\nindex 1..2 100644\n--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,3 +1,3 @@ fn\n one\n-two\n+TWO\n three\n\0one\ntwo\nthree\n",
    ),
    (
        "create",
        "diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n\0",
    ),
    ("remove", "--- a/old\t2026-01-01\n+++ /dev/null\t1970-01-01\n@@ -1 +0,0 @@\n-a\n\0a\n"),
    (
        "rename",
        "diff --git a/from b/to\nsimilarity index 90%\nrename from from\nrename to to\n--- a/from\n+++ b/to\n@@ -2 +2 @@\n-b\n+B\n\0a\nb\n",
    ),
    (
        "two_files",
        "words before\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+c\n-- \n2.40\n\0a\n",
    ),
    (
        "open_ends",
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n\0a\nb",
    ),
    (
        "leads_out",
        "--- a/./../x\n+++ b/a/../../x\n@@ -0,0 +1 @@\n+a\n--- a//.git//config\r\n+++ b/.git/config\r\n@@ -1 +1 @@\n-a\n+b\n\0a\n",
    ),
    ("moved_hunks", "--- x\n+++ x\n@@ -9,1 +9,2 @@\n b\n+n\n@@ -12,2 +13 @@\n-c\n d\n\0a\nb\n\nc\nd\n"),
];
