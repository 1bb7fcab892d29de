//! A page of the documentation as a terminal shows it: Markdown in, wrapped lines out.
//!
//! Knows the Markdown that the documentation is written in, no more. Headings are bold where colours are; a link to
//! another page becomes the words that show that page.

use unicode_width::UnicodeWidthStr;

const BOLD: &str = "\u{1b}[1m";
const PLAIN: &str = "\u{1b}[0m";
const FENCE: &str = "```";
const CELL_INDENT: &str = "    ";

/// Returns a page as text of lines that are at most `columns` wide, where words allow it.
pub(crate) fn page_text(markdown: &str, columns: usize) -> String {
    let mut page = Page { columns: columns.max(20), text: String::new(), open: None };
    let mut in_code = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with(FENCE) {
            page.close();
            in_code = !in_code;
        } else if in_code {
            page.push_line(&format!("  {line}"));
        } else {
            page.take(line);
        }
    }
    page.close();
    page.text
}

/// Text that is being gathered until a line ends it: a paragraph, an item of a list.
struct OpenBlock {
    first: String,
    rest: String,
    words: String,
}

struct Page {
    columns: usize,
    text: String,
    open: Option<OpenBlock>,
}

impl Page {
    fn take(&mut self, line: &str) {
        let trimmed = line.trim_start();
        let indent = &line[..line.len() - trimmed.len()];
        if trimmed.is_empty() {
            self.close();
            self.push_blank();
        } else if let Some(title) = heading(trimmed) {
            self.close();
            self.push_blank();
            self.push_line(&format!("{BOLD}{}{PLAIN}", inline(title)));
        } else if let Some(row) = trimmed.strip_prefix('|') {
            self.close();
            self.row(row);
        } else if let Some((mark, words)) = list_item(trimmed) {
            self.close();
            let first = format!("{indent}{mark} ");
            let rest = " ".repeat(first.width());
            self.open = Some(OpenBlock { first, rest, words: words.to_owned() });
        } else if let Some(open) = &mut self.open {
            open.words.push(' ');
            open.words.push_str(trimmed);
        } else {
            let (first, rest) = (String::new(), String::new());
            self.open = Some(OpenBlock { first, rest, words: trimmed.to_owned() });
        }
    }

    /// Writes a row of a table: its first cell, and the others below it.
    fn row(&mut self, row: &str) {
        let is_rule = row.chars().all(|c| "|-: ".contains(c));
        if is_rule {
            return;
        }
        let row = row.trim_end().trim_end_matches('|').replace("\\|", "\u{1}");
        let mut cells = row.split('|').map(|cell| inline(&cell.trim().replace('\u{1}', "|")));
        let first = cells.next().unwrap_or_default();
        let others: Vec<String> = cells.filter(|cell| !cell.is_empty()).collect();
        self.wrap("", CELL_INDENT, &first);
        if !others.is_empty() {
            self.wrap(CELL_INDENT, CELL_INDENT, &others.join("; "));
        }
    }

    /// Writes what was gathered.
    fn close(&mut self) {
        if let Some(OpenBlock { first, rest, words }) = self.open.take() {
            self.wrap(&first, &rest, &inline(&words));
        }
    }

    fn wrap(&mut self, first: &str, rest: &str, words: &str) {
        let mut line = first.to_owned();
        let mut empty = true;
        for word in words.split_whitespace() {
            if !empty && line.width() + 1 + word.width() > self.columns {
                self.push_line(&line);
                rest.clone_into(&mut line);
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        self.push_line(&line);
    }

    fn push_line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Writes an empty line, unless there is one.
    fn push_blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    (title.len() < line.len()).then(|| title.strip_prefix(' ')).flatten()
}

/// Returns the mark and the words of an item of a list.
fn list_item(line: &str) -> Option<(&str, &str)> {
    let (mark, words) = line.split_once(' ')?;
    let number =
        mark.strip_suffix('.').is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()));
    (number || mark == "-" || mark == "*").then_some((mark, words))
}

/// Returns words without the marks of Markdown.
fn inline(words: &str) -> String {
    let (mut text, mut rest) = (String::new(), words);
    while let Some(at) = rest.find(['[', '*', '`']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        rest = from;
        let (taken, plain) = marked(from);
        text.push_str(&plain);
        rest = &rest[taken..];
    }
    text + rest
}

/// Reads what begins with a mark; returns how much of it was read, and what is shown for that.
fn marked(text: &str) -> (usize, String) {
    if let Some(code) = text.strip_prefix('`')
        && let Some(end) = code.find('`')
    {
        return (end + 2, text[..end + 2].to_owned());
    }
    if let Some(strong) = text.strip_prefix("**")
        && let Some(end) = strong.find("**")
    {
        return (end + 4, inline(&strong[..end]));
    }
    if let Some((shown, after)) = text.strip_prefix('[').and_then(|link| link.split_once("]("))
        && let Some((target, _)) = after.split_once(')')
    {
        return (1 + shown.len() + 2 + target.len() + 1, link(&inline(shown), target));
    }
    let mark = text.chars().next().unwrap_or_default();
    (mark.len_utf8(), mark.to_string())
}

/// Returns what is shown for a link: the words, and how the page it leads to is read.
fn link(words: &str, target: &str) -> String {
    let file = target.split('#').next().unwrap_or(target);
    if target.starts_with("http://") || target.starts_with("https://") {
        return format!("{words} ({target})");
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    let Some(page) = name.strip_suffix(".md") else { return words.to_owned() };
    if page.starts_with("PLY-") {
        return if words == page { words.to_owned() } else { format!("{words} (`palyra explain {page}`)") };
    }
    match super::library::DOCUMENTS.iter().any(|(known, _)| *known == page) {
        true => format!("{words} (`palyra explain docs/{page}.md`)"),
        false => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::library::{CODES, DOCUMENTS};
    use super::*;

    #[test]
    fn a_page_is_wrapped_and_its_links_name_a_verb() {
        let page = "# PLY-1 a_name\n\nSome **strong** words, a\nsecond line, see [policy](../policy.md#x).\n\n## Lists\n\
                    - one item that is\n  longer than a line of this width\n- `b[0]`\n\n```sh\npalyra run  x\n```\n\n\
                    | a | b |\n|---|---|\n| `x \\| y` | [PLY-2001](PLY-2001.md) means |\n";
        let text = page_text(page, 36).replace(BOLD, "<").replace(PLAIN, ">");
        assert_eq!(
            text,
            "<PLY-1 a_name>\n\nSome strong words, a second line,\nsee policy (`palyra explain\ndocs/policy.md`).\n\n\
             <Lists>\n- one item that is longer than a\n  line of this width\n- `b[0]`\n\n  palyra run  x\n\na\n    b\n\
             `x | y`\n    PLY-2001 means\n"
        );
    }

    #[test]
    fn no_page_is_wider_than_a_terminal() {
        for (name, page) in CODES
            .iter()
            .map(|(n, page)| (n.to_string(), page))
            .chain(DOCUMENTS.iter().map(|(name, text)| ((*name).to_owned(), text)))
        {
            let mut in_code = false;
            let code: Vec<&str> = page
                .lines()
                .filter(|line| {
                    in_code ^= line.trim_start().starts_with(FENCE);
                    in_code
                })
                .collect();
            for line in page_text(page, 80).replace(BOLD, "").replace(PLAIN, "").lines() {
                let is_code = code.iter().any(|code| line.ends_with(code.trim_end()) && !code.is_empty());
                let is_word = !line.trim().contains(' ');
                assert!(line.width() <= 80 || is_code || is_word, "{name}: {line}");
            }
        }
    }
}
