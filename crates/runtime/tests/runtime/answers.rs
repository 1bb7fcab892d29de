//! What a model gives beside plain text: reasoning, structure, what it wants back; and the images it is shown.

use std::sync::Arc;

use palyra_ports::ModelCapabilities;
use palyra_runtime::session::{IncomingFile, SubmitRequest};
use palyra_runtime::{ModelDirectory, RequestError};
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script, ScriptedProvider};
use palyra_types::event::{ModelEvent, TapeEvent};
use palyra_types::model::{ChatMessage, FinishReason, ModelRef, ResponseFormat, TokenUsage, UsageSource};
use palyra_types::run::{InputDelivery, RunLifecycleState, TerminationReason};
use palyra_types::sampling::{CallsPerAnswer, ReasoningEffort, SamplingNumber, SamplingOptions};
use palyra_types::{Content, ErrorCode, Redacted, RunId};

use crate::rig::{Rig, by_key, request, settle, soon};
use crate::shapes::shape;

#[tokio::test]
async fn reasoning_is_on_the_tape_before_the_text_and_never_shown_to_a_model() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().reasoning("so ").reasoning("it is").text("Yes").call(LOOK, "{}"));
    let run = rig.submit("k", "go").await.run;
    rig.finished(run).await;
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape[1..4], ["asked 1", "reasoning so it is", "text Yes"], "{tape:?}");
    let shown = format!("{:?}", rig.model.requests()[1].messages.iter().map(words).collect::<Vec<_>>());
    assert!(!shown.contains("it is"), "{shown}");
}

fn words(message: &ChatMessage) -> String {
    match message {
        ChatMessage::User { text, .. }
        | ChatMessage::Assistant { text, .. }
        | ChatMessage::ToolResult { text, .. } => text.expose().clone(),
    }
}

#[tokio::test]
async fn reasoning_without_end_is_cut_off_and_the_answer_is_not() {
    let rig = Rig::start().await;
    let page = "ä".repeat(32 * 1024);
    let script = (0..64).fold(Script::new(), |script, _| script.reasoning(&page));
    rig.model.push(script.text("done"));
    let run = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let mut kept = String::new();
    for entry in rig.tape(run).await {
        if let TapeEvent::Model(ModelEvent::Reasoning { text, .. }) = entry.event {
            assert!(text.expose().len() <= 64 * 1024);
            kept.push_str(text.expose());
        }
    }
    assert!(kept.ends_with("(The rest of the reasoning is not kept.)"));
    assert!(kept.len() < 257 * 1024, "{} bytes", kept.len());
}

#[tokio::test]
async fn reasoning_that_was_reported_is_not_counted_again() {
    let rig = Rig::start().await;
    let usage = TokenUsage {
        output_tokens: 30,
        reasoning_tokens: 20,
        source: UsageSource::Reported,
        ..TokenUsage::default()
    };
    rig.model.push(Script::new().reasoning(&"long ".repeat(1_000)).text("Yes").usage(usage));
    let run = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(run).await.usage, usage);
    rig.model.push(Script::new().reasoning(&"long".repeat(100)).text("four"));
    let run = rig.submit("k", "go").await.run;
    let estimated = rig.finished(run).await.usage;
    assert_eq!((estimated.output_tokens, estimated.reasoning_tokens), (101, 100));
}

#[tokio::test]
async fn a_model_that_writes_on_beyond_the_limit_of_tokens_is_cut_off() {
    let rig = Rig::start().await;
    rig.configure(|config| config.limits.output_tokens_max = 50);
    // It never ends by itself.
    let endless = Script::new().text(&"word".repeat(40)).text(&"word".repeat(300)).text("late");
    rig.model.push(endless.hold(&Gate::closed()));
    let run = rig.submit("k", "go").await.run;
    let ended = rig.finished(run).await;
    assert_eq!(ended.reason, Some(TerminationReason::TurnLimit));
    assert_eq!((ended.usage.output_tokens, ended.usage.source), (340, UsageSource::Estimated));
    let tape = shape(&rig.tape(run).await);
    let said: String = tape.iter().filter_map(|entry| entry.strip_prefix("text ")).collect();
    assert_eq!(said, "word".repeat(340), "what was received is kept");
    assert_eq!(rig.model.requests()[0].output_tokens_max, Some(50));
    settle().await;
    assert_eq!(rig.model.counts().dropped, 1, "the stream is closed");
}

