//! What a person can allow for a whole session while answering one approval.
//!
//! Owns which calls are offered what. Knows no tool and no grant store: what a call changes is read from the question, and
//! the daemon decides whether it stores a grant. Invariant: a grant that covers more than the call at hand is offered up to
//! medium risk, and for a folder that has one spelling.

use palyra_types::approval_terms::optional_file_arguments;
use palyra_wire::v1;
use palyra_wire::v1::argument_rule::Shape;

use super::is_risky;

/// How the preview of a change of files begins a file. The same change once more does nothing, or fails.
const FILE_HEADER: &str = "--- ";
/// The argument that names the file.
const PATH: &str = "path";
/// A file of a preview begins within so many lines: lines before it say that it can be run, or was renamed.
const PREVIEW_HEAD_LINES: usize = 3;
const FOLDER_CHARS_MAX: usize = 60;

/// Which session a grant is for that is given at a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GrantSession {
    /// The one that the person talks in, or named.
    #[default]
    Named,
    /// The one of the run, which each `palyra run` without a name has for itself.
    OfRun,
}

/// Where a grant holds, for the person at the prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfferScope {
    /// The folder of the run where the person is in another one, and empty otherwise.
    pub elsewhere: String,
    /// The session.
    pub session: GrantSession,
}

impl OfferScope {
    /// Returns a folder of the run in words.
    pub(crate) fn place_of(&self, folder: &str) -> String {
        match (folder, self.elsewhere.as_str()) {
            (".", "") => "below this folder".to_owned(),
            (".", elsewhere) => format!("below {elsewhere}"),
            (folder, "") => format!("below {folder}/"),
            (folder, elsewhere) => format!("below {elsewhere}/{folder}/"),
        }
    }

    /// Returns the session in words, and where the grant does not hold.
    pub(crate) fn session_reach(&self) -> &'static str {
        match self.session {
            GrantSession::Named => "in this session",
            GrantSession::OfRun => "in this run's session, not in another `palyra run`",
        }
    }
}

/// What is offered beside a plain yes.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionOffer {
    /// Nothing.
    Nothing,
    /// This very call, however often.
    SameCall,
    /// Every call of the tool for a file at or below a folder.
    BelowFolder {
        /// The tool.
        tool: String,
        /// The folder, seen from the workspace; `.` is the workspace.
        folder: String,
        /// What the daemon stores.
        requested: v1::GrantWish,
    },
}

impl SessionOffer {
    /// Returns what is offered for a call.
    pub fn of(prompt: &v1::ApprovalPrompt, risk: &str) -> Self {
        if prompt.asks_each_time {
            return Self::Nothing;
        }
        let changes_files =
            prompt.preview.lines().take(PREVIEW_HEAD_LINES).any(|line| line.starts_with(FILE_HEADER));
        if !changes_files {
            return Self::SameCall;
        }
        if is_risky(risk) {
            return Self::Nothing;
        }
        let arguments: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&prompt.arguments).unwrap_or_default();
        let path = arguments.get(PATH).and_then(serde_json::Value::as_str);
        let Some(folder) = path.and_then(folder_of) else { return Self::Nothing };
        let left_out = optional_file_arguments(&prompt.tool).iter().copied();
        let left_out = left_out.filter(|name| !arguments.contains_key(*name));
        let rules = arguments.keys().map(String::as_str).chain(left_out).map(|name| v1::ArgumentRule {
            argument: name.to_owned(),
            shape: Some(if name == PATH { Shape::Beneath(folder.clone()) } else { Shape::Any(true) }),
        });
        let requested = v1::GrantWish {
            scope: v1::GrantScope::Session.into(),
            rules: rules.collect(),
            ..Default::default()
        };
        Self::BelowFolder { tool: prompt.tool.clone(), folder, requested }
    }

    /// Returns the line that says what the key `f` does; `None` where it is not offered.
    pub fn folder_line(&self, scope: &OfferScope) -> Option<String> {
        let Self::BelowFolder { tool, folder, .. } = self else { return None };
        let place = scope.place_of(folder);
        Some(format!("[f]older: yes, and each further {tool} {place}, in this session"))
    }
}

