//! Which names are free: a component takes no other tool's name, no word of Palyra's own, and none that a person could
//! take for one.

use palyra_types::reserved_names::RESERVED_TOOL_NAMES;
use palyra_types::tool::ToolName;

use crate::component_error::ComponentError;

/// Whether a component of this very name is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameState {
    /// None is.
    New,
    /// One is, and would be removed.
    Replaces,
}

/// Checks a name against those of all tools.
pub(super) fn check<'n>(
    name: &ToolName,
    standing: NameState,
    tools: impl Iterator<Item = &'n ToolName>,
) -> Result<(), ComponentError> {
    let looks = look_of(name.as_str());
    if RESERVED_TOOL_NAMES.iter().any(|reserved| look_of(reserved) == looks) {
        return Err(ComponentError::Reserved { name: name.to_string() });
    }
    for tool in tools {
        if tool == name {
            if standing == NameState::Replaces {
                continue;
            }
            return Err(ComponentError::NameTaken { name: name.to_string() });
        }
        if look_of(tool.as_str()) == looks {
            return Err(ComponentError::Twin { name: name.to_string(), twin: tool.to_string() });
        }
    }
    Ok(())
}

/// Returns what is left of a name when what looks alike is the same. Names are of small letters, digits and `_`.
fn look_of(name: &str) -> String {
    let alike = |c: char| match c {
        '0' => 'o',
        '1' | 'i' => 'l',
        '5' => 's',
        '8' => 'b',
        other => other,
    };
    let plain: String = name.chars().filter(|c| *c != '_').map(alike).collect();
    plain.replace("rn", "m").replace("vv", "w").replace("cl", "d")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_and_names_that_are_taken_are_refused() {
        let tools = ["read_file", "list_dir", "http_fetch", "own_one"].map(ToolName::new);
        let checked = |name: &str| {
            let standing = if name == "own_one" { NameState::Replaces } else { NameState::New };
            check(&ToolName::new(name), standing, tools.iter())
        };
        for name in ["read_file", "http_fetch"] {
            assert!(matches!(checked(name), Err(ComponentError::NameTaken { .. })), "{name}");
        }
        for name in ["readfile", "read__file", "llst_dir", "l1st_dir", "list_clir", "ownone"] {
            assert!(matches!(checked(name), Err(ComponentError::Twin { .. })), "{name}");
        }
        for name in ["own_one", "read_files", "word_count"] {
            assert_eq!(checked(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn words_of_palyra_itself_are_no_names_of_components() {
        let tools = [ToolName::new("read_file")];
        for name in ["approve", "appr0ve", "yes", "run", "policy", "system", "vau1t"] {
            let refused = check(&ToolName::new(name), NameState::New, tools.iter()).expect_err(name);
            assert!(refused.to_string().contains("take another name"), "{refused}");
        }
        for name in ["approver", "run_tests", "policy_lint"] {
            assert_eq!(check(&ToolName::new(name), NameState::New, tools.iter()), Ok(()), "{name}");
        }
    }
}
