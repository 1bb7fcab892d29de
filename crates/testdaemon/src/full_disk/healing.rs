//! A disk that is low, with files on it that need not be kept: self-healing frees them in `auto`, shows that it would in
//! `observe_only`, and does nothing in `disabled`. In no mode does anything else go.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use palyra_client::{Client, ClientError};
use palyra_types::ErrorCode;
use palyra_wire::v1::{
    HealingDomain, HealingMode, Incident, IncidentCause, IncidentResolution, IncidentStage,
    ListIncidentsRequest, RemedyKind, SetHealingModeRequest, StartRunRequest,
};

use super::ballast::SmallDisk;
use super::scenario::{begin_endless, until_service};
use crate::acknowledged::{AcknowledgedRuns, start};
use crate::crash::Lab;
use crate::report::SuiteReport;
use crate::test_home::{DaemonChild, TestHome};
use crate::verdict;

const WINDOW: Duration = Duration::from_millis(800);
const PATIENCE: Duration = Duration::from_secs(40);
/// How long the control looks on.
const CONTROL: Duration = Duration::from_millis(2_400);
/// Between two looks at a state that gives no signal.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What is left free before the journal fills the rest of its log: nothing, so that no checkpoint makes room.
const FREE_BYTES: u64 = 0;
/// Large inputs after which the log must be full, and the bytes of each.
const INPUTS_MAX: usize = 60;
const INPUT_BYTES: usize = 400_000;
/// Bytes of each planted file.
const FILE_BYTES: usize = 3 * 1024 * 1024;
/// Files of a person and of the daemon that are never freed.
const KEPT: [&str; 4] =
    ["state/kept-aside/evidence", "state/scratch/mine", "automatic/palyra-mine", "automatic/before-the-move"];

/// The domain whose mode is set, and with it how the disk becomes low.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpareDomain {
    domain: HealingDomain,
    cause: IncidentCause,
}

impl SpareDomain {
    /// Every such domain with its word.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self { domain: HealingDomain::Journal, cause: IncidentCause::DiskLow }, "journal"),
        (Self { domain: HealingDomain::Sandbox, cause: IncidentCause::ScratchLeft }, "sandbox"),
        (Self { domain: HealingDomain::Artifacts, cause: IncidentCause::SpareFiles }, "artifacts"),
    ];

    /// Returns whether its remedy frees scratch space, and whether it frees files that can be made again and old backups.
    fn frees(self) -> (bool, bool) {
        (self.domain != HealingDomain::Artifacts, self.domain != HealingDomain::Sandbox)
    }
}

/// Makes the disk low under each mode.
///
/// # Errors
/// When something is missing on this machine.
pub async fn healing_suite(daemon: &Path, domain: SpareDomain) -> Result<SuiteReport> {
    let mut report = SuiteReport::new("healing on a full disk", format!("{:?}", domain.domain));
    let began = Instant::now();
    let mut lab = Lab::prepare(daemon, &[]).await?;
    lab.programs.setting.healing_window = Some(WINDOW);
    let [auto, observed, disabled] = [HealingMode::Auto, HealingMode::ObserveOnly, HealingMode::Disabled]
        .map(|mode| carry_out(&lab, domain, mode));
    let (auto, observed, disabled) = tokio::join!(auto, observed, disabled);
    for (mode, found) in [("auto", auto), ("observe_only", observed), ("disabled", disabled)] {
        match found {
            Ok(seen) => report.row(mode, 1, seen),
            Err(error) => report.failures.push(format!("{mode}: {error:#}")),
        }
    }
    report.seconds = began.elapsed().as_secs();
    Ok(report)
}

async fn carry_out(lab: &Lab, domain: SpareDomain, mode: HealingMode) -> Result<&'static str> {
    let root = lab.path(mode.as_str_name());
    fs::create_dir(&root).context("no folder for the disk")?;
    let disk = SmallDisk::mount(&root).await?;
    let lived = tokio::time::timeout(PATIENCE * 3, live(lab, &root, &disk, domain, mode)).await;
    let lived = lived.context("something that must happen does not").flatten();
    let unmounted = disk.unmount().await;
    let seen = lived?;
    unmounted.map(|()| seen)
}

