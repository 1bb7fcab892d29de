//! Finds the title and the first paragraph of a text.
//!
//! Skips front matter, badges, HTML comments and tags. Knows only what it needs of Markdown,
//! reStructuredText and AsciiDoc; what it does not know is plain text.

/// What a document says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DocumentOutline {
    /// The first heading.
    pub(super) title: Option<String>,
    /// The first paragraph behind it, in one line.
    pub(super) paragraph: Option<String>,
}

/// Reads a document's outline.
pub(super) fn outline(text: &str) -> DocumentOutline {
    let blocks = blocks(&without_comments(without_front_matter(text)));
    let title_at = blocks.iter().position(|block| matches!(block, BlockKind::Heading(_)));
    let words = |block: &BlockKind| match block {
        BlockKind::Heading(_) => None,
        BlockKind::Paragraph(words) => Some(words.clone()),
    };
    let title = title_at.and_then(|at| match &blocks[at] {
        BlockKind::Heading(words) => Some(words.clone()),
        BlockKind::Paragraph(_) => None,
    });
    let behind = blocks.iter().skip(title_at.unwrap_or(0)).find_map(words);
    DocumentOutline { title, paragraph: behind.or_else(|| blocks.iter().find_map(words)) }
}

/// Returns the lines of a document that are headings and begin with `#`.
pub(super) fn headings(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut out = Vec::new();
    for line in text.lines() {
        is_code ^= is_fence(line);
        let words = line.trim_start_matches('#');
        if !is_code && words.len() < line.len() && words.starts_with(' ') {
            out.push(line);
        }
    }
    out
}

enum BlockKind {
    Heading(String),
    Paragraph(String),
}

fn blocks(body: &str) -> Vec<BlockKind> {
    let mut out = Vec::new();
    let mut paragraph = String::new();
    let mut close = |paragraph: &mut String, heading: Option<String>| {
        if !paragraph.is_empty() {
            out.push(BlockKind::Paragraph(std::mem::take(paragraph)));
        }
        out.extend(heading.map(BlockKind::Heading));
    };
    let mut fenced = false;
    let mut lines = body.lines().peekable();
    while let Some(line) = lines.next() {
        if is_fence(line) {
            fenced = !fenced;
            close(&mut paragraph, None);
        } else if fenced {
            continue;
        } else if let Some((words, underline)) = heading(line, lines.peek().copied()) {
            close(&mut paragraph, Some(words));
            if underline == HeadingUnderline::Present {
                lines.next();
            }
        } else if line.trim().is_empty() {
            close(&mut paragraph, None);
        } else {
            let words = prose(line);
            if !words.is_empty() && !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(&words);
        }
    }
    close(&mut paragraph, None);
    out
}

#[derive(PartialEq, Eq)]
enum HeadingUnderline {
    Absent,
    Present,
}

fn without_front_matter(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    for mark in ["---", "+++"] {
        let Some(rest) = text.strip_prefix(mark).filter(|rest| rest.starts_with(['\n', '\r'])) else {
            continue;
        };
        let mut offset = 0;
        for line in rest.split_inclusive('\n') {
            offset += line.len();
            if line.trim_end() == mark {
                return &rest[offset..];
            }
        }
    }
    text
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<!--") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find("-->").map_or("", |end| &rest[at + end + 3..]);
    }
    out.push_str(rest);
    out
}

fn is_fence(line: &str) -> bool {
    let start = line.trim_start();
    start.starts_with("```") || start.starts_with("~~~")
}

/// Returns the heading a line is, and whether the next line only underlines it.
fn heading(line: &str, next: Option<&str>) -> Option<(String, HeadingUnderline)> {
    let trimmed = line.trim();
    let lower = trimmed.to_ascii_lowercase();
    if lower.starts_with("<h1") || lower.starts_with("<h2") {
        let words = plain(trimmed);
        return (!words.is_empty()).then_some((words, HeadingUnderline::Absent));
    }
    for mark in ['#', '='] {
        let marks = trimmed.chars().take_while(|c| *c == mark).count();
        if (1..=6).contains(&marks)
            && let Some(rest) = trimmed[marks..].strip_prefix([' ', '\t'])
        {
            let words = plain(rest.trim_end_matches([mark, ' ']));
            return (!words.is_empty()).then_some((words, HeadingUnderline::Absent));
        }
    }
    let underline = next?.trim_end();
    let underlined =
        underline.len() >= 3 && ["=", "-", "~"].iter().any(|mark| underline.replace(mark, "").is_empty());
    let words = plain(trimmed);
    let is_rule = words.chars().all(|c| !c.is_alphanumeric());
    (underlined && !is_rule && !trimmed.starts_with(['|', '-', '>']))
        .then_some((words, HeadingUnderline::Present))
}

