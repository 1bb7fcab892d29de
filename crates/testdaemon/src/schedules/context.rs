//! What all stories share: the programs, the model, the receiver of webhooks, and the houses in which stories begin.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use palyra_model_server::{Behaviour, ModelServer, Reply};

use super::facts::entries;
use super::legs::ScheduleLeg;
use super::place::{KillPlace, PlaceWatch};
use super::program;
use super::story_client::{DUE_AFTER, PausePatience, make_schedules, until_settled};
use super::webhook::{HOOKED, WebhookServer};
use crate::daemon_restarts::DaemonRestarts;
use crate::strace::{DATABASE_SYNC, InjectedFault, Selector, StraceTracer};
use crate::test_home::{Programs, TestHome};
use crate::tool_setup::TestSettings;

/// The write-ahead log of the journal.
const WAL: &str = "state/journal.db-wal";
const CONFIGURATION: &str = "home/.config/palyra/palyra.toml";
const SECRET: &str = "hook-secret";
/// The key of the tests of Standard Webhooks.
const SECRET_TEXT: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// Syncs of the write-ahead log at which a kill may leave an occurrence without its task: the schedules come before it.
const SYNCS_TRIED: std::ops::RangeInclusive<usize> = 3..=8;
/// Between two pieces of the answer, so that it has more than one entry.
const PACE: Duration = Duration::from_millis(2);

/// What all stories share.
pub(super) struct ScheduleContext {
    folder: tempfile::TempDir,
    pub(super) programs: Programs,
    pub(super) watch: PlaceWatch,
    _model: ModelServer,
    _webhook: WebhookServer,
    /// By the leg that begins there; the first one begins where a daemon has been, and nothing else.
    houses: BTreeMap<ScheduleLeg, TestHome>,
}

impl ScheduleContext {
    /// Prepares what all stories share, and what a kill leaves before each leg.
    ///
    /// # Errors
    /// When an undisturbed daemon does not do its part.
    pub(super) async fn prepare(daemon: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("palyra-s").tempdir().context("no folder")?;
        let watch = PlaceWatch::new();
        let model = start_model(watch.clone()).await.context("no port for the server of the model")?;
        let place = folder.path().join("house");
        let webhook = WebhookServer::start(&place.join(HOOKED), watch.clone()).context("no port")?;
        let programs = Programs {
            daemon: daemon.to_owned(),
            before: Vec::new(),
            model_url: model.base_url(),
            setting: TestSettings::default(),
        };
        let lived_in = TestHome::make(&folder.path().join("lived-in"))?;
        configure(&lived_in, &place, &webhook)?;
        let (daemon, _, _) = lived_in.serve(&programs).await?;
        daemon.stop().await?;
        let houses = BTreeMap::from([(ScheduleLeg::Due, lived_in)]);
        let mut context = Self { folder, programs, watch, _model: model, _webhook: webhook, houses };
        for leg in [ScheduleLeg::AfterOccurrence, ScheduleLeg::AfterSending] {
            let kept = context.killed_before(leg).await;
            let kept = kept.with_context(|| format!("could not prepare: {leg}"))?;
            context.houses.insert(leg, kept);
        }
        Ok(context)
    }

    /// Makes the house of a story, always in the same place.
    pub(super) fn begin(&self, leg: ScheduleLeg) -> Result<TestHome> {
        let kept = self.houses.get(&leg).with_context(|| format!("`{leg}` is not prepared"))?;
        self.watch.set(None);
        TestHome::copy_of(kept, &self.path("house"))
    }

    /// Returns the path of something that outlives a story.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Keeps the house of a story that failed.
    pub(super) fn keep(&self, name: &str) -> PathBuf {
        TestHome::keep(&self.path("house"), name)
    }

