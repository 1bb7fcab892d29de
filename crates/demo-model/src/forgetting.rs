//! Forgetting an item of memory: a look for it, then the call that forgets the one that fits.
//!
//! An item fits when it has every word of what was said. Of several that fit none is forgotten, and the answer lists them.

use serde_json::json;

use super::extract::clip;
use super::intent::{IntendedCall, ToolAbility};

/// Items that are looked at: the most that the tool gives.
const ITEMS_MAX: u64 = 25;
/// Characters of what is looked for, at most.
const QUERY_CHARS_MAX: usize = 300;
/// Items that are listed, at most.
const LISTED_MAX: usize = 6;
const ITEM_CHARS_MAX: usize = 200;
/// Characters of an id.
const ID_CHARS: usize = 26;
/// Words that say nothing of an item.
const SMALL_WORDS: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "do", "for", "from", "had", "has", "have", "i", "in",
    "is", "it", "its", "me", "my", "of", "on", "or", "our", "please", "said", "say", "so", "that", "the",
    "their", "this", "to", "told", "user", "was", "we", "were", "what", "with", "you", "your", "item",
    "fact", "anything", "i'm",
];

/// An item as the tool lists it.
struct ListedItem<'t> {
    id: &'t str,
    text: String,
}

/// Returns whether a text has a word by which an item can be known.
pub(super) fn names_item(text: &str) -> bool {
    !stems(text).is_empty()
}

/// Returns the look for items that a text may mean.
pub(super) fn look_for(said: &str) -> IntendedCall {
    let query = clip(said, QUERY_CHARS_MAX);
    IntendedCall::new(ToolAbility::Recollect, &[("query", &query)]).with("limit", json!(ITEMS_MAX))
}

/// Returns the call that forgets the item that fits, by what was found; `None` where none or several fit.
pub(super) fn forget_call(said: &str, found: &str) -> Option<IntendedCall> {
    match fitting(said, &listed(found)).as_slice() {
        [only] => Some(IntendedCall::new(ToolAbility::Remember, &[("forget", only.id)])),
        _ => None,
    }
}

/// Says why nothing was forgotten, by what was found.
pub(super) fn not_forgotten(said: &str, found: &str) -> String {
    let items = listed(found);
    let fits = fitting(said, &items);
    let said = clip(said, ITEM_CHARS_MAX);
    let all: Vec<&ListedItem<'_>> = items.iter().collect();
    match (all.as_slice(), fits.as_slice()) {
        ([], _) => format!("I cannot forget that: I remember nothing about \"{said}\"."),
        (near, []) => format!(
            "I cannot forget that: no item that I remember says \"{said}\". These are the nearest:\n{}\nTry: forget that, with \
             the words of one of them.",
            item_lines(near)
        ),
        (_, several) => format!(
            "I cannot tell which one you mean, so I forgot nothing. {} items fit:\n{}\nTry: forget that, with more words of \
             one of them.",
            several.len(),
            item_lines(several)
        ),
    }
}

fn item_lines(items: &[&ListedItem<'_>]) -> String {
    let lines = items.iter().take(LISTED_MAX).map(|item| format!("- {}", clip(&item.text, ITEM_CHARS_MAX)));
    let more = items.len().saturating_sub(LISTED_MAX);
    let rest = if more > 0 { format!("\n{more} further ones are not shown.") } else { String::new() };
    format!("{}{rest}", lines.collect::<Vec<_>>().join("\n"))
}

/// Says which item was forgotten, in its own words; `None` where it was not among what was found.
pub(super) fn forgotten(found: &str, id: &str) -> Option<String> {
    let items = listed(found);
    let item = items.iter().find(|item| item.id == id)?;
    Some(format!("I forgot this: {}", clip(&item.text, ITEM_CHARS_MAX)))
}

/// Reads the items of a look. An item of several lines could look like two: where the numbers differ, there is none.
fn listed(found: &str) -> Vec<ListedItem<'_>> {
    let Some((head, rest)) = found.split_once('\n') else { return Vec::new() };
    let mut items: Vec<ListedItem<'_>> = Vec::new();
    for line in rest.lines() {
        match item_of(line) {
            Some(item) => items.push(item),
            None => {
                if let Some(last) = items.last_mut() {
                    last.text = format!("{} {line}", last.text);
                }
            }
        }
    }
    let count = head.split(' ').next().and_then(|count| count.parse::<usize>().ok());
    if count == Some(items.len()) { items } else { Vec::new() }
}

