//! The tools of schedules over schedules that note what they are asked.

use std::path::Path;
use std::sync::Mutex;

use futures::future::ready;
use palyra_policy::{ToolCallPolicySnapshot, ToolPolicyRules, test_fixtures};
use palyra_ports::{DraftTimes, PlannedSchedule, Supervision, ToolRuntime, ToolSchedule, ToolScheduleDraft};
use palyra_testkit::grants::GrantRequest;
use palyra_types::ScheduleId;
use palyra_types::tool::{EffectContract, RawToolOutcome, Taints, ToolCatalog, ToolConduct};

use super::*;

const ROOT: &str = "/work";
const DAILY: &str = r#"{"text": "Sum up my mail", "action": "run", "when": "every weekday at 8"}"#;

fn schedule(number: u128) -> ScheduleId {
    ScheduleId::from_parts(1, number)
}

fn shown_schedule(number: u128, taints: Taints) -> ToolSchedule {
    ToolSchedule {
        schedule: schedule(number),
        name: "mail".into(),
        words: "cron 0 8 * * 1-5 (Europe/Prague)".to_owned(),
        zone: "Europe/Prague".to_owned(),
        next: Some("Mon 2027-03-01 08:00 CET".to_owned()),
        is_paused: false,
        agent: Some("main".to_owned()),
        text: "Sum up my mail".into(),
        taints,
    }
}

/// Answers with fixed schedules, and notes each request.
#[derive(Default)]
struct NotedSchedules {
    listed: Vec<ToolSchedule>,
    noted: Mutex<Vec<String>>,
    is_full: bool,
    is_gone: bool,
}

impl NotedSchedules {
    fn note(&self, call: CredentialUser, request: &str) {
        self.noted.lock().unwrap().push(format!("{} {request}", call.effect.0));
    }

    fn noted(&self) -> Vec<String> {
        self.noted.lock().unwrap().clone()
    }
}

fn draft_text(draft: &ToolScheduleDraft) -> String {
    let ToolScheduleDraft { name, times, zone, action, text } = draft;
    let name = name.as_ref().map(|name| name.expose().clone());
    format!("{name:?} {times:?} {zone:?} {action:?} {}", text.expose())
}

impl UseSchedules for NotedSchedules {
    fn plan(
        &self,
        call: CredentialUser,
        draft: ToolScheduleDraft,
    ) -> BoxFuture<'static, Result<PlannedSchedule, ScheduleRefusal>> {
        self.note(call, &format!("plan {}", draft_text(&draft)));
        let message = "the limit of 200 schedules is reached: remove one first".to_owned();
        let full = ScheduleRefusal { code: ErrorCode::TooManySchedules, message };
        let planned = PlannedSchedule {
            words: "cron 0 8 * * 1-5 (Europe/Prague)".to_owned(),
            times: DraftTimes::Cron("0 8 * * 1-5".to_owned()),
            zone: "Europe/Prague".to_owned(),
            next: (1..=5).map(|day| format!("2027-03-0{day} 08:00 CET")).collect(),
            agent: Some("main".to_owned()),
        };
        ready(if self.is_full { Err(full) } else { Ok(planned) }).boxed()
    }

    fn create(
        &self,
        call: CredentialUser,
        taints: Taints,
        draft: ToolScheduleDraft,
    ) -> BoxFuture<'static, Result<ToolSchedule, ScheduleRefusal>> {
        self.note(call, &format!("create {}", draft_text(&draft)));
        ready(Ok(shown_schedule(7, taints))).boxed()
    }

    fn list(&self, call: CredentialUser) -> BoxFuture<'static, Result<Vec<ToolSchedule>, ScheduleRefusal>> {
        self.note(call, "list");
        ready(Ok(self.listed.clone())).boxed()
    }

    fn find(
        &self,
        call: CredentialUser,
        schedule: ScheduleId,
    ) -> BoxFuture<'static, Result<ToolSchedule, ScheduleRefusal>> {
        self.note(call, &format!("find {schedule}"));
        ready(Ok(shown_schedule(7, Taints::NONE))).boxed()
    }

    fn cancel(
        &self,
        call: CredentialUser,
        schedule: ScheduleId,
    ) -> BoxFuture<'static, Result<(), ScheduleRefusal>> {
        self.note(call, &format!("cancel {schedule}"));
        let message = "no such schedule; `schedule_list` shows them".to_owned();
        let gone = ScheduleRefusal { code: ErrorCode::ScheduleNotFound, message };
        ready(if self.is_gone { Err(gone) } else { Ok(()) }).boxed()
    }
}

fn tools_over(schedules: &Arc<NotedSchedules>) -> ToolSet {
    let tools = ScheduleTools::new();
    tools.access().give(Arc::clone(schedules) as _);
    tools.tools()
}

fn request(tool: &str, arguments: &str) -> GrantRequest {
    GrantRequest::new(tool, arguments, Path::new(ROOT)).contract(EffectContract::Local)
}

async fn called(
    schedules: &Arc<NotedSchedules>,
    tool: &str,
    arguments: &str,
) -> (PreparedCall, RawToolOutcome) {
    let tools = tools_over(schedules);
    let prepared = request(tool, arguments).prepared_by(&tools).await;
    let (prepared, grant) = prepared.expect("it is prepared");
    let outcome = tools.execute(grant, Supervision::default()).await.expect("an outcome");
    (prepared, outcome)
}

#[test]
fn what_changes_schedules_is_prepared_and_a_list_is_not() {
    let conducts: Vec<_> = schedule_tool_specs().iter().map(|spec| (spec.conduct, spec.contract)).collect();
    assert_eq!(
        conducts,
        [
            (ToolConduct::Prepared, EffectContract::Local),
            (ToolConduct::Direct, EffectContract::Pure),
            (ToolConduct::Prepared, EffectContract::Local),
        ]
    );
}

