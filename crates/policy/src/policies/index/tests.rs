//! The slice decides as the whole set does, on random sets.

use std::collections::BTreeSet;

use cedar_policy::{Context, Entity, EntityUid, RestrictedExpression};
use proptest::prelude::*;

use super::*;

fn uid(text: &str) -> EntityUid {
    text.parse().expect("a name of an entity")
}

/// Tools 0 to 5; groups 0 to 3, of which 2 holds 0 and 3 holds 2; the action `b` lies in the action group `all`.
fn entities(memberships: &[Vec<usize>]) -> Entities {
    let group = |at: usize| uid(&format!("Group::\"{at}\""));
    let mut all = vec![
        Entity::new_with_tags(group(0), [], [group(2)], []).expect("an entity"),
        Entity::new_with_tags(group(2), [], [group(3)], []).expect("an entity"),
        Entity::new_with_tags(uid("Action::\"b\""), [], [uid("Action::\"all\"")], []).expect("an entity"),
    ];
    for (at, groups) in memberships.iter().enumerate() {
        let parents = groups.iter().map(|at| group(*at));
        all.push(Entity::new_with_tags(uid(&format!("Tool::\"{at}\"")), [], parents, []).expect("an entity"));
    }
    Entities::from_entities(all, None).expect("entities")
}

fn policy() -> impl Strategy<Value = String> {
    let effect = prop_oneof![3 => Just("permit"), 1 => Just("forbid")];
    let principal = prop::sample::select(vec!["principal", "principal == User::\"u\"", "principal is Robot"]);
    let action = prop::sample::select(vec![
        "action",
        "action == Action::\"a\"",
        "action == Action::\"b\"",
        "action in [Action::\"a\", Action::\"c\"]",
        "action in Action::\"all\"",
        "action in Action::\"b\"",
    ]);
    let resource = (0..6_usize, 0..4_usize, 0..7_usize).prop_map(|(tool, group, form)| match form {
        0 => "resource".to_owned(),
        1 => "resource is Tool".to_owned(),
        2 => "resource is Group".to_owned(),
        3 => format!("resource == Tool::\"{tool}\""),
        4 => format!("resource in Group::\"{group}\""),
        5 => format!("resource is Tool in Group::\"{group}\""),
        _ => format!("resource in Tool::\"{tool}\""),
    });
    let condition = prop::sample::select(vec![
        "",
        "when { context.n > 1 }",
        "when { context.n < 2 }",
        "unless { context.n == 1 }",
        // The one cannot be evaluated at all, the other only where the first half holds.
        "when { context.missing }",
        "when { context.n == 2 && context.missing == 1 }",
        "when { resource in Group::\"3\" }",
    ]);
    (effect, principal, action, resource, condition).prop_map(
        |(effect, principal, action, resource, condition)| {
            format!("{effect} ({principal}, {action}, {resource}) {condition};")
        },
    )
}

fn told(response: &Response) -> (cedar_policy::Decision, BTreeSet<String>, BTreeSet<String>) {
    let reasons = response.diagnostics().reason().map(ToString::to_string).collect();
    let errors = response.diagnostics().errors().map(ToString::to_string).collect();
    (response.decision(), reasons, errors)
}

proptest! {
    #[test]
    fn an_index_decides_as_the_whole_set_does(
        policies in prop::collection::vec(policy(), 0..24),
        memberships in prop::collection::vec(prop::collection::vec(0..4_usize, 0..3), 6),
        n in 0..4_i64,
    ) {
        let set: PolicySet = policies.join("\n").parse().expect("policies");
        let index = PolicyIndex::new(&set).expect("static policies");
        let entities = entities(&memberships);
        let mut left_out = 0;
        for action in ["a", "b", "c"] {
            for resource in ["Tool::\"0\"", "Tool::\"5\"", "Tool::\"unknown\"", "Group::\"2\""] {
                let context = Context::from_pairs([("n".to_owned(), RestrictedExpression::new_long(n))]).unwrap();
                let action = uid(&format!("Action::\"{action}\""));
                let request = Request::new(uid("User::\"u\""), action, uid(resource), context, None).unwrap();
                let whole = Authorizer::new().is_authorized(&request, &set, &entities);
                let indexed = index.is_authorized(&request, &entities);
                prop_assert_eq!(told(&whole), told(&indexed), "{} {}", resource, policies.join("\n"));
                left_out += set.num_of_policies() - index.slice_of(&request, &entities).num_of_policies();
            }
        }
        prop_assert!(policies.len() < 20 || left_out > 0, "the index leaves nothing out");
    }
}

#[test]
fn linked_templates_are_refused() {
    let mut set: PolicySet =
        "permit (principal == ?principal, action, resource);".parse().expect("a template");
    let id = set.templates().next().expect("one").id().clone();
    assert!(PolicyIndex::new(&set).expect("a template decides nothing").is_empty());
    let slot = [(cedar_policy::SlotId::principal(), uid("User::\"u\""))].into_iter().collect();
    set.link(id, cedar_policy::PolicyId::new("linked"), slot).expect("a link");
    assert_eq!(PolicyIndex::new(&set).err().map(|error| error.policy), Some("linked".to_owned()));
}
