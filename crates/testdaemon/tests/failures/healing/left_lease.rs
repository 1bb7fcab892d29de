//! A worker of the background queue keeps its lease and never ends: the program that is to send a notification hangs.

use anyhow::Result;
use palyra_model_server::{Behaviour, Reply};
use palyra_testdaemon::tool_setup::{Rules, TestSettings};
use palyra_wire::v1::{HealingDomain, IncidentCause, ListQueuedTasksRequest, QueuedTaskStage, RemedyKind};

use super::stuck_daemon::{StuckDaemon, StuckOptions};
use super::three_modes::{ExpectedIncident, OutsideFault, in_each_mode, until};

/// The program that sends notifications: it takes longer than the control looks on.
const CONFIGURATION: &str = "[notify]\ncommand = [\"/bin/sleep\", \"60\"]\n";

/// A task whose worker never ends.
struct LeakedLease {
    daemon: StuckDaemon,
    task: String,
}

impl OutsideFault for LeakedLease {
    const EXPECTED: ExpectedIncident = ExpectedIncident {
        domain: HealingDomain::Tasks,
        cause: IncidentCause::TaskNoProgress,
        planned: RemedyKind::WakeQueue,
        helps: RemedyKind::RequeueTask,
    };

    async fn make() -> Result<Self> {
        let model = Behaviour::always(Reply::empty().call("act", r#"{"ask":true}"#));
        let options = StuckOptions {
            configuration: CONFIGURATION.to_owned(),
            setting: TestSettings { rules: Rules::AskFirst, ..TestSettings::default() },
        };
        let daemon = StuckDaemon::start(model, options, HealingDomain::Tasks).await?;
        // It waits for a person, who is notified.
        daemon.start_run("asking", "Act.").await?;
        let mut this = Self { daemon, task: String::new() };
        until(async || {
            this.task = this.leased().await?.into_iter().next().unwrap_or_default();
            Ok(!this.task.is_empty())
        })
        .await?;
        Ok(this)
    }

    fn daemon(&self) -> &StuckDaemon {
        &self.daemon
    }

    async fn is_broken(&self) -> Result<bool> {
        Ok(self.leased().await?.contains(&self.task))
    }

    async fn stop(self) -> Result<()> {
        self.daemon.stop().await
    }
}

impl LeakedLease {
    async fn leased(&self) -> Result<Vec<String>> {
        let request = ListQueuedTasksRequest {
            stage: QueuedTaskStage::Leased.into(),
            ..ListQueuedTasksRequest::default()
        };
        let listed = self.daemon.client.call(request).await?;
        Ok(listed.tasks.into_iter().map(|task| task.task_id).collect())
    }
}

#[tokio::test]
async fn a_lease_that_its_worker_keeps_is_taken_back_in_auto_only() -> Result<()> {
    in_each_mode::<LeakedLease>().await
}
