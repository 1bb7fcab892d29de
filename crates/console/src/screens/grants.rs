//! What was approved beyond one call: the grants, rules of projects, how they were used, and how each ends.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::count;
use palyra_types::access::AccessScope;
use palyra_wire::v1;
use palyra_wire::v1::argument_rule::Shape;

use super::{NavigationRow, ScreenSpec};
use crate::screen_call::ScreenCall;
use crate::wording::{id_tag, line, now_seconds, time_tag};

const EMPTY: &str = "No grant is in force: every call that needs an approval asks.";
/// Grants of a page; the newest.
const ROWS_MAX: usize = 200;

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/grants",
    title: "Grants",
    navigation: Some(NavigationRow::More),
    operation: "ListGrants",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(&[], &[], false, 0), sentence: EMPTY }),
};

/// A grant with the token of the form that ends it; `None` for one that is over, or a person who may not.
struct ShownGrant {
    grant: v1::StoredGrant,
    token: Option<String>,
}

/// A file of a project that is accepted, with the token of the form that ends it; `None` for a person who may not.
struct ShownRules {
    accepted: v1::AcceptedProjectRules,
    token: Option<String>,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let all = call.query("only") == "all";
    let list = call.call(v1::ListGrantsRequest { all }).await?;
    let may_revoke = call.has_scope(AccessScope::Runs);
    let shown = |grant: v1::StoredGrant| {
        let is_open = grant.revoked.is_none() && !is_used_up(&grant);
        let token = (may_revoke && is_open).then(|| call.form_token(&revoke_path(&grant)));
        ShownGrant { grant, token }
    };
    let grants: Vec<ShownGrant> = list.grants.into_iter().rev().take(ROWS_MAX).map(shown).collect();
    let rules = call.call(v1::ListProjectRulesRequest::default()).await?.accepted;
    let mut shown_rules = Vec::new();
    for accepted in rules.into_iter().rev().take(ROWS_MAX) {
        let token = may_revoke.then(|| call.form_token(&withdraw_path(&accepted)));
        shown_rules.push(ShownRules { accepted, token });
    }
    Ok(view(&grants, &shown_rules, all, now_seconds()))
}

fn revoke_path(grant: &v1::StoredGrant) -> String {
    format!("/console/grants/{}/revoke", grant.grant_id)
}

fn withdraw_path(accepted: &v1::AcceptedProjectRules) -> String {
    format!("/console/project-rules/{}/withdraw", accepted.seq)
}

fn is_used_up(grant: &v1::StoredGrant) -> bool {
    grant.uses_max > 0 && grant.uses >= grant.uses_max
}

fn view(grants: &[ShownGrant], rules: &[ShownRules], all: bool, now: i64) -> Markup {
    html! {
        p {
            "Show: "
            a href="/console/grants" aria-current=[(!all).then_some("true")] { "in force" } " "
            a href="/console/grants?only=all" aria-current=[all.then_some("true")] { "all" }
        }
        @if grants.is_empty() { p { (EMPTY) " " a href="/console" { "See what waits" } } }
        @for shown in grants { (card(shown, now)) }
        @for shown in rules { (rules_card(shown, now)) }
    }
}

fn rules_card(shown: &ShownRules, now: i64) -> Markup {
    let accepted = &shown.accepted;
    html! {
        section.card {
            h2 { "Rules of a project" }
            dl.facts {
                dt { "File" } dd { code { (line(&accepted.path)) } " in " code { (line(&accepted.workspace_root)) } }
                dt { "SHA-256" } dd { code { (line(&accepted.sha256)) } }
                dt { "Accepted" } dd { (time_tag(accepted.accepted.as_ref(), now)) }
            }
            @if let Some(token) = &shown.token {
                form method="post" action=(withdraw_path(accepted)) {
                    input type="hidden" name="token" value=(token);
                    div.actions { button.danger type="submit" { "Take this file as data again" } }
                }
            }
        }
    }
}

fn card(shown: &ShownGrant, now: i64) -> Markup {
    let grant = &shown.grant;
    html! {
        section.card {
            h2 { "Calls of " code { (line(&grant.tool)) } " without asking" }
            dl.facts {
                dt { "Where" } dd {
                    @if grant.any_workspace { "in every folder" } @else { code { (line(&grant.workspace)) } }
                    @if grant.session_id.is_empty() { ", every conversation" } @else {
                        ", in " a href={ "/console/sessions/" (grant.session_id) } { "one conversation" }
                    }
                }
                dt { "Arguments" } dd { @for rule in &grant.rules { div { (rule_words(rule)) } } }
                dt { "Used" } dd {
                    (count(grant.uses.into(), "time"))
                    @if grant.uses_max > 0 { " of " (grant.uses_max) }
                }
                dt { "Given" } dd {
                    (time_tag(grant.created.as_ref(), now)) " with "
                    a href={ "/console/approvals/" (grant.approval_id) } { "an approval" }
                }
                @if grant.expires.is_some() { dt { "Ends" } dd { (time_tag(grant.expires.as_ref(), now)) } }
                @if grant.revoked.is_some() { dt { "Revoked" } dd { (time_tag(grant.revoked.as_ref(), now)) } }
                dt { "Grant" } dd { (id_tag(&grant.grant_id)) }
            }
            @if let Some(token) = &shown.token {
                form method="post" action=(revoke_path(grant)) {
                    input type="hidden" name="token" value=(token);
                    div.actions { button.danger type="submit" { "Revoke this grant" } }
                }
            }
        }
    }
}

fn rule_words(rule: &v1::ArgumentRule) -> String {
    let argument = line(&rule.argument);
    match &rule.shape {
        Some(Shape::Equal(value)) => format!("{argument} is {}", line(value)),
        Some(Shape::Beneath(path)) => format!("{argument} is at or below {}", line(path)),
        Some(Shape::Origin(origin)) => format!("{argument} is an address of {}", line(origin)),
        Some(Shape::Any(_)) => format!("{argument} is anything"),
        None => format!("{argument}: not known"),
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let rule = |shape| v1::ArgumentRule { argument: text.to_owned(), shape: Some(shape) };
    let rules = vec![
        rule(Shape::Equal(text.to_owned())),
        rule(Shape::Beneath(text.to_owned())),
        rule(Shape::Any(true)),
    ];
    let grant = v1::StoredGrant {
        tool: text.to_owned(),
        workspace: text.to_owned(),
        rules,
        uses_max: 3,
        ..Default::default()
    };
    let accepted = v1::AcceptedProjectRules {
        workspace_root: text.to_owned(),
        path: text.to_owned(),
        sha256: text.to_owned(),
        ..Default::default()
    };
    let token = || Some("token".to_owned());
    view(&[ShownGrant { grant, token: token() }], &[ShownRules { accepted, token: token() }], false, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_says_what_it_covers_and_one_that_is_over_has_no_button() {
        let rule =
            v1::ArgumentRule { argument: "path".to_owned(), shape: Some(Shape::Beneath("src".to_owned())) };
        assert_eq!(rule_words(&rule), "path is at or below src");
        let grant = v1::StoredGrant { uses: 2, uses_max: 2, ..Default::default() };
        assert!(is_used_up(&grant) && !is_used_up(&v1::StoredGrant { uses: 9, ..Default::default() }));
        let over = view(&[ShownGrant { grant, token: None }], &[], true, 0).into_string();
        assert!(!over.contains("<form") && over.contains("2 times of 2"), "{over}");
    }
}
