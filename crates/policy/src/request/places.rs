//! What a path is by its spelling: where it leads, and what kind of place that is.
//!
//! Owns which places matter to policies; what lies where, `palyra_types::places` knows. Looks at no disk: tools open
//! files beneath the root without following links, so a spelling inside the root is a place inside the root.
//! Which names a path has is what `palyra_types::path_reading` says, to tools as well.
//! Invariant: in doubt a path is counted as reaching more, never less.

use std::collections::BTreeSet;

use palyra_types::path_reading::{PathAnchor, PathReading};
use palyra_types::places::{PlaceKind, folded, is_git, kinds_of};

/// A kind of place that policies speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PlaceCategory {
    /// Beyond the workspace root.
    OutsideRoot,
    /// Git's own folder, whose hooks and settings run commands.
    Git,
    /// The daemon's state, configuration and sockets.
    Daemon,
    /// Keys, tokens, passwords.
    Credentials,
    /// What a shell, an editor, a session or a pipeline runs by itself later.
    RunsLater,
    /// What runs when a person builds, tests or installs.
    BuildFiles,
    /// What an agent takes as its instructions.
    AgentInstructions,
    /// A secret of the vault, which is given out on behalf of the call.
    Vault,
}

impl PlaceCategory {
    /// Returns its name in `context.touches`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OutsideRoot => "outside_root",
            Self::Git => "git",
            Self::Daemon => "daemon",
            Self::Credentials => "credentials",
            Self::RunsLater => "runs_later",
            Self::BuildFiles => "build_files",
            Self::AgentInstructions => "agent_instructions",
            Self::Vault => "vault",
        }
    }

    /// Returns whether a change there wants a yes that names it: none that was given in advance for more than that.
    pub(crate) fn wants_own_yes(self) -> bool {
        matches!(self, Self::BuildFiles | Self::AgentInstructions)
    }

    fn of(kind: PlaceKind) -> Option<Self> {
        match kind {
            PlaceKind::Credentials => Some(Self::Credentials),
            PlaceKind::RunsLater => Some(Self::RunsLater),
            PlaceKind::BuildFiles => Some(Self::BuildFiles),
            PlaceKind::AgentInstructions => Some(Self::AgentInstructions),
            PlaceKind::Readable => None,
        }
    }
}

/// A path as it is told to policy, with the places it touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadPath {
    /// From the root where it lies below it, else absolute or as written.
    pub(crate) text: String,
    /// What it touches.
    pub(crate) places: BTreeSet<PlaceCategory>,
}

/// Where the workspace is, and what belongs to the daemon; both as absolute paths.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PathContext<'a> {
    pub(crate) root: Option<&'a str>,
    pub(crate) own: &'a [String],
}

/// Reads a path as a model wrote it: its text is what a tool opens, and its places are those of every reading.
pub(crate) fn read_path(written: &str, ground: PathContext<'_>) -> ReadPath {
    let reading = PathReading::read(written, ground.root);
    let mut places = places_of_reading(&reading, ground);
    for other in other_spellings(written) {
        places.extend(places_of_reading(&PathReading::read(&other, ground.root), ground));
    }
    if written.starts_with(['~', '$']) || written.contains('\0') || has_drive(written) {
        places.insert(PlaceCategory::OutsideRoot);
    }
    ReadPath { text: reading.to_string(), places }
}

/// Returns the places of a word that a program, not a tool, reads as a path: it follows the names and nothing else.
pub(crate) fn read_tree_path(word: &str, ground: PathContext<'_>) -> BTreeSet<PlaceCategory> {
    places_of_reading(&PathReading::read(word, ground.root), ground)
}

/// What a path could also be meant to spell: where a backslash separates names, and where `file:` begins a URL.
fn other_spellings(written: &str) -> Vec<String> {
    let slashed = written.replace('\\', "/");
    let scheme = slashed.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let mut others: Vec<String> = scheme.map(|_| slashed[5..].to_owned()).into_iter().collect();
    if slashed != written {
        others.push(slashed);
    }
    others
}

