//! A byte of what the journal pins, or of the journal itself, is flipped on the disk while the daemon runs.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use palyra_model_server::{Behaviour, Reply};
use palyra_testkit::component_text::{ComponentAbout, ECHO, Wat};
use palyra_wire::v1::{
    AddComponentRequest, ExamineComponentRequest, GetRunRequest, HealingDomain, HealingMode, Incident,
    IncidentCause, IncidentSeverity, IncidentStage, InstallSkillRequest, RemedyKind, RunState,
};

use super::stuck_daemon::{CONFIGURATION, StuckDaemon, StuckOptions};
use super::three_modes::{ExpectedIncident, OutsideFault, WINDOW, in_each_mode, until};

const SKILL: &str = "---\nname: notes\ndescription: Takes notes.\n---\nKeep notes short.\n";
/// A word of an input that is nowhere else in the journal.
const INPUT: &str = "amber-7f31c0d9-canary";
const JOURNAL_FILES: [&str; 2] = ["state/journal.db", "state/journal.db-wal"];

/// Whether a backup of the skill is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SkillBackup {
    Made,
    None,
}

/// A skill whose copy below the state directory was damaged.
struct DamagedSkill {
    daemon: StuckDaemon,
    copy: PathBuf,
}

impl DamagedSkill {
    async fn make_with(backup: SkillBackup) -> Result<Self> {
        let model = Behaviour::always(Reply::text("yes"));
        let daemon = StuckDaemon::start(model, StuckOptions::default(), HealingDomain::Artifacts).await?;
        let source = daemon.home.work().join("notes");
        fs::create_dir_all(&source)?;
        fs::write(source.join("SKILL.md"), SKILL)?;
        let path = source.display().to_string();
        daemon.client.call(InstallSkillRequest { path }).await.context("could not install the skill")?;
        let daemon = match backup {
            SkillBackup::None => daemon,
            SkillBackup::Made => backed_up(daemon).await?,
        };
        let skills = fs::read_dir(daemon.home.path("state/skills"))?;
        let skill = skills.flatten().next().context("the skill has no copy")?;
        let copy = skill.path().join("SKILL.md");
        flip_last_byte(&copy)?;
        Ok(Self { daemon, copy })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        fs::read(&self.copy).context("the copy of the skill")
    }
}

/// Restarts a daemon with automatic backups, and waits for the first one.
async fn backed_up(daemon: StuckDaemon) -> Result<StuckDaemon> {
    let daemon = daemon
        .restarted(|home| {
            let folder = home.path("automatic");
            let text = format!("[backup]\nfolder = \"{}\"\n", folder.display());
            fs::write(home.path(CONFIGURATION), text).context("the configuration")
        })
        .await?;
    let folder = daemon.home.path("automatic");
    until(async || {
        let found = fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_made = |path: PathBuf| path.join("manifest.json").is_file() && !is_hidden(&path);
        Ok(found.map(|entry| entry.path()).any(is_made))
    })
    .await
    .context("no automatic backup is made")?;
    Ok(daemon)
}

fn is_hidden(path: &std::path::Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn flip_last_byte(path: &std::path::Path) -> Result<()> {
    let mut bytes = fs::read(path)?;
    *bytes.last_mut().context("an empty file")? ^= 1;
    Ok(fs::write(path, bytes)?)
}

impl OutsideFault for DamagedSkill {
    const EXPECTED: ExpectedIncident = ExpectedIncident {
        domain: HealingDomain::Artifacts,
        cause: IncidentCause::ArtifactDamaged,
        planned: RemedyKind::RepairArtifact,
        helps: RemedyKind::RepairArtifact,
    };

    async fn make() -> Result<Self> {
        Self::make_with(SkillBackup::Made).await
    }

    fn daemon(&self) -> &StuckDaemon {
        &self.daemon
    }

    async fn is_broken(&self) -> Result<bool> {
        Ok(self.bytes()? != SKILL.as_bytes())
    }

    async fn stop(self) -> Result<()> {
        self.daemon.stop().await
    }
}

#[tokio::test]
async fn a_damaged_skill_is_put_back_from_the_backup_in_auto_only() -> Result<()> {
    in_each_mode::<DamagedSkill>().await
}

#[tokio::test]
async fn a_damaged_skill_without_a_copy_is_left_to_a_person() -> Result<()> {
    let fault = DamagedSkill::make_with(SkillBackup::None).await?;
    let damaged = fault.bytes()?;
    fault.daemon.set_mode(HealingDomain::Artifacts, HealingMode::Auto).await?;
    let incident = for_person(&fault.daemon, HealingDomain::Artifacts).await?;
    ensure!(incident.subject == "skill notes", "{incident:?}");
    ensure!(incident.mend.contains("palyra tools skills install"), "{incident:?}");
    ensure!(fault.bytes()? == damaged, "what cannot be made again was changed");
    let source = fault.daemon.home.work().join("notes").display().to_string();
    fault.daemon.client.call(InstallSkillRequest { path: source }).await?;
    fault.daemon.set_mode(HealingDomain::Artifacts, HealingMode::Auto).await?;
    until(async || {
        let found = fault.daemon.incidents(HealingDomain::Artifacts).await?;
        Ok(found.iter().all(|one| one.stage() == IncidentStage::Resolved))
    })
    .await
    .context("it is open after the person mended it")?;
    fault.stop().await
}

/// A component whose native code below the state directory was damaged.
struct DamagedNativeCode {
    daemon: StuckDaemon,
    native: PathBuf,
    whole: Vec<u8>,
}

impl OutsideFault for DamagedNativeCode {
    const EXPECTED: ExpectedIncident = ExpectedIncident {
        domain: HealingDomain::Artifacts,
        cause: IncidentCause::ArtifactDamaged,
        planned: RemedyKind::RepairArtifact,
        helps: RemedyKind::RepairArtifact,
    };

    async fn make() -> Result<Self> {
        let model = Behaviour::always(Reply::text("yes"));
        let daemon = StuckDaemon::start(model, StuckOptions::default(), HealingDomain::Artifacts).await?;
        let file = daemon.home.work().join("echo.wasm");
        let about = ComponentAbout { capabilities: Vec::new(), ..ComponentAbout::default() };
        fs::write(&file, Wat { about, ..Wat::running(ECHO) }.bytes())?;
        let path = file.display().to_string();
        let shown = daemon.client.call(ExamineComponentRequest { path: path.clone() }).await?;
        let sha256 = shown.component.context("the component is not shown")?.sha256;
        daemon.client.call(AddComponentRequest { path, sha256: sha256.clone() }).await?;
        let folder = daemon.home.path("state/components").join(sha256);
        let is_native = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("native-"))
        };
        let native = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).find(is_native);
        let native = native.context("the component was not compiled")?;
        let whole = fs::read(&native)?;
        flip_last_byte(&native)?;
        Ok(Self { daemon, native, whole })
    }

    fn daemon(&self) -> &StuckDaemon {
        &self.daemon
    }

    async fn is_broken(&self) -> Result<bool> {
        Ok(!fs::read(&self.native).is_ok_and(|bytes| bytes == self.whole))
    }

    async fn stop(self) -> Result<()> {
        self.daemon.stop().await
    }
}

