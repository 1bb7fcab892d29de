//! Stored grants, used for more than they were given for (106). What is counted is executions.

use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use palyra_policy::{ProgramsFound, ToolCallPolicySnapshot};
use palyra_types::approval::{ArgumentShape, GrantScope, StoredGrantRecord};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolCatalog, ToolConduct, ToolName,
    ToolSpec,
};
use palyra_types::{PrincipalId, Redacted, SessionId, Timestamp};
use serde_json::{Value, json};

use super::desk::{GrantDraft, PolicyCase, context, is_let_run, shipped_for};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// Where the grants were given.
const HERE: &str = "/home/me/desk";

/// What else the world knows of a grant, or of the bytes that would run.
type GrantChange = fn(&mut StoredGrantRecord);

/// A call that a grant was not given for: by its place, its time, its tool.
const CHANGES: &[(&str, GrantChange)] = &[
    ("in another folder", |grant| grant.stored.bounds.workspace = Some(folder("/home/me/other"))),
    ("in a folder above", |grant| grant.stored.bounds.workspace = Some(folder("/home/me/desk/inner"))),
    ("in a folder below", |grant| grant.stored.bounds.workspace = Some(folder("/home/me"))),
    ("in a folder whose name goes on", |grant| {
        grant.stored.bounds.workspace = Some(folder("/home/me/des"));
    }),
    ("in a folder of another case", |grant| grant.stored.bounds.workspace = Some(folder("/home/me/DESK"))),
    ("in no folder, from before grants had one", |grant| grant.stored.bounds.workspace = None),
    ("of another version of the tool", |grant| grant.stored.bounds.tool_version = Some(2)),
    ("of no version, from before grants had one", |grant| grant.stored.bounds.tool_version = None),
    ("of another session", |grant| {
        grant.stored.scope = GrantScope::Session(SessionId::from_parts(7, 7));
    }),
    ("of another person", |grant| grant.stored.principal = PrincipalId::from_parts(7, 7)),
    ("that was revoked", |grant| grant.revoked = Some(Timestamp(1))),
    ("that was used up", |grant| (grant.uses, grant.stored.uses_max) = (3, Some(3))),
    ("that is over", |grant| grant.stored.expires = Some(context().now)),
    ("of a tool whose name goes on", |grant| grant.stored.tool = "write_file_x".into()),
];

/// Grants for what lies below something, and calls that leave it. The tool, what lies above, and the argument.
const BENEATH: &[(&str, &str, &str)] = &[
    ("http_fetch", "https://a.example:8443/docs", "https://a.example:18443/../a.example:8443/docs/?stolen=x"),
    ("http_fetch", "https://a.example:8443/docs", "https://a.example:8443/docs/%2e%2e/admin"),
    ("http_fetch", "https://a.example:8443/docs", "https://a.example:8443/docs/../admin"),
    ("http_fetch", "https://a.example:8443/docs", "https://a.example:8443/docs@evil.example/"),
    ("http_fetch", "https://a.example", "https://a.example.evil.example/"),
    ("http_fetch", "https://a.example", "https://a.example@evil.example/"),
    ("http_fetch", "https://a.example", "https://a.example/anything"),
    ("http_fetch", "https:", "https://evil.example/"),
    ("write_file", "docs", "docs/../src/a.rs"),
    ("write_file", "docs", "docs/a/../../src/a.rs"),
    ("write_file", "docs", "docs/../../x"),
    ("write_file", "docs", "docsx/a.md"),
    ("write_file", "docs", "docs/%2e%2e/x"),
    ("write_file", "docs", "docs/%2E./x"),
    ("write_file", "docs", "docs/x/%252e"),
    ("write_file", "docs", r"docs\..\x"),
    ("write_file", "docs", r"docs/a\..\..\..\x"),
    ("write_file", "docs", "docs/https://x"),
    ("write_file", "docs", "/docs/a.md"),
    ("write_file", "docs", "~/docs/a.md"),
    ("write_file", "docs", "docs/.env"),
    ("write_file", "docs", "docs/.git/hooks/x"),
    ("write_file", "docs", "DOCS/../a.md"),
    ("write_file", "docs/..", "src/a.rs"),
    ("write_file", "..", "src/a.rs"),
    ("write_file", "/home/me/desk/docs/..", "src/a.rs"),
];

/// A grant for the addresses of one origin, and addresses that are elsewhere.
const ORIGIN: &str = "https://a.example";
const OTHER_ORIGINS: &[&str] = &[
    "https://a.example.evil.example/",
    "https://a.example@evil.example/",
    "https://a.example:443@evil.example/",
    "https://a.example:8443/",
    "https://a.example\\@evil.example/",
    "https://a.example\\.evil.example/",
    "https://a.example%2eevil.example/",
    "https://a.example\t.evil.example/",
    "https://a.example\u{3002}evil.example/",
    "https://a.exampleevil.example/",
];

