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
    if is_emptied(grant) {
        return emptied_lines(grant);
    }
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

/// Returns whether the content of a grant was erased: it covers nothing any more.
fn is_emptied(grant: &v1::StoredGrant) -> bool {
    grant.tool.is_empty()
}

fn emptied_lines(grant: &v1::StoredGrant) -> [String; 2] {
    let id = short_id(&grant.grant_id);
    let end = match grant.revoked {
        Some(revoked) => format!("revoked {}", date(Some(revoked))),
        None => format!("`palyra approve revoke {id}` takes it off this list"),
    };
    [
        format!("{id}  (erased)"),
        format!(
            "        permits nothing, since its content was erased with the run that it was given in; {end}"
        ),
    ]
}

/// Says which grants cover nothing since an erasure; `before` and `after` are those that were stored then.
#[must_use]
pub fn emptied_grants(before: &[v1::StoredGrant], after: &[v1::StoredGrant]) -> Option<String> {
    let emptied = after.iter().filter(|now| {
        is_emptied(now) && before.iter().any(|grant| grant.grant_id == now.grant_id && !is_emptied(grant))
    });
    let ids: Vec<String> = emptied.map(|grant| short_id(&grant.grant_id)).collect();
    match ids.as_slice() {
        [] => None,
        [id] => {
            Some(format!("grant {id} was erased with it and permits nothing any more: such calls ask again"))
        }
        ids => Some(format!(
            "the grants {} were erased with it and permit nothing any more: such calls ask again",
            ids.join(", ")
        )),
    }
}

/// Says what a revoked grant does not let run any more; `left` are the grants that are stored now.
#[must_use]
pub fn revoked_line(revoked: &v1::StoredGrant, left: &[v1::StoredGrant]) -> String {
    if is_emptied(revoked) {
        return "revoked; it permitted nothing, since its content was erased before".to_owned();
    }
    let others = left.iter().filter(|other| covers_calls_of(other, revoked));
    let others: Vec<String> = others.map(|other| short_id(&other.grant_id)).collect();
    let unless = match others.as_slice() {
        [] => String::new(),
        others => format!(", unless another grant covers the call ({})", others.join(", ")),
    };
    format!("revoked; {} asks again{unless}", revoked.tool)
}

/// Returns whether a grant can cover calls that another one covered.
fn covers_calls_of(grant: &v1::StoredGrant, other: &v1::StoredGrant) -> bool {
    let is_bound = grant.any_workspace || !grant.workspace.is_empty();
    grant.tool == other.tool
        && grant.grant_id != other.grant_id
        && grant.revoked.is_none()
        && is_bound
        && meet(&grant.workspace, &other.workspace)
        && meet(&grant.session_id, &other.session_id)
}

/// Returns whether two places are the same, or one of them is any.
fn meet(one: &str, other: &str) -> bool {
    one.is_empty() || other.is_empty() || one == other
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

    fn stored(id: &str, tool: &str, session: &str) -> v1::StoredGrant {
        v1::StoredGrant {
            grant_id: id.to_owned(),
            tool: tool.to_owned(),
            session_id: session.to_owned(),
            workspace: "/home/me/desk".to_owned(),
            ..Default::default()
        }
    }

    #[test]
    fn a_grant_whose_content_was_erased_permits_nothing_and_says_so() {
        let emptied = v1::StoredGrant { grant_id: "G".to_owned(), uses: 2, ..Default::default() };
        let [calls, place] = grant_lines(&emptied);
        assert!(calls.ends_with("(erased)") && !place.contains("given again"), "{calls} {place}");
        assert!(place.contains("permits nothing, since its content was erased"), "{place}");
        let before = [stored("G", "edit_file", ""), stored("H", "edit_file", "")];
        let after = [emptied.clone(), before[1].clone()];
        let said = emptied_grants(&before, &after).unwrap_or_default();
        assert!(said.starts_with("grant G was erased with it"), "{said}");
        assert_eq!(emptied_grants(&after, &after), None);
        assert!(revoked_line(&emptied, &before).contains("it permitted nothing"));
    }

    #[test]
    fn a_grant_that_is_revoked_names_the_others_that_can_cover_such_calls() {
        let revoked = stored("G", "edit_file", "S");
        let elsewhere = v1::StoredGrant { workspace: "/srv".to_owned(), ..stored("E", "edit_file", "S") };
        let unbound = v1::StoredGrant { workspace: String::new(), ..stored("U", "edit_file", "S") };
        for (left, expect) in [
            (vec![stored("H", "edit_file", "S")], ", unless another grant covers the call (H)"),
            (
                vec![stored("H", "edit_file", ""), stored("I", "edit_file", "S")],
                ", unless another grant covers the call (H, I)",
            ),
            (vec![stored("H", "write_file", "S"), stored("I", "edit_file", "T"), elsewhere, unbound], ""),
        ] {
            assert_eq!(revoked_line(&revoked, &left), format!("revoked; edit_file asks again{expect}"));
        }
    }

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