/// Returns what a line says; empty for badges, tags, rules, tables and directives.
fn prose(line: &str) -> String {
    let trimmed = line.trim();
    let is_directive = trimmed.starts_with("..") || trimmed.starts_with(":::");
    let is_reference = trimmed.starts_with('[') && trimmed.contains("]: ");
    if is_directive || is_reference || trimmed.starts_with('|') {
        return String::new();
    }
    let words = plain(trimmed.trim_start_matches("> "));
    if words.chars().any(char::is_alphanumeric) { words } else { String::new() }
}

/// Reduces a line to its words: images go, links keep their text, tags go.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['!', '[', '<']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (words, after) = image(rest).or_else(|| link(rest)).or_else(|| tag(rest)).unwrap_or_else(|| {
            let first = rest.chars().next().map_or(0, char::len_utf8);
            (rest[..first].to_owned(), &rest[first..])
        });
        out.push_str(&words);
        rest = after;
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn image(text: &str) -> Option<(String, &str)> {
    let (_, after) = bracketed(text.strip_prefix('!')?)?;
    Some((String::new(), target(after).unwrap_or(after)))
}

fn link(text: &str) -> Option<(String, &str)> {
    let (label, after) = bracketed(text)?;
    Some((plain(label), target(after)?))
}

/// Takes `[...]`, with brackets inside, from the front.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let mut depth = 1_u32;
    for (at, c) in inner.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&inner[..at], &inner[at + 1..]));
        }
    }
    None
}

/// Takes `(...)` or `[...]` from the front, and returns what is behind.
fn target(text: &str) -> Option<&str> {
    match text.chars().next()? {
        '(' => text.find(')').map(|end| &text[end + 1..]),
        '[' => text.find(']').map(|end| &text[end + 1..]),
        _ => None,
    }
}

fn tag(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('<')?;
    let is_tag = inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let end = inner.find('>')?;
    // `<https://example.org>` is an address, not a tag.
    let address = inner[..end].contains("://").then(|| inner[..end].to_owned()).filter(|a| !a.contains(' '));
    is_tag.then_some((address.unwrap_or_default(), &inner[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, title: Option<&str>, paragraph: Option<&str>) {
        let found = outline(text);
        assert_eq!((found.title.as_deref(), found.paragraph.as_deref()), (title, paragraph), "{text}");
    }

    #[test]
    fn the_title_is_the_first_heading() {
        check("# One\n\nFirst words\nof it.\n\nSecond.\n", Some("One"), Some("First words of it."));
        check("# One #\n## Two\nText", Some("One"), Some("Text"));
        check("One\n===\nText\n", Some("One"), Some("Text"));
        check("<h1 align=\"center\">One <br></h1>\n\nText", Some("One"), Some("Text"));
        check("= One\n\nText", Some("One"), Some("Text"));
        check("Plain first.\n\nPlain second.", None, Some("Plain first."));
        check("Before.\n\n# One\n\nText", Some("One"), Some("Text"));
        check("Before.\n\n# One\n", Some("One"), Some("Before."));
        check("", None, None);
        check("\n\n", None, None);
    }

    #[test]
    fn what_is_no_prose_is_skipped() {
        let badges = "[![CI](https://ci/x.svg)](https://ci) ![v](https://v.svg)";
        check(
            &format!("# One {badges}\n{badges}\n\nText [here](x) and [there][1].\n"),
            Some("One"),
            Some("Text here and there."),
        );
        check("---\ntitle: No\n---\n# One\nText", Some("One"), Some("Text"));
        check("+++\ntitle = 1\n+++\n# One\nText", Some("One"), Some("Text"));
        check(
            "<!-- # No\nmore -->\n# One\n<p align=\"center\">\n<img src=\"a\">\n</p>\n\nText",
            Some("One"),
            Some("Text"),
        );
        check("```\n# no\n```\n# One\n```sh\nrun\n```\nText", Some("One"), Some("Text"));
        check("# One\n\n| a | b |\n|---|---|\n\n---\n\n> Quoted", Some("One"), Some("Quoted"));
        check(
            "# One\n\n[ref]: https://x\n\nIf a < b and b > c, see <https://x.org>.",
            Some("One"),
            Some("If a < b and b > c, see https://x.org."),
        );
    }

    #[test]
    fn broken_markup_does_no_harm() {
        check("# One [\nText ![ <", Some("One ["), Some("Text ![ <"));
        check("<!-- never closed\n# No", None, None);
        check("---\nnever: closed\n", None, Some("never: closed"));
    }
}
