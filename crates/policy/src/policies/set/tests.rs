//! What is refused, where, and with which mend.

use super::super::file::POLICY_FILE_BYTES_MAX;
use super::*;
use crate::fixture::catalog;

fn check(text: &str, expect: &str) {
    let shown = match PolicySet::compile(&[PolicyFile::new("mine.cedar", text)], &catalog()) {
        Ok(set) => format!("{} policies", set.len()),
        Err(PolicyMistakes(mistakes)) => {
            mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        }
    };
    assert!(shown.contains(expect), "{text}\nfound:    {shown}\nexpected: {expect}");
}

const SCOPE: &str = "(principal, action == Action::\"execute\", resource)";

#[test]
fn what_ships_compiles_with_any_tools() {
    let set = PolicySet::compile(&PolicyFile::shipped(), &catalog()).expect("what ships");
    assert!(set.all().all(|known| !known.annotations.reason.is_empty()), "each policy has a reason");
    PolicySet::compile(&PolicyFile::shipped(), &ToolCatalog::default()).expect("without tools");
}

#[test]
fn a_mistake_is_told_with_place_and_mend() {
    check("", "0 policies");
    check(&format!("@id(\"a\") permit {SCOPE};"), "1 policies");
    check(&format!("@id(\"a\")\npermit {SCOPE}"), "mine.cedar:2:");
    check("@id(\"a\")\n\npermit (principal, action, resurce);", "mine.cedar:3:28: ");
    check(&format!("permit {SCOPE};"), "mine.cedar:1:1: a policy has no @id; write @id(\"what-it-permits\")");
    check(&format!("@id(\"a b\") permit {SCOPE};"), "mine.cedar:1:1: `a b` is not an id");
    check(
        &format!("@id(\"a\")\n@expire(\"1h\")\npermit {SCOPE};"),
        "mine.cedar:2:1: `@expire` is not an annotation; did you mean `@expires`?",
    );
    check(
        &format!("@id(\"a\") permit {SCOPE};\n@id(\"a\") forbid {SCOPE};"),
        "mine.cedar:2:1: the id `a` is used by another policy at mine.cedar:1; give this one an id of its own",
    );
    check(
        "@id(\"a\") permit (principal == ?principal, action, resource);",
        "a template decides nothing here",
    );
    for (annotation, mend) in [
        ("@expires(\"30s\")", "1m to 30d"),
        ("@expires(\"31d\")", "1m to 30d"),
        ("@expires(\"h\")", "1m to 30d"),
        ("@expires(\"99999999999999999999d\")", "1m to 30d"),
        ("@approvals(\"0\")", "1 to 8"),
        ("@approvals(\"9\")", "1 to 8"),
        ("@approvals(\"+2\")", "1 to 8"),
        ("@at_expiry(\"allow\")", "write @at_expiry(\"deny\") or @at_expiry(\"park\")"),
        ("@approvers(\"alice\")", "role:approver, user:alice"),
        ("@approvers(\"\")", "role:approver, user:alice"),
        ("@approvers(\"role:viewer\")", "roles are owner, member and approver"),
        ("@approvers(\"a:1, a:2, a:3, a:4, a:5\")", "at most 4 names"),
        ("@separation(\"me\")", "write @separation(\"any_person\")"),
    ] {
        check(&format!("@id(\"a\")\n{annotation}\npermit {SCOPE};"), "mine.cedar:2:1: @");
        check(&format!("@id(\"a\")\n{annotation}\npermit {SCOPE};"), mend);
    }
    check(
        "@id(\"a\") @approvals(\"2\") forbid (principal, action, resource);",
        "`@approvals` has no effect on this policy; only a permit of Action::\"execute\" can ask; take it out",
    );
}

