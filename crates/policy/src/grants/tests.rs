//! What a stored grant covers, and what it never does.

use palyra_types::approval::GrantBounds;
use palyra_types::{PrincipalId, Redacted, SessionId, Timestamp};
use serde_json::json;

use super::*;
use crate::fixture::{ROOT, context, granted};

fn rule(argument: &str, shape: ArgumentShape) -> ArgumentRule {
    ArgumentRule { argument: Redacted::cleaned(argument.to_owned()), shape }
}

fn equal(value: &Value) -> ArgumentShape {
    ArgumentShape::Equal(Redacted::cleaned(value.to_string()))
}

fn beneath(path: &str) -> ArgumentShape {
    ArgumentShape::Beneath(Redacted::cleaned(path.to_owned()))
}

fn record(matcher: Vec<ArgumentRule>) -> StoredGrantRecord {
    granted("write_file", matcher)
}

fn covers(record: &StoredGrantRecord, arguments: &Value, risk: ApprovalRiskLevel) -> String {
    let (tool, context) = (ToolName::new("write_file"), context());
    let call = GrantedCall {
        tool: &tool,
        arguments,
        risk,
        context: &context,
        workspace: Some(ROOT),
        tool_version: 1,
        programs: ProgramsFound::NotLookedAt,
        shell_line: false,
    };
    match covering_grant(std::slice::from_ref(record), call) {
        GrantCoverage::Covered(grant) => {
            assert_eq!(grant, record.stored.grant);
            "covered".to_owned()
        }
        GrantCoverage::Missed { argument, .. } => format!("{argument} leaves"),
        GrantCoverage::Elsewhere { difference, .. } => difference.to_string(),
        GrantCoverage::None => "none".to_owned(),
    }
}

#[test]
fn each_argument_has_to_be_as_the_person_chose() {
    let docs = record(vec![rule("path", beneath("docs")), rule("content", ArgumentShape::Any)]);
    let medium = ApprovalRiskLevel::Medium;
    for (arguments, expect) in [
        (json!({"path": "docs/a.md", "content": "x"}), "covered"),
        (json!({"path": "./docs//a.md"}), "covered"),
        (json!({"path": "./docs/../docs/a.md"}), "path leaves"),
        (json!({"path": "docs"}), "covered"),
        (json!({"path": "docsx/a.md"}), "path leaves"),
        (json!({"path": "docs/../src/a.rs"}), "path leaves"),
        (json!({"path": "docs/../../x"}), "path leaves"),
        (json!({"path": "/docs/a.md"}), "path leaves"),
        (json!({"path": "docs/.env"}), "path leaves"),
        (json!({"path": "docs/.git/hooks/x"}), "path leaves"),
        (json!({"path": ["docs/a.md"]}), "path leaves"),
        (json!({"content": "x"}), "path leaves"),
        (json!({"path": "docs/a.md", "mode": 7}), "mode leaves"),
        (json!(["docs/a.md"]), "the arguments leaves"),
    ] {
        assert_eq!(covers(&docs, &arguments, medium), expect, "{arguments}");
    }
    let exact = record(vec![rule("path", equal(&json!("a"))), rule("content", equal(&json!("x")))]);
    assert_eq!(covers(&exact, &json!({"content": "x", "path": "a"}), medium), "covered");
    assert_eq!(covers(&exact, &json!({"content": "y", "path": "a"}), medium), "content leaves");
    assert_eq!(covers(&exact, &json!({"path": "a"}), medium), "content leaves");
}

#[test]
fn an_address_has_nothing_below_it() {
    let medium = ApprovalRiskLevel::Medium;
    let address = record(vec![rule("path", beneath("https://a.example:8443/docs"))]);
    for path in [
        "https://a.example:18443/../a.example:8443/docs/?stolen=secret",
        "https://a.example:8443/docs/%2e%2e/admin",
        "https://a.example:8443/docs/a",
    ] {
        assert_eq!(covers(&address, &json!({ "path": path }), medium), "path leaves", "{path}");
    }
    let docs = record(vec![rule("path", beneath("docs"))]);
    for path in
        ["docs/%2e%2e/x", "docs/%2E./x", r"docs\..\x", r"docs/a\..\..\..\x", "docs/x/%252e", "docs/https://x"]
    {
        assert_eq!(covers(&docs, &json!({ "path": path }), medium), "path leaves", "{path}");
    }
    for path in ["docs/100%.md", r"docs/a\b", "docs/a..b"] {
        assert_eq!(covers(&docs, &json!({ "path": path }), medium), "covered", "{path}");
    }
}

