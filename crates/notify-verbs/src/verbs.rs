//! Running the verbs: requests and answers.

use std::collections::BTreeMap;

use palyra_client::Client;
use palyra_screen_text::table;
use palyra_terminal::{NoteKind, Output};
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1::{
    ListNotificationTargetsRequest, Notification, NotificationStage, NotificationTargetKind,
    TestNotificationsRequest,
};

use crate::arguments::{NotifyArgs, NotifyVerb};
use crate::notification_text::{TARGET_HEAD, result_line, target_row};
use crate::verb_end::{NotifyVerbEnd, NotifyVerbError};

const NOTHING: &str = "no targets of notifications; set one in `[notify]` of palyra.toml (`palyra explain docs/notifications.md`)";

/// How answers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerForm {
    Text,
    Json,
}

impl From<bool> for AnswerForm {
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// Runs the verb.
///
/// # Errors
/// [`NotifyVerbError`].
pub async fn run(
    output: &Output,
    client: &Client,
    args: NotifyArgs,
) -> Result<NotifyVerbEnd, NotifyVerbError> {
    match args.verb.unwrap_or(NotifyVerb::List { json: args.json }) {
        NotifyVerb::List { json } => list(output, client, json.into()).await,
        NotifyVerb::Test { target, json } => {
            test(output, client, target.unwrap_or_default(), json.into()).await
        }
    }
}

async fn list(output: &Output, client: &Client, form: AnswerForm) -> Result<NotifyVerbEnd, NotifyVerbError> {
    let targets = client.call(ListNotificationTargetsRequest {}).await?.targets;
    if form == AnswerForm::Json {
        targets.iter().try_for_each(|target| output.json(&to_json_with_defaults(target)))?;
    } else if targets.is_empty() {
        output.note(NoteKind::Info, NOTHING);
    } else {
        let rows = targets.into_iter().map(target_row).collect();
        let lines = table(TARGET_HEAD, rows, output.columns());
        lines.iter().try_for_each(|line| output.exact_line(line))?;
    }
    Ok(NotifyVerbEnd::Done)
}

async fn test(
    output: &Output,
    client: &Client,
    target: NotificationTargetKind,
    form: AnswerForm,
) -> Result<NotifyVerbEnd, NotifyVerbError> {
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
    Ok(if is_sent { NotifyVerbEnd::Done } else { NotifyVerbEnd::NotSent })
}

fn note_kind(stage: NotificationStage) -> NoteKind {
    match stage {
        NotificationStage::Sent => NoteKind::Good,
        NotificationStage::Unknown => NoteKind::Doubt,
        _ => NoteKind::Bad,
    }
}