async fn live(
    lab: &Lab,
    root: &Path,
    disk: &SmallDisk,
    domain: SpareDomain,
    mode: HealingMode,
) -> Result<&'static str> {
    let low = LowDisk::prepare(lab, root, domain).await?;
    set_mode(&low.client, domain.domain, mode).await?;
    low.plant()?;
    let mut acknowledged = AcknowledgedRuns::default();
    acknowledged.run(&low.house, &low.client, "before").await?;
    begin_endless(&low.house, &low.client).await?;
    if domain.domain == HealingDomain::Journal {
        disk.fill_but(FREE_BYTES)?;
        low.fill_up().await?;
    }
    let seen = match mode {
        HealingMode::Auto => low.is_mended(domain).await?,
        HealingMode::ObserveOnly => low.is_shown().await?,
        HealingMode::Disabled | HealingMode::Unspecified => low.is_left_alone().await?,
    };
    low.demand_kept()?;
    acknowledged.demand_all(&low.client).await?;
    verdict::verify(&low.client).await?;
    let LowDisk { client, daemon, .. } = low;
    drop(client);
    daemon.kill().await?;
    Ok(seen)
}

/// A daemon on a disk that is low, with files that may go and files that may not.
struct LowDisk {
    house: TestHome,
    client: Client,
    daemon: DaemonChild,
    domain: SpareDomain,
    /// The newest automatic backup.
    newest: PathBuf,
}

impl LowDisk {
    /// Starts a daemon that makes automatic backups, and waits for its first one.
    async fn prepare(lab: &Lab, root: &Path, domain: SpareDomain) -> Result<Self> {
        let house = TestHome::make(root)?;
        let folder = house.path("automatic");
        let configuration = house.path("home/.config/palyra");
        fs::create_dir_all(&configuration)?;
        let text = format!("[backup]\nfolder = \"{}\"\n", folder.display());
        fs::write(configuration.join("palyra.toml"), text)?;
        let (daemon, client, _) = house.serve(&lab.programs).await?;
        let mut newest = None;
        until(async || {
            newest = names(&folder).into_iter().find(|name| name.starts_with("palyra-"));
            Ok(newest.is_some())
        })
        .await
        .context("no automatic backup is made")?;
        let newest = folder.join(newest.unwrap_or_default());
        Ok(Self { house, client, daemon, domain, newest })
    }

    /// Starts runs with large inputs until the journal takes endings only. In `auto` there may be space again by then, which
    /// must not be filled once more.
    async fn fill_up(&self) -> Result<()> {
        for number in 0..INPUTS_MAX {
            let health = self.client.journal_status().await?.health_name();
            if health == "endings_only" || !self.incidents().await?.is_empty() {
                return Ok(());
            }
            let input = "x".repeat(INPUT_BYTES);
            let request = StartRunRequest { input, ..start(&self.house, &format!("large-{number}")) };
            match self.client.start_run(request).await {
                Ok(_) => {}
                Err(ClientError::Refused { code: ErrorCode::DiskFull, .. }) => return Ok(()),
                Err(error) => return Err(error).context("a run on a disk that fills up"),
            }
        }
        anyhow::bail!("{INPUTS_MAX} large inputs were taken, and the disk is not full")
    }

    /// Puts files there: some that may go, with links in them that lead to what may not, and some that may not.
    fn plant(&self) -> Result<()> {
        let content = vec![7_u8; FILE_BYTES];
        let left = self.scratch();
        fs::create_dir_all(left.join("deep"))?;
        fs::write(left.join("deep/output"), &content)?;
        for (link, target) in [("state", "state"), ("deep/journal", "state/journal.db"), ("home", "home")] {
            std::os::unix::fs::symlink(self.house.path(target), left.join(link))?;
        }
        std::os::unix::fs::symlink(self.house.state(), self.house.path("state/scratch/program-9-2"))?;
        let component = self.native().parent().context("a folder")?.to_owned();
        fs::create_dir_all(&component)?;
        fs::write(self.native(), &content)?;
        fs::write(component.join("component.wasm"), "kept")?;
        let older = self.older();
        fs::create_dir_all(&older)?;
        fs::copy(self.newest.join(MANIFEST), older.join(MANIFEST))?;
        fs::write(older.join("journal.db"), &content)?;
        for kept in KEPT {
            let kept = self.house.path(kept);
            fs::create_dir_all(&kept)?;
            fs::copy(self.newest.join(MANIFEST), kept.join(MANIFEST))?;
        }
        Ok(())
    }

    fn scratch(&self) -> PathBuf {
        self.house.path("state/scratch/program-9-1")
    }

    fn native(&self) -> PathBuf {
        self.house.path(&format!("state/components/{}/native-planted", "0a".repeat(32)))
    }

