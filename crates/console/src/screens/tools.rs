//! What models may call, and what narrows it: tools, the components among them, and skills.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{bytes, clean_text, count};
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::page_parts::wide_table;
use crate::screen_call::ScreenCall;
use crate::wording::{
    StateMark, command, contract_words, id_tag, line, line_or, now_seconds, risk_mark, spaced, time_tag,
};

const NO_TOOLS: &str = "There is no tool, so models can only answer in words.";
const NO_COMPONENTS: &str = "No component was added.";
const NO_SKILLS: &str = "No skill is installed.";

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/tools",
    title: "Tools",
    navigation: Some(NavigationRow::More),
    operation: "ListTools",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(&[], &[], 0), sentence: NO_TOOLS }),
};

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let tools = call.call(v1::ListToolsRequest {}).await?.tools;
    let skills = call.call(v1::ListSkillsRequest {}).await?.skills;
    Ok(view(&tools, &skills, now_seconds()))
}

fn view(tools: &[v1::Tool], skills: &[v1::Skill], now: i64) -> Markup {
    let components: Vec<_> = tools.iter().filter_map(|tool| tool.component.as_ref()).collect();
    html! {
        @if tools.is_empty() { p { (NO_TOOLS) } } @else { (table(tools)) }
        h2 id="components" { "Components" }
        @if components.is_empty() { p { (NO_COMPONENTS) } }
        ul.rows { @for component in &components { li { (component_row(component, now)) } } }
        h2 id="skills" { "Skills" }
        @if skills.is_empty() { p { (NO_SKILLS) } }
        ul.rows { @for skill in skills { li { (skill_row(skill, now)) } } }
        h2 { "Change them" }
        (command("Add a component, after a look at what it asks for", "palyra tools add ./COMPONENT.wasm"))
        (command("Install a skill from a folder", "palyra tools skills install ./FOLDER"))
        (command("Switch a skill on or off for an agent", "palyra tools skills enable NAME --agent AGENT"))
        (command("Let a tool ask, run or stop everywhere", "palyra policy posture set TOOL ask"))
    }
}

fn table(tools: &[v1::Tool]) -> Markup {
    let rows = html! {
        @for tool in tools { tr {
            td { code { (line(&tool.name)) } div.muted { (line(&tool.description)) } }
            td { (treatment_mark(tool.treatment()).markup()) }
            td { (risk_mark(tool.risk()).markup()) }
            td { (contract_words(tool.contract())) }
            td {
                @if tool.component.is_some() { a href="#components" { "component" } ", " }
                @else { "shipped, " }
                "version " (tool.version)
            }
        } }
    };
    wide_table("Tools", &["Tool", "An ordinary call", "Risk", "After a crash", "Source"], &rows)
}

fn treatment_mark(treatment: v1::ToolTreatment) -> StateMark {
    match treatment {
        v1::ToolTreatment::Runs => StateMark::new("✓", "runs", "positive"),
        v1::ToolTreatment::Asks => StateMark::new("○", "asks a person", "caution"),
        v1::ToolTreatment::Off => StateMark::new("✕", "is denied", "danger"),
        v1::ToolTreatment::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

fn component_row(component: &v1::Component, now: i64) -> Markup {
    html! {
        div { strong { (line(&component.name)) } " - " (line(&component.description)) }
        dl.facts {
            dt { "Reaches" } dd { (line_or(&component.capabilities.join(", "), "nothing")) }
            dt { "SHA-256" } dd { (id_tag(&component.sha256)) ", " (bytes(component.bytes)) }
            dt { "Read from" } dd { code { (line(&component.source)) } }
            dt { "Added" } dd { (time_tag(component.added.as_ref(), now)) " by " (id_tag(&component.added_by)) }
        }
        details { summary { "Its arguments" } pre { (clean_text(&component.schema)) } }
    }
}

fn skill_row(skill: &v1::Skill, now: i64) -> Markup {
    let agents: Vec<_> = skill.agents.iter().map(|agent| agent.agent.as_str()).collect();
    html! {
        div { (skill_mark(skill).markup()) " " strong { (line_or(&skill.name, "erased")) } " - " (line(&skill.description)) }
        dl.facts {
            dt { "Agents" } dd { (line_or(&agents.join(", "), "none")) }
            dt { "Tools it leaves" } dd { (tools_left(skill)) }
            @if !skill.unknown_tools.is_empty() { dt { "Unknown tools" } dd { (unknown_tools(skill)) } }
            dt { "Pinned" } dd { (id_tag(&skill.sha256)) ", " (count(skill.files.into(), "file")) ", " (bytes(skill.bytes)) }
            dt { "Copied from" } dd { code { (line(&skill.source)) } }
            dt { "Installed" } dd { (time_tag(skill.installed.as_ref(), now)) }
        }
    }
}

fn skill_mark(skill: &v1::Skill) -> StateMark {
    match skill.state() {
        v1::SkillState::Enabled => StateMark::new("✓", "on", "positive"),
        v1::SkillState::Disabled => StateMark::new("○", "off", "muted"),
        v1::SkillState::Quarantined => {
            let fault = spaced(skill.fault().short_name());
            StateMark::new("✕", format!("quarantined: a file is {fault}"), "danger")
        }
        v1::SkillState::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

fn tools_left(skill: &v1::Skill) -> String {
    if skill.narrows { line_or(&skill.allowed_tools.join(", "), "none") } else { "all".to_owned() }
}

fn unknown_tools(skill: &v1::Skill) -> Markup {
    html! {
        @for tool in &skill.unknown_tools {
            div.caution {
                "! " (line(&tool.name))
                @if !tool.near.is_empty() { ", perhaps " (line(&tool.near)) }
            }
        }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let component = v1::Component {
        name: text.to_owned(),
        description: text.to_owned(),
        schema: text.to_owned(),
        capabilities: vec![text.to_owned()],
        source: text.to_owned(),
        ..Default::default()
    };
    let tool = v1::Tool {
        name: text.to_owned(),
        description: text.to_owned(),
        component: Some(component),
        ..Default::default()
    };
    let unknown = v1::UnknownTool { name: text.to_owned(), near: text.to_owned() };
    let skill = v1::Skill {
        name: text.to_owned(),
        description: text.to_owned(),
        source: text.to_owned(),
        narrows: true,
        allowed_tools: vec![text.to_owned()],
        unknown_tools: vec![unknown],
        agents: vec![v1::SkillAgent { agent: text.to_owned(), tools_left: Vec::new() }],
        state: v1::SkillState::Quarantined.into(),
        ..Default::default()
    };
    view(&[tool], &[skill], 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_says_whether_it_runs_and_a_quarantined_skill_why() {
        let tool = v1::Tool { treatment: v1::ToolTreatment::Asks.into(), ..Default::default() };
        let skill = v1::Skill {
            state: v1::SkillState::Quarantined.into(),
            fault: v1::SkillFault::Changed.into(),
            ..Default::default()
        };
        let shown = view(&[tool], &[skill], 0).into_string();
        for part in ["asks a person", "quarantined: a file is changed", NO_COMPONENTS, "shipped, version 0"] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }
}
