//! The client of a story: makes the schedules and waits for the end of all that they lead to, through every restart.

use std::time::Duration;

use anyhow::{Context, Result};
use jiff::Timestamp;
use palyra_client::{Client, ClientError};
use palyra_wire::v1::{
    ChangeQueuedTaskRequest, CreateScheduleRequest, ListQueuedTasksRequest, ListSchedulesRequest,
    QueuedTaskAttemptEnd, QueuedTaskChange, QueuedTaskStage, ScheduleDraft,
};

use super::differences::{REMINDER, RUN};
use super::facts::{StoryFacts, look};
use crate::person::answered;
use crate::test_home::TestHome;
use crate::watch::{ServingReceiver, connect};

/// Time from the call that makes the schedules to the moment in which they are due: both are made by then.
pub(super) const DUE_AFTER: Duration = Duration::from_secs(1);
/// Between two looks at tasks and messages, whose ends no client is notified of.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Whether the pause after a lost attempt is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PausePatience {
    /// It is.
    Waits,
    /// A person asks for the next attempt at once.
    Hurries,
}

/// Makes the schedules through restarts. One that a daemon recorded without an answer is found by its name.
pub(super) async fn make_schedules(
    house: &TestHome,
    serving: ServingReceiver,
    due_after: Duration,
) -> Result<()> {
    let due = Timestamp::now().checked_add(due_after).context("a time")?;
    for name in [RUN, REMINDER] {
        loop {
            let client = connect(house, serving.clone()).await?;
            let Some(listed) = answered(client.call(ListSchedulesRequest {}).await)? else { continue };
            if listed.schedules.iter().any(|schedule| schedule.name == name) {
                break;
            }
            // A restart may have taken until after that time.
            let soon = Timestamp::now().checked_add(due_after / 4).context("a time")?;
            let draft = Some(draft(name, due.max(soon)));
            if answered(client.call(CreateScheduleRequest { draft }).await)?.is_some() {
                break;
            }
        }
    }
    Ok(())
}

fn draft(name: &str, due: Timestamp) -> ScheduleDraft {
    let text = "Look at the build.".to_owned();
    let (prompt, reminder) = if name == RUN { (text, String::new()) } else { (String::new(), text) };
    ScheduleDraft {
        name: name.to_owned(),
        at: due.to_string(),
        time_zone: "UTC".to_owned(),
        prompt,
        reminder,
        ..ScheduleDraft::default()
    }
}

/// Waits through restarts until all that the schedules lead to has ended, and returns what the daemon knows then. A person who
/// is in a hurry asks for the next attempt of a task whose attempt was lost, instead of waiting for the end of its pause.
pub(super) async fn until_settled(
    house: &TestHome,
    serving: ServingReceiver,
    pauses: PausePatience,
) -> Result<StoryFacts> {
    let mut client = connect(house, serving.clone()).await?;
    let mut looks = tokio::time::interval(LOOK_EVERY);
    loop {
        looks.tick().await;
        let looked = match look(&client, [RUN, REMINDER].len()).await {
            Ok(None) if pauses == PausePatience::Hurries => ask_for_attempts(&client).await.map(|()| None),
            looked => looked,
        };
        match looked {
            Ok(Some(facts)) => return Ok(facts),
            Ok(None) => {}
            Err(error) if ClientError::is_unreachable(&error) => {
                client = connect(house, serving.clone()).await?;
            }
            Err(error) => return Err(error).context("could not look at the tasks"),
        }
    }
}

/// Lets tasks run now whose attempt was lost with an earlier daemon.
async fn ask_for_attempts(client: &Client) -> Result<(), ClientError> {
    let request = ListQueuedTasksRequest {
        stage: QueuedTaskStage::Waiting.into(),
        ..ListQueuedTasksRequest::default()
    };
    for task in client.call(request).await?.tasks {
        if task.last_end() == QueuedTaskAttemptEnd::ProcessEnded {
            let change = QueuedTaskChange::RunNow.into();
            match client.call(ChangeQueuedTaskRequest { task_id: task.task_id, change }).await {
                // Its pause may have ended since.
                Ok(_) | Err(ClientError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}
