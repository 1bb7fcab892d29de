//! The parts of a page of the documentation: its headings with what is below them, and its links, which name the command
//! that shows the page they lead to.
//!
//! Pure. Begin at [`headings`].

const FENCE: &str = "```";

/// A heading of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageHeading {
    /// 1 for the title.
    pub level: usize,
    /// As it is written.
    pub title: String,
    /// What a link names it by.
    pub anchor: String,
    /// The line that it is, from 0.
    line: usize,
}

/// Returns the headings of a page, in order.
pub fn headings(markdown: &str) -> Vec<PageHeading> {
    let mut in_code = false;
    let lines = markdown.lines().enumerate().filter(|(_, line)| {
        in_code ^= line.trim_start().starts_with(FENCE);
        !in_code
    });
    lines
        .filter_map(|(line, text)| {
            let title = text.trim_start_matches('#');
            let level = text.len() - title.len();
            let title = title.strip_prefix(' ').filter(|_| level > 0)?.trim().to_owned();
            Some(PageHeading { level, anchor: anchor(&title), title, line })
        })
        .collect()
}

/// Returns a heading with all below it, up to the next heading of its level. The beginning of an anchor is enough.
pub fn section(markdown: &str, named: &str) -> Option<String> {
    let headings = headings(markdown);
    let named = anchor(named);
    let exact = headings.iter().position(|heading| heading.anchor == named);
    let at = exact.or_else(|| headings.iter().position(|heading| heading.anchor.starts_with(&named)))?;
    let next = headings[at + 1..].iter().find(|heading| heading.level <= headings[at].level);
    let lines = markdown.lines().skip(headings[at].line);
    let count = next.map_or(usize::MAX, |next| next.line - headings[at].line);
    Some(lines.take(count).collect::<Vec<_>>().join("\n") + "\n")
}

/// Returns the name that links have for a heading: small letters, with `-` for blanks.
fn anchor(title: &str) -> String {
    let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Returns a page whose links to other pages name the command that shows them, where there is a page of that name.
pub fn with_commands(markdown: &str, is_page: impl Fn(&str) -> bool) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(at) = rest.find(['[', '`']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let (taken, shown) = if from.starts_with('`') { code(from) } else { linked(from, &is_page) };
        text.push_str(&shown);
        rest = &from[taken..];
    }
    text + rest
}

/// Reads program text, which has no links; returns how much of it was read.
fn code(text: &str) -> (usize, String) {
    let signs = text.len() - text.trim_start_matches('`').len();
    let end = text[signs..].find(&text[..signs]).map_or(signs, |end| end + 2 * signs);
    (end, text[..end].to_owned())
}

fn linked(text: &str, is_page: &impl Fn(&str) -> bool) -> (usize, String) {
    if let Some((shown, after)) = text[1..].split_once("](")
        && !shown.contains("\n\n")
        && let Some((target, _)) = after.split_once(')')
    {
        return (1 + shown.len() + 2 + target.len() + 1, link(shown, target, is_page));
    }
    (1, "[".to_owned())
}

/// Returns what is shown for a link: the words, and how the page it leads to is read.
fn link(words: &str, target: &str, is_page: &impl Fn(&str) -> bool) -> String {
    if target.starts_with("http://") || target.starts_with("https://") {
        return format!("[{words}]({target})");
    }
    let (file, part) =
        target.split_once('#').map_or((target, String::new()), |(file, part)| (file, format!("#{part}")));
    let name = file.rsplit('/').next().unwrap_or(file);
    let Some(page) = name.strip_suffix(".md") else { return words.to_owned() };
    if page.starts_with("PLY-") {
        return if words == page { words.to_owned() } else { format!("{words} (`palyra explain {page}`)") };
    }
    match is_page(page) {
        true => format!("{words} (`palyra explain docs/{page}.md{part}`)"),
        false => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_found_by_its_heading() {
        let page = "# Top\n\na\n\n## What ships, now\nb\n```sh\n# no heading\n```\n### Deep\nc\n## Last\nd\n";
        let found: Vec<(usize, String)> =
            headings(page).into_iter().map(|heading| (heading.level, heading.anchor)).collect();
        let expect = [(1, "top"), (2, "what-ships-now"), (3, "deep"), (2, "last")];
        assert_eq!(found, expect.map(|(level, anchor)| (level, anchor.to_owned())));
        let ships = "## What ships, now\nb\n```sh\n# no heading\n```\n### Deep\nc\n";
        for name in ["what-ships-now", "What ships, now", "what"] {
            assert_eq!(section(page, name).as_deref(), Some(ships), "{name}");
        }
        assert_eq!(section(page, "last").as_deref(), Some("## Last\nd\n"));
        assert_eq!(section(page, "nothing"), None);
    }
}
