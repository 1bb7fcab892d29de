//! Names in a workspace behind which something runs later, or is believed.
//!
//! Owns the list of them, for policy, which tells a person, and for components, which may not change what lies there.
//! Invariant: a name is compared as a careless file system would.

/// A name as a careless file system would compare it: without case, without letters that nobody sees, without the
/// dots and spaces at its end, wide letters narrowed.
#[must_use]
pub fn folded(name: &str) -> String {
    let seen = name.chars().filter(|c| !is_unseen(*c)).map(|c| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{2024}' | '\u{3002}' => '.',
        c => c,
    });
    let lower: String = seen.flat_map(char::to_lowercase).collect();
    lower.trim_end_matches(['.', ' ']).to_owned()
}

fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
        || c.is_control()
}

/// Returns whether git keeps its own things under a folded name: hooks and settings, which run commands.
#[must_use]
pub fn is_git(name: &str) -> bool {
    name == ".git" || name == "git~1"
}

/// Returns whether a shell, an editor, a session or a pipeline runs by itself what lies under a folded name, or under
/// that name with the next one below it.
#[must_use]
pub fn runs_later(name: &str, below: Option<&str>) -> bool {
    RUNS_LATER.contains(&name) || below.is_some_and(|below| RUNS_LATER_PAIRS.contains(&(name, below)))
}

/// Returns whether something of what lies in a folder of this folded name runs later, which takes two names to know.
#[must_use]
pub fn leads_to_what_runs_later(name: &str) -> bool {
    RUNS_LATER_PAIRS.iter().any(|(first, _)| *first == name)
}

/// Folders and files that a shell, an editor, a session or a pipeline runs by itself.
const RUNS_LATER: [&str; 40] = [
    ".envrc",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".husky",
    ".mcp.json",
    ".claude",
    ".cursor",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".xprofile",
    ".xinitrc",
    ".xsessionrc",
    ".xsession",
    ".pam_environment",
    ".gitconfig",
    ".gitmodules",
    ".pre-commit-config.yaml",
    ".yarnrc.yml",
    ".mise.toml",
    ".vimrc",
    ".exrc",
    ".emacs",
    ".dir-locals.el",
    ".tmux.conf",
    ".crontab",
];
/// The same, where it takes two names to know it.
const RUNS_LATER_PAIRS: [(&str, &str); 12] = [
    (".config", "fish"),
    (".config", "autostart"),
    (".config", "systemd"),
    (".config", "environment.d"),
    (".config", "git"),
    (".config", "nvim"),
    (".local", "bin"),
    (".github", "workflows"),
    (".github", "actions"),
    (".cargo", "config.toml"),
    (".cargo", "config"),
    (".local", "share"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_one_or_by_two() {
        for spelled in [".ENVRC", ".env\u{200c}rc", "\u{ff0e}envrc", ".envrc. "] {
            assert!(runs_later(&folded(spelled), None), "{spelled:?}");
        }
        assert!(is_git(&folded(".Git")) && !is_git(".gitignore"));
        assert!(runs_later(".github", Some("workflows")) && leads_to_what_runs_later(".github"));
        assert!(!runs_later(".github", Some("README.md")) && !runs_later(".github", None));
        assert!(!leads_to_what_runs_later("src"));
    }
}
