//! Which settings of a git repository make git run something.
//!
//! Owns a short list of settings that do not, and a reader that knows less than git's: whatever it does not
//! understand counts as a risk. Invariant: no text that git reads as a setting is passed over. Source: git-config(1).

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// What a settings file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingsKind<'p> {
    /// The settings of a repository whose git folder lies at this path of the workspace.
    Repository(&'p Path),
    /// `.gitmodules`, which names submodules.
    Modules,
}

/// Returns the settings that are not known to be harmless, each as `section.key=value`.
pub(crate) fn risks(bytes: &[u8], kind: SettingsKind<'_>) -> BTreeSet<String> {
    let unreadable = |why: &str| BTreeSet::from([format!("unreadable: {why}")]);
    let Ok(text) = std::str::from_utf8(bytes) else { return unreadable("not UTF-8") };
    // A continued line and an escaped quotation mark would take git's own reader to be understood.
    if let Some(odd) = text.chars().find(|c| matches!(c, '\\' | '\r' | '\0' | '\u{feff}')) {
        return unreadable(&odd.escape_default().to_string());
    }
    let (mut found, mut section) = (BTreeSet::new(), None);
    for line in text.lines() {
        let mut rest = line.trim();
        while let Some(header) = rest.strip_prefix('[') {
            let Some((named, after)) = section_of(header) else { return unreadable(rest) };
            (section, rest) = (Some(named), after.trim_start());
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        let Some((section, below)) = &section else { return unreadable(rest) };
        let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        let setting = ConfigSetting { section, below: below.as_deref(), key: &key, value };
        if !setting.is_harmless(kind) {
            let below = below.as_ref().map_or(String::new(), |below| format!(".{below}"));
            found.insert(format!("{section}{below}.{key}={value}"));
        }
    }
    found
}

type SectionName = (String, Option<String>);

/// Reads what follows the opening bracket of a section; returns its name and the rest of the line.
fn section_of(text: &str) -> Option<(SectionName, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '.'))?;
    let (name, rest) = text.split_at(end);
    let name = name.to_ascii_lowercase();
    if let Some(rest) = rest.strip_prefix(']') {
        // The old spelling of a section with a name below it.
        let named = match name.split_once('.') {
            Some((section, below)) => (section.to_owned(), Some(below.to_owned())),
            None => (name, None),
        };
        return Some((named, rest));
    }
    let (below, rest) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    Some(((name, Some(below.to_owned())), rest.strip_prefix(']')?))
}

struct ConfigSetting<'s> {
    section: &'s str,
    below: Option<&'s str>,
    key: &'s str,
    value: &'s str,
}

impl ConfigSetting<'_> {
    fn is_harmless(&self, kind: SettingsKind<'_>) -> bool {
        const CORE: [&str; 10] = [
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "symlinks",
            "ignorecase",
            "precomposeunicode",
            "autocrlf",
            "eol",
            "safecrlf",
        ];
        const REMOTE: [&str; 4] = ["fetch", "push", "tagopt", "prune"];
        const BRANCH: [&str; 5] = ["remote", "merge", "rebase", "description", "pushremote"];
        const SUBMODULE: [&str; 5] = ["active", "branch", "ignore", "shallow", "fetchrecursesubmodules"];
        let below_is_plain = self.below.is_none_or(|below| !below.split('/').any(|part| part == ".."));
        if !below_is_plain {
            return false;
        }
        match (self.section, self.below, self.key) {
            ("submodule", Some(_), "path") => kind == SettingsKind::Modules && is_below(self.value),
            ("submodule", Some(_), "url") | ("remote", Some(_), "url" | "pushurl") => is_address(self.value),
            ("submodule", Some(_), "update") => ["checkout", "rebase", "merge", "none"].contains(&self.value),
            ("submodule", Some(_), key) => SUBMODULE.contains(&key),
            _ if kind == SettingsKind::Modules => false,
            ("core", None, "worktree") => match kind {
                SettingsKind::Repository(folder) => leads_inside(folder, self.value),
                SettingsKind::Modules => false,
            },
            ("core", None, key) => CORE.contains(&key),
            ("remote", Some(_), key) => REMOTE.contains(&key),
            ("branch", Some(_), key) => BRANCH.contains(&key),
            ("submodule", None, "active" | "recurse") => true,
            ("user", None, key) => ["name", "email"].contains(&key),
            ("extensions", None, key) => {
                ["objectformat", "refstorage", "worktreeconfig", "noop", "relativeworktrees"].contains(&key)
            }
            ("init", None, "defaultbranch") | ("pull", None, "rebase" | "ff") => true,
            ("push", None, "default" | "autosetupremote") => true,
            _ => false,
        }
    }
}

