//! How the daemon is set up: its configuration, the settings of single tools, its secrets by name, and its checks.

mod vault;

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{count, short_id};
use palyra_wire::v1;
use palyra_wire::v1::posture_scope::Place;

use self::vault::{VaultFacts, read_vault, vault_section};
use super::status::check_row;
use super::{NavigationRow, ScreenSpec};
use crate::page_parts::wide_table;
use crate::screen_call::ScreenCall;
use crate::wording::{StateMark, command, id_tag, line, line_or, now_seconds, time_tag};

const NO_POSTURES: &str = "No tool has a setting of its own, so the policies decide.";
/// The origin of a value that nothing sets.
const DEFAULT_ORIGIN: &str = "default";
/// The value of `show` with which defaults are listed, too.
const ALL: &str = "all";

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/settings",
    title: "Settings",
    navigation: Some(NavigationRow::More),
    operation: "GetConfig",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView {
        view: || view(&DaemonSettings::default(), ShownValues::Changed, 0),
        sentence: NO_POSTURES,
    }),
};

/// Which values of the configuration are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShownValues {
    /// Those that something sets.
    Changed,
    All,
}

/// What the page shows.
#[derive(Default)]
struct DaemonSettings {
    config: v1::GetConfigResponse,
    postures: v1::ListPosturesResponse,
    vault: VaultFacts,
    checks: Vec<v1::Check>,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let settings = DaemonSettings {
        config: call.call(v1::GetConfigRequest {}).await?,
        postures: call.call(v1::ListPosturesRequest {}).await?,
        vault: read_vault(&call).await,
        checks: call.call(v1::GetStatusRequest {}).await?.checks,
    };
    let shown = if call.query("show") == ALL { ShownValues::All } else { ShownValues::Changed };
    Ok(view(&settings, shown, now_seconds()))
}

fn view(settings: &DaemonSettings, shown: ShownValues, now: i64) -> Markup {
    html! {
        h2 { "Checks" }
        (checks(&settings.checks))
        h2 { "Configuration" }
        (configuration(&settings.config, shown))
        h2 { "Settings of tools" }
        (postures(&settings.postures, now))
        h2 { "Secrets" }
        (vault_section(&settings.vault, now))
    }
}

/// Returns the checks that need attention; the others are on the screen of the status.
fn checks(checks: &[v1::Check]) -> Markup {
    let open: Vec<_> = checks.iter().filter(|check| check.level() != v1::CheckLevel::Ok).collect();
    let passed = checks.len() - open.len();
    html! {
        ul.rows { @for check in &open { li { (check_row(check)) } } }
        p { (count(passed as u64, "check")) " found nothing to do. " a href="/console/status" { "See every check" } }
    }
}

fn configuration(config: &v1::GetConfigResponse, shown: ShownValues) -> Markup {
    let is_shown = |value: &&v1::ConfigValue| shown == ShownValues::All || value.origin != DEFAULT_ORIGIN;
    let values: Vec<_> = config.values.iter().filter(is_shown).collect();
    html! {
        p {
            @match shown {
                ShownValues::Changed => {
                    (count(values.len() as u64, "setting")) " of " (config.values.len()) " differ from their defaults. "
                    a href={ "/console/settings?show=" (ALL) } { "Show all" }
                }
                ShownValues::All => { a href="/console/settings" { "Show only those that are set" } }
            }
        }
        @if !values.is_empty() { (values_table(&values)) }
        p.muted { "Digest " (id_tag(&config.digest)) }
        (command("What each setting means", "palyra config schema"))
        (command("Put a changed file in force", "palyra config reload"))
    }
}

fn values_table(values: &[&v1::ConfigValue]) -> Markup {
    let rows = html! {
        @for value in values { tr {
            td { code { (line(&value.key)) } }
            td { code { (line(&value.value)) } }
            td { (line(&value.origin)) }
        } }
    };
    wide_table("Configuration", &["Setting", "Value", "Set by"], &rows)
}

fn postures(list: &v1::ListPosturesResponse, now: i64) -> Markup {
    html! {
        @if list.unreadable {
            p.notice.danger { "The settings of the journal cannot be read, so every call is denied." }
        }
        @if list.postures.is_empty() { p { (NO_POSTURES) } }
        @else { (postures_table(&list.postures, now)) }
        (command("Change one", "palyra policy posture set TOOL always_allow|ask|disabled"))
    }
}

