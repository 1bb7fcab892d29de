//! Relative links in the documents lead to something.
//!
//! Owns finding `](target)` in Markdown at the root and below docs/. Follows no address of another host.

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;

/// Returns relative links whose target is not in the repository.
pub(super) fn check(house: &RepositoryView) -> Vec<TidyFinding> {
    let documents = house.texts.iter().filter(|(path, _)| path.ends_with(".md"));
    let mut findings = Vec::new();
    for (path, text) in documents.filter(|(path, _)| !path.contains('/') || path.starts_with("docs/")) {
        for (index, line) in text.lines().enumerate() {
            for link in targets(line).filter(|link| !house.has(&resolve(path, link))) {
                findings.push(TidyFinding {
                    path: path.clone(),
                    line: index + 1,
                    rule: "links",
                    item: link.to_owned(),
                    what: format!("the link to {link} leads nowhere"),
                    mend: "correct the path, relative to the document",
                });
            }
        }
    }
    findings
}

fn targets(line: &str) -> impl Iterator<Item = &str> {
    let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.filter(|l| !l.contains("://") && !l.starts_with(['#', '<']) && !l.starts_with("mailto:"))
}

fn resolve(document: &str, link: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.split('#').next().unwrap_or_default().trim_end_matches('/').split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    fn found(text: &str) -> usize {
        check(&house(&[("docs/a.md", text), ("docs/errors/b.md", ""), ("README.md", "")])).len()
    }

    #[test]
    fn links_are_followed_from_the_document() {
        assert_eq!(found("[x](errors/b.md#top) and [y](../README.md), [z](errors/)"), 0);
        assert_eq!(found("[x](https://example.org/a) [y](#here)"), 0);
    }

    #[test]
    fn a_dead_link_is_found() {
        assert_eq!(found("[x](errors/c.md) [y](README.md)"), 2);
    }
}
