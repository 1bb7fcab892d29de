//! Decisions of policies in words: an explanation, a difference, and how checked files come into force.

use palyra_screen_text::clean_line;
use palyra_wire::v1;

/// Names of files that a line names, at most.
const NAMES_SHOWN_MAX: usize = 3;
const NAME_CHARS_MAX: usize = 60;

/// Says how the files that were checked come into force.
#[must_use]
pub fn how_in_force(files: u64, differing: Option<&[String]>) -> String {
    match (files, differing) {
        (0, None) => String::new(),
        (_, None) => "; they come into force with `palyra config reload`".to_owned(),
        (0, Some([])) => String::new(),
        (_, Some([])) => "; these rules are in force".to_owned(),
        (_, Some(names)) => {
            let shown = names.iter().take(NAMES_SHOWN_MAX).map(|name| clean_line(name, NAME_CHARS_MAX));
            let more = names.len().saturating_sub(NAMES_SHOWN_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!(
                "; the rules in force differ from the files ({}{more}): they come into force with `palyra config reload`",
                shown.collect::<Vec<_>>().join(", ")
            )
        }
    }
}

/// Returns the lines of an explanation: the decision once, with the name of its reason.
pub fn explanation_lines(explained: &v1::ExplainDecisionResponse) -> impl Iterator<Item = String> {
    let heading = format!("{} ({})", explained.verdict_name(), explained.reason_name());
    let again = format!("{}: {}", explained.verdict_name(), explained.reason_name().replace('_', " "));
    let lines = explained.explanation.lines().filter(move |line| **line != again);
    std::iter::once(heading).chain(lines.map(with_way_back))
}

/// Adds how a standing setting that decided is taken back, where the line names its entry.
fn with_way_back(line: &str) -> String {
    let entry = line.strip_prefix("posture: ").and_then(|posture| posture.rsplit_once("(journal entry "));
    let entry = entry.and_then(|(_, entry)| entry.strip_suffix(')'));
    match entry.filter(|entry| entry.bytes().all(|byte| byte.is_ascii_digit())) {
        Some(entry) => format!("{line}; `palyra policy posture clear --entry {entry}` takes it back"),
        None => line.to_owned(),
    }
}

/// Returns a difference between two decisions, in one line.
#[must_use]
pub fn difference_text(difference: &v1::DecisionDifference) -> String {
    format!(
        "{} {}  {}: {} -> {} ({})",
        difference.run_id,
        difference.effect_id,
        clean_line(&difference.tool, 64),
        difference.was_name(),
        difference.would_be_name(),
        clean_line(&difference.explanation, 200),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_decided_is_shown_with_the_way_to_take_it_back() {
        let explained = v1::ExplainDecisionResponse {
            explanation: "`a` is disabled\nposture: disabled here, set by you (journal entry 96)\nposture: ask (configuration)"
                .to_owned(),
            ..Default::default()
        };
        let lines: Vec<_> = explanation_lines(&explained).collect();
        assert!(lines[2].ends_with("; `palyra policy posture clear --entry 96` takes it back"), "{lines:?}");
        assert!(!lines[3].contains("palyra"), "{lines:?}");
    }

    #[test]
    fn checked_files_say_whether_they_are_in_force() {
        let names = ["own.cedar".to_owned()];
        for (files, differing, expect) in [
            (0, None, ""),
            (0, Some(&[][..]), ""),
            (1, None, "; they come into force with `palyra config reload`"),
            (1, Some(&[]), "; these rules are in force"),
            (
                0,
                Some(&names),
                "; the rules in force differ from the files (own.cedar): they come into force with `palyra config reload`",
            ),
        ] {
            assert_eq!(how_in_force(files, differing), expect);
        }
    }

    #[test]
    fn a_difference_is_told_with_its_run() {
        let difference = v1::DecisionDifference {
            run_id: "RUN".to_owned(),
            effect_id: 3,
            tool: "write_file".to_owned(),
            was: v1::PolicyVerdict::Ask.into(),
            would_be: v1::PolicyVerdict::Deny.into(),
            explanation: "by no-writes".to_owned(),
            time: None,
        };
        assert_eq!(difference_text(&difference), "RUN 3  write_file: ask -> deny (by no-writes)");
    }
}
