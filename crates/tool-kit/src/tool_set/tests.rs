//! The adapter around tools: repetitions by contract, panics, limits, sources.

use std::path::Path;
use std::time::Duration;

use palyra_ports::{BoundCredential, CredentialHandle, CredentialHeader, CredentialUnavailable};
use palyra_testkit::grants::{GrantRequest, grant_for};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, RawToolOutcome, Taints, ToolConduct,
    ToolExecutor, ToolSpec,
};
use serde_json::json;

use super::*;
use crate::result::{CallError, ExecutionSite, ToolResult};

const OUTPUT_BYTES_MAX: usize = 2_000;

fn spec(name: &str, contract: EffectContract, conduct: ToolConduct) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: name.to_owned(),
        schema: json!({"type": "object"}),
        contract,
        parallelism: Parallelism::Parallel,
        conduct,
        capabilities: vec![Capability::ReadFiles],
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(1),
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

fn direct(contract: EffectContract, result: impl Fn() -> CallResult + Send + Sync + 'static) -> ToolSet {
    ToolSet::new(vec![Tool::blocking(spec("t", contract, ToolConduct::Direct), move |_| result())])
}

fn waiting(contract: EffectContract, result: impl Fn() -> CallResult + Send + Sync + 'static) -> ToolSet {
    let result = Arc::new(result);
    let tool = Tool::waiting(spec("t", contract, ToolConduct::Direct), move |_| {
        let result = Arc::clone(&result);
        async move { result() }
    });
    ToolSet::new(vec![tool])
}

fn request(decided: EffectContract) -> GrantRequest {
    GrantRequest::new("t", "{}", Path::new("/")).contract(decided).output_bytes_max(OUTPUT_BYTES_MAX)
}

async fn first(tools: &ToolSet, decided: EffectContract) -> Result<RawToolOutcome, ExecuteToolError> {
    tools.execute(request(decided).grant(), Supervision::default()).await
}

async fn again(tools: &ToolSet, decided: EffectContract) -> Result<RawToolOutcome, ExecuteToolError> {
    tools.execute(request(decided).repeated(), Supervision::default()).await
}

fn said(text: &str) -> CallResult {
    Ok(ToolResult { text: text.to_owned(), ..ToolResult::default() })
}

fn failure() -> CallFailure {
    CallFailure::new(ErrorCode::FileNotFound, "it is not there".to_owned())
}

fn is_in_doubt(ended: &Result<RawToolOutcome, ExecuteToolError>) -> bool {
    matches!(ended, Err(ExecuteToolError::OutcomeUnknown { .. }))
}

#[tokio::test]
async fn a_repetition_follows_both_contracts_the_declared_and_the_decided() {
    use EffectContract::{Keyed, Opaque, Probe, Pure};
    for make in [|contract| direct(contract, || said("done")), |contract| waiting(contract, || said("done"))]
    {
        for (declared, decided, runs) in [
            (Pure, Pure, true),
            (Keyed, Keyed, true),
            (Probe, Probe, true),
            (Probe, Pure, true),
            (Opaque, Pure, false),
            (EffectContract::Local, EffectContract::Local, true),
            (Opaque, EffectContract::Local, false),
        ] {
            let tools = make(declared);
            assert_eq!(again(&tools, decided).await.is_ok(), runs, "{declared:?} {decided:?}");
            assert!(first(&tools, decided).await.is_ok(), "the control: {declared:?} {decided:?}");
        }
    }
}

#[tokio::test]
async fn a_repetition_that_did_not_start_says_nothing_of_the_first_execution() {
    use EffectContract::{Keyed, Probe, Pure};
    let not_started = || Err(CallError::NotStarted(failure()));
    let failed = || Err(CallError::Failed(failure()));
    for (declared, decided, doubts) in [
        (Keyed, Keyed, true),
        (Probe, Probe, true),
        (Keyed, Pure, true),
        (Pure, Keyed, true),
        (Pure, Pure, false),
    ] {
        let tools = direct(declared, not_started);
        assert_eq!(is_in_doubt(&again(&tools, decided).await), doubts, "{declared:?} {decided:?}");
        let outcome = first(&tools, decided).await.expect("the control: nothing was done");
        assert_eq!(outcome.failure, Some(ErrorCode::FileNotFound));
        let looked = again(&direct(declared, failed), decided).await.expect("the control: it looked");
        assert_eq!(looked.output.expose(), "it is not there");
    }
}

