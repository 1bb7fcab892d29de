//! The laws of a summary, over random conversations.

use proptest::prelude::*;

use palyra_types::compaction::SummaryRefusal;
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{CallId, ChatMessage, ModelRef, RenderedCall, ToolResultStatus};
use palyra_types::tool::ToolName;
use palyra_types::{Redacted, Seq};

use super::{CompactionSource, CompactionTask, MarkedPlace, SummaryLists, older_runs};
use crate::prompt::PastRun;

const WINDOW: u64 = 8_192;

fn text(text: &str) -> Redacted<String> {
    Redacted::cleaned(text.to_owned())
}

fn answer(said: &str) -> ChatMessage {
    ChatMessage::Assistant { text: text(said), calls: Vec::new(), continuation: None }
}

fn run(number: u64, messages: Vec<ChatMessage>) -> PastRun {
    PastRun { first_seq: Seq(number * 10), ended: Seq(number * 10 + 9), messages: messages.into() }
}

/// A call and its result.
fn called(number: usize, arguments: &str, result: &str) -> [ChatMessage; 2] {
    let call = CallId(format!("call_{number}"));
    let tool = ToolName::new("write_file");
    let rendered = RenderedCall { call: call.clone(), tool: tool.clone(), arguments: text(arguments) };
    [
        ChatMessage::Assistant { text: Redacted::default(), calls: vec![rendered], continuation: None },
        ChatMessage::ToolResult {
            call,
            tool,
            text: text(result),
            status: ToolResultStatus::Succeeded,
            delimiter: DataDelimiter::default(),
        },
    ]
}

fn filler() -> String {
    "Plain words of a long talk without anything to keep. ".repeat(40)
}

/// A conversation with one of everything that must survive.
fn source() -> CompactionSource {
    let unknown = "it is not known whether this call took effect; do not repeat it by yourself";
    let mut messages =
        vec![ChatMessage::user(text("Use port 8080 for docs/site.\n- [ ] write the page\n- [ ] draw"))];
    messages.extend(called(1, "{\"path\":\"a.md\"}", unknown));
    messages.extend(called(2, "{\"path\":\"b.md\"}", "written"));
    messages.push(answer(&filler()));
    let second = vec![ChatMessage::user(text(&filler())), answer("- [x] draw\nAll is drawn.")];
    CompactionSource {
        earlier: None,
        runs: vec![run(1, messages), run(2, second)],
        marked: vec![MarkedPlace { name: text("plan"), text: text("The plan of the page") }],
    }
}

fn task() -> CompactionTask {
    CompactionTask::new(source(), WINDOW).expect("there is enough to sum up")
}

const GOOD: &str = "## Pinned\n- [plan] The plan of the page\n**Decisions:**\n- The site is docs/site, on port 8080.\n\
                    Done:\n* It was drawn.\nOpen:\n- write_file {\"path\":\"a.md\"}\n- [ ] write the page\n";

#[test]
fn a_summary_with_all_that_must_survive_is_taken_in_its_own_form() {
    let taken = task().check(GOOD).expect("nothing is missing");
    assert_eq!(
        taken.expose(),
        "Pinned:\n- [plan] The plan of the page\nDecisions:\n- The site is docs/site, on port 8080.\n\
         Done:\n- It was drawn.\nOpen:\n- write_file {\"path\":\"a.md\"}\n- [ ] write the page\n"
    );
}

#[test]
fn a_summary_is_refused_for_each_thing_that_it_lacks_or_makes_up() {
    let task = task();
    let cases = [
        (GOOD.replace("- [plan] The plan of the page", "- none"), SummaryRefusal::PinMissing),
        (GOOD.replace("a.md", "c.md"), SummaryRefusal::OpenCallMissing),
        (GOOD.replace("- [ ] write the page", "- [ ] write a page"), SummaryRefusal::PlanItemMissing),
        (GOOD.replace("8080", "a port"), SummaryRefusal::DecisionMissing),
        (GOOD.replace("docs/site", "the site"), SummaryRefusal::DecisionMissing),
        (GOOD.replace("on port 8080.", "on port 8080 or 9090."), SummaryRefusal::DecisionInvented),
        (GOOD.replace("Done:", ""), SummaryRefusal::NotInForm),
        (format!("Here is the summary.\n{GOOD}"), SummaryRefusal::NotInForm),
        (format!("{GOOD}Done:\n- again\n"), SummaryRefusal::NotInForm),
        (String::new(), SummaryRefusal::NotInForm),
        (GOOD.replace("* It was drawn.", &"- It was drawn.\n".repeat(300)), SummaryRefusal::TooLong),
    ];
    for (answer, reason) in cases {
        assert_eq!(task.check(&answer).err(), Some(reason), "{answer}");
    }
}

#[test]
fn an_item_of_a_plan_may_have_been_done_meanwhile_but_an_open_call_stays_open() {
    let moved =
        |line: &str| GOOD.replace(&format!("- {line}\n"), "").replace("* It", &format!("* {line}\n* It"));
    assert!(task().check(&moved("[ ] write the page")).is_ok());
    let refused = task().check(&moved("write_file {\"path\":\"a.md\"}")).err();
    assert_eq!(refused, Some(SummaryRefusal::OpenCallMissing));
}