fn postures_table(postures: &[v1::Posture], now: i64) -> Markup {
    let rows = html! {
        @for posture in postures { tr {
            td { code { (line_or(&posture.tool, "every tool: its name was erased")) } }
            td { (posture_mark(posture.posture()).markup()) }
            td { (place(posture)) }
            td { (set_by(posture, now)) }
        } }
    };
    wide_table("Settings of tools", &["Tool", "Its calls", "Where", "Set by"], &rows)
}

fn posture_mark(posture: v1::PostureSetting) -> StateMark {
    match posture {
        v1::PostureSetting::AlwaysAllow => StateMark::new("✓", "run without asking", "positive"),
        v1::PostureSetting::Ask => StateMark::new("○", "ask a person", "caution"),
        v1::PostureSetting::Disabled => StateMark::new("✕", "are denied", "danger"),
        v1::PostureSetting::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

fn place(posture: &v1::Posture) -> String {
    match posture.scope.as_ref().and_then(|scope| scope.place.as_ref()) {
        None => "everywhere".to_owned(),
        Some(Place::Agent(agent)) => format!("agent {}", line(agent)),
        Some(Place::Workspace(folder)) => format!("folder {}", line(folder)),
        Some(Place::Session(session)) => format!("session {}", short_id(&session.session_id)),
    }
}

fn set_by(posture: &v1::Posture, now: i64) -> Markup {
    html! {
        @match posture.seq {
            None => { "the configuration" }
            Some(seq) => {
                (line_or(&posture.set_by_name, "a person who is not known")) ", " (time_tag(posture.set.as_ref(), now))
                div.muted { "entry " (seq) }
            }
        }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let foreign = || text.to_owned();
    let posture = |place: Option<Place>| v1::Posture {
        tool: foreign(),
        scope: Some(v1::PostureScope { place }),
        seq: Some(4),
        set_by_name: foreign(),
        ..Default::default()
    };
    let value = v1::ConfigValue { key: foreign(), value: foreign(), origin: foreign() };
    let secret = v1::Secret {
        name: foreign(),
        hosts: vec![foreign()],
        sent_as: foreign(),
        principals: vec![foreign()],
        ..Default::default()
    };
    let vault = v1::Vault { locked: foreign(), damaged: vec![foreign()], ..Default::default() };
    let check = v1::Check { name: foreign(), found: foreign(), mend: foreign(), ..Default::default() };
    let places = [Place::Agent(foreign()), Place::Workspace(foreign())];
    let settings = DaemonSettings {
        config: v1::GetConfigResponse { values: vec![value], ..Default::default() },
        postures: v1::ListPosturesResponse {
            postures: places.map(|place| posture(Some(place))).to_vec(),
            unreadable: true,
        },
        vault: VaultFacts { vault, secrets: vec![secret], refusal: None },
        checks: vec![check],
    };
    view(&settings, ShownValues::All, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_listed_on_demand_and_checks_that_passed_are_counted() {
        let value = |key: &str, origin: &str| v1::ConfigValue {
            key: key.to_owned(),
            origin: origin.to_owned(),
            ..Default::default()
        };
        let check = |name: &str, level: v1::CheckLevel| v1::Check {
            name: name.to_owned(),
            level: level.into(),
            ..Default::default()
        };
        let values = vec![value("http.listen", "default"), value("model.default", "palyra.toml:3")];
        let settings = DaemonSettings {
            config: v1::GetConfigResponse { values, ..Default::default() },
            checks: vec![check("disk_space", v1::CheckLevel::Warning), check("clock", v1::CheckLevel::Ok)],
            ..Default::default()
        };
        let changed = view(&settings, ShownValues::Changed, 0).into_string();
        assert!(changed.contains("model.default") && !changed.contains("http.listen"), "{changed}");
        assert!(changed.contains("disk space") && changed.contains("1 check found"), "{changed}");
        assert!(view(&settings, ShownValues::All, 0).into_string().contains("http.listen"));
    }
}