#[tokio::test]
async fn damaged_native_code_is_compiled_again_in_auto_only() -> Result<()> {
    in_each_mode::<DamagedNativeCode>().await
}

/// Returns the incident once it waits for a person, after as long as a remedy would have had.
async fn for_person(daemon: &StuckDaemon, domain: HealingDomain) -> Result<Incident> {
    let waits = |one: &Incident| one.stage() == IncidentStage::Open && !one.mend.is_empty();
    until(async || Ok(daemon.incidents(domain).await?.iter().any(waits))).await.context("there is none")?;
    tokio::time::sleep(WINDOW).await;
    let found = daemon.incidents(domain).await?;
    let [incident] = &found[..] else { anyhow::bail!("{found:?}") };
    ensure!(waits(incident) && incident.remedies == 0, "{incident:?}");
    ensure!(incident.planned() == RemedyKind::Unspecified, "{incident:?}");
    Ok(incident.clone())
}

/// A run of which a byte of the input was flipped in the files of the journal.
struct DamagedInput {
    daemon: StuckDaemon,
    run: String,
}

impl DamagedInput {
    async fn make() -> Result<Self> {
        let model = Behaviour::always(Reply::text("yes"));
        let daemon = StuckDaemon::start(model, StuckOptions::default(), HealingDomain::Journal).await?;
        let run = daemon.start_run("one", INPUT).await?;
        until(async || {
            let found = daemon.client.call(GetRunRequest { run_id: run.clone() }).await?;
            Ok(found.run.unwrap_or_default().state() != RunState::InProgress)
        })
        .await?;
        let this = Self { daemon, run };
        ensure!(this.replace(INPUT)? > 0, "the input is in no file of the journal");
        Ok(this)
    }

    /// Flips a byte of the word wherever it is on the disk; returns at how many places.
    fn replace(&self, word: &str) -> Result<usize> {
        let mut places = 0;
        for name in JOURNAL_FILES {
            let path = self.daemon.home.path(name);
            let file = fs::OpenOptions::new().read(true).write(true).open(&path).context(name)?;
            let bytes = fs::read(&path)?;
            for (at, _) in bytes.windows(word.len()).enumerate().filter(|(_, part)| *part == word.as_bytes())
            {
                file.write_all_at(&[bytes[at] ^ 1], at as u64)?;
                places += 1;
            }
        }
        Ok(places)
    }
}

#[tokio::test]
async fn damaged_content_of_a_running_daemon_is_left_to_a_person_who_learns_of_its_run() -> Result<()> {
    let fault = DamagedInput::make().await?;
    ensure!(fault.daemon.incidents(HealingDomain::Journal).await?.is_empty(), "the domain is disabled");
    fault.daemon.set_mode(HealingDomain::Journal, HealingMode::Auto).await?;
    let incident = for_person(&fault.daemon, HealingDomain::Journal).await?;
    ensure!(incident.cause() == IncidentCause::EntryDamaged, "{incident:?}");
    ensure!(incident.severity() == IncidentSeverity::Critical, "{incident:?}");
    ensure!(incident.subject.contains(&fault.run), "{incident:?}");
    ensure!(incident.mend.contains("palyra backup restore"), "{incident:?}");
    let mut damaged = INPUT.as_bytes().to_vec();
    damaged[0] ^= 1;
    let damaged = String::from_utf8(damaged)?;
    ensure!(fault.replace(&damaged)? > 0, "the damaged content was removed");
    fault.daemon.stop().await
}