    fn older(&self) -> PathBuf {
        self.house.path("automatic/palyra-20200101-000000-a")
    }

    /// Demands that nothing is gone that is not spare.
    fn demand_kept(&self) -> Result<()> {
        let kept = KEPT.map(|kept| self.house.path(kept).join(MANIFEST));
        let component = self.native().with_file_name("component.wasm");
        let link = self.house.path("state/scratch/program-9-2");
        let journal = self.house.path("state/journal.db");
        for path in kept.into_iter().chain([component, link, journal, self.newest.join(MANIFEST)]) {
            ensure!(fs::symlink_metadata(&path).is_ok(), "{} is gone", path.display());
        }
        Ok(())
    }

    /// Returns whether scratch space, and whether native code and the older backup are there.
    fn are_there(&self) -> (bool, [bool; 2]) {
        (self.scratch().exists(), [self.native().exists(), self.older().exists()])
    }

    async fn is_mended(&self, domain: SpareDomain) -> Result<&'static str> {
        let incident = self.incident_in(IncidentStage::Resolved).await?;
        ensure!(incident.resolution() == IncidentResolution::Remedied, "{incident:?}");
        ensure!(incident.last_remedy() == RemedyKind::FreeSpace, "{incident:?}");
        let (frees_scratch, frees_artifacts) = domain.frees();
        ensure!(self.are_there() == (!frees_scratch, [!frees_artifacts; 2]), "{:?}", self.are_there());
        if domain.domain == HealingDomain::Journal {
            let service = tokio::time::timeout(PATIENCE, until_service(&self.house, &self.client));
            service.await.context("no new run is taken")??;
        }
        Ok("an incident; what may go was freed, and nothing else")
    }

    async fn is_shown(&self) -> Result<&'static str> {
        let incident = self.incident_in(IncidentStage::Open).await?;
        ensure!(incident.next_remedy() == RemedyKind::FreeSpace, "{incident:?}");
        tokio::time::sleep(WINDOW).await;
        let later = self.incident_in(IncidentStage::Open).await?;
        ensure!(!later.next_is_performed && later.remedies == 0, "{later:?}");
        ensure!(self.are_there() == (true, [true; 2]), "{:?}", self.are_there());
        self.is_still_full().await?;
        Ok("an incident with the same remedy, which was not performed")
    }

    async fn is_left_alone(&self) -> Result<&'static str> {
        tokio::time::sleep(CONTROL).await;
        let found = self.incidents().await?;
        ensure!(found.is_empty(), "{found:?}");
        ensure!(self.are_there() == (true, [true; 2]), "{:?}", self.are_there());
        self.is_still_full().await?;
        Ok("no incident, and still low")
    }

    async fn is_still_full(&self) -> Result<()> {
        let health = self.client.journal_status().await?.health_name();
        let is_full = health == "endings_only" || self.domain.domain != HealingDomain::Journal;
        ensure!(is_full, "the journal is {health}");
        Ok(())
    }

    async fn incidents(&self) -> Result<Vec<Incident>> {
        let domain = self.domain.domain.into();
        let request = ListIncidentsRequest { all: true, domain, ..ListIncidentsRequest::default() };
        Ok(self.client.call(request).await?.incidents)
    }

    async fn incident_in(&self, stage: IncidentStage) -> Result<Incident> {
        let is_there = |one: &Incident| {
            let is_planned = stage != IncidentStage::Open || one.next_remedy() != RemedyKind::Unspecified;
            one.cause() == self.domain.cause && one.stage() == stage && is_planned
        };
        let mut found = Vec::new();
        let waited = until(async || {
            found = self.incidents().await?;
            Ok(found.iter().any(is_there))
        });
        let waited = waited.await;
        waited.with_context(|| format!("there is no such incident, but {found:?}"))?;
        found.into_iter().find(is_there).context("it was there")
    }
}

const MANIFEST: &str = "manifest.json";

async fn set_mode(client: &Client, domain: HealingDomain, mode: HealingMode) -> Result<()> {
    let request = SetHealingModeRequest { domain: domain.into(), mode: mode.into() };
    client.call(request).await?;
    Ok(())
}

/// Returns the names in a folder; none where it is not there.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Waits until something holds that gives no signal.
async fn until(mut holds: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let waited = tokio::time::timeout(PATIENCE, async {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            ticks.tick().await;
            if holds().await? {
                return anyhow::Ok(());
            }
        }
    });
    waited.await.context("it does not happen")?
}