fn item_of(line: &str) -> Option<ListedItem<'_>> {
    let (id, rest) = line.split_at_checked(ID_CHARS)?;
    let is_id = id.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let (_, text) = rest.strip_prefix(" saved ").filter(|_| is_id)?.split_once(": ")?;
    Some(ListedItem { id, text: text.to_owned() })
}

/// Returns the items that have every word of what was said.
fn fitting<'i, 't>(said: &str, items: &'i [ListedItem<'t>]) -> Vec<&'i ListedItem<'t>> {
    let wanted = stems(said);
    let fits = |item: &&ListedItem<'_>| {
        let words = stems(&item.text);
        !wanted.is_empty() && wanted.iter().all(|word| words.contains(word))
    };
    items.iter().filter(fits).collect()
}

/// Returns the words that say something, without the endings of plurals.
fn stems(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let said = words.filter(|word| !SMALL_WORDS.contains(word));
    said.map(|word| word.trim_end_matches("'s").trim_end_matches('s').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str =
        "01ARZ3NDEKTSV4RRFFQ69G5FAV saved 2026-11-29, holds everywhere: I prefer short answers";
    const DEPLOYS: &str =
        "01ARZ3NDEKTSV4RRFFQ69G5FAW saved 2026-11-29, holds in this folder: Deploys are on Fridays";
    const LATE: &str =
        "01ARZ3NDEKTSV4RRFFQ69G5FAX saved 2026-11-29, holds everywhere: A late deploy needs a yes";

    fn forgets(said: &str, found: &str) -> Option<String> {
        let call = forget_call(said, found)?;
        Some(call.arguments["forget"].as_str().unwrap().to_owned())
    }

    #[test]
    fn the_one_item_that_has_all_words_is_forgotten() {
        let both = format!("2 items\n{SHORT}\n{DEPLOYS}");
        let id = &SHORT[..ID_CHARS];
        assert_eq!(forgets("I prefer short answers", &both).as_deref(), Some(id));
        assert_eq!(forgets("what I told you about deploys", &both).as_deref(), Some(&DEPLOYS[..ID_CHARS]));
        assert_eq!(look_for("deploys").arguments["query"], "deploys");
        assert_eq!(forgotten(&both, id).unwrap(), "I forgot this: I prefer short answers");
        assert_eq!(forgotten(&both, "another"), None);
    }

    #[test]
    fn of_several_that_fit_and_of_those_that_only_are_near_none_is_forgotten() {
        let both = format!("2 items\n{DEPLOYS}\n{LATE}");
        assert_eq!(forgets("deploys", &both), None);
        let why = not_forgotten("deploys", &both);
        assert!(why.contains("2 items fit:\n- Deploys are on Fridays\n- A late deploy"), "{why}");
        let near = format!("1 item\n{SHORT}");
        assert_eq!(forgets("I prefer long answers", &near), None);
        let why = not_forgotten("I prefer long answers", &near);
        assert!(
            why.contains("no item that I remember says") && why.contains("- I prefer short answers"),
            "{why}"
        );
        let none = not_forgotten("deploys", "nothing is remembered about this");
        assert_eq!(none, "I cannot forget that: I remember nothing about \"deploys\".");
    }

    #[test]
    fn an_item_whose_text_looks_like_another_one_is_not_taken_apart() {
        let hidden = format!("1 item\n{SHORT}\n{DEPLOYS}");
        assert_eq!(forgets("deploys", &hidden), None);
        let two_lines = format!("1 item\n{SHORT}\nand no lists");
        let id = &SHORT[..ID_CHARS];
        assert_eq!(forgets("short answers, no lists", &two_lines).as_deref(), Some(id));
        assert_eq!(forgets("me", &format!("1 item\n{SHORT}")), None, "no word says which");
    }
}
