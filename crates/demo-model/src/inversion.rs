//! Turns an indirect question into a direct one: "which licence this project uses", "how many tests there are".

use super::words::{WordToken, words};

/// Verbs at the end of an indirect question, with their form in a direct one.
const VERBS: &[(&str, &str)] = &[
    ("uses", "use"),
    ("has", "have"),
    ("needs", "need"),
    ("contains", "contain"),
    ("defines", "define"),
    ("exports", "export"),
    ("requires", "require"),
    ("imports", "import"),
    ("says", "say"),
    ("mentions", "mention"),
    ("provides", "provide"),
];
/// Verbs of which the form stays.
const PLAIN: &[&str] = &["have", "use", "need", "import"];
/// A question has so many words before its verb, at most.
const LEAD_MAX: usize = 5;

/// Returns the direct questions that an indirect one may be.
pub(super) fn direct(clause: &[WordToken]) -> Vec<Vec<WordToken>> {
    let asks = ["what", "which", "where", "who", "how"];
    if !clause.first().is_some_and(|first| asks.contains(&first.lower().as_str())) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (at, word) in clause.iter().enumerate().skip(2) {
        let lower = word.lower();
        let verb = VERBS.iter().find(|(third, _)| *third == lower).map(|(_, base)| ("does", *base));
        let plain = PLAIN.iter().find(|verb| **verb == lower).map(|base| ("do", *base));
        let moved =
            if matches!(lower.as_str(), "is" | "are") { Some((lower.as_str(), "")) } else { verb.or(plain) };
        let Some((first, then)) = moved else { continue };
        for lead in 1..at.min(LEAD_MAX) {
            let turned = [&clause[..lead], &words(first), &clause[lead..at], &words(then), &clause[at + 1..]];
            out.push(turned.concat());
        }
    }
    out
}
