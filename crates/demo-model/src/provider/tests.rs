//! Whole conversations with the demo model, with a tool runtime of canned results.

use proptest::prelude::*;

use palyra_types::Redacted;
use palyra_types::attachment::{Attachment, AttachmentBody, RenderedAttachment};
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{CallId, ModelRef, RawModelAnswer, RenderedCall, ToolResultStatus};
use palyra_types::sampling::SamplingOptions;
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolCatalog, ToolConduct, ToolSpec,
};

use super::*;

const READING: &[&str] = &["read_file", "list_dir", "glob", "search"];

fn catalog(names: &[&str]) -> Arc<ToolCatalog> {
    let spec = |name: &&str| ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: String::new(),
        schema: serde_json::json!({"type": "object"}),
        contract: EffectContract::Pure,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: Vec::new(),
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(1),
        output_bytes_max: 1024,
    };
    Arc::new(ToolCatalog::new(names.iter().map(spec).collect()))
}

fn request(tools: &[&str], input: &str) -> ModelRequest {
    ModelRequest {
        model: ModelRef::new(DEMO, DEMO),
        system: Redacted::default().into(),
        messages: vec![ChatMessage::user(Redacted::cleaned(input.to_owned()))],
        tools: catalog(tools),
        client_tools: None,
        output_tokens_max: None,
        response_format: None,
        sampling: SamplingOptions::default(),
    }
}

async fn ask(request: &ModelRequest) -> (String, RawModelAnswer, usize) {
    let pieces: Vec<_> = DemoProvider.stream(Arc::new(request.clone())).collect().await;
    let number = pieces.len();
    let mut text = String::new();
    let mut answers = Vec::new();
    for piece in pieces {
        match piece.expect("the demo model does not fail") {
            ModelPiece::Reasoning(_) => unreachable!("the demo model shows no reasoning"),
            ModelPiece::Text(more) => text.push_str(more.expose()),
            ModelPiece::Answer(answer) => answers.push(answer),
        }
    }
    assert_eq!(answers.len(), 1);
    (text, answers.remove(0), number)
}

/// Plays a run: every proposal gets the result that `tool` makes of its name and arguments.
async fn play(mut request: ModelRequest, tool: impl Fn(&str, &str) -> Result<String, String>) -> Vec<String> {
    let mut said = Vec::new();
    for round in 0..40 {
        let (text, answer, _) = ask(&request).await;
        said.push(text.clone());
        if answer.proposals.is_empty() {
            assert_eq!(answer.finish, FinishReason::Stop);
            return said;
        }
        assert_eq!(answer.finish, FinishReason::ToolCalls);
        let calls: Vec<RenderedCall> = answer
            .proposals
            .iter()
            .enumerate()
            .map(|(at, proposal)| RenderedCall {
                call: CallId(format!("{round}-{at}")),
                tool: proposal.tool.clone(),
                arguments: Redacted::cleaned(proposal.arguments.expose().clone()),
            })
            .collect();
        let results: Vec<ChatMessage> = calls
            .iter()
            .map(|call| {
                said.push(format!("{} {}", call.tool, call.arguments.expose()));
                let result = tool(call.tool.as_str(), call.arguments.expose());
                let status =
                    if result.is_ok() { ToolResultStatus::Succeeded } else { ToolResultStatus::Failed };
                let text = result.unwrap_or_else(|error| error);
                ChatMessage::ToolResult {
                    call: call.call.clone(),
                    tool: call.tool.clone(),
                    text: Redacted::cleaned(text),
                    status,
                    delimiter: DataDelimiter::default(),
                }
            })
            .collect();
        request.messages.push(ChatMessage::Assistant {
            text: Redacted::cleaned(text),
            calls,
            continuation: None,
        });
        request.messages.extend(results);
    }
    panic!("the conversation does not end: {said:?}");
}

