//! `palyra admin notify`: the targets of notifications, and test messages.

mod arguments;
mod notification_text;

use std::collections::BTreeMap;

use palyra_client::Client;
use palyra_terminal::{NoteKind, Output};
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1::{
    ListNotificationTargetsRequest, Notification, NotificationStage, NotificationTarget,
    NotificationTargetKind, TestNotificationsRequest,
};

use self::arguments::NotifyVerb;
use self::notification_text::{TARGET_HEAD, result_line, target_row};
use crate::answers::{AnswerForm, ListForm};
use crate::verb_end::{BackgroundVerbEnd, BackgroundVerbError};

pub use self::arguments::NotifyArgs;

const NOTHING: &str = "no targets of notifications; set one in `[notify]` of palyra.toml (`palyra explain docs/notifications.md`)";

const TARGETS: ListForm<NotificationTarget, 5> =
    ListForm { none: NOTHING, head: TARGET_HEAD, row: target_row, json: to_json_with_defaults };

/// Runs the verb.
pub(crate) async fn run(
    output: &Output,
    client: &Client,
    args: NotifyArgs,
) -> Result<BackgroundVerbEnd, BackgroundVerbError> {
    match args.verb.unwrap_or(NotifyVerb::List { json: args.json }) {
        NotifyVerb::List { json } => {
            let targets = client.call(ListNotificationTargetsRequest {}).await?.targets;
            TARGETS.print(output, json.into(), targets)
        }
        NotifyVerb::Test { target, json } => {
            test(output, client, target.unwrap_or_default(), json.into()).await
        }
    }
}

async fn test(
    output: &Output,
    client: &Client,
    target: NotificationTargetKind,
    form: AnswerForm,
) -> Result<BackgroundVerbEnd, BackgroundVerbError> {
    let mut steps = client.test_notifications(TestNotificationsRequest { target: target.into() }).await?;
    let mut latest: BTreeMap<String, Notification> = BTreeMap::new();
    while let Some(step) = steps.next().await? {
        output.progress(&format!("{}: {}", step.target_name(), step.stage_name()));
        latest.insert(step.message_id.clone(), step);
    }
    output.end_progress();
    for message in latest.values() {
        if form == AnswerForm::Json {
            output.json(&to_json(message))?;
        } else {
            output.note(note_kind(message.stage()), &result_line(message));
        }
    }
    let is_sent = latest.values().all(|message| message.stage() == NotificationStage::Sent);
    Ok(if is_sent { BackgroundVerbEnd::Done } else { BackgroundVerbEnd::NotSent })
}

fn note_kind(stage: NotificationStage) -> NoteKind {
    match stage {
        NotificationStage::Sent => NoteKind::Good,
        NotificationStage::Unknown => NoteKind::Doubt,
        _ => NoteKind::Bad,
    }
}