#[tokio::test]
async fn a_person_reads_times_zone_and_text_and_what_they_read_is_recorded() {
    let schedules = Arc::new(NotedSchedules::default());
    let (prepared, outcome) = called(&schedules, "schedule_create", DAILY).await;
    let preview = prepared.preview.expose();
    let next: Vec<String> = (1..=5).map(|day| format!("2027-03-0{day} 08:00 CET")).collect();
    for shown in ["cron 0 8 * * 1-5", "Zone: Europe/Prague", "Sum up my mail", "agent main"]
        .into_iter()
        .chain(next.iter().map(String::as_str))
    {
        assert!(preview.contains(shown), "{shown}: {preview}");
    }
    assert_eq!(outcome.failure, None);
    assert!(outcome.output.expose().starts_with(&format!("scheduled\n{} \"mail\"", schedule(7))));
    let noted = schedules.noted();
    // What is recorded has the cron line that was shown, not the words that another day may read otherwise.
    let created = noted.last().expect("a request");
    assert!(created.ends_with(r#"create None Cron("0 8 * * 1-5") Some("Europe/Prague") Run Sum up my mail"#));
    let body: serde_json::Value = serde_json::from_str(prepared.body.expose()).expect("JSON");
    assert_eq!(body["cron"], "0 8 * * 1-5");
    assert!(!prepared.body.expose().contains("2027"), "times that pass are no part of what is bound");
}

#[tokio::test]
async fn arguments_that_name_no_times_or_two_are_refused_before_a_person_is_asked() {
    let schedules = Arc::new(NotedSchedules::default());
    let tools = tools_over(&schedules);
    for arguments in [
        r#"{"text": "x", "action": "run"}"#,
        r#"{"text": "x", "action": "run", "when": "every day at 8", "cron": "0 8 * * *"}"#,
        r#"{"text": "x", "action": "delete", "cron": "0 8 * * *"}"#,
        r#"{"text": "x", "action": "run", "cron": "0 8 * * *", "principal": "another person"}"#,
    ] {
        let refused = request("schedule_create", arguments).prepared_by(&tools).await.map(|_| ());
        let refused = refused.expect_err(arguments);
        assert_eq!(refused.code, ErrorCode::ToolArgumentsInvalid, "{arguments}");
    }
    assert!(schedules.noted().is_empty());
}

#[tokio::test]
async fn a_refusal_of_schedules_has_its_code_before_a_person_is_asked() {
    let schedules = Arc::new(NotedSchedules { is_full: true, ..NotedSchedules::default() });
    let tools = tools_over(&schedules);
    let refused = request("schedule_create", DAILY).prepared_by(&tools).await.map(|_| ());
    let refused = refused.expect_err("it is full");
    assert_eq!(refused.code, ErrorCode::TooManySchedules);
    assert!(refused.message.expose().contains("remove one first"));
}

#[tokio::test]
async fn a_list_brings_what_the_runs_that_made_the_schedules_had_read() {
    let listed = vec![shown_schedule(1, Taints::NONE), shown_schedule(2, Taints::WEB)];
    let schedules = Arc::new(NotedSchedules { listed, ..NotedSchedules::default() });
    let tools = tools_over(&schedules);
    let grant = GrantRequest::new("schedule_list", "{}", Path::new(ROOT)).grant();
    let outcome = tools.execute(grant, Supervision::default()).await.expect("an outcome");
    assert_eq!(outcome.taints, Taints::WEB);
    let text = outcome.output.expose();
    assert!(text.starts_with("2 schedules\n"), "{text}");
    assert_eq!(text.matches("made after reading: web").count(), 1, "{text}");
}

#[tokio::test]
async fn a_cancel_shows_the_schedule_and_its_repetition_finds_it_gone() {
    let arguments = format!(r#"{{"schedule": "{}"}}"#, schedule(7));
    let schedules = Arc::new(NotedSchedules::default());
    let (prepared, outcome) = called(&schedules, "schedule_cancel", &arguments).await;
    assert!(prepared.preview.expose().contains("Sum up my mail"));
    assert_eq!(outcome.output.expose(), &format!("cancelled: {}", schedule(7)));
    let gone = Arc::new(NotedSchedules { is_gone: true, ..NotedSchedules::default() });
    let (_, outcome) = called(&gone, "schedule_cancel", &arguments).await;
    assert_eq!(outcome.failure, Some(ErrorCode::ScheduleNotFound), "the first execution");
    let grant = request("schedule_cancel", &arguments).repeated();
    let outcome = tools_over(&gone).execute(grant, Supervision::default()).await.expect("an outcome");
    assert_eq!(outcome.failure, None, "the one after a restart");
}

#[test]
fn what_ships_asks_before_schedules_change_and_keeps_runs_of_schedules_from_making_any() {
    let built_in = crate::BuiltinTools::new().catalog();
    let specs = built_in.iter().cloned().chain(crate::memory_tool_specs()).chain(schedule_tool_specs());
    let catalog = Arc::new(ToolCatalog::new(specs.collect()));
    let digest = |_: &str| [7; 32];
    let snapshot = ToolCallPolicySnapshot::compile(catalog, ToolPolicyRules::shipped(), digest);
    let snapshot = snapshot.expect("what ships is right");
    let fixtures = include_str!("../../../policy/policies/shipped.fixtures.json");
    let tested = test_fixtures(&snapshot, fixtures).expect("fixtures");
    let failed: Vec<_> = tested.iter().filter(|fixture| fixture.failure.is_some()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    for spec in schedule_tool_specs() {
        assert!(fixtures.contains(&format!("{:?}", spec.name.as_str())), "{} has no fixture", spec.name);
    }
}