fn places_of_reading(reading: &PathReading, ground: PathContext<'_>) -> BTreeSet<PlaceCategory> {
    let folded: Vec<String> = reading.names().iter().map(|name| folded(name)).collect();
    let mut places = places_of(&folded);
    if reading.is_outside() {
        places.insert(PlaceCategory::OutsideRoot);
    }
    if touches_own(&folded, reading, ground) {
        places.insert(PlaceCategory::Daemon);
    }
    places
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Where the daemon keeps its things when nobody says otherwise.
const OWN_PAIRS: [(&str, &str); 3] = [(".config", "palyra"), ("state", "palyra"), ("share", "palyra")];

fn places_of(parts: &[String]) -> BTreeSet<PlaceCategory> {
    let mut places: BTreeSet<PlaceCategory> =
        kinds_of(parts).into_iter().filter_map(PlaceCategory::of).collect();
    if parts.iter().any(|part| is_git(part)) {
        places.insert(PlaceCategory::Git);
    }
    if parts.windows(2).any(|pair| OWN_PAIRS.contains(&(pair[0].as_str(), pair[1].as_str()))) {
        places.insert(PlaceCategory::Daemon);
    }
    places
}

/// Whether a path is one of the daemon's own or lies below one; a workspace that the daemon made among its own things
/// is not one of them, and what leads out of it is.
fn touches_own(parts: &[String], reading: &PathReading, ground: PathContext<'_>) -> bool {
    let folded_parts = |path: &str| -> Vec<String> {
        PathReading::read(path, None).names().iter().map(|part| folded(part)).collect()
    };
    let root = ground.root.map(folded_parts);
    let climbs = reading.climbs();
    let whole: Vec<String> = match &root {
        _ if reading.anchor() == PathAnchor::FileSystem => parts.to_vec(),
        None => return false,
        Some(root) => {
            let kept = root.len().saturating_sub(climbs);
            root.iter().take(kept).chain(parts).cloned().collect()
        }
    };
    let below = |own: &[String]| {
        root.as_ref().is_some_and(|root| {
            root.len() > own.len() && root.starts_with(own) && whole.starts_with(root) && climbs == 0
        })
    };
    ground.own.iter().any(|own| {
        let own = folded_parts(own);
        !own.is_empty() && whole.starts_with(&own) && !below(&own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expect: &str) {
        let own = ["/home/me/.palyra".to_owned(), "/home/me/desk/inner".to_owned()];
        let read = read_path(written, PathContext { root: Some("/home/me/desk"), own: &own });
        let places: Vec<_> = read.places.iter().map(|place| place.name()).collect();
        assert_eq!(format!("{} [{}]", read.text, places.join(" ")), expect, "{written:?}");
    }

    #[test]
    fn spellings_of_one_place_become_one_path() {
        check("src/main.rs", "src/main.rs []");
        check("./src//x/../main.rs/", "src/main.rs []");
        check("", ". []");
        check("/home/me/desk/src", "src []");
        check("/home/me/desk", ". []");
    }

    #[test]
    fn what_leads_out_is_outside() {
        check("../x", "../x [outside_root]");
        check("a/../../x", "../x [outside_root]");
        check("/etc/passwd", "/etc/passwd [outside_root]");
        check("/home/me/deskshop", "/home/me/deskshop [outside_root]");
        check("/home/me/desk/../x", "/home/me/x [outside_root]");
        check("~/x", "~/x [outside_root]");
        check("$HOME/x", "$HOME/x [outside_root]");
        check("file:///etc/passwd", "file:/etc/passwd [outside_root]");
        check("FILE:/etc/passwd", "FILE:/etc/passwd [outside_root]");
        check("C:\\x", "C:\\x [outside_root]");
        check("..\\x", "..\\x [outside_root]");
        check("a\0b", "a\0b [outside_root]");
    }

    #[test]
    fn a_backslash_is_a_letter_and_in_doubt_a_separator_too() {
        check("src\\main.rs", "src\\main.rs []");
        check(".git/hooks/a\\..\\..\\..\\b", ".git/hooks/a\\..\\..\\..\\b [git]");
        check(".git\\hooks\\b", ".git\\hooks\\b [git]");
        check("inner/a\\..\\..\\b", "inner/a\\..\\..\\b [daemon]");
        check(".claude/a\\..\\..\\b.md", ".claude/a\\..\\..\\b.md [runs_later]");
        check("a/.envrc\\..\\b", "a/.envrc\\..\\b []");
        check("x\\..\\..\\b", "x\\..\\..\\b [outside_root]");
        check("file:\\x\\.ssh", "file:\\x\\.ssh [outside_root credentials]");
    }

    #[test]
    fn places_are_known_however_they_are_spelled() {
        for git in [
            ".git/hooks/pre-commit",
            "sub/.GIT/config",
            ".g\u{200c}it/hooks/x",
            "\u{ff0e}git/x",
            ".git. /x",
            ".git",
        ] {
            let read = read_path(git, PathContext::default());
            assert!(read.places.contains(&PlaceCategory::Git), "{git:?}");
        }
        check(".gitignore", ".gitignore []");
        check("a/.envrc", "a/.envrc [credentials runs_later]");
        check("Makefile", "Makefile [build_files]");
        check("docs/AGENTS.md", "docs/AGENTS.md [agent_instructions]");
        check(".vscode/tasks.json", ".vscode/tasks.json [runs_later]");
        check(".github/workflows/ci.yml", ".github/workflows/ci.yml [runs_later]");
        check(".github/README.md", ".github/README.md []");
        check(".env", ".env [credentials]");
        check(".env.production", ".env.production [credentials]");
        check(".env.example", ".env.example []");
        check("keys/server.PEM", "keys/server.PEM [credentials]");
        check(".ssh/id_rsa", ".ssh/id_rsa [credentials]");
        check("src/key.rs", "src/key.rs []");
        check("inner/journal.db", "inner/journal.db [daemon]");
        check("../.palyra/x", "../.palyra/x [outside_root daemon]");
        check("/home/me/.palyra/x", "/home/me/.palyra/x [outside_root daemon]");
        check("~/.local/state/palyra/x", "~/.local/state/palyra/x [outside_root daemon]");
        check("~/.config/palyra", "~/.config/palyra [outside_root daemon]");
    }

    #[test]
    fn a_workspace_that_the_daemon_made_is_not_its_own_affair() {
        let own = ["/home/me/state".to_owned()];
        let ground = PathContext { root: Some("/home/me/state/workspaces/S"), own: &own };
        let touches = |written: &str| read_path(written, ground).places.contains(&PlaceCategory::Daemon);
        for inside in ["notes.txt", ".", "a/../b", "/home/me/state/workspaces/S/notes.txt"] {
            assert!(!touches(inside), "{inside:?}");
        }
        for beyond in ["../T/notes.txt", "../S/notes.txt", "../../journal.db", "/home/me/state/journal.db"] {
            assert!(touches(beyond), "{beyond:?}");
        }
        let itself = PathContext { root: Some("/home/me/state"), own: &own };
        assert!(read_path("journal.db", itself).places.contains(&PlaceCategory::Daemon));
    }
}