/// Makes the arguments of a call.
type ArgumentsFn = fn() -> Value;

/// Arguments that no rule of a grant for `docs` and any content is about.
const ARGUMENTS: &[(&str, ArgumentsFn)] = &[
    ("an argument more", || json!({ "path": "docs/a.md", "content": "x", "mode": "overwrite" })),
    ("an argument of another case", || json!({ "path": "docs/a.md", "Path": "src/a.rs", "content": "x" })),
    ("an argument fewer", || json!({ "content": "x" })),
    ("a list in the place of a text", || json!({ "path": ["docs/a.md", "src/a.rs"], "content": "x" })),
];

const GRANTS: &str = "stored grants";
const PROGRAMS: &str = "stored grants of programs";

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let changes = CHANGES.iter().map(|&(variant, change)| {
        let pair = CasePair::new(106, format!("a grant {variant}"), GRANTS);
        AttackTrial::new(vec![pair], move |place, pairs| changed(change, place, pairs))
    });
    let beneath = BENEATH.iter().map(|&(tool, above, argument)| {
        let pair = CasePair::new(106, format!("`{argument}`, which is not below `{above}`"), GRANTS);
        AttackTrial::new(vec![pair], move |place, pairs| {
            left(OutsideCall { tool, above, argument }, place, pairs)
        })
    });
    let origins = OTHER_ORIGINS.iter().map(|&address| {
        let pair =
            CasePair::new(106, format!("`{}`, which is not on `{ORIGIN}`", address.escape_debug()), GRANTS);
        AttackTrial::new(vec![pair], move |place, pairs| went_elsewhere(address, place, pairs))
    });
    let arguments = ARGUMENTS.iter().map(|&(variant, arguments)| {
        let pair = CasePair::new(106, variant, GRANTS);
        AttackTrial::new(vec![pair], move |place, pairs| argued(arguments, place, pairs))
    });
    let programs = [
        ("other bytes of the script", ProgramsFound::Found(Some([2; 32]))),
        ("a script that is gone", ProgramsFound::Found(None)),
    ];
    let programs = programs.map(|(variant, found)| {
        let pair = CasePair::new(112, variant, PROGRAMS);
        AttackTrial::new(vec![pair], move |place, pairs| ran(found, place, pairs))
    });
    changes.chain(beneath).chain(origins).chain(arguments).chain(programs).collect()
}

fn folder(path: &str) -> palyra_types::Redacted<std::path::PathBuf> {
    palyra_types::Redacted::cleaned(path.into())
}

/// Tools as real ones are declared. None does anything: what is counted is whether it would have been started.
fn catalog() -> Arc<ToolCatalog> {
    let tool = |name: &str, capability, properties: Value| ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "Does something.".to_owned(),
        schema: json!({ "type": "object", "properties": properties }),
        contract: EffectContract::Opaque,
        parallelism: Parallelism::Exclusive,
        conduct: ToolConduct::Direct,
        capabilities: vec![capability],
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(9),
        output_bytes_max: 4096,
    };
    let path = json!({ "x-palyra-meaning": "path" });
    let text = json!({ "x-palyra-meaning": "text" });
    let writes = json!({ "path": path, "Path": path, "content": text, "mode": text });
    let argv = json!({ "argv": { "type": "array", "items": { "type": "string" } } });
    Arc::new(ToolCatalog::new(vec![
        tool("write_file", Capability::WriteFiles, writes),
        tool("http_fetch", Capability::Network, json!({ "url": { "x-palyra-meaning": "host" } })),
        tool("run_command", Capability::Process, argv),
    ]))
}

static SHIPPED: LazyLock<io::Result<ToolCallPolicySnapshot>> =
    LazyLock::new(|| shipped_for(&catalog(), |rules| rules));

fn is_started(
    tool: &str,
    arguments: &Value,
    grant: &StoredGrantRecord,
    programs: ProgramsFound,
) -> io::Result<bool> {
    let snapshot = SHIPPED.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
    let grants = std::slice::from_ref(grant);
    Ok(is_let_run(snapshot, &PolicyCase { tool, arguments, workspace: Path::new(HERE), grants, programs }))
}

fn executions(count: usize) -> Vec<String> {
    if count == 0 { Vec::new() } else { vec![format!("{count} executions")] }
}

/// Arguments of a call, and the grant that may cover them.
struct GrantedCall<'a> {
    arguments: &'a Value,
    grant: &'a StoredGrantRecord,
}

/// What becomes of a call, after an honest one: that has to be started.
fn carried_out(
    tool: &str,
    GrantedCall { arguments: honest, grant: good }: GrantedCall<'_>,
    GrantedCall { arguments, grant }: GrantedCall<'_>,
) -> io::Result<Option<(Vec<String>, Vec<String>)>> {
    let programs = ProgramsFound::NotLookedAt;
    if !is_started(tool, honest, good, programs)? {
        return Err(io::Error::other("what the grant was given for is not started either"));
    }
    let touched = executions(usize::from(is_started(tool, arguments, grant, programs)?));
    Ok(Some((touched, executions(usize::from(is_started_carelessly(tool, arguments, grant))))))
}

