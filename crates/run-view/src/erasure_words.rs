//! An erasure in words: what it took, when, by whom and why.

use palyra_screen_text::short_id;
use palyra_wire::v1;

use super::times::date;

/// Ranges of entries that are shown of an erasure.
const RANGES_SHOWN_MAX: usize = 20;

fn by_whom(erasure: &v1::JournalEntry) -> String {
    match erasure.principal_id.as_str() {
        _ if erasure.erased_by_you => "you".to_owned(),
        "" => "the daemon".to_owned(),
        principal => format!("principal {}", short_id(principal)),
    }
}

/// Says what an erasure took, and who wanted it; nothing of other entries.
pub fn erasure_of_entries(entry: &v1::JournalEntry) -> Option<String> {
    if entry.erased_ranges.is_empty() {
        return None;
    }
    let one = |range: &v1::SeqRange| match range.first == range.last {
        true => range.first.to_string(),
        false => format!("{} to {}", range.first, range.last),
    };
    let shown = entry.erased_ranges.iter().take(RANGES_SHOWN_MAX).map(one).collect::<Vec<_>>().join(", ");
    let left = entry.erased_ranges.len().saturating_sub(RANGES_SHOWN_MAX);
    let more = if left > 0 { format!(" and {left} more ranges (--json)") } else { String::new() };
    Some(format!(
        "erased the content of the entries {shown}{more}, by {} ({})",
        by_whom(entry),
        entry.erasure_reason_name()
    ))
}

/// Says when content was erased, by whom and why, and where that is recorded.
pub fn erased_how(erasure: &v1::JournalEntry) -> String {
    let who = by_whom(erasure);
    format!(
        " on {} by {who} ({}), as `palyra journal show {}` says",
        date(erasure.time),
        erasure.erasure_reason_name(),
        erasure.seq
    )
}