#[tokio::test]
async fn what_is_left_of_the_limit_is_sent_where_a_window_has_room_for_it() {
    let rig = Rig::start().await;
    rig.configure(|config| config.limits.output_tokens_max = 10_000);
    let usage =
        |output_tokens| TokenUsage { output_tokens, source: UsageSource::Reported, ..TokenUsage::default() };
    rig.model.push(Script::new().call(LOOK, "{}").usage(usage(4_000)));
    rig.model.push(Script::new().call(LOOK, r#"{"again": 1}"#).usage(usage(5_990)));
    let run = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(run).await.reason, Some(TerminationReason::FinalAnswer));
    let asked: Vec<_> = rig.model.requests().iter().map(|asked| asked.output_tokens_max).collect();
    assert_eq!(asked, [None, Some(6_000), Some(10)]);
}

fn settings(rig: &Rig) -> Vec<SamplingOptions> {
    rig.model.requests().iter().map(|asked| asked.sampling.clone()).collect()
}

#[tokio::test]
async fn the_settings_of_a_run_reach_each_of_its_requests_also_after_a_restart() {
    let rig = Rig::start().await;
    let sampling = SamplingOptions {
        temperature: Some(SamplingNumber::rounded(0.7)),
        stop: vec!["END".into()],
        seed: Some(-7),
        reasoning_effort: Some(ReasoningEffort::Low),
        calls_per_answer: Some(CallsPerAnswer::One),
        ..SamplingOptions::default()
    };
    let wanted = sampling.with_stop(vec!["END".into()]);
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.model.push(Script::new().text("never").hold(&Gate::closed()));
    let run = submit(&rig, SubmitRequest { sampling, ..request(by_key("k"), "go") }).await;
    soon("the second request", rig.model.wait_until(|counts| counts.begun == 2)).await;
    assert_eq!(settings(&rig), [wanted.clone(), wanted.clone()]);
    let rig = rig.restarted().await;
    rig.finished(run).await;
    let next = rig.submit("k", "the settings are those of one run").await.run;
    rig.finished(next).await;
    assert_eq!(settings(&rig), [wanted, SamplingOptions::default()]);
}

const SCHEMA: &str =
    r#"{"type": "object", "required": ["total"], "properties": {"total": {"type": "integer"}}}"#;

fn structured(schema: &str) -> SubmitRequest {
    let format = ResponseFormat { schema: Content::new(schema.into()) };
    SubmitRequest { response_format: Some(format), ..request(by_key("k"), "go") }
}

async fn submit(rig: &Rig, request: SubmitRequest) -> RunId {
    rig.gateway.sessions.submit(rig.me(), request).await.unwrap().run
}

#[tokio::test]
async fn an_answer_that_fits_its_schema_ends_the_run_and_tools_may_come_before_it() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().text("let me see").call(LOOK, "{}"));
    rig.model.push(Script::new().text(r#"{"tot"#).text(r#"al": 3}"#));
    let run = submit(&rig, structured(SCHEMA)).await;
    assert_eq!(rig.finished(run).await.reason, Some(TerminationReason::FinalAnswer));
    let asked: Vec<_> = rig.model.requests().iter().map(|asked| asked.response_format.clone()).collect();
    let wanted = Some(ResponseFormat { schema: Redacted::cleaned(SCHEMA.into()) });
    assert_eq!(asked, [wanted.clone(), wanted]);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_malformed_and_asked_for_once_more() {
    let cases = [
        (r#"{"total": "three"}"#, "`/total`: must be of type integer"),
        ("{}", "`total` is missing"),
        ("three", "it is not JSON"),
        ("", "it is not JSON"),
        ("```json\n{\"total\": 3}\n```", "it is in a code fence"),
    ];
    for (answer, why) in cases {
        let rig = Rig::start().await;
        rig.model.push(Script::new().text(answer));
        rig.model.push(Script::new().text(r#"{"total": 3}"#));
        let run = submit(&rig, structured(SCHEMA)).await;
        assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done, "{answer}");
        let said = rig.tape(run).await.into_iter().find_map(|entry| match entry.event {
            TapeEvent::Model(ModelEvent::AttemptAbandoned { detail, .. }) => Some(detail.expose().clone()),
            _ => None,
        });
        let said = said.expect("an abandoned attempt");
        assert!(said.starts_with("the answer does not fit the schema: ") && said.contains(why), "{said}");
    }
}

#[tokio::test]
async fn a_schema_that_cannot_be_applied_is_refused_at_the_door() {
    let rig = Rig::start().await;
    for schema in [r#"{"type": "no such type"}"#, r#"{"$ref": "https://example.com/s.json"}"#, "[]"] {
        let refused = rig.gateway.sessions.submit(rig.me(), structured(schema)).await;
        let Err(RequestError::InvalidArgument { what }) = refused else { panic!("{schema}: {refused:?}") };
        assert!(what.starts_with("the schema cannot be applied: "), "{what}");
    }
    assert!(rig.model.requests().is_empty());
}

#[tokio::test]
async fn an_answer_that_never_fits_ends_the_run_as_malformed() {
    let rig = Rig::start().await;
    rig.model.otherwise(Script::new().text("never").finish(FinishReason::Length));
    let run = submit(&rig, structured(SCHEMA)).await;
    let record = rig.finished(run).await;
    assert_eq!(record.error, Some(ErrorCode::ModelMalformed));
    assert_eq!(rig.model.requests().len(), 2);
    rig.model.otherwise(Script::new().text("cut").finish(FinishReason::ContentFilter));
    let run = submit(&rig, structured(SCHEMA)).await;
    assert_eq!(rig.finished(run).await.reason, Some(TerminationReason::ContentPolicy));
}

#[tokio::test]
async fn what_a_provider_wants_back_comes_back_byte_for_byte_also_after_a_restart() {
    let rig = Rig::start().await;
    let body = "{\"signature\":\"\\u0000ä=\\n \",  \"spaces\" : true}";
    rig.model.push(Script::new().text("one").continuation(body).call(LOOK, "{}"));
    rig.model.push(Script::new().text("two"));
    let run = rig.submit("k", "go").await.run;
    rig.finished(run).await;
    assert_eq!(continuations(&rig.model, 1), [body]);
    let rig = rig.restarted().await;
    let run = rig.submit("k", "again").await.run;
    rig.finished(run).await;
    assert_eq!(continuations(&rig.model, 0), [body]);
}

#[tokio::test]
async fn a_continuation_beyond_a_mebibyte_is_dropped() {
    let rig = Rig::start().await;
    show_to(&rig, rig.model.clone().with_window(10_000_000));
    rig.model.push(Script::new().text("one").continuation(&"x".repeat(1024 * 1024)).call(LOOK, "{}"));
    rig.model
        .push(Script::new().text("two").continuation(&"x".repeat(1024 * 1024 + 1)).call(LOOK, "{\"n\":2}"));
    let run = rig.submit("k", "go").await.run;
    rig.finished(run).await;
    let kept: Vec<usize> = continuations(&rig.model, 2).iter().map(String::len).collect();
    assert_eq!(kept, [1024 * 1024]);
}

fn continuations(model: &ScriptedProvider, request: usize) -> Vec<String> {
    let of = |message: &ChatMessage| match message {
        ChatMessage::Assistant { continuation, .. } => {
            continuation.as_ref().map(|kept| kept.body.expose().clone())
        }
        _ => None,
    };
    model.requests()[request].messages.iter().filter_map(of).collect()
}

/// Has a provider answer instead of the rig's own.
fn show_to(rig: &Rig, provider: ScriptedProvider) {
    let default = ModelRef::new("scripted", "scripted");
    rig.replace_models(ModelDirectory::new(vec![Arc::new(provider)], default, Vec::new()));
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn image(name: &str, bytes: usize) -> IncomingFile {
    let mut content = PNG.to_vec();
    content.resize(bytes, 7);
    file(name, "image/png", content)
}

fn file(name: &str, media_type: &str, content: Vec<u8>) -> IncomingFile {
    IncomingFile {
        name: name.into(),
        media_type: media_type.into(),
        content: Redacted::cleaned(content.into()).into(),
    }
}

fn with_files(files: Vec<IncomingFile>) -> SubmitRequest {
    SubmitRequest { files, ..request(by_key("k"), "look") }
}

/// The name of a file, and how many of its bytes came with it.
type ShownFile = (String, Option<usize>);

/// Returns what the last request showed of files: the text beside them, and each name with the bytes it came with.
fn shown_files(rig: &Rig) -> Vec<(String, Vec<ShownFile>)> {
    let requests = rig.model.requests();
    let of = |message: &ChatMessage| match message {
        ChatMessage::User { text, attachments, .. } => {
            let files = attachments.iter().map(|file| {
                let bytes = file.data.as_ref().map(|bytes| bytes.expose().len());
                (file.attachment.name.expose().clone(), bytes)
            });
            Some((text.expose().clone(), files.collect()))
        }
        _ => None,
    };
    requests[requests.len() - 1].messages.iter().filter_map(of).collect()
}

#[tokio::test]
async fn images_reach_a_model_that_sees_and_come_with_later_requests_too() {
    let rig = Rig::start().await;
    let run = submit(&rig, with_files(vec![image("a.png", 500), file("b.bin", "", vec![0; 9])])).await;
    rig.finished(run).await;
    let shown = vec![("a.png".to_owned(), Some(500)), ("b.bin".to_owned(), None)];
    assert_eq!(shown_files(&rig), [("look".to_owned(), shown.clone())]);
    let rig = rig.restarted().await;
    let run = rig.submit("k", "and now?").await.run;
    rig.finished(run).await;
    assert_eq!(shown_files(&rig), [("look".to_owned(), shown), ("and now?".to_owned(), Vec::new())]);
}

#[tokio::test]
async fn a_model_that_does_not_see_gets_no_bytes() {
    let rig = Rig::start().await;
    show_to(&rig, rig.model.clone().with_capabilities(ModelCapabilities::TEXT_AND_TOOLS));
    let run = submit(&rig, with_files(vec![image("a.png", 500)])).await;
    rig.finished(run).await;
    assert_eq!(shown_files(&rig), [("look".to_owned(), vec![("a.png".to_owned(), None)])]);
}

#[tokio::test]
async fn of_many_images_the_newest_are_shown_and_the_model_is_told_of_the_others() {
    let rig = Rig::start().await;
    let many = (1..=22).map(|number| image(&format!("{number}.png"), 100)).collect();
    let run = submit(&rig, with_files(many)).await;
    rig.finished(run).await;
    let (text, files) = shown_files(&rig).remove(0);
    let without: Vec<&str> =
        files.iter().filter(|(_, bytes)| bytes.is_none()).map(|(name, _)| name.as_str()).collect();
    assert_eq!(without, ["1.png", "2.png"]);
    let wanted = "look\n\n(The image 1.png is not shown: newer images take all the room there is.)\n\
                  (The image 2.png is not shown: newer images take all the room there is.)";
    assert_eq!(text, wanted);
}

#[tokio::test]
async fn images_that_are_too_large_together_give_way_to_newer_ones() {
    let rig = Rig::start().await;
    let mebibyte = 1024 * 1024;
    let run = submit(&rig, with_files(vec![image("old.png", 12 * mebibyte)])).await;
    rig.finished(run).await;
    let newer = vec![image("new.png", 9 * mebibyte), image("small.png", 100)];
    let run = submit(&rig, with_files(newer)).await;
    rig.finished(run).await;
    let shown = shown_files(&rig);
    assert!(shown[0].0.contains("old.png is not shown"), "{}", shown[0].0);
    assert_eq!(shown[0].1, [("old.png".to_owned(), None)]);
    assert_eq!(shown[1].0, "look");
    assert!(shown[1].1.iter().all(|(_, bytes)| bytes.is_some()));
}

#[tokio::test]
async fn large_files_that_join_a_run_at_the_same_moment_all_reach_it() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("first"));
    let run = rig.submit("k", "go").await.run;
    soon("the model is asked", gate.reached()).await;
    let disk = rig.faults.delay_next_append();
    let mebibyte = 1024 * 1024;
    let steered = [1, 13 * mebibyte, 13 * mebibyte, 13 * mebibyte].map(|bytes| {
        let (sessions, me) = (rig.gateway.sessions.clone(), rig.me());
        let files = vec![file("b.bin", "", vec![0; bytes])];
        let submit = SubmitRequest { delivery: InputDelivery::Steer, ..with_files(files) };
        tokio::spawn(async move { sessions.submit(me, submit).await })
    });
    soon("the first is recorded", disk.reached()).await;
    settle().await;
    disk.open();
    for joined in steered {
        assert_eq!(soon("an answer", joined).await.unwrap().unwrap().run, run);
    }
    gate.open();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
}
