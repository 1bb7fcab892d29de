//! What an agent is, in lines.

use palyra_screen_text::clean_line;
use palyra_wire::v1;

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

#[cfg(test)]
mod tests {
    use super::*;

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