    /// Returns the house in which a leg begins.
    async fn killed_before(&self, leg: ScheduleLeg) -> Result<TestHome> {
        match leg {
            ScheduleLeg::Due => bail!("no daemon is killed before it"),
            ScheduleLeg::AfterSending => {
                let house = self.begin(ScheduleLeg::Due)?;
                self.watch.set(Some(KillPlace::WebhookTaken));
                self.kill_on_the_way(&house, None).await?;
                TestHome::copy_of(&house, &self.path("kept-sending"))
            }
            ScheduleLeg::AfterOccurrence => {
                for when in SYNCS_TRIED {
                    let house = self.begin(ScheduleLeg::Due)?;
                    let path = Some(house.path(WAL).display().to_string());
                    let selector = Selector { kind: DATABASE_SYNC.to_owned(), path, when };
                    self.kill_on_the_way(&house, Some(selector)).await?;
                    let kept = TestHome::copy_of(&house, &self.path("kept-occurrence"))?;
                    if self.has_occurrence_without_task(&house).await? {
                        return Ok(kept);
                    }
                }
                bail!("no kill leaves an occurrence without its task")
            }
        }
    }

    /// Lets a daemon be killed at a call, or else at the place that is waited for.
    async fn kill_on_the_way(&self, house: &TestHome, selector: Option<Selector>) -> Result<()> {
        let (mut daemon, _, _) = house.serve(&self.programs).await?;
        let log = self.path("interrupt.log");
        let at_place = selector.is_none();
        let attached = match selector {
            Some(selector) => {
                let tracer = StraceTracer::injecting(&log, selector, InjectedFault::Kill);
                Some(tracer.attach(daemon.pid).await?)
            }
            None => None,
        };
        let (life, serving) = DaemonRestarts::in_house(house, &self.programs);
        life.tell();
        let work = async {
            make_schedules(house, serving.clone(), DUE_AFTER).await?;
            until_settled(house, serving, PausePatience::Hurries).await
        };
        tokio::select! {
            done = work => bail!("nothing was disturbed: {:?}", done.map(|facts| facts.entries.len())),
            () = self.watch.reached(), if at_place => {
                daemon.strike();
                daemon.ended().await?;
            }
            ended = daemon.ended() => { ended?; }
        }
        match attached {
            Some(attached) => attached.ended().await,
            None => Ok(()),
        }
    }

    /// Returns whether the daemon that was killed had recorded occurrences, and no task.
    async fn has_occurrence_without_task(&self, house: &TestHome) -> Result<bool> {
        let (daemon, client, _) = house.serve(&self.programs).await?;
        let entries = entries(&client).await?;
        daemon.kill().await?;
        let last = entries.iter().map(|entry| entry.epoch).max().unwrap_or_default();
        ensure!(last > 0, "the journal has no entries");
        let had = |kind: &str| entries.iter().any(|entry| entry.epoch < last && entry.kind == kind);
        Ok(had("occurrence_created") && !had("task_enqueued"))
    }
}

fn configure(house: &TestHome, place: &Path, webhook: &WebhookServer) -> Result<()> {
    let command = program::install(house, place)?;
    let address = webhook.address();
    let secret = place.join(SECRET);
    let text = format!(
        "[notify]\ncommand = {command:?}\nwebhook_url = \"http://{address}/hook\"\nwebhook_secret = \"file:{}\"\n\
         [egress]\nallow_private = [\"{address}\"]\n",
        secret.display()
    );
    let file = house.path(CONFIGURATION);
    fs::create_dir_all(file.parent().context("a file without a folder")?)?;
    fs::write(file, text).context("could not write the configuration")?;
    let file = house.path(SECRET);
    fs::write(&file, SECRET_TEXT).context("could not write the secret")?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(file, mode).context("could not protect the secret")
}

/// Starts a model that answers at once, but for the request that is waited for.
async fn start_model(watch: PlaceWatch) -> std::io::Result<ModelServer> {
    let reply = move |_: &serde_json::Value| {
        if watch.reach(KillPlace::ModelAsked) {
            return Reply::silent();
        }
        Reply::text("All is well.").paced(PACE)
    };
    ModelServer::start(Behaviour::by(reply)).await
}
