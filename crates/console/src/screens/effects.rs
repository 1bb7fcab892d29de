//! The effects whose outcome is not known, and the forms that say what became of them.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_types::access::AccessScope;
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::screen_call::ScreenCall;
use crate::wording::{command, contract_words, id_tag, line, line_or, now_seconds, time_tag};

const EMPTY: &str = "No effect is in doubt.";
const PAGE_ROWS: u32 = 20;
/// Characters of a note, as the operation takes them.
const NOTE_CHARS_MAX: usize = 2_000;

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/effects",
    title: "In doubt",
    navigation: Some(NavigationRow::More),
    operation: "ListEffects",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(&[], "", 0), sentence: EMPTY }),
};

/// An effect whose outcome is not known.
struct DoubtfulEffect {
    effect: v1::EffectInfo,
    /// The token of the form that settles it; `None` for a person who may not.
    form_token: Option<String>,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let request = v1::ListEffectsRequest {
        only: v1::EffectFilter::Unknown.into(),
        page_size: PAGE_ROWS,
        page_token: call.query("after"),
        ..Default::default()
    };
    let list = call.call(request).await?;
    let may_settle = call.has_scope(AccessScope::Runs);
    let with_token = |effect: v1::EffectInfo| {
        let form_token = may_settle.then(|| call.form_token(&settle_path(&effect)));
        DoubtfulEffect { effect, form_token }
    };
    let doubtful: Vec<_> = list.effects.into_iter().map(with_token).collect();
    Ok(view(&doubtful, &list.next_page_token, now_seconds()))
}

fn settle_path(effect: &v1::EffectInfo) -> String {
    format!("/console/runs/{}/effects/{}/settle", effect.run_id, effect.effect_id)
}

fn view(doubtful: &[DoubtfulEffect], next_page_token: &str, now: i64) -> Markup {
    html! {
        @if doubtful.is_empty() {
            p { (EMPTY) " " a href="/console/runs" { "See the runs" } }
        } @else {
            p {
                "These calls began, and their end is not recorded. Look at what they change, then say what became of them. "
                "A run that is still open waits for it."
            }
        }
        @for doubtful in doubtful { (card(doubtful, now)) }
        @if !next_page_token.is_empty() {
            p { a href={ "/console/effects?after=" (next_page_token) } { "Older effects" } }
        }
    }
}

fn card(doubtful: &DoubtfulEffect, now: i64) -> Markup {
    let effect = &doubtful.effect;
    html! {
        section.card {
            h2 { (line_or(&effect.summary, "A call whose words were erased")) }
            (facts(effect, now))
            @match &doubtful.form_token {
                Some(token) => { (form(effect, token)) }
                None => {
                    p.notice { "Your role cannot settle effects. A person with the role member or owner can." }
                }
            }
            (command("In a terminal", &format!("palyra runs effects resolve {} {} happened", effect.run_id, effect.effect_id)))
        }
    }
}

fn facts(effect: &v1::EffectInfo, now: i64) -> Markup {
    html! {
        dl.facts {
            dt { "Tool" } dd { code { (line_or(&effect.tool, "erased")) } }
            dt { "Run" } dd {
                a href={ "/console/runs/" (effect.run_id) } { (id_tag(&effect.run_id)) } ", call " (effect.effect_id)
            }
            dt { "Began" } dd { (time_tag(effect.started.as_ref(), now)) }
            dt { "Its kind" } dd { (contract_words(effect.contract())) }
            @if !effect.error_code.is_empty() { dt { "Code" } dd { code { (line(&effect.error_code)) } } }
            @if !effect.approval_id.is_empty() {
                dt { "Permitted by" } dd {
                    a href={ "/console/approvals/" (effect.approval_id) } { "an approval" }
                }
            }
        }
    }
}

fn form(effect: &v1::EffectInfo, token: &str) -> Markup {
    let note = format!("note-{}-{}", effect.run_id, effect.effect_id);
    let help = format!("help-{}-{}", effect.run_id, effect.effect_id);
    html! {
        form method="post" action=(settle_path(effect)) {
            input type="hidden" name="token" value=(token);
            label for=(note) { "Note" }
            textarea id=(note) name="note" rows="2" maxlength=(NOTE_CHARS_MAX) aria-describedby=(help) {}
            p.muted id=(help) {
                "The model of a run that goes on reads your note. \"It may run again\" says that it did not happen, and that the model may repeat it."
            }
            div.actions {
                button type="submit" name="outcome" value="happened" { "It happened" }
                button type="submit" name="outcome" value="did_not_happen" { "It did not happen" }
                button type="submit" name="outcome" value="retry" { "It may run again" }
            }
        }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let effect = v1::EffectInfo {
        run_id: "R".to_owned(),
        effect_id: 3,
        tool: text.to_owned(),
        summary: text.to_owned(),
        error_code: text.to_owned(),
        approval_id: "A".to_owned(),
        ..Default::default()
    };
    let doubtful = |form_token| DoubtfulEffect { effect: effect.clone(), form_token };
    view(&[doubtful(Some("token".to_owned())), doubtful(None)], "9", 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_person_who_may_settle_an_effect_gets_the_form() {
        let shown = |form_token: Option<&str>| {
            let effect = v1::EffectInfo { run_id: "R".to_owned(), effect_id: 3, ..Default::default() };
            let doubtful = DoubtfulEffect { effect, form_token: form_token.map(str::to_owned) };
            view(&[doubtful], "", 0).into_string()
        };
        let may = shown(Some("token"));
        assert!(may.contains("action=\"/console/runs/R/effects/3/settle\""), "{may}");
        for outcome in ["happened", "did_not_happen", "retry"] {
            assert!(may.contains(&format!("value=\"{outcome}\"")), "{outcome} in {may}");
        }
        let other = shown(None);
        assert!(!other.contains("<form") && other.contains("the role member or owner"), "{other}");
    }
}