#[test]
fn a_grant_for_an_origin_covers_its_addresses_and_no_other_host() {
    let medium = ApprovalRiskLevel::Medium;
    let origin =
        |origin: &str| record(vec![rule("url", ArgumentShape::Origin(Redacted::cleaned(origin.to_owned())))]);
    let api = origin("https://api.example");
    for url in [
        "https://api.example",
        "https://api.example/",
        "https://API.Example./v1/items?q=@evil.example#x",
        "https://api.example:443/a",
        "HTTPS://api.example/..%2f",
    ] {
        assert_eq!(covers(&api, &json!({ "url": url }), medium), "covered", "{url}");
    }
    for url in [
        "https://api.example.evil.example/",
        "https://api.example@evil.example/",
        "https://api.example:443@evil.example/",
        "https://evil.example/https://api.example/",
        "https://evil.example\\@api.example/",
        "https://api.example\\.evil.example/",
        "https://evil.example#https://api.example",
        "https://xapi.example/",
        "https://sub.api.example/",
        "http://api.example/",
        "https://api.example:8443/",
        "https://api.ex\tample/",
        "https://\u{430}pi.example/",
        "https://%61pi.example/",
        "//api.example/",
        "api.example",
        " https://api.example/",
    ] {
        assert_eq!(covers(&api, &json!({ "url": url }), medium), "url leaves", "{url}");
    }
    assert_eq!(covers(&api, &json!({ "url": ["https://api.example/"] }), medium), "url leaves");
    assert_eq!(covers(&api, &json!({}), medium), "url leaves");
    let address = origin("http://[0:0::1]:8080");
    assert_eq!(covers(&address, &json!({ "url": "http://[::1]:8080/x" }), medium), "covered");
    assert_eq!(covers(&address, &json!({ "url": "http://[::2]:8080/x" }), medium), "url leaves");
    // What was stored with a path is no origin, and covers nothing.
    let odd = origin("https://api.example/docs");
    assert_eq!(covers(&odd, &json!({ "url": "https://api.example/docs" }), medium), "url leaves");
    assert_eq!(
        covers(&api, &json!({ "url": "https://api.example/" }), ApprovalRiskLevel::Critical),
        "url leaves"
    );
}

#[test]
fn a_rule_for_an_origin_names_nothing_but_one() {
    let (tool, context) = (ToolName::new("http_fetch"), context());
    let arguments = json!({"url": "https://api.example/v1"});
    let check = |origin: &str| {
        let call = GrantedCall {
            tool: &tool,
            arguments: &arguments,
            risk: ApprovalRiskLevel::High,
            context: &context,
            workspace: Some(ROOT),
            tool_version: 1,
            programs: ProgramsFound::NotLookedAt,
            shell_line: false,
        };
        let matcher = vec![rule("url", ArgumentShape::Origin(Redacted::cleaned(origin.to_owned())))];
        let grant = StoredGrantId::from_parts(9, 9);
        let requested = StoredGrantRequest {
            grant,
            scope: GrantScope::Principal,
            expires: None,
            uses_max: None,
            matcher,
        };
        check_grant_request(&requested, call).map_err(|error| error.to_string())
    };
    assert_eq!(check("https://api.example"), Ok(()));
    assert!(check("https://other.example").expect_err("another host").contains("`url` leaves"));
    for origin in ["https://api.example/v1", "api.example", "https://*.example", "https://me@api.example", ""]
    {
        let refused = check(origin).expect_err(origin);
        assert!(refused.contains("scheme, host and port and nothing else"), "{refused}");
    }
}

#[test]
fn what_is_critical_is_covered_only_word_for_word() {
    let arguments = json!({"path": ".envrc"});
    let critical = ApprovalRiskLevel::Critical;
    assert_eq!(covers(&record(vec![rule("path", ArgumentShape::Any)]), &arguments, critical), "path leaves");
    assert_eq!(covers(&record(vec![rule("path", beneath("."))]), &arguments, critical), "path leaves");
    assert_eq!(covers(&record(vec![rule("path", equal(&json!(".envrc")))]), &arguments, critical), "covered");
}

#[test]
fn a_grant_ends_and_holds_only_for_whom_where_and_what_it_was_given() {
    let arguments = json!({"path": "a"});
    let good = || record(vec![rule("path", ArgumentShape::Any)]);
    let found = |change: &dyn Fn(&mut StoredGrantRecord)| {
        let mut changed = good();
        change(&mut changed);
        covers(&changed, &arguments, ApprovalRiskLevel::Medium)
    };
    let now = context().now;
    assert_eq!(found(&|_| {}), "covered");
    assert_eq!(found(&|grant| grant.stored.principal = PrincipalId::from_parts(7, 7)), "none");
    assert_eq!(found(&|grant| grant.stored.scope = GrantScope::Session(SessionId::from_parts(7, 7))), "none");
    assert_eq!(found(&|grant| grant.stored.scope = GrantScope::Session(context().session)), "covered");
    assert_eq!(found(&|grant| grant.stored.tool = "write_files".into()), "none");
    assert_eq!(found(&|grant| grant.revoked = Some(Timestamp(1))), "none");
    assert_eq!(found(&|grant| grant.stored.expires = Some(now)), "none");
    assert_eq!(found(&|grant| grant.stored.expires = Some(Timestamp(now.0 + 1))), "covered");
    assert_eq!(found(&|grant| (grant.uses, grant.stored.uses_max) = (2, Some(2))), "none");
    assert_eq!(found(&|grant| (grant.uses, grant.stored.uses_max) = (1, Some(2))), "covered");
}