#[tokio::test]
async fn a_bug_in_a_tool_that_changes_nothing_is_a_failure_and_in_any_other_a_doubt() {
    for make in
        [|contract| direct(contract, || panic!("a bug")), |contract| waiting(contract, || panic!("a bug"))]
    {
        let outcome = first(&make(EffectContract::Pure), EffectContract::Pure).await.expect("it failed");
        assert_eq!(outcome.failure, Some(ErrorCode::ToolFailed));
        assert!(outcome.output.expose().contains("hit a bug in itself"), "{:?}", outcome.output);
        for contract in [EffectContract::Keyed, EffectContract::Probe, EffectContract::Opaque] {
            assert!(is_in_doubt(&first(&make(contract), contract).await), "{contract:?}");
        }
    }
}

#[tokio::test]
async fn every_output_keeps_its_limit_and_its_size_is_told() {
    let long = || "x".repeat(3 * OUTPUT_BYTES_MAX);
    let result = move || Ok(ToolResult { text: long(), bytes_total: 1, ..ToolResult::default() });
    let cut = first(&direct(EffectContract::Pure, result), EffectContract::Pure).await.expect("it ran");
    assert!(cut.output.expose().len() <= OUTPUT_BYTES_MAX);
    assert_eq!(cut.output_bytes_total, 3 * OUTPUT_BYTES_MAX as u64);
    let failed = move || Err(CallError::Failed(CallFailure::new(ErrorCode::ToolFailed, long())));
    let cut = first(&direct(EffectContract::Pure, failed), EffectContract::Pure).await.expect("it failed");
    assert!(cut.output.expose().len() <= OUTPUT_BYTES_MAX, "a failure as well");
}

#[tokio::test]
async fn an_outcome_says_where_it_ran() {
    let site = ExecutionSite { executor: ToolExecutor::Wasm, isolation: Isolation::Component };
    let result = move || Ok(ToolResult { site, ..ToolResult::default() });
    let ran = first(&direct(EffectContract::Pure, result), EffectContract::Pure).await.expect("it ran");
    assert_eq!((ran.executor, ran.isolation), (ToolExecutor::Wasm, Isolation::Component));
}

#[tokio::test]
async fn what_is_not_there_or_is_a_question_is_not_started() {
    let question = Tool::question(spec("ask", EffectContract::Local, ToolConduct::Question));
    let tools = ToolSet::new(vec![question]);
    for name in ["ask", "Ask", ""] {
        let ended = tools.execute(grant_for(name, "{}", Path::new("/")), Supervision::default()).await;
        assert_eq!(ended, Err(ExecuteToolError::Unknown { tool: ToolName::new(name) }));
    }
}

#[tokio::test]
async fn a_call_is_prepared_by_its_tool_and_by_no_other() {
    let prepared = Tool::blocking(spec("p", EffectContract::Probe, ToolConduct::Prepared), |_| said(""))
        .prepared_by(|intent| match intent.arguments().expose().as_str() {
            "panic" => panic!("a bug"),
            "{}" => Ok(PreparedCall { summary: "it would".into(), ..PreparedCall::default() }),
            _ => Err(failure()),
        });
    let tools = ToolSet::new(vec![prepared]);
    let ask = async |name: &str, arguments: &str| {
        GrantRequest::new(name, arguments, Path::new("/")).prepared_by(&tools).await.map(|(call, _)| call)
    };
    assert_eq!(ask("p", "{}").await.expect("it is prepared").summary.expose(), "it would");
    let code =
        async |name: &str, arguments: &str| ask(name, arguments).await.expect_err("it is refused").code;
    assert_eq!(code("p", "other").await, ErrorCode::FileNotFound);
    assert_eq!(code("p", "panic").await, ErrorCode::ToolFailed);
    assert_eq!(code("gone", "{}").await, ErrorCode::ToolUnknown);
}