/// Returns the folder of a file, where its path has one spelling and is inside the workspace.
fn folder_of(path: &str) -> Option<String> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let parts: Vec<&str> = path.split('/').collect();
    let (_, folders) = parts.split_last()?;
    let folder = if folders.is_empty() { ".".to_owned() } else { folders.join("/") };
    (parts.iter().all(|part| is_plain_name(part)) && folder.chars().count() <= FOLDER_CHARS_MAX)
        .then_some(folder)
}

fn is_plain_name(part: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '+' | '@' | '=');
    !matches!(part, "" | "." | "..") && part.chars().all(is_plain) && part.trim() == part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(tool: &str, arguments: &str, risk: &str) -> SessionOffer {
        let preview = if tool == "run_command" { "" } else { "can be run\n--- a\n+++ a\n" };
        let prompt = v1::ApprovalPrompt {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            preview: preview.to_owned(),
            ..Default::default()
        };
        SessionOffer::of(&prompt, risk)
    }

    #[test]
    fn a_change_of_a_file_offers_its_folder() {
        for (path, folder, told) in [
            ("src/app.py", "src", "below src/"),
            ("./src/a/b.rs", "src/a", "below src/a/"),
            ("notes.txt", ".", "below this folder"),
        ] {
            let arguments = serde_json::json!({"path": path, "old": "a", "new": "b"}).to_string();
            let offered = offer("edit_file", &arguments, "medium");
            let told = format!("[f]older: yes, and each further edit_file {told}, in this session");
            assert_eq!(offered.folder_line(&OfferScope::default()), Some(told.clone()));
            let elsewhere =
                if folder == "." { "below ~/shop".to_owned() } else { format!("below ~/shop/{folder}/") };
            let scope = OfferScope { elsewhere: "~/shop".to_owned(), session: GrantSession::OfRun };
            let expect = format!("[f]older: yes, and each further edit_file {elsewhere}, in this session");
            assert_eq!(offered.folder_line(&scope), Some(expect));
            let SessionOffer::BelowFolder { requested, .. } = offered else { panic!("{path}") };
            assert_eq!((requested.scope(), requested.rules.len()), (v1::GrantScope::Session, 4));
            // Each further call is one that names it, too.
            let all = requested.rules.iter().find(|rule| rule.argument == "all").unwrap();
            assert_eq!(all.shape, Some(Shape::Any(true)));
            let beneath = requested.rules.iter().find(|rule| rule.argument == "path").unwrap();
            assert_eq!(beneath.shape, Some(Shape::Beneath(folder.to_owned())));
        }
    }

    #[test]
    fn nothing_is_offered_where_the_rule_asks_each_time() {
        for (tool, arguments) in [("edit_file", r#"{"path":"src/a","old":"a"}"#), ("run_command", "{}")] {
            let preview = if tool == "run_command" { "" } else { "--- a\n+++ a\n" };
            let prompt = |asks_each_time| v1::ApprovalPrompt {
                tool: tool.to_owned(),
                arguments: arguments.to_owned(),
                preview: preview.to_owned(),
                asks_each_time,
                ..Default::default()
            };
            assert_eq!(SessionOffer::of(&prompt(true), "medium"), SessionOffer::Nothing, "{tool}");
            // The control.
            assert_ne!(SessionOffer::of(&prompt(false), "medium"), SessionOffer::Nothing, "{tool}");
        }
    }

    #[test]
    fn no_folder_is_offered_for_what_is_risky_or_has_an_odd_path() {
        for path in ["/etc/x", "../x", "a/../x", "a//x", "~/x/y", "$HOME/x", "a\u{202e}/x", "a\\b/x", ""] {
            let arguments = serde_json::json!({"path": path, "content": "x"}).to_string();
            assert_eq!(offer("write_file", &arguments, "medium"), SessionOffer::Nothing, "{path}");
        }
        let arguments = r#"{"path":"src/x","content":"x"}"#;
        assert_eq!(offer("write_file", arguments, "high"), SessionOffer::Nothing);
        // The control.
        assert_ne!(offer("write_file", arguments, "medium"), SessionOffer::Nothing);
        assert_eq!(offer("write_file", "no JSON", "medium"), SessionOffer::Nothing);
        assert_eq!(offer("apply_patch", r#"{"patch":"x"}"#, "medium"), SessionOffer::Nothing);
        assert_eq!(offer("run_command", r#"{"argv":["ls"]}"#, "high"), SessionOffer::SameCall);
    }
}