#[test]
fn the_summary_by_rule_carries_the_earlier_one() {
    let earlier = task().fallback().expose().clone();
    let next = CompactionSource {
        earlier: Some(text(&earlier)),
        runs: vec![run(
            3,
            vec![ChatMessage::user(text(&format!("Take 42. {}", filler()))), answer(&filler())],
        )],
        marked: Vec::new(),
    };
    let task = CompactionTask::new(next, WINDOW).expect("there is enough to sum up");
    let lists = SummaryLists::parse(task.fallback().expose()).expect("it has its lists");
    assert_eq!(lists.pinned, ["[plan] The plan of the page"]);
    assert_eq!(lists.decisions, ["Use port 8080 for docs/site.", "Take 42."]);
    assert_eq!(lists.open, ["[ ] write the page"], "a call of another run is not asked for again");
    assert!(lists.done.len() >= 2, "{:?}", lists.done);
}

#[test]
fn runs_are_taken_from_the_oldest_on_and_the_latest_stay() {
    let cases: [(&[usize], u64, (usize, usize)); 7] = [
        (&[], 100, (0, 0)),
        (&[10], 100, (0, 0)),
        (&[10, 10], 400, (0, 0)),
        // Both would be more than a quarter of the request.
        (&[10, 20], 100, (1, 0)),
        (&[500], 100, (0, 0)),
        // What does not fit one request for a summary is left for the next.
        (&[30, 30, 30, 90], 100, (1, 2)),
        (&[1; 20], 1_000, (12, 0)),
    ];
    for (sizes, room, expected) in cases {
        let share = older_runs(sizes, room);
        assert_eq!((share.taken, share.left), expected, "{sizes:?} in {room}");
    }
}

#[test]
fn a_request_has_the_conversation_and_the_lines_as_data_and_fits_the_window() {
    let task = task();
    let delimiters = [DataDelimiter([1; 8]), DataDelimiter([2; 8])];
    let lines = text(task.lines_to_keep().expose());
    let asked = |window| task.request(ModelRef::new("test", "model"), window, lines.clone(), delimiters);
    let request = asked(WINDOW).expect("it fits");
    let [ChatMessage::User { text, .. }] = &request.messages[..] else { panic!("one message") };
    let parts: Vec<&str> = text.expose().split(&delimiters[0].to_string()).collect();
    let [before, conversation, after] = &parts[..] else { panic!("one part: {parts:?}") };
    assert!(conversation.contains("Person: Use port 8080") && conversation.contains("Result: written"));
    assert!(
        !before.contains("8080") && !after.split(&delimiters[1].to_string()).next().unwrap().contains("8080")
    );
    assert!(after.contains("Pinned: [plan] The plan of the page\nOpen: write_file {\"path\":\"a.md\"}\n"));
    assert_eq!(asked(600).err(), Some(SummaryRefusal::SourceTooLarge));
}

#[test]
fn a_conversation_that_is_all_facts_is_not_summed_up() {
    let mut all = source();
    all.runs.truncate(0);
    assert!(CompactionTask::new(all, WINDOW).is_err());
    let items: String = (0..40).map(|n| format!("- [ ] item number {n} of the plan\n")).collect();
    let runs = vec![run(1, vec![ChatMessage::user(text(&items)), answer("Yes.")])];
    let all = CompactionSource { runs, ..CompactionSource::default() };
    assert!(CompactionTask::new(all, WINDOW).is_err());
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,9}",
        "[0-9]{1,5}",
        "[a-z]{1,5}/[a-z.]{1,7}",
        "(- \\[ \\] |- \\[x\\] |Done:|none|\n|\\. |- |\u{2028}|\u{0}|\u{e9}1)",
        "\\PC{0,6}",
    ];
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

fn messages() -> impl Strategy<Value = Vec<ChatMessage>> {
    let unknown = "no outcome was recorded for this call; it may not have run";
    let message = prop_oneof![
        words().prop_map(|said| vec![ChatMessage::user(text(&said))]),
        words().prop_map(|said| vec![answer(&said)]),
        (0..9_usize, words(), words()).prop_map(|(n, call, result)| called(n, &call, &result).into()),
        (9..12_usize, words()).prop_map(move |(n, call)| called(n, &call, unknown).into()),
    ];
    prop::collection::vec(message, 0..12).prop_map(|messages| messages.concat())
}

fn sources() -> impl Strategy<Value = CompactionSource> {
    let runs = prop::collection::vec(messages(), 0..8)
        .prop_map(|runs| (1..).zip(runs).map(|(number, messages)| run(number, messages)).collect::<Vec<_>>());
    let marked =
        (words(), words()).prop_map(|(name, said)| MarkedPlace { name: text(&name), text: text(&said) });
    let marked = prop::collection::vec(marked, 0..3);
    (runs, marked).prop_map(|(runs, marked)| CompactionSource { earlier: None, runs, marked })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_summary_by_rule_passes_the_check_and_is_at_most_half_of_its_source(
        first in sources(),
        second in sources(),
        window in 2_000..40_000_u64,
    ) {
        let mut earlier = None;
        for next in [first, second] {
            let source = CompactionSource { earlier: earlier.clone(), ..next };
            let bytes = source.bytes();
            let Ok(task) = CompactionTask::new(source, window) else { continue };
            let summary = task.fallback();
            prop_assert!(summary.expose().len() * 2 <= bytes);
            let checked = task.check(summary.expose());
            prop_assert!(checked.is_ok(), "{checked:?}: {}\n{:?}", summary.expose(), task.facts());
            let taken = checked.map(|taken| taken.expose().clone());
            prop_assert_eq!(taken.as_ref(), Ok(summary.expose()));
            earlier = Some(text(summary.expose()));
        }
    }

    #[test]
    fn any_answer_is_read_or_refused(first in sources(), said in words()) {
        if let Ok(task) = CompactionTask::new(first, WINDOW) {
            let checked = task.check(&said);
            if let Ok(taken) = checked {
                prop_assert!(SummaryLists::parse(taken.expose()).is_some());
            }
        }
    }
}
