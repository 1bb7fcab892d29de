//! What a question says that the question before it did not.
//!
//! Pure. Invariant: parts of a text are compared as a whole; where there are too many, the rest is counted.

use palyra_wire::v1;

use super::summary;
use palyra_screen_text::{clean_line, count};

/// Differences that are shown, at most.
const SHOWN_MAX: usize = 8;
const PART_CHARS_MAX: usize = 160;

/// Returns what differs between a question and the one that asks again, line by line.
pub fn changes(before: &v1::Approval, now: &v1::Approval) -> Vec<String> {
    let (Some(old), Some(new)) = (&before.prompt, &now.prompt) else { return Vec::new() };
    let mut lines = Vec::new();
    if before.risk != now.risk {
        lines.push(format!("risk: {} before, {} now", before.risk_name(), now.risk_name()));
    }
    if before.needed != now.needed {
        lines.push(format!("people who have to say yes: {} before, {} now", before.needed, now.needed));
    }
    if before.separation != now.separation {
        lines.push(format!(
            "who may answer: {} before, {} now",
            before.separation_name(),
            now.separation_name()
        ));
    }
    let texts = [
        (summary(old), summary(new), '\n'),
        (old.arguments.clone(), new.arguments.clone(), '\n'),
        (old.preview.clone(), new.preview.clone(), '\n'),
        (old.reason.clone(), new.reason.clone(), ';'),
        (old.unbound.clone(), new.unbound.clone(), '\n'),
    ];
    for (old, new, delimiter) in &texts {
        lines.extend(missing(new, old, *delimiter).map(|part| format!("new: {part}")));
        lines.extend(missing(old, new, *delimiter).map(|part| format!("no more: {part}")));
    }
    let left_out = lines.len().saturating_sub(SHOWN_MAX);
    lines.truncate(SHOWN_MAX);
    if left_out > 0 {
        lines.push(count(left_out as u64, "more difference"));
    }
    lines
}

/// Returns the parts of a text that another one does not have.
fn missing<'t>(text: &'t str, other: &'t str, delimiter: char) -> impl Iterator<Item = String> + 't {
    let has = move |part: &str| other.split(delimiter).any(|known| known.trim() == part);
    let parts = text.split(delimiter).map(str::trim).filter(move |part| !part.is_empty() && !has(part));
    // The words of a table are apart by more than one blank.
    parts.map(|part| clean_line(&part.split_whitespace().collect::<Vec<_>>().join(" "), PART_CHARS_MAX))
}

#[cfg(test)]
mod tests;