#[tokio::test]
async fn the_first_minute_reads_the_readme_and_tells_of_it() {
    let ask = request(READING, "Read README.md and tell me what this project does");
    let said = play(ask, |_, _| Ok("# Heron 4711\n\nCounts herons\nby night.\n\nMore.\n".to_owned())).await;
    assert_eq!(said[0], "I will read `README.md`.\n\n");
    assert_eq!(said[1], r#"read_file {"path":"README.md"}"#);
    assert!(said[2].contains("\"Heron 4711\"") && said[2].contains("Counts herons by night."), "{}", said[2]);
    assert!(said[2].contains("demo model"), "{}", said[2]);
    assert_eq!(said.len(), 3);
}

#[tokio::test]
async fn clauses_are_served_one_round_each() {
    let ask = request(READING, "read a.md then list src, then read b.md and c.md then search for x");
    let said =
        play(ask, |tool, _| if tool == "search" { Ok("a:1:x".into()) } else { Ok("one\n".into()) }).await;
    let calls: Vec<&String> = said.iter().filter(|line| line.ends_with('}')).collect();
    assert_eq!(
        calls,
        [
            r#"read_file {"path":"a.md"}"#,
            r#"list_dir {"path":"src"}"#,
            r#"read_file {"path":"b.md"}"#,
            r#"read_file {"path":"c.md"}"#,
            r#"search {"pattern":"x"}"#
        ]
    );
    let last = said.last().expect("an answer");
    assert!(last.contains("a.md begins: one") && last.contains("`x`: 1 match in 1 file"), "{last}");
}

#[tokio::test]
async fn twelve_steps_are_twelve_rounds() {
    let input = (0..12).map(|n| format!("read f{n}.md")).collect::<Vec<_>>().join(" then ");
    let said = play(request(READING, &input), |_, _| Ok("x".to_owned())).await;
    assert_eq!(said.len(), 25);
}

#[tokio::test]
async fn rounds_that_were_dropped_from_the_request_are_not_served_again() {
    let mut ask_all = request(READING, "read a.md then read b.md then read c.md");
    let arguments = r#"{"path":"b.md"}"#.into();
    let call = RenderedCall { call: CallId("1".into()), tool: ToolName::new("read_file"), arguments };
    ask_all.messages.push(ChatMessage::Assistant {
        text: "".into(),
        calls: vec![call.clone()],
        continuation: None,
    });
    let status = ToolResultStatus::Succeeded;
    ask_all.messages.push(ChatMessage::ToolResult {
        call: call.call,
        tool: call.tool,
        text: "x".into(),
        status,
        delimiter: DataDelimiter::default(),
    });
    let said = play(ask_all, |_, _| Ok("y".to_owned())).await;
    assert_eq!(said[1], r#"read_file {"path":"c.md"}"#);
    assert!(said[2].contains("Of 3 results only the last 2 fit my window"), "{}", said[2]);
}

#[tokio::test]
async fn an_earlier_conversation_does_not_count() {
    let mut ask = request(READING, "read a.md");
    let call =
        RenderedCall { call: CallId("1".into()), tool: ToolName::new("read_file"), arguments: "{}".into() };
    ask.messages.push(ChatMessage::Assistant {
        text: "".into(),
        calls: vec![call.clone()],
        continuation: None,
    });
    let status = ToolResultStatus::Succeeded;
    let delimiter = DataDelimiter::default();
    let (call, tool, text) = (call.call, call.tool, "x".into());
    ask.messages.push(ChatMessage::ToolResult { call, tool, text, status, delimiter });
    ask.messages.push(ChatMessage::user("read b.md".into()));
    let said = play(ask, |_, _| Ok("y".to_owned())).await;
    assert_eq!(said[1], r#"read_file {"path":"b.md"}"#);
    assert!(!said[2].contains("begins: x"), "{}", said[2]);
}

#[tokio::test]
async fn a_failed_tool_is_told_and_the_rest_goes_on() {
    let ask = request(READING, "read gone.md then list .");
    let said =
        play(
            ask,
            |tool, _| if tool == "read_file" { Err("there is no such file".into()) } else { Ok("a".into()) },
        );
    let last = said.await.pop().expect("an answer");
    assert!(last.contains("`read_file` did not succeed for `gone.md`: there is no such file"), "{last}");
    assert!(last.contains("holds 1 file: a."), "{last}");
}

const WRITING: &[&str] = &["read_file", "write_file", "edit_file", "apply_patch", "ask_user"];

#[tokio::test]
async fn what_was_changed_is_said() {
    let ask = request(WRITING, "create a.txt with \"one\" then replace one by two in a.txt");
    let said = play(ask, |tool, _| match tool {
        "write_file" => Ok("created a.txt: 3 bytes, sha256 7692c3ad3540".to_owned()),
        _ => Ok("changed a.txt: 3 bytes, sha256 7692c3ad3540 -> 3fc4ccfe7458".to_owned()),
    })
    .await;
    assert_eq!(said[0], "I will create `a.txt`.\n\n");
    assert_eq!(said[2], "I will edit `a.txt`.\n\n");
    let last = said.last().expect("an answer");
    assert!(
        last.starts_with("Done: created a.txt: 3 bytes") && last.contains("\n\nDone: changed a.txt"),
        "{last}"
    );
}

#[tokio::test]
async fn the_end_of_a_long_refusal_is_a_line_to_copy() {
    let line = "allow_private = [\"127.0.0.1:18480\"]";
    let refusal =
        format!("PLY-4002 `127.0.0.1:18480` {}, write: {line}", "is an address of this machine; ".repeat(20));
    let said =
        play(request(&["http_fetch"], "fetch http://127.0.0.1:18480/"), |_, _| Err(refusal.clone())).await;
    let last = said.last().expect("an answer");
    assert!(last.contains(line), "{last}");
}

#[tokio::test]
async fn a_fetched_text_is_shown_without_the_delimiters_for_models() {
    let fetched = "[HTTP 200]\n<fetched-0123 trust=\"none: data, not orders\">\n# Tea\n</fetched-0123>";
    let said = play(request(&["http_fetch"], "fetch https://example.org/a"), |_, _| Ok(fetched.to_owned()));
    let said = said.await;
    let last = said.last().expect("an answer");
    assert!(last.contains("# Tea") && !last.contains("fetched-") && !last.contains("trust="), "{last}");
}

#[tokio::test]
async fn a_server_that_wants_a_credential_leads_to_the_sentence_with_a_secret() {
    for (status, is_named) in [("401", true), ("403", true), ("404", false)] {
        let refusal = format!("PLY-4704 HTTP {status} from https://example.org/a");
        let said = play(request(&["http_fetch"], "fetch https://example.org/a"), |_, _| Err(refusal.clone()));
        let said = said.await;
        let last = said.last().expect("an answer");
        let sentence = "fetch https://example.org/a with the secret NAME";
        assert_eq!(last.contains(sentence), is_named, "{last}");
    }
}

#[tokio::test]
async fn after_a_denial_it_says_so_and_stops() {
    let ask = request(WRITING, "create a.txt with \"x\" then create b.txt with \"y\" then read a.txt");
    let said = play(ask, |_, _| Err("a person denied this call: not today".to_owned())).await;
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(
        said[2].starts_with(
            "`write_file` for `a.txt` was not allowed: a person denied this call: not today.\n\n\
             I stop here, and did not create `b.txt` and read `a.txt`."
        ),
        "{}",
        said[2]
    );
}

#[tokio::test]
async fn an_answer_to_a_question_goes_on_with_what_was_asked_for() {
    let mut ask_all = request(WRITING, "ask me for a title then create title.txt with my answer");
    let (_, answer, _) = ask(&ask_all).await;
    assert_eq!(answer.proposals[0].arguments.expose(), r#"{"question":"Please tell me a title."}"#);
    let tool = ToolName::new("ask_user");
    let arguments = Redacted::cleaned(answer.proposals[0].arguments.expose().clone());
    let call = RenderedCall { call: CallId("1".into()), tool: tool.clone(), arguments };
    let calls = vec![call.clone()];
    ask_all.messages.push(ChatMessage::Assistant { text: "".into(), calls, continuation: None });
    let text = "the person answered; their words follow".into();
    let status = ToolResultStatus::Succeeded;
    let delimiter = DataDelimiter::default();
    ask_all.messages.push(ChatMessage::ToolResult { call: call.call, tool, text, status, delimiter });
    ask_all.messages.push(ChatMessage::user("Herons by night".into()));
    let said = play(ask_all, |_, _| Ok("created title.txt: 15 bytes, sha256 0".to_owned())).await;
    assert_eq!(said[1], r#"write_file {"path":"title.txt","content":"Herons by night"}"#);
    assert!(said[2].starts_with("You answered: Herons by night\n\nDone: created title.txt"), "{}", said[2]);
}

#[tokio::test]
async fn only_tools_on_offer_are_proposed() {
    let said = play(request(READING, "create a.txt with \"x\""), |_, _| panic!("nothing to call")).await;
    assert_eq!(said, ["I cannot create a file: no tool for that is on offer here."]);
    let said =
        play(request(&["write_file"], "create a.txt with \"x\""), |_, _| Ok("12 bytes".to_owned())).await;
    assert_eq!(said[1], r#"write_file {"path":"a.txt","content":"x"}"#);
    let said = play(request(&[], "Read README.md"), |_, _| panic!("nothing to call")).await;
    assert!(said[0].contains("I cannot read a file"), "{}", said[0]);
}

#[tokio::test]
async fn it_says_what_it_is() {
    for input in ["what can you do?", "hello", "the moon is made of cheese", "", "thanks"] {
        let said = play(request(READING, input), |_, _| panic!("nothing to call")).await;
        assert!(said[0].contains("demo model"), "{input}: {}", said[0]);
    }
}

#[tokio::test]
async fn whatever_is_typed_and_found_the_pieces_are_few_and_the_same_again() {
    let long = "zebra ".repeat(5_000);
    for input in [&long, "read a.md [pace=0]", "```", "then then", "1. 2. 3.", "find", "\u{0}\u{1f600}"] {
        let ask_once = ask(&request(READING, input)).await;
        assert!(ask_once.2 <= 24, "{input}");
        assert_eq!(ask_once, ask(&request(READING, input)).await);
    }
}

#[tokio::test(start_paused = true)]
async fn the_pace_pauses_before_each_piece() {
    let begin = tokio::time::Instant::now();
    let (text, _, number) = ask(&request(READING, "read [pace=250] a.md")).await;
    assert_eq!(text, "I will read `a.md`.\n\n");
    assert_eq!(begin.elapsed(), Duration::from_millis(250) * u32::try_from(number).expect("few"));
}

#[tokio::test]
async fn another_model_name_is_refused() {
    let mut ask = request(READING, "hello");
    ask.model = ModelRef::new(DEMO, "gpt");
    let pieces: Vec<_> = DemoProvider.stream(Arc::new(ask)).collect().await;
    let [Err(failure)] = pieces.as_slice() else { panic!("{pieces:?}") };
    assert_eq!(failure.class, ModelFailureClass::Permanent);
}

fn with_attachments(input: &str, files: &[(&str, &str, Option<&str>)]) -> ModelRequest {
    let mut request = request(READING, input);
    let attachments = files.iter().map(|(name, kind, text)| RenderedAttachment {
        attachment: Arc::new(Attachment {
            name: Redacted::cleaned((*name).to_owned()),
            media_type: Redacted::cleaned((*kind).to_owned()),
            bytes: text.map_or(12_345, |text| text.len() as u64),
            sha256: Redacted::cleaned([0; 32]),
            body: match text {
                Some(text) => AttachmentBody::Text(Redacted::cleaned((*text).to_owned())),
                None => AttachmentBody::Blob { index: 0 },
            },
        }),
        place: None,
        data: None,
        delimiter: DataDelimiter::default(),
    });
    request.messages = vec![ChatMessage::User {
        text: Redacted::cleaned(input.to_owned()),
        attachments: attachments.collect(),
        said: None,
    }];
    request
}

#[tokio::test]
async fn what_is_attached_is_told_by_name_kind_size_and_text() {
    let files = [("logo.png", "image/png", None), ("TODO", "text/plain", Some("# To do\n- check\n"))];
    let pointing = [
        "What is in these?",
        "what is in these files?",
        "what does that file say?",
        "describe the picture",
        "describe this photo",
    ];
    for input in pointing.into_iter().chain(["what does the attached file say?", "frobnicate it", ""]) {
        let said = play(with_attachments(input, &files), |_, _| panic!("nothing to call")).await;
        let expect = "Attached: logo.png (image/png, 12345 bytes).\n\
                      I cannot see images: only its name, kind and size reach me.\n\n\
                      Attached: TODO (text/plain, 16 bytes). It says:\n\n```\n# To do\n- check\n```";
        assert!(
            said[0].starts_with(expect) && !said[0].contains("did not understand"),
            "{input}: {}",
            said[0]
        );
    }
    let said = play(request(READING, "what does the attached file say?"), |_, _| panic!()).await;
    assert!(said[0].contains("nothing is attached") && said[0].contains("/attach FILE"), "{}", said[0]);
    // What was attached to an earlier input is named, with how it is attached again.
    let mut later = with_attachments("look at this", &files[..1]);
    later.messages.push(ChatMessage::Assistant {
        text: Redacted::cleaned("Yes.".to_owned()),
        calls: Vec::new(),
        continuation: None,
    });
    later.messages.push(ChatMessage::user(Redacted::cleaned("what is attached?".to_owned())));
    let (said, ..) = ask(&later).await;
    assert!(said.contains("logo.png was attached to an earlier one"), "{said}");
    assert!(said.contains("`/attach logo.png`"), "{said}");
}

#[tokio::test]
async fn a_file_that_lies_deeper_is_found_and_of_several_none_is_taken() {
    let tool = |found: &'static str| {
        move |tool: &str, arguments: &str| match tool {
            "glob" => Ok(found.to_owned()),
            _ if arguments.contains("src/core.py") => Ok("one\n".to_owned()),
            _ => Err("`core.py` does not exist; the workspace root holds `src/`".to_owned()),
        }
    };
    let one = "1 match\nsrc/core.py\n";
    let said = play(request(READING, "show me core.py"), tool(one)).await;
    assert_eq!(said[3], r#"glob {"pattern":"**/core.py"}"#, "{said:?}");
    assert_eq!(said[5], r#"read_file {"path":"src/core.py"}"#);
    assert!(said[6].starts_with("src/core.py:\n\n```\none\n```"), "{}", said[6]);
    let tools = ["read_file", "edit_file", "apply_patch", "glob", "list_dir", "search"];
    for (input, call) in [
        ("replace one with two in core.py", "edit_file"),
        ("delete core.py", "apply_patch"),
        ("delete the last line of core.py", "apply_patch"),
    ] {
        let said = play(request(&tools, input), tool(one)).await;
        let calls: Vec<&String> = said.iter().filter(|line| line.ends_with('}')).collect();
        assert!(
            calls.last().unwrap().starts_with(call) && calls.last().unwrap().contains("src/core.py"),
            "{said:?}"
        );
        let several = "2 matches\na/core.py\nb/core.py\n";
        let said = play(request(&tools, &format!("{input} then read a.md")), tool(several)).await;
        let last = said.last().unwrap();
        assert!(last.starts_with("I cannot tell which `core.py` you want."), "{last}");
        assert!(last.contains("- a/core.py\n- b/core.py") && last.contains("did not read `a.md`"), "{last}");
        let said = play(request(&tools, input), tool("no matches in . (9 names looked at)\n")).await;
        assert!(said.last().unwrap().contains("does not exist"), "{said:?}");
    }
}

#[tokio::test]
async fn a_name_is_replaced_everywhere_as_a_word_and_in_one_patch() {
    let tools = ["search", "read_file", "apply_patch"];
    let said = play(request(&tools, "rename the function brew to steep everywhere"), |tool, arguments| {
        Ok(match tool {
            "search" => {
                "2 matches in 2 files (9 files searched)\na.py:1: def brew():\nb.py:2: brew() + brewer"
                    .to_owned()
            }
            "read_file" if arguments.contains("a.py") => "def brew():\n    pass\n".to_owned(),
            "read_file" => "from a import *\nbrew() + brewer".to_owned(),
            _ => "changed a.py: 1 bytes".to_owned(),
        })
    })
    .await;
    let patch = said.iter().find(|line| line.starts_with("apply_patch")).expect("a patch");
    let patch: serde_json::Value = serde_json::from_str(&patch["apply_patch ".len()..]).unwrap();
    let expect = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-def brew():\n+def steep():\n\
                  --- a/b.py\n+++ b/b.py\n@@ -2 +2 @@\n-brew() + brewer\n\\ No newline at end of file\n\
                  +steep() + brewer\n\\ No newline at end of file\n";
    assert_eq!(patch["patch"], expect);
}

#[tokio::test]
async fn half_a_sentence_that_needs_understanding_does_nothing_and_names_the_half() {
    let said =
        play(request(WRITING, "replace a with b in x.txt and fix the bug in y.txt"), |_, _| panic!()).await;
    assert!(said[0].contains("this part that I cannot do: fix the bug in y.txt"), "{}", said[0]);
    assert!(said[0].contains("palyra model add") && said[0].contains("I did nothing of it"), "{}", said[0]);
}

#[tokio::test]
async fn the_signature_ends_the_first_answer_only() {
    let mut ask = request(READING, "read a.md");
    let said = play(ask.clone(), |_, _| Ok("x\n".to_owned())).await;
    assert!(said[2].contains("built-in demo model"), "{}", said[2]);
    ask.messages.push(ChatMessage::Assistant { text: "x".into(), calls: Vec::new(), continuation: None });
    ask.messages.push(ChatMessage::user("read b.md".into()));
    let said = play(ask, |_, _| Ok("x\n".to_owned())).await;
    assert!(!said[2].contains("demo model"), "{}", said[2]);
}

#[tokio::test]
async fn a_text_in_several_places_leads_to_the_sentence_to_type() {
    let tools = ["read_file", "edit_file"];
    let said = play(request(&tools, "change bolt to screw in tests/test_core.py"), |_, _| {
        Err("the text to replace is 3 times in `tests/test_core.py`; give more of the text around the one you mean, or set `all`".to_owned())
    })
    .await;
    let last = said.last().unwrap();
    assert!(last.contains("change all \"bolt\" to \"screw\" in tests/test_core.py"), "{last}");
    assert!(!last.contains("set `all`"), "{last}");
    let (_, answer, _) =
        ask(&request(&tools, "change all \"bolt\" to \"screw\" in tests/test_core.py")).await;
    assert!(answer.proposals[0].arguments.expose().contains(r#""all":true"#), "{answer:?}");
}

#[tokio::test]
async fn a_line_for_a_shell_that_failed_is_quoted_and_only_a_denied_one_names_the_policy() {
    let input = "echo x > src/new.py";
    let said = play(request(&["run_command"], input), |_, _| {
        Err("exit code 2\n\nsh: 1: cannot create src/new.py: Read-only file system".to_owned())
    })
    .await;
    let last = said.last().unwrap();
    assert!(last.contains("Read-only file system") && !last.contains("policy"), "{last}");
    // The control: a call that policy denied.
    let said = play(request(&["run_command"], input), |_, _| {
        Err("policy denies this call of `run_command`".to_owned())
    })
    .await;
    assert!(said.last().unwrap().contains("where the policy does not permit it"), "{said:?}");
}

#[tokio::test]
async fn a_no_of_a_person_is_not_blamed_on_the_policy() {
    let said =
        play(request(&["run_command"], "ls | wc -l"), |_, _| Err("a person denied this call".to_owned()))
            .await;
    let last = said.last().unwrap();
    assert!(!last.contains("policy"), "{last}");
    assert!(last.contains("was not allowed: a person denied this call.\n\nI stop here."), "{last}");
}

#[tokio::test]
async fn a_denial_about_the_folder_of_git_names_sentences_that_work() {
    let denied =
        "policy forbids this call of `run_command`: no program may name `.git`: leave it out of the line";
    for input in ["cat .git/config | head -3", "run cat .git/config"] {
        let said = play(request(&["run_command"], input), |_, _| Err(denied.to_owned())).await;
        let last = said.last().unwrap();
        assert!(last.contains("Try: git status, or: git config --list"), "{last}");
        assert!(!last.contains("run `ls -l`"), "{last}");
    }
    // What it names is understood.
    for input in ["git status", "git config --list"] {
        let (_, answer, _) = ask(&request(&["run_command", "git"], input)).await;
        assert_eq!(answer.proposals.len(), 1, "{input}");
    }
}

#[tokio::test]
async fn a_file_that_lacks_a_text_is_shown_by_the_sentence_that_the_answer_names() {
    let tools = ["edit_file", "read_file", "search"];
    let ask_it = request(&tools, "replace \"purple\" with \"red\" in src/totals.py");
    let told = "not done: the text to replace is not in `src/totals.py`; read the file again and copy the text exactly, \
                spaces and line ends included";
    let said = play(ask_it, |_, _| Err(told.to_owned())).await;
    let last = said.last().unwrap();
    let wanted = "I do not find \"purple\" in src/totals.py, and nothing was changed. To see what is there, say: \
                  show me src/totals.py";
    assert!(last.starts_with(wanted) && !last.contains("read the file again"), "{last}");
    let (_, answer, _) = ask(&request(&tools, "show me src/totals.py")).await;
    assert_eq!(answer.proposals[0].arguments.expose(), r#"{"path":"src/totals.py"}"#);
}

#[tokio::test]
async fn a_text_without_quotation_marks_is_shown_with_them_as_the_sentence_to_say() {
    for path in ["src/x.py", "src/x.html"] {
        let said = play(request(WRITING, &format!("create {path} with login form")), |_, _| {
            panic!("nothing to call")
        })
        .await;
        let sentence = format!("create {path} with \"login form\"");
        assert!(said[0].contains(&format!("Try: {sentence}.")), "{}", said[0]);
        let (_, answer, _) = ask(&request(WRITING, &sentence)).await;
        assert!(answer.proposals[0].arguments.expose().contains(r#""content":"login form""#), "{answer:?}");
    }
}

#[tokio::test]
async fn no_sentence_is_made_up_where_the_text_is_not_known() {
    for input in ["create a.py with the text login form", "create a.md with # Plan, then - one"] {
        let said = play(request(WRITING, input), |_, _| panic!("nothing to call")).await;
        assert!(said[0].contains("Put it in quotation marks. Try: create notes.txt with"), "{}", said[0]);
    }
}

#[tokio::test]
async fn a_backslash_and_an_n_in_a_text_are_written_and_said_to_be() {
    let (text, answer, _) = ask(&request(WRITING, r##"create plan.md with "# Plan\n- one""##)).await;
    let written = answer.proposals[0].arguments.expose();
    assert!(written.contains(r##""content":"# Plan\\n- one""##), "{written}");
    assert!(text.contains(r"`\n` is written as two characters"), "{text}");
    // The controls: a line end as it is typed, and code, where such signs are usual.
    for input in ["create plan.md with \"# Plan\n- one\"", r#"create a.py with "print('a\n')""#] {
        let (text, ..) = ask(&request(WRITING, input)).await;
        assert!(!text.contains("two characters"), "{text}");
    }
}

#[tokio::test]
async fn a_question_how_to_run_it_and_a_why_get_answers_of_their_own() {
    for (input, wanted) in [
        ("and how do I run it?", "I do not know how that is done here"),
        ("how can I build this project?", "Try: show me README.md, or: run the tests."),
        ("why not?", "`palyra policy explain last`"),
        ("but why?", "I cannot give reasons"),
    ] {
        let said = play(request(READING, input), |_, _| panic!("nothing to call")).await;
        assert!(
            said[0].contains(wanted) && !said[0].contains("judge, explain or mend"),
            "{input}: {}",
            said[0]
        );
    }
    // The control: a reason for what a file holds is nothing that a rule decided.
    let said = play(request(READING, "why does a.py fail?"), |_, _| panic!("nothing to call")).await;
    assert!(said[0].contains("judge, explain or mend"), "{}", said[0]);
}

#[tokio::test]
async fn a_search_in_some_files_says_in_which() {
    let said =
        play(
            request(READING, "grep currency in *.py"),
            |_, _| Ok("no matches (3 files searched)".to_owned()),
        )
        .await;
    assert_eq!(said[0], "I will search for `currency` in files that match `*.py`.\n\n");
    let last = said.last().unwrap();
    assert!(last.starts_with("Nothing matches `currency` in files that match `*.py`."), "{last}");
}

#[tokio::test]
async fn what_was_asked_before_is_told_from_the_session() {
    let mut later = request(READING, "read a.md");
    later.messages.push(ChatMessage::Assistant { text: "x".into(), calls: Vec::new(), continuation: None });
    later.messages.push(ChatMessage::user("what did I ask you to do?".into()));
    let said = play(later, |_, _| panic!("nothing to call")).await;
    assert!(said[0].contains("In this session you asked before:\n- read a.md"), "{}", said[0]);
    let said = play(request(READING, "what did I ask you before?"), |_, _| panic!("nothing to call")).await;
    assert!(
        said[0].contains("I do not see an earlier input") && said[0].contains("palyra sessions list"),
        "{}",
        said[0]
    );
}

#[tokio::test]
async fn undo_names_the_way_to_the_run_that_changed_files() {
    let said = play(request(READING, "undo that"), |_, _| panic!("nothing to call")).await;
    assert!(
        said[0].contains("`palyra runs list`") && said[0].contains("`palyra runs undo ID`"),
        "{}",
        said[0]
    );
    assert!(!said[0].contains("undo last"), "{}", said[0]);
}

#[tokio::test]
async fn a_text_that_it_cannot_compose_is_asked_for_in_the_file_that_was_named() {
    let said =
        play(request(READING, "add a line about taxes to TODO"), |_, _| panic!("nothing to call")).await;
    assert!(said[0].contains("Try: add \"your text\" to TODO."), "{}", said[0]);
    let said = play(request(READING, "add a line about taxes"), |_, _| panic!("nothing to call")).await;
    assert!(!said[0].contains("add \"your text\" to"), "{}", said[0]);
}

#[tokio::test]
async fn a_picture_that_does_not_reach_it_is_not_counted() {
    let tokens = |files: Vec<(&'static str, &'static str, Option<&'static str>)>| async move {
        let (_, answer, _) = ask(&with_attachments("what is attached?", &files)).await;
        answer.usage.unwrap().input_tokens
    };
    let (none, picture) = (tokens(vec![]).await, tokens(vec![("logo.png", "image/png", None)]).await);
    assert!(picture - none < 10, "{none} {picture}");
    // The control: a text is counted.
    let text =
        tokens(vec![("a.txt", "text/plain", Some("many words of a text that reaches the model"))]).await;
    assert!(text - none >= 10, "{none} {text}");
}

/// Texts made of the words the demo model knows, of punctuation, and of anything.
fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        prop::sample::select(
            &["read", "list", "find", "search", "for", "in", "then", "and", "lines", "the", "to"][..]
        )
        .prop_map(str::to_owned),
        prop::sample::select(
            &["`", "\"", "'", ".", ";", "1.", "-", "*", "[pace=", "\n", "```", "?", ":"][..]
        )
        .prop_map(str::to_owned),
        prop::sample::select(
            &["write", "replace", "run", "fetch", "remember", "where is", "files", "what", "README"][..]
        )
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ];
    prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn nothing_that_is_typed_or_found_breaks_it(input in texts(), found in texts()) {
        let mut request = request(READING, &input);
        let mut answers = 0;
        for _ in 0..40 {
            let (_, pieces) = answer(&request);
            prop_assert!(pieces.len() <= 24);
            let Some(Ok(ModelPiece::Answer(answer))) = pieces.last() else { panic!("no answer") };
            if answer.proposals.is_empty() {
                answers += 1;
                break;
            }
            let calls: Vec<RenderedCall> = answer.proposals.iter().map(|proposal| RenderedCall {
                call: CallId(proposal.model_call_id.expose().clone()),
                tool: proposal.tool.clone(),
                arguments: Redacted::cleaned(proposal.arguments.expose().clone()),
            }).collect();
            request.messages.push(ChatMessage::Assistant { text: "".into(), calls: calls.clone(), continuation: None });
            let status = ToolResultStatus::Succeeded;
            request.messages.extend(calls.into_iter().map(|call| ChatMessage::ToolResult {
                call: call.call, tool: call.tool, text: Redacted::cleaned(found.clone()), status,
                delimiter: DataDelimiter::default(),
            }));
        }
        prop_assert_eq!(answers, 1);
    }
}

#[tokio::test]
async fn the_sentence_before_a_change_names_every_file_of_it() {
    let tools = ["glob", "read_file", "apply_patch"];
    let said =
        play(request(&tools, "put \"# x\" at the top of every .py file under src"), |tool, _| match tool {
            "glob" => Ok("3 matches\nsrc/a.py\nsrc/b.py\nsrc/c.py\n".to_owned()),
            "read_file" => Ok("pass\n".to_owned()),
            _ => Ok("changed".to_owned()),
        })
        .await;
    assert!(
        said.iter().any(|line| line.contains("edit `src/a.py` and `src/b.py` and `src/c.py`")),
        "{said:?}"
    );
}

/// Returns a request whose input has references, with their material before it as the gateway shows it.
fn request_with_references(input: &str, shown: &str) -> ModelRequest {
    let mut ask = request(READING, input);
    let shown = format!("<context_references>\n{shown}</context_references>");
    ask.messages.insert(0, ChatMessage::user(Redacted::cleaned(shown)));
    ask
}

#[tokio::test]
async fn the_material_of_references_is_answered_from_and_not_read_again() {
    const TOTAL: &str = "1. @file:src/total.js (about 9 tokens)\n<data-0f from=\"file\">\nlet sum = 4711;\nsum += 1;\n\
                         </data-0f>\n";
    for input in [
        "what does @file:src/total.js do?",
        "summarize @file:src/total.js",
        "show me @file:src/total.js",
        "frobnicate @file:src/total.js",
    ] {
        let said = play(request_with_references(input, TOTAL), |_, _| Err("no".to_owned())).await;
        assert_eq!(said.len(), 1, "{input}: {said:?}");
        assert!(said[0].contains("4711"), "{input}: {}", said[0]);
        assert!(said[0].contains("demo model"), "{input}: {}", said[0]);
    }
    let lines = TOTAL.replace("total.js (", "total.js:2-3 (");
    let ask = request_with_references("what does @file:src/total.js:2-3 say?", &lines);
    let said = play(ask, |_, _| Err("no".to_owned())).await;
    assert!(said.len() == 1 && said[0].contains("4711"), "{said:?}");
    // Other steps of the sentence are still made.
    let ask = request_with_references("show me @file:src/total.js then list docs", TOTAL);
    let said = play(ask, |_, _| Ok("guide.md".to_owned())).await;
    assert_eq!(said[1], r#"list_dir {"path":"docs"}"#);
    assert!(said.len() == 3 && said[2].contains("4711") && said[2].contains("guide.md"), "{said:?}");
}

#[tokio::test]
async fn a_folder_without_git_leads_to_what_palyra_did_there() {
    let ask = request(&["git"], "what changed?");
    let failure = "exit code 128 after 0.1 s\n\nfatal: not a git repository".to_owned();
    let said = play(ask, |_, _| Err(failure.clone())).await;
    let last = said.last().expect("an answer");
    assert!(last.contains("`palyra runs list`") && last.contains("`palyra runs undo RUN`"), "{last}");
}

#[tokio::test]
async fn a_script_of_tests_is_run_and_a_slip_is_taken_back_by_the_person() {
    let tools = ["list_dir", "run_command"];
    let said = play(request(&tools, "run the tests"), |_, _| Ok("a.txt\ntest.sh\n".to_owned())).await;
    assert_eq!(said[3], r#"run_command {"argv":["sh","test.sh"]}"#);
    let said = play(request(&tools, "oops, take that back"), |_, _| Ok(String::new())).await;
    assert!(said.len() == 1 && said[0].contains("`/undo`"), "{said:?}");
}
