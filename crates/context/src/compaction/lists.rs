//! The form of a summary: four lists, one line for each item.

use super::words::one_line;

/// Characters of an item, at most.
const ITEM_CHARS_MAX: usize = 1_000;

const PINNED: &str = "Pinned";
const DECISIONS: &str = "Decisions";
const DONE: &str = "Done";
const OPEN: &str = "Open";
/// The only item of an empty list.
const NONE: &str = "none";

/// The lists of a summary.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummaryLists {
    /// Places that a person marked.
    pub pinned: Vec<String>,
    /// Decisions that were made.
    pub decisions: Vec<String>,
    /// Work that is done.
    pub done: Vec<String>,
    /// Work that is open.
    pub open: Vec<String>,
}

/// Which list a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListName {
    Pinned,
    Decisions,
    Done,
    Open,
}

impl ListName {
    /// Reads a heading, with the marks that models put around one.
    fn of_line(line: &str) -> Option<Self> {
        let word = line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '*' | '_' | ':'));
        let names =
            [(PINNED, Self::Pinned), (DECISIONS, Self::Decisions), (DONE, Self::Done), (OPEN, Self::Open)];
        let found = names.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        found.map(|(_, list)| list)
    }
}

impl SummaryLists {
    /// Reads a summary; `None` where a list of decisions, of what is done or of what is open is missing, or anything is
    /// outside of the lists.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut lists = Self::default();
        let mut seen = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let item = line.trim_start().strip_prefix("- ").or_else(|| line.trim_start().strip_prefix("* "));
            match (item, ListName::of_line(line)) {
                (Some(item), _) => lists.list(*seen.last()?).push(one_line(item, ITEM_CHARS_MAX)),
                (None, Some(name)) if seen.contains(&name) => return None,
                (None, Some(name)) => seen.push(name),
                // A line that goes on with the item before it.
                (None, None) => {
                    let item = lists.list(*seen.last()?).last_mut()?;
                    *item = one_line(&format!("{item} {line}"), ITEM_CHARS_MAX);
                }
            }
        }
        for name in [ListName::Pinned, ListName::Decisions, ListName::Done, ListName::Open] {
            lists.list(name).retain(|item| !item.is_empty() && !item.eq_ignore_ascii_case(NONE));
        }
        let demanded = [ListName::Decisions, ListName::Done, ListName::Open];
        demanded.iter().all(|name| seen.contains(name)).then_some(lists)
    }

    /// Returns the summary as a text.
    #[must_use]
    pub fn render(&self) -> String {
        let lists =
            [(PINNED, &self.pinned), (DECISIONS, &self.decisions), (DONE, &self.done), (OPEN, &self.open)];
        let mut text = String::new();
        for (name, items) in lists {
            if name == PINNED && items.is_empty() {
                continue;
            }
            text.push_str(name);
            text.push_str(":\n");
            let lines = items.iter().map(String::as_str);
            let none = items.is_empty().then_some(NONE);
            for item in lines.chain(none) {
                text.push_str("- ");
                text.push_str(item);
                text.push('\n');
            }
        }
        text
    }

    /// Returns every item.
    pub(super) fn items(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.pinned, &self.decisions, &self.done, &self.open];
        lists.into_iter().flatten().map(String::as_str)
    }

    fn list(&mut self, name: ListName) -> &mut Vec<String> {
        match name {
            ListName::Pinned => &mut self.pinned,
            ListName::Decisions => &mut self.decisions,
            ListName::Done => &mut self.done,
            ListName::Open => &mut self.open,
        }
    }
}
