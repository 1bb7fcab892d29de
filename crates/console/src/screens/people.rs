//! The people and programs that may use the daemon, and their tokens.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::page_parts::wide_table;
use crate::screen_call::ScreenCall;
use crate::wording::{StateMark, command, id_tag, line_or, now_seconds, spaced, time_tag};

const NO_TOKENS: &str = "There is no token.";

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/people",
    title: "People",
    navigation: Some(NavigationRow::More),
    operation: "ListPeople",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(&[], &[], 0), sentence: NO_TOKENS }),
};

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let people = call.call(v1::ListPeopleRequest {}).await?.people;
    let tokens = call.call(v1::ListTokensRequest {}).await?.tokens;
    Ok(view(&people, &tokens, now_seconds()))
}

fn view(people: &[v1::Person], tokens: &[v1::Token], now: i64) -> Markup {
    html! {
        (people_table(people, now))
        (command("Let another person in, with a link to this console", "palyra admin people invite user:NAME --role member"))
        (command("Change a role", "palyra admin people role user:NAME viewer"))
        (command("Stop every credential of a person", "palyra admin people disable user:NAME"))
        h2 { "Tokens" }
        p { "Programs use tokens. The text of a token is shown once, when it is made, and a token never decides approvals." }
        @if tokens.is_empty() { p { (NO_TOKENS) } } @else { (tokens_table(tokens, now)) }
        (command("Make one", "palyra admin tokens create user:NAME --label laptop --days 90"))
        (command("Stop one", "palyra admin tokens revoke TOKEN"))
    }
}

fn people_table(people: &[v1::Person], now: i64) -> Markup {
    let rows = html! {
        @for person in people { tr {
            td { strong { (line_or(&person.name, "erased")) } }
            td { (spaced(person.role().short_name())) }
            td { (spaced(person.kind().short_name())) }
            td { (person_state(person, now)) }
            td { (id_tag(&person.principal_id)) }
        } }
    };
    wide_table("People", &["Name", "Role", "Kind", "State", "Id"], &rows)
}

fn person_state(person: &v1::Person, now: i64) -> Markup {
    if person.disabled.is_none() {
        return StateMark::new("✓", "active", "positive").markup();
    }
    html! {
        (StateMark::new("■", "disabled", "muted").markup()) " " (time_tag(person.disabled.as_ref(), now))
    }
}

fn tokens_table(tokens: &[v1::Token], now: i64) -> Markup {
    let rows = html! {
        @for token in tokens { tr {
            td { (id_tag(&token.token_id)) }
            td { (line_or(&token.label, "none")) div.muted { (spaced(token.kind().short_name())) } }
            td { (line_or(&token.principal, "erased")) }
            td { (scopes(token)) }
            td { (token_state(token, now)) }
            td { (time_tag(token.created.as_ref(), now)) }
        } }
    };
    wide_table("Tokens", &["Token", "Label", "Person", "Scopes", "State", "Made"], &rows)
}

fn scopes(token: &v1::Token) -> String {
    let names: Vec<_> = token.scopes().map(|scope| spaced(scope.short_name())).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn token_state(token: &v1::Token, now: i64) -> Markup {
    let is_over = token.expires.is_some_and(|expires| expires.seconds <= now);
    let (mark, word, time) = match (&token.revoked, is_over) {
        (Some(revoked), _) => (StateMark::new("■", "revoked", "muted"), " ", Some(revoked)),
        (None, true) => (StateMark::new("■", "expired", "muted"), " ", token.expires.as_ref()),
        (None, false) => (StateMark::new("✓", "works", "positive"), ", ends ", token.expires.as_ref()),
    };
    html! { (mark.markup()) (word) (time_tag(time, now)) }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let time = Some(prost_types::Timestamp { seconds: 5, nanos: 0 });
    let person = v1::Person { name: text.to_owned(), disabled: time, ..Default::default() };
    let token = v1::Token {
        label: text.to_owned(),
        principal: text.to_owned(),
        expires: time,
        scopes: vec![v1::TokenScope::Runs.into()],
        ..Default::default()
    };
    view(&[person], &[token], 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_works_until_it_ends_or_is_revoked() {
        let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let shown = |token: v1::Token| token_state(&token, 1_000).into_string();
        let working = v1::Token { expires: at(1_060), ..Default::default() };
        assert!(shown(working.clone()).contains("works"), "{}", shown(working.clone()));
        assert!(shown(v1::Token { revoked: at(900), ..working.clone() }).contains("revoked"));
        assert!(shown(v1::Token { expires: at(1_000), ..working }).contains("expired"));
    }

    #[test]
    fn a_disabled_person_is_marked() {
        let person = v1::Person { disabled: Some(prost_types::Timestamp::default()), ..Default::default() };
        assert!(person_state(&person, 0).into_string().contains("disabled"));
        assert!(person_state(&v1::Person::default(), 0).into_string().contains("active"));
    }
}
