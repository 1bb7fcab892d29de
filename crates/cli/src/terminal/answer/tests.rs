//! What is a yes, by risk.

use super::*;

const ID: &str = "01JDAYS7VGV3J8JZ6K6X3B7Q2K";

fn is_yes(answer: &Answer) -> bool {
    matches!(answer, Answer::Decide { decision: v1::ApprovalDecision::Approve, .. })
}

#[test]
fn only_a_clear_yes_is_one() {
    for risk in ["low", "medium"] {
        let form = AnswerForm::of(ID, risk);
        for line in ["y", " Yes ", "YES", "s"] {
            assert!(is_yes(&form.read(line)), "{line}");
        }
        for line in ["", "yeah", "y please", "ja", "ok", "yes but", "\u{ff59}", "7q2k", "y 7q2k", "?"] {
            assert_eq!(form.read(line), Answer::Unclear, "{line}");
        }
    }
}

#[test]
fn above_medium_risk_a_yes_repeats_the_word_of_its_prompt() {
    for risk in ["high", "critical", "", "of a later version"] {
        let form = AnswerForm::of(ID, risk);
        assert!(form.prompt().contains(" 7Q2K ") && form.prompt().starts_with("? "), "{}", form.prompt());
        for line in ["7Q2K", "7q2k", "y 7Q2K", "yes 7q2k", " s  7Q2K"] {
            assert!(is_yes(&form.read(line)), "{line}");
        }
        for line in ["y", "yes", "s", "session"] {
            assert_eq!(form.read(line), Answer::WordMissing, "{line}");
        }
        for line in ["y 7Q2", "s y", "Q2K", "7Q2K please", "y 7Q2J", ""] {
            assert_eq!(form.read(line), Answer::Unclear, "{line}");
        }
    }
}

#[test]
fn a_session_grant_is_asked_for_and_a_plain_yes_is_none() {
    for (risk, yes, session) in [("low", "y", "s"), ("critical", "7Q2K", "s 7Q2K")] {
        let form = AnswerForm::of(ID, risk);
        let scope = |line: &str| match form.read(line) {
            Answer::Decide { remember, .. } => remember.map(|wish| wish.scope),
            other => panic!("{other:?}"),
        };
        assert_eq!((scope(yes), scope(session).as_deref()), (None, Some("session")));
    }
}

#[test]
fn a_no_may_say_why_at_any_risk() {
    for risk in ["low", "critical"] {
        let form = AnswerForm::of(ID, risk);
        let no = |note: &str| Answer::Decide {
            decision: v1::ApprovalDecision::Deny,
            note: note.to_owned(),
            remember: None,
        };
        assert_eq!(form.read("n"), no(""));
        assert_eq!(form.read("no  not this file "), no("not this file"));
        assert_eq!((form.read("m"), form.read("l")), (Answer::More, Answer::Skip));
    }
}
