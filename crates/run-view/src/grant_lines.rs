//! Stored grants as lines: which calls they cover, where, and until when.

use palyra_screen_text::{clean_line, count, short_id};
use palyra_wire::v1;
use palyra_wire::v1::argument_rule::Shape;

use crate::{date, time_left};

/// Longer than any path that a shell is likely to be in.
const FOLDER_CHARS_MAX: usize = 1_000;
const CALLS_CHARS_MAX: usize = 400;

/// Returns a grant in lines that wrap: what it opens must not be cut off.
pub fn grant_lines(grant: &v1::StoredGrant) -> [String; 2] {
    let folder = match (grant.any_workspace, grant.workspace.as_str()) {
        (true, _) => "in any folder".to_owned(),
        (false, "") => "nowhere: needs to be given again".to_owned(),
        (false, folder) => format!("in {}", clean_line(folder, FOLDER_CHARS_MAX)),
    };
    let session = &grant.session_id;
    let place = if session.is_empty() { folder } else { format!("{folder}, session {}", short_id(session)) };
    let uses = match grant.uses_max {
        0 => format!("used {}", count(grant.uses.into(), "time")),
        most => format!("used {} of {most} times", grant.uses),
    };
    let until = match (grant.revoked, grant.expires) {
        (Some(revoked), _) => format!("revoked {}", date(Some(revoked))),
        (None, None) if session.is_empty() => "no end".to_owned(),
        (None, None) => "until the session ends".to_owned(),
        (None, expires) => time_left(expires),
    };
    let calls = clean_line(&calls(grant), CALLS_CHARS_MAX);
    [format!("{}  {calls}", short_id(&grant.grant_id)), format!("        {place}; {uses}; {until}")]
}

/// Returns which calls a grant covers, in words.
fn calls(grant: &v1::StoredGrant) -> String {
    let rules = grant.rules.iter().map(|rule| match &rule.shape {
        Some(Shape::Equal(value)) => format!("{}={value}", rule.argument),
        Some(Shape::Beneath(path)) => format!("{} below {path}", rule.argument),
        Some(Shape::Origin(origin)) => format!("{} on {origin}", rule.argument),
        Some(Shape::Any(_)) | None => format!("any {}", rule.argument),
    });
    let rules: Vec<String> = rules.collect();
    format!("{}({})", grant.tool, rules.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_says_which_calls_it_covers() {
        let rule =
            |argument: &str, shape| v1::ArgumentRule { argument: argument.to_owned(), shape: Some(shape) };
        let grant = v1::StoredGrant {
            grant_id: "G".to_owned(),
            tool: "write_file".to_owned(),
            uses: 1,
            uses_max: 5,
            workspace: "/home/me/desk".to_owned(),
            rules: vec![rule("path", Shape::Beneath("drafts".to_owned())), rule("content", Shape::Any(true))],
            ..Default::default()
        };
        let shown = |grant: &v1::StoredGrant| grant_lines(grant).map(|line| line.trim().to_owned());
        assert_eq!(
            shown(&grant),
            ["G  write_file(path below drafts, any content)", "in /home/me/desk; used 1 of 5 times; no end"]
        );
        let fetches = v1::StoredGrant {
            tool: "http_fetch".to_owned(),
            rules: vec![rule("url", Shape::Origin("https://api.example".to_owned()))],
            ..grant.clone()
        };
        assert_eq!(shown(&fetches)[0], "G  http_fetch(url on https://api.example)");
        let everywhere = v1::StoredGrant { workspace: String::new(), any_workspace: true, ..grant.clone() };
        assert_eq!(shown(&everywhere)[1], "in any folder; used 1 of 5 times; no end");
        let old = v1::StoredGrant { workspace: String::new(), ..grant.clone() };
        assert!(shown(&old)[1].starts_with("nowhere: needs to be given again"));
        let session = v1::StoredGrant { session_id: "S".to_owned(), uses_max: 0, ..grant.clone() };
        assert_eq!(shown(&session)[1], "in /home/me/desk, session S; used 1 time; until the session ends");
        let deep = format!("/home/me/{}", "projects/".repeat(20));
        let grant = v1::StoredGrant { workspace: deep.clone(), ..grant };
        assert!(shown(&grant)[1].contains(&deep), "what it opens is not cut");
    }
}
