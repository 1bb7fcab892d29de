//! A newer client may send a value of an enumeration that this daemon does not know: it is refused with an error that
//! names the field, and taken for no other value. The fields come from the schemas: a new one fails here until it has a row.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::ErrorCode;
use palyra_wire::FILE_DESCRIPTOR_SET;
use palyra_wire::v1;
use prost::Message;
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FileDescriptorSet};
use tonic::Code;

use crate::daemon::TestDaemon;
use crate::raw::{assert_refused, call};
use crate::talk::start;

/// A number that no enumeration has.
const UNKNOWN: i32 = 77;
/// An id that nothing has: the value is refused before it is looked for.
const ID: &str = "01BX5ZZKBKACTAV9WEVGEMMVRZ";

/// A field of a request, the path of a call that takes it, the field's name in the error, and a request that is valid but
/// for the field.
type FieldCase = (&'static str, &'static str, &'static str, Vec<u8>);

fn lists() -> Vec<FieldCase> {
    let approvals = v1::ListApprovalsRequest { only: UNKNOWN, ..Default::default() };
    let effects = v1::ListEffectsRequest { only: UNKNOWN, ..Default::default() };
    let runs = v1::ListRunsRequest { only: UNKNOWN, ..Default::default() };
    let sessions = v1::ListSessionsRequest { only: UNKNOWN, ..Default::default() };
    let of_surface = v1::ListSessionsRequest { surface: UNKNOWN, ..Default::default() };
    let usage = v1::GetUsageRequest { group_by: vec![UNKNOWN], ..Default::default() };
    let model = v1::AddModelRequest { format: UNKNOWN, ..Default::default() };
    vec![
        ("AddModelRequest.format", "/palyra.v1.ModelsService/AddModel", "format", model.encode_to_vec()),
        ("GetUsageRequest.group_by", "/palyra.v1.ModelsService/GetUsage", "group_by", usage.encode_to_vec()),
        (
            "ListApprovalsRequest.only",
            "/palyra.v1.ApprovalsService/ListApprovals",
            "only",
            approvals.encode_to_vec(),
        ),
        ("ListEffectsRequest.only", "/palyra.v1.EffectsService/ListEffects", "only", effects.encode_to_vec()),
        ("ListRunsRequest.only", "/palyra.v1.GatewayService/ListRuns", "only", runs.encode_to_vec()),
        (
            "ListSessionsRequest.only",
            "/palyra.v1.SessionsService/ListSessions",
            "only",
            sessions.encode_to_vec(),
        ),
        (
            "ListSessionsRequest.surface",
            "/palyra.v1.SessionsService/ListSessions",
            "surface",
            of_surface.encode_to_vec(),
        ),
    ]
}

fn runs() -> Vec<FieldCase> {
    let approve = v1::StartRunRequest { approve: UNKNOWN, ..start("hi") };
    let delivery = v1::StartRunRequest { delivery: UNKNOWN, ..start("hi") };
    let input = v1::Input { text: "hi".to_owned(), delivery: UNKNOWN, ..Default::default() };
    let sent = v1::SendInputRequest { run_id: ID.to_owned(), input: Some(input), ..Default::default() };
    let kind = v1::ResolveIdRequest { kind: UNKNOWN, name: "last".to_owned(), ..Default::default() };
    vec![
        ("StartRunRequest.approve", "/palyra.v1.GatewayService/StartRun", "approve", approve.encode_to_vec()),
        (
            "StartRunRequest.delivery",
            "/palyra.v1.GatewayService/StartRun",
            "delivery",
            delivery.encode_to_vec(),
        ),
        ("Input.delivery", "/palyra.v1.GatewayService/SendInput", "delivery", sent.encode_to_vec()),
        ("ResolveIdRequest.kind", "/palyra.v1.GatewayService/ResolveId", "kind", kind.encode_to_vec()),
    ]
}

fn decisions() -> Vec<FieldCase> {
    let answer =
        |decision| v1::ResolveApprovalRequest { approval_id: ID.to_owned(), decision, ..Default::default() };
    let remember = Some(v1::GrantWish { scope: UNKNOWN, ..Default::default() });
    let scope = v1::ResolveApprovalRequest { remember, ..answer(v1::ApprovalDecision::Approve.into()) };
    let resolution = v1::ResolveEffectRequest {
        run_id: ID.to_owned(),
        effect_id: 1,
        resolution: UNKNOWN,
        note: String::new(),
    };
    let posture = v1::SetPostureRequest { tool: "change".to_owned(), posture: UNKNOWN, ..Default::default() };
    let subject = Some(v1::erase_content_request::Subject::RunId(ID.to_owned()));
    let reason = v1::EraseContentRequest { subject, reason: UNKNOWN, ..Default::default() };
    vec![
        (
            "ResolveApprovalRequest.decision",
            "/palyra.v1.ApprovalsService/ResolveApproval",
            "decision",
            answer(UNKNOWN).encode_to_vec(),
        ),
        (
            "GrantWish.scope",
            "/palyra.v1.ApprovalsService/ResolveApproval",
            "remember.scope",
            scope.encode_to_vec(),
        ),
        (
            "ResolveEffectRequest.resolution",
            "/palyra.v1.EffectsService/ResolveEffect",
            "resolution",
            resolution.encode_to_vec(),
        ),
        (
            "SetPostureRequest.posture",
            "/palyra.v1.PolicyService/SetPosture",
            "posture",
            posture.encode_to_vec(),
        ),
        (
            "EraseContentRequest.reason",
            "/palyra.v1.ErasureService/EraseContent",
            "reason",
            reason.encode_to_vec(),
        ),
    ]
}

fn people() -> Vec<FieldCase> {
    let principal = "user:alice".to_owned();
    let scopes = v1::CreateTokenRequest { principal, scopes: vec![UNKNOWN], ..Default::default() };
    let created = v1::CreatePersonRequest { name: "user:alice".to_owned(), role: UNKNOWN };
    let set = v1::SetRoleRequest { principal_id: ID.to_owned(), role: UNKNOWN };
    vec![
        (
            "CreateTokenRequest.scopes",
            "/palyra.v1.AdminService/CreateToken",
            "scopes",
            scopes.encode_to_vec(),
        ),
        (
            "CreatePersonRequest.role",
            "/palyra.v1.PeopleService/CreatePerson",
            "role",
            created.encode_to_vec(),
        ),
        ("SetRoleRequest.role", "/palyra.v1.PeopleService/SetRole", "role", set.encode_to_vec()),
    ]
}

fn budgets() -> Vec<FieldCase> {
    let limits = v1::BudgetLimits { requests: Some(1), ..Default::default() };
    let set = v1::SetBudgetRequest { name: "daily".to_owned(), hard: Some(limits), ..Default::default() };
    let path = "/palyra.v1.BudgetService/SetBudget";
    let purse = v1::SetBudgetRequest { purse: UNKNOWN, ..set.clone() };
    let window = v1::SetBudgetRequest { window: UNKNOWN, ..set.clone() };
    let at_limit = v1::SetBudgetRequest { at_limit: UNKNOWN, ..set };
    vec![
        ("SetBudgetRequest.purse", path, "purse", purse.encode_to_vec()),
        ("SetBudgetRequest.window", path, "window", window.encode_to_vec()),
        ("SetBudgetRequest.at_limit", path, "at_limit", at_limit.encode_to_vec()),
    ]
}

fn tasks() -> Vec<FieldCase> {
    let list = "/palyra.v1.AdminService/ListQueuedTasks";
    let kind = v1::ListQueuedTasksRequest { kind: UNKNOWN, ..Default::default() };
    let stage = v1::ListQueuedTasksRequest { stage: UNKNOWN, ..Default::default() };
    let change = v1::ChangeQueuedTaskRequest { task_id: ID.to_owned(), change: UNKNOWN };
    vec![
        ("ListQueuedTasksRequest.kind", list, "kind", kind.encode_to_vec()),
        ("ListQueuedTasksRequest.stage", list, "stage", stage.encode_to_vec()),
        (
            "ChangeQueuedTaskRequest.change",
            "/palyra.v1.AdminService/ChangeQueuedTask",
            "change",
            change.encode_to_vec(),
        ),
    ]
}

fn recall() -> Vec<FieldCase> {
    let session = v1::SetSessionRecallRequest { session_id: ID.to_owned(), recall: UNKNOWN };
    let change = v1::AgentChange { recall: UNKNOWN, ..Default::default() };
    let agent = v1::UpdateAgentRequest { agent_id: ID.to_owned(), change: Some(change) };
    vec![
        (
            "SetSessionRecallRequest.recall",
            "/palyra.v1.SessionsService/SetSessionRecall",
            "recall",
            session.encode_to_vec(),
        ),
        ("AgentChange.recall", "/palyra.v1.AgentsService/UpdateAgent", "recall", agent.encode_to_vec()),
    ]
}

fn schedules() -> Vec<FieldCase> {
    let draft =
        v1::ScheduleDraft { cron: "0 8 * * *".to_owned(), prompt: "look".to_owned(), ..Default::default() };
    let preview = |draft| v1::PreviewScheduleRequest { draft: Some(draft) }.encode_to_vec();
    let path = "/palyra.v1.ScheduleService/PreviewSchedule";
    let missed = v1::ScheduleDraft { missed: UNKNOWN, ..draft.clone() };
    let overlap = v1::ScheduleDraft { overlap: UNKNOWN, ..draft };
    vec![
        ("ScheduleDraft.missed", path, "missed", preview(missed)),
        ("ScheduleDraft.overlap", path, "overlap", preview(overlap)),
    ]
}

fn healing() -> Vec<FieldCase> {
    let list = "/palyra.v1.AdminService/ListIncidents";
    let set = "/palyra.v1.AdminService/SetHealingMode";
    let stage = v1::ListIncidentsRequest { stage: UNKNOWN, ..Default::default() };
    let of_domain = v1::ListIncidentsRequest { domain: UNKNOWN, ..Default::default() };
    let domain = v1::SetHealingModeRequest { domain: UNKNOWN, mode: v1::HealingMode::Auto.into() };
    let mode = v1::SetHealingModeRequest { domain: v1::HealingDomain::Runs.into(), mode: UNKNOWN };
    vec![
        ("ListIncidentsRequest.stage", list, "stage", stage.encode_to_vec()),
        ("ListIncidentsRequest.domain", list, "domain", of_domain.encode_to_vec()),
        ("SetHealingModeRequest.domain", set, "domain", domain.encode_to_vec()),
        ("SetHealingModeRequest.mode", set, "mode", mode.encode_to_vec()),
    ]
}

fn notifications() -> Vec<FieldCase> {
    let path = "/palyra.v1.AdminService/TestNotifications";
    let target = v1::TestNotificationsRequest { target: UNKNOWN };
    vec![("TestNotificationsRequest.target", path, "target", target.encode_to_vec())]
}

fn learning() -> Vec<FieldCase> {
    let state = v1::ListLearningCandidatesRequest { state: UNKNOWN, ..Default::default() };
    let review = v1::ReviewLearningCandidateRequest {
        candidate_id: ID.to_owned(),
        review: UNKNOWN,
        text: String::new(),
    };
    vec![
        (
            "ListLearningCandidatesRequest.state",
            "/palyra.v1.MemoryService/ListLearningCandidates",
            "state",
            state.encode_to_vec(),
        ),
        (
            "ReviewLearningCandidateRequest.review",
            "/palyra.v1.MemoryService/ReviewLearningCandidate",
            "review",
            review.encode_to_vec(),
        ),
    ]
}

#[tokio::test]
async fn a_value_of_a_newer_client_is_refused_by_its_field() {
    let cases = lists().into_iter().chain(runs()).chain(decisions()).chain(people());
    let cases = cases.chain(budgets()).chain(tasks()).chain(recall());
    let cases: Vec<_> =
        cases.chain(schedules()).chain(healing()).chain(learning()).chain(notifications()).collect();
    let covered: BTreeSet<_> = cases.iter().map(|(field, ..)| (*field).to_owned()).collect();
    assert_eq!(covered, enumeration_fields(), "each field of a request has a row");
    let daemon = TestDaemon::start().await;
    let channel = daemon.local().await;
    for (field, path, named, message) in cases {
        let refused = call(&channel, path, message, &[]).await.expect_err(field);
        let message = assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidArgument);
        assert!(message.contains(&format!("`{named}` must be ")), "{field}: {message}");
    }
}

/// Returns the fields of an enumeration in every message that a client can send, as `Message.field`.
fn enumeration_fields() -> BTreeSet<String> {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let own = || set.file.iter().filter(|file| file.package() == "palyra.v1");
    let messages: BTreeMap<String, &DescriptorProto> = own()
        .flat_map(|file| &file.message_type)
        .map(|message| (format!(".palyra.v1.{}", message.name()), message))
        .collect();
    let methods = own().flat_map(|file| &file.service).flat_map(|service| &service.method);
    let mut open: Vec<String> = methods.map(|method| method.input_type().to_owned()).collect();
    let (mut seen, mut fields) = (BTreeSet::new(), BTreeSet::new());
    while let Some(name) = open.pop() {
        let Some(message) = messages.get(&name).filter(|_| seen.insert(name.clone())) else { continue };
        for field in &message.field {
            match field.r#type() {
                Type::Message => open.push(field.type_name().to_owned()),
                Type::Enum => drop(fields.insert(format!("{}.{}", message.name(), field.name()))),
                _ => {}
            }
        }
    }
    fields
}