#[test]
fn a_grant_holds_in_the_folder_and_for_the_tool_that_it_was_given_for() {
    let arguments = json!({"path": "docs/a.md"});
    let found = |change: &dyn Fn(&mut StoredGrantRecord)| {
        let mut changed = record(vec![rule("path", ArgumentShape::Any)]);
        change(&mut changed);
        covers(&changed, &arguments, ApprovalRiskLevel::Medium)
    };
    let root = |path: &str| Some(Redacted::cleaned(path.into()));
    assert_eq!(found(&|_| {}), "covered");
    assert_eq!(
        found(&|grant| grant.stored.bounds.workspace = root("/home/me/other")),
        "was given in another folder"
    );
    assert_eq!(
        found(&|grant| grant.stored.bounds.workspace = root("/home/me")),
        "was given in another folder"
    );
    let unbound = "was given before grants were bound to a folder; give it again";
    assert_eq!(found(&|grant| grant.stored.bounds = GrantBounds::default()), unbound);
    assert_eq!(
        found(&|grant| {
            grant.stored.scope = GrantScope::Everywhere;
            grant.stored.bounds.workspace = None;
        }),
        "covered"
    );
    let other_tool = "was given for another version of the tool";
    assert_eq!(found(&|grant| grant.stored.bounds.tool_version = Some(2)), other_tool);
    assert_eq!(found(&|grant| grant.stored.bounds.tool_version = None), other_tool);
}

#[test]
fn a_grant_for_a_program_holds_for_the_bytes_that_it_was_given_for() {
    let (tool, context) = (ToolName::new("write_file"), context());
    let arguments = json!({"path": "a"});
    let mut granted = record(vec![rule("path", equal(&json!("a")))]);
    let mut covers = |bound: Option<[u8; 32]>, programs| {
        granted.stored.bounds.programs = bound;
        let call = GrantedCall {
            tool: &tool,
            arguments: &arguments,
            risk: ApprovalRiskLevel::High,
            context: &context,
            workspace: Some(ROOT),
            tool_version: 1,
            programs,
            shell_line: false,
        };
        covering_grant(std::slice::from_ref(&granted), call)
    };
    let (one, two) = (Some([1; 32]), Some([2; 32]));
    assert!(matches!(covers(one, ProgramsFound::Found(one)), GrantCoverage::Covered(_)));
    assert!(matches!(covers(None, ProgramsFound::Found(None)), GrantCoverage::Covered(_)));
    assert!(matches!(covers(one, ProgramsFound::NotLookedAt), GrantCoverage::Covered(_)), "judged again");
    for (bound, now) in [(one, two), (one, None), (None, one)] {
        let coverage = covers(bound, ProgramsFound::Found(now));
        let changed = GrantDifference::Programs;
        assert!(matches!(coverage, GrantCoverage::Elsewhere { difference, .. } if difference == changed));
    }
}