#[test]
fn a_tool_acts_as_it_declares() {
    let blocking = |conduct| Tool::blocking(spec("t", EffectContract::Probe, conduct), |_| said(""));
    let prepared = |conduct| blocking(conduct).prepared_by(|_| Ok(PreparedCall::default()));
    let question = |conduct| Tool::question(spec("t", EffectContract::Local, conduct));
    let all = [ToolConduct::Direct, ToolConduct::Prepared, ToolConduct::Question];
    assert_eq!(all.map(|conduct| blocking(conduct).is_consistent()), [true, false, false]);
    assert_eq!(all.map(|conduct| prepared(conduct).is_consistent()), [false, true, false]);
    assert_eq!(all.map(|conduct| question(conduct).is_consistent()), [false, false, true]);
}

#[tokio::test]
async fn of_two_sources_the_first_counts_and_the_catalogue_is_joined_once() {
    let named = |text: &'static str| {
        Tool::blocking(spec("t", EffectContract::Pure, ToolConduct::Direct), move |_| said(text))
    };
    let (offer, offered) = watch::channel(Arc::new(ToolTable::default()));
    let tools = ToolSet::join(&[ToolSet::new(vec![named("ours")]), ToolSet::watching(offered)]);
    let before = tools.catalog();
    assert!(Arc::ptr_eq(&before, &tools.catalog()), "nothing changed in between");
    let other = Tool::question(spec("u", EffectContract::Local, ToolConduct::Question));
    offer.send_replace(Arc::new(ToolTable::new(vec![named("theirs"), other])));
    assert!(tools.catalog().get(&ToolName::new("u")).is_some() && before.get(&ToolName::new("u")).is_none());
    let ran = first(&tools, EffectContract::Pure).await.expect("it ran");
    assert_eq!(ran.output.expose(), "ours");
}

/// Refuses one secret as bound to another server.
struct OneRefused;

impl FillCredential for OneRefused {
    fn fill(
        &self,
        credential: BoundCredential,
    ) -> BoxFuture<'static, Result<CredentialHeader, CredentialUnavailable>> {
        async { Err(unavailable(credential)) }.boxed()
    }

    fn certain_refusal(&self, credential: &BoundCredential) -> Option<CredentialUnavailable> {
        assert!(credential.used_by.is_some(), "the vault knows for which effect");
        (credential.host == "b.example").then(|| unavailable(credential.clone()))
    }
}

fn unavailable(credential: BoundCredential) -> CredentialUnavailable {
    let why = "it is bound to a.example".to_owned();
    CredentialUnavailable { handle: credential.handle, code: ErrorCode::FetchRefused, why }
}

#[tokio::test]
async fn a_call_whose_secret_would_be_refused_is_refused_before_a_person_is_asked() {
    let tool = Tool::blocking(spec("p", EffectContract::Keyed, ToolConduct::Prepared), |_| said(""))
        .prepared_by(|intent| {
            let host = intent.arguments().expose().clone();
            let handle = CredentialHandle("token".to_owned());
            let secrets = vec![BoundCredential { host, port: 443, handle, used_by: None }];
            Ok(PreparedCall { secrets, ..PreparedCall::default() })
        });
    let unchecked = ToolSet::new(vec![tool]);
    let checked = unchecked.clone().checking_secrets(Arc::new(OneRefused));
    let ask = async |tools: &ToolSet, host: &str| {
        GrantRequest::new("p", host, Path::new("/")).prepared_by(tools).await.map(|_| ())
    };
    let refused = ask(&checked, "b.example").await.expect_err("it is refused");
    assert_eq!(refused.code, ErrorCode::FetchRefused);
    assert_eq!(refused.message.expose(), "it is bound to a.example; nothing was sent");
    ask(&checked, "a.example").await.expect("the control: bound to this server");
    ask(&unchecked, "b.example").await.expect("the control: not checked");
}
