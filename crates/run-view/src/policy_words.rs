//! Decisions of policies in words: an explanation, a difference, and how checked files come into force.

use std::collections::{BTreeMap, BTreeSet};

use palyra_screen_text::{clean_line, count};
use palyra_wire::v1;

/// The check of a daemon that compares its rules with their files.
const FILES_CHECK: &str = "policy_files";
/// Names of files that a line names, at most.
const NAMES_SHOWN_MAX: usize = 3;
const NAME_CHARS_MAX: usize = 60;
/// Characters of what a check found: a path and a mistake are in it.
const FOUND_CHARS_MAX: usize = 600;

/// The rules of a running daemon, compared with files of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComparedRules {
    /// The daemon has no rules, not even those that ship: it refused what it read at its start.
    NothingInForce,
    /// The files with these names differ, or are on one side only.
    Differing(Vec<String>),
}

impl ComparedRules {
    /// Compares the rules in force with a person's files, which are given as texts by name.
    #[must_use]
    pub fn of(in_force: v1::GetPolicyResponse, own: &BTreeMap<String, String>) -> Self {
        if in_force.files.is_empty() {
            return Self::NothingInForce;
        }
        let files = in_force.files.into_iter().filter(|file| !file.shipped);
        let files: BTreeMap<String, String> = files.map(|file| (file.name, file.text)).collect();
        let names: BTreeSet<&String> = own.keys().chain(files.keys()).collect();
        Self::Differing(
            names.into_iter().filter(|name| own.get(*name) != files.get(*name)).cloned().collect(),
        )
    }

    /// Returns whether the rules in force are other ones than those of the files.
    #[must_use]
    pub fn is_other(&self) -> bool {
        match self {
            Self::NothingInForce => true,
            Self::Differing(names) => !names.is_empty(),
        }
    }
}

/// Says how the files that were checked come into force; `compared` is `None` where no daemon runs.
#[must_use]
pub fn how_in_force(files: u64, compared: Option<&ComparedRules>) -> String {
    match compared {
        None if files == 0 => String::new(),
        None => "; they come into force with `palyra config reload`".to_owned(),
        Some(ComparedRules::NothingInForce) => {
            "; the running daemon has no rules in force and denies every call: `palyra config reload` applies the files"
                .to_owned()
        }
        Some(ComparedRules::Differing(names)) if !names.is_empty() => format!(
            "; the rules in force differ from the files ({}): they come into force with `palyra config reload`",
            shown_names(names)
        ),
        Some(ComparedRules::Differing(_)) if files == 0 => String::new(),
        Some(ComparedRules::Differing(_)) => "; these rules are in force".to_owned(),
    }
}

fn shown_names(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_SHOWN_MAX).map(|name| clean_line(name, NAME_CHARS_MAX));
    let more = names.len().saturating_sub(NAMES_SHOWN_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

/// Says that files were edited since the rules of an explanation came into force, where a check of the daemon found that.
#[must_use]
pub fn edited_rules_note(checks: &[v1::Check]) -> Option<String> {
    let edited = checks.iter().find(|check| check.name == FILES_CHECK);
    let edited = edited.filter(|check| check.level() == v1::CheckLevel::Warning)?;
    let found = clean_line(&edited.found, FOUND_CHARS_MAX);
    Some(format!("the files of policies differ from the rules in force: {found}; {}", edited.mend))
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

/// Says what came of judging recorded decisions again.
#[must_use]
pub fn judged_again_text(report: &v1::PolicyDiffReport) -> String {
    format!(
        "{} judged again: {} the same, newly allowed {}, newly asked {}, newly denied {}; {} without a request",
        count(report.judged, "decision"),
        report.same,
        report.newly_allowed,
        report.newly_asked,
        report.newly_denied,
        report.skipped,
    )
}

/// Says what came of the rules that are tried out.
#[must_use]
pub fn tried_out_text(shadow: &v1::GetShadowResponse) -> String {
    format!(
        "{} compared: {} the same, would allow {}, would ask {}, would deny {}; {} missed; candidate {}",
        count(shadow.judged, "decision"),
        shadow.same,
        shadow.would_allow,
        shadow.would_ask,
        shadow.would_deny,
        shadow.missed,
        shadow.candidate.get(..12).unwrap_or_default(),
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
        let differing = |names: &[&str]| {
            Some(ComparedRules::Differing(names.iter().map(|name| (*name).to_owned()).collect()))
        };
        let nothing = "; the running daemon has no rules in force and denies every call: `palyra config reload` applies the files";
        for (files, compared, expect) in [
            (0, None, ""),
            (0, differing(&[]), ""),
            (1, None, "; they come into force with `palyra config reload`"),
            (1, differing(&[]), "; these rules are in force"),
            (
                0,
                differing(&["own.cedar"]),
                "; the rules in force differ from the files (own.cedar): they come into force with `palyra config reload`",
            ),
            (0, Some(ComparedRules::NothingInForce), nothing),
            (1, Some(ComparedRules::NothingInForce), nothing),
        ] {
            assert_eq!(how_in_force(files, compared.as_ref()), expect);
        }
    }

    #[test]
    fn rules_in_force_are_compared_with_files_by_name_and_text() {
        let file = |name: &str, text: &str, shipped| v1::PolicyFile {
            name: name.to_owned(),
            text: text.to_owned(),
            shipped,
        };
        let in_force = |files| v1::GetPolicyResponse { files, ..Default::default() };
        let own = |files: &[(&str, &str)]| -> BTreeMap<String, String> {
            files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        let ships = || file("never.cedar", "forbid", true);
        for (files, own, expect) in [
            (vec![ships()], own(&[]), vec![]),
            (vec![ships(), file("a.cedar", "1", false)], own(&[("a.cedar", "1")]), vec![]),
            (vec![ships(), file("a.cedar", "1", false)], own(&[("a.cedar", "2")]), vec!["a.cedar"]),
            (
                vec![ships(), file("a.cedar", "1", false)],
                own(&[("b.cedar", "1")]),
                vec!["a.cedar", "b.cedar"],
            ),
        ] {
            let expect: Vec<String> = expect.into_iter().map(str::to_owned).collect();
            assert_eq!(ComparedRules::of(in_force(files), &own), ComparedRules::Differing(expect));
        }
        // Those that ship are missing as well: nothing is in force.
        for own in [own(&[]), own(&[("a.cedar", "1")])] {
            let compared = ComparedRules::of(in_force(Vec::new()), &own);
            assert!(compared == ComparedRules::NothingInForce && compared.is_other());
        }
    }

    #[test]
    fn an_explanation_says_that_the_files_were_edited_since() {
        let check = |name: &str, level: v1::CheckLevel| v1::Check {
            name: name.to_owned(),
            level: level.into(),
            found: "edited, and not applied yet".to_owned(),
            mend: "`palyra config reload`".to_owned(),
        };
        let note = "the files of policies differ from the rules in force: edited, and not applied yet; `palyra config reload`";
        for (checks, expect) in [
            (vec![], None),
            (vec![check("policy_files", v1::CheckLevel::Ok)], None),
            (vec![check("configuration_file", v1::CheckLevel::Warning)], None),
            (vec![check("policy_files", v1::CheckLevel::Warning)], Some(note)),
        ] {
            assert_eq!(edited_rules_note(&checks).as_deref(), expect);
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