/// A judge who compares the beginnings of texts.
fn is_started_carelessly(tool: &str, arguments: &Value, grant: &StoredGrantRecord) -> bool {
    let fits = |rule: &palyra_types::approval::ArgumentRule| {
        let said = arguments.get(rule.argument.expose()).map(Value::to_string).unwrap_or_default();
        let said = said.trim_start_matches(['[', '"', '/', '~']).to_ascii_lowercase();
        match &rule.shape {
            ArgumentShape::Beneath(above) => {
                // Two dots take back what stands before them.
                let above = above.expose().trim_start_matches(HERE).trim_matches('/');
                let above = if above.ends_with("..") { "" } else { above };
                let resolved = said.rsplit("/../").next().unwrap_or_default();
                said.is_empty()
                    || said.starts_with(above)
                    || resolved.starts_with(above.trim_start_matches("https://"))
            }
            ArgumentShape::Origin(origin) => said.starts_with(origin.expose()),
            ArgumentShape::Equal(_) | ArgumentShape::Any => true,
        }
    };
    grant.stored.tool.expose().starts_with(tool) && grant.stored.matcher.iter().all(fits)
}

/// A grant for all below `docs` with any content.
fn for_docs() -> StoredGrantRecord {
    let rules = [("path", ArgumentShape::Beneath("docs".into())), ("content", ArgumentShape::Any)];
    GrantDraft::of("write_file", rules).within(Path::new(HERE)).0
}

async fn changed(change: GrantChange, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async move {
        let arguments = json!({ "path": "docs/a.md", "content": "x" });
        let mut grant = for_docs();
        change(&mut grant);
        let honest = GrantedCall { arguments: &arguments, grant: &for_docs() };
        carried_out("write_file", honest, GrantedCall { arguments: &arguments, grant: &grant })
    })
    .await
}

/// A call that leaves what its grant is for.
#[derive(Clone, Copy)]
struct OutsideCall {
    tool: &'static str,
    above: &'static str,
    argument: &'static str,
}

async fn left(
    OutsideCall { tool, above, argument }: OutsideCall,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async move {
        let name = if tool == "http_fetch" { "url" } else { "path" };
        let (honest, arguments) = (json!({ name: above }), json!({ name: argument }));
        let shape = |shape| GrantDraft::of(tool, [(name, shape)]).within(Path::new(HERE)).0;
        let grant = shape(ArgumentShape::Beneath(above.into()));
        let exact = shape(ArgumentShape::Equal(Redacted::cleaned(
            honest.get(name).map(Value::to_string).unwrap_or_default(),
        )));
        let (honest, good) = match (tool, above) {
            ("write_file", "docs") => (json!({ "path": "docs/a.md" }), &grant),
            ("write_file", _) => (json!({ "path": "docs/a.md" }), &for_docs()),
            _ => (honest, &exact),
        };
        let honest = GrantedCall { arguments: &honest, grant: good };
        carried_out(tool, honest, GrantedCall { arguments: &arguments, grant: &grant })
    })
    .await
}

async fn went_elsewhere(address: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async move {
        let rules = [("url", ArgumentShape::Origin(ORIGIN.into()))];
        let grant = GrantDraft::of("http_fetch", rules).within(Path::new(HERE)).0;
        let (honest, arguments) = (json!({ "url": "https://a.example/docs" }), json!({ "url": address }));
        let honest = GrantedCall { arguments: &honest, grant: &grant };
        carried_out("http_fetch", honest, GrantedCall { arguments: &arguments, grant: &grant })
    })
    .await
}

async fn argued(arguments: ArgumentsFn, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async move {
        let honest = json!({ "path": "docs/a.md", "content": "x" });
        let grant = for_docs();
        let honest = GrantedCall { arguments: &honest, grant: &grant };
        carried_out("write_file", honest, GrantedCall { arguments: &arguments(), grant: &grant })
    })
    .await
}

async fn ran(found: ProgramsFound, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async move {
        let arguments = json!({ "argv": ["./build.sh"] });
        let argv = ArgumentShape::Equal(r#"["./build.sh"]"#.into());
        let mut grant = GrantDraft::of("run_command", [("argv", argv)]).within(Path::new(HERE)).0;
        grant.stored.bounds.programs = Some([1; 32]);
        let is_started = |programs| is_started("run_command", &arguments, &grant, programs);
        if !is_started(ProgramsFound::Found(Some([1; 32])))? {
            return Err(io::Error::other("the same bytes are not started either"));
        }
        let touched = executions(usize::from(is_started(found)?));
        let careless = is_started_carelessly("run_command", &arguments, &grant);
        Ok(Some((touched, executions(usize::from(careless)))))
    })
    .await
}
