//! Targets and notifications as text.

use palyra_run_view::age;
use palyra_screen_text::clean_line;
use palyra_wire::v1::{Notification, NotificationStage, NotificationTarget};

/// Characters of an explanation.
const EXPLANATION_CHARS_MAX: usize = 500;

pub(super) const TARGET_HEAD: [&str; 5] = ["TARGET", "DELIVERED", "LAST", "NOT SENT", "WHY"];

/// Returns the row of a target.
pub(super) fn target_row(target: NotificationTarget) -> [String; 5] {
    let kind = target.kind_name().into_owned();
    let delivered = target.delivered.map_or_else(|| "never".to_owned(), |time| age(Some(time)));
    let not_sent = not_sent(&target);
    let (last, why) = match target.latest {
        None => (String::new(), String::new()),
        Some(latest) => (format!("{} {}", latest.stage_name(), age(latest.changed)), explanation(&latest)),
    };
    [kind, delivered, last, not_sent, why]
}

/// Says how many messages did not arrive, or may not have.
fn not_sent(target: &NotificationTarget) -> String {
    let counts =
        [(target.open_count, "open"), (target.unknown_count, "unknown"), (target.given_up_count, "given up")];
    let words: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if words.is_empty() { "0".to_owned() } else { words.join(", ") }
}

/// Says how the first attempt of a message ended, in one line.
pub(super) fn result_line(message: &Notification) -> String {
    let target = message.target_name();
    let why = explanation(message);
    match message.stage() {
        NotificationStage::Sent => format!("{target}: sent"),
        NotificationStage::Failed => format!("{target}: failed, and is tried again: {why}"),
        NotificationStage::Unknown => format!("{target}: it is not known whether it was sent: {why}"),
        NotificationStage::GivenUp => format!("{target}: not sent, and is not tried again: {why}"),
        NotificationStage::Planned | NotificationStage::Sending | NotificationStage::Unspecified => {
            format!("{target}: it is being sent")
        }
    }
}

fn explanation(message: &Notification) -> String {
    clean_line(&message.explanation, EXPLANATION_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use palyra_wire::v1::NotificationTargetKind;

    use super::*;

    #[test]
    fn a_result_says_what_follows() {
        let result = |stage: NotificationStage| {
            result_line(&Notification {
                target: NotificationTargetKind::Webhook.into(),
                stage: stage.into(),
                explanation: "the server answered 503\u{1b}[2J".to_owned(),
                ..Default::default()
            })
        };
        assert_eq!(result(NotificationStage::Sent), "webhook: sent");
        let failed = result(NotificationStage::Failed);
        assert!(
            failed.starts_with("webhook: failed, and is tried again: the server answered 503"),
            "{failed}"
        );
        assert!(!failed.contains('\u{1b}'), "{failed:?}");
        assert!(result(NotificationStage::Unknown).contains("not known"));
        assert!(result(NotificationStage::GivenUp).contains("not tried again"));
    }

    #[test]
    fn a_target_that_was_never_used_has_a_row() {
        let unused =
            NotificationTarget { kind: NotificationTargetKind::Command.into(), ..Default::default() };
        assert_eq!(target_row(unused), ["command", "never", "", "0", ""]);
        let used = NotificationTarget {
            kind: NotificationTargetKind::Command.into(),
            unknown_count: 1,
            given_up_count: 2,
            ..Default::default()
        };
        assert_eq!(target_row(used)[3], "1 unknown, 2 given up");
    }
}