/// Returns whether an address is one of a server or a path: no helper program is named by it, and no option.
fn is_address(value: &str) -> bool {
    !value.starts_with('-') && !value.contains("::") && !value.contains(['"', ';', '#'])
}

fn is_below(value: &str) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !value.starts_with('-') && !value.contains(['"', ';', '#']) && Path::new(value).components().all(plain)
}

/// Returns whether a path, seen from a folder of the workspace, leads to a place in the workspace.
fn leads_inside(folder: &Path, value: &str) -> bool {
    !value.contains(['"', ';', '#']) && resolve(folder, Path::new(value)).is_some()
}

/// Resolves a relative path by its words; `None` when it leaves the root.
pub(crate) fn resolve(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut at = folder.to_owned();
    for part in path.components() {
        match part {
            Component::Normal(name) => at.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !at.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_repository(text: &str) -> Vec<String> {
        risks(text.as_bytes(), SettingsKind::Repository(Path::new(".git/modules/sub"))).into_iter().collect()
    }

    #[test]
    fn what_git_writes_by_itself_is_harmless() {
        let rows = [
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
            "[remote \"origin\"]\n\turl = https://a.example/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
            "[submodule \"sub\"]\n\turl = ../lib\n\tactive = true\n[core]\n\tworktree = ../../../sub\n",
            "# a comment\n; another\n\n[user]\n\tname = A B\n\temail = a@b.example\n",
        ];
        for row in rows {
            assert_eq!(of_repository(row), Vec::<String>::new(), "{row}");
        }
        let modules = "[submodule \"sub\"]\n\tpath = sub\n\turl = ../lib\n";
        assert!(risks(modules.as_bytes(), SettingsKind::Modules).is_empty());
    }

    #[test]
    fn what_makes_git_run_something_is_a_risk_in_every_spelling() {
        let rows = [
            "[core]\n\tfsmonitor = ./evil\n",
            "[CORE]FsMonitor=./evil",
            "[core] # c\n fsmonitor=x",
            "[core]\nbare = false\n[core]\nfsmonitor\n",
            "[core]\n\tsshCommand = evil\n",
            "[core]\n\thooksPath = .\n",
            "[core]\n\tworktree = ../../../../elsewhere\n",
            "[core]\n\tworktree = /home\n",
            "[include]\n\tpath = evil\n",
            "[includeIf \"gitdir:x\"]\n\tpath = evil\n",
            "[alias]\n\tst = !evil\n",
            "[filter \"x\"]\n\tclean = evil\n",
            "[filter.x]\n\tclean = evil\n",
            "[diff \"x\"]\n\tcommand = evil\n",
            "[remote \"o\"]\n\turl = ext::sh -c evil\n",
            "[remote \"o\"]\n\tuploadpack = evil\n",
            "[submodule \"s\"]\n\tupdate = !evil\n",
            "[submodule \"../x\"]\n\turl = a\n",
            "[user]\n\tname = a \\\n[core]\n\tfsmonitor = evil\n",
            "# a \\\n[core]\n\tfsmonitor = evil\n",
            "[core\n\tfsmonitor = evil\n",
            "fsmonitor = evil\n",
            "[user][core]\nfsmonitor = evil\n",
        ];
        for row in rows {
            assert!(!of_repository(row).is_empty(), "{row}");
        }
        assert!(!risks(b"[core]\n\xff = x", SettingsKind::Modules).is_empty());
        let modules = "[submodule \"s\"]\n\tpath = ../out\n";
        assert!(!risks(modules.as_bytes(), SettingsKind::Modules).is_empty());
    }
}
