//! The rules in force, file by file.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{clean_text, count};
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::page_parts::wide_table;
use crate::rule_outline::{RuleEffect, RuleOutline, rules_of};
use crate::screen_call::ScreenCall;
use crate::wording::{StateMark, command, id_tag, line, line_or};

/// In the scope of a rule that lets a call run without a question.
const UNATTENDED: &str = "Action::\"execute_unattended\"";
/// In the scope of a rule that lets it run after a person said yes.
const AFTER_A_YES: &str = "Action::\"execute\"";
const EMPTY: &str = "No rule is in force, so every call is denied.";

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/policies",
    title: "Policies",
    navigation: Some(NavigationRow::More),
    operation: "GetPolicy",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(&v1::GetPolicyResponse::default()), sentence: EMPTY }),
};

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    Ok(view(&call.call(v1::GetPolicyRequest {}).await?))
}

fn view(policy: &v1::GetPolicyResponse) -> Markup {
    html! {
        p { "A call needs a rule that permits it, and no rule that forbids it. Some rules permit it only after a person said yes." }
        @if policy.files.is_empty() { p.notice { (EMPTY) } }
        @else {
            dl.facts {
                dt { "In force" } dd { (count(policy.files.len() as u64, "file")) }
                dt { "Digest" } dd { (id_tag(&policy.digest)) }
            }
        }
        @for file in &policy.files { (section(file)) }
        h2 { "Change them" }
        (command("Check files before they count", "palyra policy check"))
        (command("Compare them with recorded calls", "palyra policy diff --against ./policies --days 30"))
        (command("Put them in force", "palyra config reload"))
        p { "Settings of single tools are on the screen " a href="/console/settings" { "Settings" } "." }
    }
}

fn section(file: &v1::PolicyFile) -> Markup {
    let rules = rules_of(&file.text);
    html! {
        section.card {
            h2 { (line(&file.name)) }
            p.muted {
                (count(rules.len() as u64, "rule")) ", "
                @if file.shipped { "shipped with Palyra" } @else { "your own" }
            }
            @if !rules.is_empty() { (table(&line(&file.name), &rules)) }
            details { summary { "The text of the file" } pre { (clean_text(&file.text)) } }
        }
    }
}

fn table(file: &str, rules: &[RuleOutline]) -> Markup {
    let rows = html! {
        @for rule in rules { tr {
            td { code { (line_or(rule.annotation("id"), "without a name")) } }
            td { (effect_mark(rule).markup()) }
            td { (line_or(rule.annotation("reason"), "no reason given")) (other_annotations(rule)) }
            td {
                code { (line(&rule.scope)) }
                @if !rule.condition.is_empty() { div { code { (line(&rule.condition)) } } }
            }
        } }
    };
    wide_table(&format!("Rules of {file}"), &["Rule", "Effect", "Why", "Applies to"], &rows)
}

/// Returns the annotations that have no column.
fn other_annotations(rule: &RuleOutline) -> Markup {
    let others =
        rule.annotations.iter().filter(|annotation| !["id", "reason"].contains(&annotation.name.as_str()));
    html! {
        @for annotation in others {
            div.muted { code { "@" (line(&annotation.name)) } " " (line(&annotation.value)) }
        }
    }
}

fn effect_mark(rule: &RuleOutline) -> StateMark {
    match rule.effect {
        RuleEffect::Forbid => StateMark::new("✕", "forbids", "danger"),
        RuleEffect::Permit if rule.scope.contains(UNATTENDED) => StateMark::new("✓", "runs", "positive"),
        RuleEffect::Permit if rule.scope.contains(AFTER_A_YES) => StateMark::new("○", "asks", "caution"),
        RuleEffect::Permit => StateMark::new("✓", "permits", "positive"),
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let quoted = text.replace(['\\', '"'], " ");
    let rule = format!(
        "@id(\"{quoted}\") @reason(\"{quoted}\") @approvers(\"{quoted}\") permit (\"{quoted}\") when {{ \"{quoted}\" }};"
    );
    let file = v1::PolicyFile { name: text.to_owned(), text: rule, shipped: true };
    let own = v1::PolicyFile { text: text.to_owned(), shipped: false, ..file.clone() };
    view(&v1::GetPolicyResponse { files: vec![file, own], ..Default::default() })
}