#[test]
fn a_wish_is_refused_when_it_is_too_wide_or_misses_its_own_call() {
    let (tool, context) = (ToolName::new("write_file"), context());
    let arguments = json!({"path": "docs/a.md", "content": "x"});
    let check = |risk, matcher: Vec<ArgumentRule>, uses_max| {
        let call = GrantedCall {
            tool: &tool,
            arguments: &arguments,
            risk,
            context: &context,
            workspace: Some(ROOT),
            tool_version: 1,
            programs: ProgramsFound::NotLookedAt,
            shell_line: false,
        };
        let grant = StoredGrantId::from_parts(9, 9);
        let requested =
            StoredGrantRequest { grant, scope: GrantScope::Principal, expires: None, uses_max, matcher };
        check_grant_request(&requested, call).map_err(|error| error.to_string())
    };
    let any = |name| rule(name, ArgumentShape::Any);
    let (medium, high) = (ApprovalRiskLevel::Medium, ApprovalRiskLevel::High);
    assert_eq!(check(medium, vec![any("path"), any("content")], None), Ok(()));
    assert_eq!(check(high, vec![rule("path", beneath("docs")), any("content")], None), Ok(()));
    // The call leaves it out, and it changes nothing but the file.
    let docs = || rule("path", beneath("docs"));
    assert_eq!(check(medium, vec![docs(), any("content"), any("mode")], None), Ok(()));
    for (risk, matcher, uses, expect) in [
        (high, vec![any("path"), any("content")], None, "name at least one"),
        (high, vec![rule("path", beneath(".")), any("content")], None, "name at least one"),
        (medium, vec![any("path")], None, "`content` leaves"),
        (medium, vec![docs(), any("content"), any("all")], None, "does not have it"),
        (medium, vec![rule("path", beneath("src")), any("content")], None, "`path` leaves"),
        (medium, vec![rule("path", beneath("../docs")), any("content")], None, "not an ordinary one"),
        (medium, vec![rule("path", beneath(".git")), any("content")], None, "not an ordinary one"),
        (medium, vec![any("path"), any("path"), any("content")], None, "has a rule already"),
        (medium, vec![rule("path", ArgumentShape::Equal("{".into())), any("content")], None, "is not JSON"),
        (medium, vec![any("path"), any("content")], Some(0), "over at once"),
    ] {
        let refused = check(risk, matcher, uses).expect_err(expect);
        assert!(refused.contains(expect), "{refused}");
    }
    let exact = exact_matcher(&Redacted::cleaned(arguments.to_string())).expect("an object");
    assert_eq!(check(ApprovalRiskLevel::Critical, exact, None), Ok(()));
}

#[test]
fn what_steers_a_build_or_an_agent_is_covered_only_by_its_own_name() {
    let medium = ApprovalRiskLevel::Medium;
    let any = record(vec![rule("path", ArgumentShape::Any), rule("content", ArgumentShape::Any)]);
    let below = record(vec![rule("path", beneath(".")), rule("content", ArgumentShape::Any)]);
    let patches = record(vec![rule("patch", ArgumentShape::Any)]);
    let patch = |path: &str| json!({"patch": format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n")});
    for path in ["Makefile", "sub/package.json", "build.rs", "AGENTS.md", ".cursorrules", "conftest.py"] {
        let write = json!({"path": path, "content": "x"});
        assert_eq!(covers(&any, &write, medium), "path leaves", "{path}");
        assert_eq!(covers(&below, &write, medium), "path leaves", "{path}");
        assert_eq!(covers(&patches, &patch(path), medium), "patch leaves", "{path}");
        let named = record(vec![rule("path", equal(&json!(path))), rule("content", ArgumentShape::Any)]);
        assert_eq!(covers(&named, &write, medium), "covered", "{path}");
    }
    // The control: other files.
    let write = json!({"path": "src/main.rs", "content": "Makefile"});
    for grant in [&any, &below] {
        assert_eq!(covers(grant, &write, medium), "covered");
    }
    assert_eq!(covers(&patches, &patch("src/main.rs"), medium), "covered");
}

#[test]
fn a_line_for_a_shell_is_covered_and_remembered_only_word_for_word() {
    let (tool, context) = (ToolName::new("write_file"), context());
    let arguments = json!({"argv": ["sh", "-c", "ls"], "cwd": "docs"});
    let call = |shell_line| GrantedCall {
        tool: &tool,
        arguments: &arguments,
        risk: ApprovalRiskLevel::High,
        context: &context,
        workspace: Some(ROOT),
        tool_version: 1,
        programs: ProgramsFound::NotLookedAt,
        shell_line,
    };
    let argv = || rule("argv", equal(&json!(["sh", "-c", "ls"])));
    let cwd = || rule("cwd", equal(&json!("docs")));
    for (matcher, covers_lines) in [
        (vec![argv(), cwd()], true),
        (vec![rule("argv", ArgumentShape::Any), cwd()], false),
        (vec![argv(), rule("cwd", beneath("docs"))], false),
        (vec![argv(), rule("cwd", ArgumentShape::Any)], false),
    ] {
        let granted = record(matcher.clone());
        let is_covered = |shell_line| {
            let coverage = covering_grant(std::slice::from_ref(&granted), call(shell_line));
            matches!(coverage, GrantCoverage::Covered(_))
        };
        assert_eq!(is_covered(true), covers_lines, "{matcher:?}");
        assert!(is_covered(false), "the control: a command without a line: {matcher:?}");
        let grant = StoredGrantId::from_parts(9, 9);
        let requested = StoredGrantRequest {
            grant,
            scope: GrantScope::Principal,
            expires: None,
            uses_max: None,
            matcher,
        };
        let refused = check_grant_request(&requested, call(true)).map_err(|error| error.to_string());
        assert_eq!(refused.is_ok(), covers_lines);
        assert!(refused.err().is_none_or(|told| told.contains("only word for word")));
        assert_eq!(check_grant_request(&requested, call(false)), Ok(()));
    }
}
