//! What an agent is, in lines, and which one a name means.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::listed_name::{ListedName, listed_name};

const TEXT_CHARS_MAX: usize = 400;

/// Returns a line for each thing that is known of an agent.
pub fn agent_lines(agent: &v1::Agent) -> impl Iterator<Item = String> {
    let tools = match (agent.only_these_tools, agent.tools.as_slice()) {
        (false, _) => "all".to_owned(),
        (true, []) => "none".to_owned(),
        (true, names) => names.join(", "),
    };
    let roots = match agent.workspace_roots.as_slice() {
        [] => "none: a run that does not come over the socket gets a folder of its session".to_owned(),
        roots => roots.join(", "),
    };
    let model = if agent.model.is_empty() { "the default" } else { &agent.model };
    let lines = [
        ("agent", agent.name.clone()),
        ("id", agent.agent_id.clone()),
        ("state", if agent.archived { "archived" } else { "in use" }.to_owned()),
        ("model", model.to_owned()),
        ("recall", agent.recall().short_name().to_owned()),
        ("tools", clean_line(&tools, TEXT_CHARS_MAX)),
        ("roots", clean_line(&roots, TEXT_CHARS_MAX)),
        ("says", clean_line(&agent.instructions, TEXT_CHARS_MAX)),
    ];
    let known = lines.into_iter().filter(|(_, value)| !value.is_empty());
    known.map(|(name, value)| format!("{name:<10}{value}"))
}

/// Returns an agent as a row of a list.
#[must_use]
pub fn agent_row(agent: v1::Agent) -> [String; 5] {
    let state = if agent.archived { "archived" } else { "" };
    [agent.name, short_id(&agent.agent_id), state.to_owned(), agent.model, agent.instructions]
}

/// Returns the agent of this name or id, of several of one name the one that is not archived; where there is none, the one
/// whose id begins or ends so.
///
/// # Errors
/// What to say where a part of an id fits several, and nothing where no agent is named so.
pub fn agent_named(named: &str, mut agents: Vec<v1::Agent>) -> Result<v1::Agent, Option<String>> {
    agents.sort_by_key(|agent| agent.archived);
    if let Some(at) = agents.iter().position(|agent| agent.name == named || agent.agent_id == named) {
        return Ok(agents.swap_remove(at));
    }
    let Ok(name) = named.parse() else { return Err(None) };
    let things = agents.iter().map(|agent| (agent.agent_id.clone(), agent.name.clone()));
    match listed_name("agent", &name, things) {
        ListedName::One(id) => agents.into_iter().find(|agent| agent.agent_id == id).ok_or(None),
        ListedName::Several(told) => Err(Some(told)),
        ListedName::Nothing => Err(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_named_by_what_the_list_shows_of_its_id_where_no_name_fits() {
        let agent = |id: &str, name: &str| v1::Agent {
            agent_id: id.to_owned(),
            name: name.to_owned(),
            ..Default::default()
        };
        let agents =
            || vec![agent("01JGFJJZ01FE6VV7Z4V1PAK2Z9", "main"), agent("01JGFJJZ00FE6VV7Z4V1SP3JT5", "last")];
        for (named, name) in
            [("PAK2Z9", "main"), ("pak2", "main"), ("main", "main"), ("last", "last"), ("3JT5", "last")]
        {
            assert_eq!(agent_named(named, agents()).map(|agent| agent.name).as_deref(), Ok(name), "{named}");
        }
        assert!(
            matches!(agent_named("01JG", agents()), Err(Some(told)) if told.contains("more than one agent"))
        );
        assert_eq!(agent_named("none", agents()), Err(None));
    }

    #[test]
    fn an_agent_without_settings_says_what_it_takes() {
        let agent = v1::Agent {
            name: "main".to_owned(),
            recall: v1::RecallSwitch::Inherit.into(),
            ..Default::default()
        };
        let lines: Vec<String> = agent_lines(&agent).collect();
        assert_eq!(lines[..3], ["agent     main", "state     in use", "model     the default"]);
        assert_eq!(lines[3..5], ["recall    inherit", "tools     all"]);
    }
}