#[test]
fn what_the_schema_does_not_know_is_a_mistake() {
    let when = |condition: &str| format!("@id(\"a\") permit {SCOPE}\nwhen {{ {condition} }};");
    check(&when("context.risk == \"low\""), "1 policies");
    check(&when("context.rsk == \"low\""), "mine.cedar:2:");
    check(&when("context.rsk == \"low\""), "did you mean `risk`?");
    // The expression of the hint compiles.
    check(&when("context.path.contains(\"a\")"), "did you mean `paths`?");
    // The word is the one of the rule, unless a request never has it.
    for (wrong, word) in [
        ("context.path == \"a\"", "a"),
        ("context.paths == \"a\"", "a"),
        ("context.paths like \"src/*\"", "src/app.py"),
    ] {
        check(&when(wrong), &format!("write `context.paths.contains(\"{word}\")`"));
        check(&when(wrong), "`context.folders.contains(\"src\")` to forbid");
    }
    for (wrong, word) in [
        ("context.folder.contains(\"src\")", "src"),
        ("context.folder.containsAny([\"lib\", \"src\"])", "lib"),
        ("context.folder.contains(\"src/**\")", "src"),
        ("context.folder.contains(\"**\")", "FOLDER"),
    ] {
        check(&when(wrong), &format!("did you mean `folders`? write `context.folders.contains(\"{word}\")`"));
    }
    check(
        "@id(\"a\") permit (principal, action == Action::\"write_file\", resource);",
        "write `resource == Tool::\"write_file\"`",
    );
    check(&when("context.paths.contains(\"src/app.py\")"), "1 policies");
    check(&when("context.touch == \"git\""), "write `context.touches.contains(\"git\")`");
    check(&when("context.touch == \"zzz\""), "write `context.touches.contains(\"outside_root\")`");
    check(&when("context.risk < 3"), "mine.cedar:2:");
    check(&when("context.program == \"git\""), "mine.cedar:2:");
    check(&when("context has program && context.program == \"git\""), "1 policies");
    check(&when("context.args has path && context.args.path like \"docs/*\""), "1 policies");
    check(&when("context.args has argv && context.args.argv.contains(\"x\")"), "1 policies");
    check(&when("context.args has from && context.args.from > 3"), "1 policies");
    check(&when("context.args.no_such > 3"), "mine.cedar:2:");
    // It can never apply, as long as no tool has such an argument: worth a warning, and no mistake.
    check(&when("context.args has no_such && context.args.no_such > 3"), "1 policies");
    check(&when("resource in Capability::\"write_file\""), "mine.cedar:2:");
    check("@id(\"a\") permit (principal, action == Action::\"exec\", resource);", "mine.cedar:1:");
    check("@id(\"a\") permit (principal == Robot::\"x\", action, resource);", "mine.cedar:1:");
}

#[test]
fn a_misspelt_member_is_named_once_for_all_actions() {
    let text = "@id(\"a\") forbid (principal, action, resource)\nwhen { context.rsk == \"low\" };";
    let PolicyMistakes(mistakes) =
        PolicySet::compile(&[PolicyFile::new("mine.cedar", text)], &catalog()).expect_err("a mistake");
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    assert!(mistakes[0].what.contains("`rsk`") && !mistakes[0].what.contains("Action::"), "{mistakes:?}");
}

#[test]
fn one_bad_file_refuses_the_whole_set_and_all_mistakes_are_told() {
    let mut files = PolicyFile::shipped();
    files.push(PolicyFile::new("a.cedar", "permit"));
    files.push(PolicyFile::new("b.cedar", &format!("@id(\"b\") permit {SCOPE} when {{ context.rsk }};")));
    let PolicyMistakes(mistakes) = PolicySet::compile(&files, &catalog()).expect_err("two mistakes");
    let files: Vec<&str> = mistakes.iter().map(|mistake| mistake.file.as_str()).collect();
    assert_eq!(files, ["a.cedar", "b.cedar"]);
    let long = " ".repeat(POLICY_FILE_BYTES_MAX + 1);
    check(&long, "at most 1048576 are read; split it");
}
