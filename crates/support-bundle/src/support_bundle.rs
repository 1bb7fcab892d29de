//! Gathering a bundle, and writing it.

use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use palyra_client::{Client, ClientError};
use palyra_screen_text::bytes;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use serde_json::{Value, json};

use crate::archive::TarGzip;
use crate::bundle_part::{BundlePart, LeftOut};
use crate::config_values::{self, ConfigSetting};
use crate::error::BundleError;
use crate::known_secrets::known_secrets;
use crate::text_cleaner::TextCleaner;
use crate::{daemon_records, log_lines, machine, state_files};

const CONTENTS: &str = "contents.json";
const MODE: u32 = 0o600;
const NEVER: &str = "conversations, arguments and results of tools, memory, keys, tokens, the vault";

/// What a bundle is gathered from.
pub struct BundleSources<'s> {
    /// The state directory, which need not exist.
    pub state_dir: PathBuf,
    /// The file of the configuration, which need not exist.
    pub config_file: Option<PathBuf>,
    /// This program.
    pub program: PathBuf,
    /// The checks of `palyra doctor`.
    pub checks: Vec<v1::Check>,
    /// The daemon, or why it cannot be asked.
    pub daemon: Result<&'s Client, String>,
}

/// A bundle in memory. Its texts are clean.
#[derive(Debug)]
pub struct SupportBundle {
    parts: Vec<BundlePart>,
    left_out: Vec<LeftOut>,
    replaced: u64,
    made: jiff::Timestamp,
}

impl SupportBundle {
    /// Gathers the parts. It changes nothing and starts no daemon.
    ///
    /// # Errors
    /// [`BundleError::Secrets`].
    pub async fn gather(sources: BundleSources<'_>) -> Result<Self, BundleError> {
        let settings = SettingSources::read(&sources).await;
        let names: Vec<String> =
            std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
        let secrets = known_secrets(&settings.all(), &names, |name| std::env::var(name).ok());
        let mut draft = BundleDraft::new(TextCleaner::new(&secrets)?);
        draft.add(
            "versions.json",
            "versions of Palyra and of the system",
            &machine::versions(&sources.program),
        );
        let checks: Vec<Value> = sources.checks.iter().map(to_json_with_defaults).collect();
        draft.add("doctor.json", "the checks of `palyra doctor`", &checks.into());
        draft.configuration(&settings);
        let about = "names, sizes and modes of files in the state directory";
        draft.add("state-files.json", about, &state_files::list(&sources.state_dir));
        draft.log(&sources.state_dir);
        draft.add("sandbox.json", "what the kernel offers to sandboxes", &machine::sandbox());
        draft.daemon(&sources.daemon).await;
        Ok(draft.finish())
    }

    /// Returns the name of a file for it, where none was named.
    #[must_use]
    pub fn usual_name(&self) -> PathBuf {
        format!("palyra-support-{}.tar.gz", self.made.strftime("%Y%m%dT%H%M%SZ")).into()
    }

    /// Returns its parts.
    #[must_use]
    pub fn parts(&self) -> &[BundlePart] {
        &self.parts
    }

    /// Returns what it lacks.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns what it contains, as lines.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let row = |part: &BundlePart| format!("{:<20} {:>9}  {}", part.name, bytes(part.bytes()), part.about);
        let mut lines: Vec<String> = self.parts.iter().map(row).collect();
        lines.extend(self.left_out.iter().map(|left| format!("without {}: {}", left.what, left.why)));
        lines.push(format!("replaced as secrets: {}; never in it: {NEVER}", self.replaced));
        lines
    }

    /// Returns what it contains, as a value.
    #[must_use]
    pub fn contents(&self) -> Value {
        let parts = self.parts.iter();
        let parts: Vec<Value> = parts
            .map(|part| json!({ "name": part.name, "bytes": part.bytes(), "about": part.about }))
            .collect();
        let left_out = self.left_out.iter();
        let left_out: Vec<Value> =
            left_out.map(|left| json!({ "what": left.what, "why": left.why })).collect();
        json!({
            "made": self.made.to_string(),
            "parts": parts,
            "left_out": left_out,
            "replaced_secrets": self.replaced,
            "never_included": NEVER,
        })
    }

    /// Writes it to a new file that only its owner may read; returns the size of the file.
    ///
    /// # Errors
    /// [`BundleError::FileExists`]; [`BundleError::NotWritten`], after which nothing of it is left.
    pub fn write(&self, file: &Path) -> Result<u64, BundleError> {
        let not_written = |cause| BundleError::NotWritten { path: file.to_owned(), cause };
        let archive = self.archive().map_err(not_written)?;
        let mut options = std::fs::OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(MODE).open(file);
        let mut to = opened.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => BundleError::FileExists { path: file.to_owned() },
            _ => not_written(error),
        })?;
        if let Err(error) = to.write_all(&archive).and_then(|()| to.sync_all()) {
            drop(std::fs::remove_file(file));
            return Err(not_written(error));
        }
        Ok(archive.len() as u64)
    }

    fn archive(&self) -> std::io::Result<Vec<u8>> {
        let mut archive = TarGzip::new(u64::try_from(self.made.as_second()).unwrap_or_default());
        let contents = serde_json::to_string_pretty(&self.contents()).unwrap_or_default() + "\n";
        archive.add(CONTENTS, contents.as_bytes())?;
        for part in &self.parts {
            archive.add(part.name, part.text.as_bytes())?;
        }
        archive.finish()
    }
}

/// The settings of the daemon and of the file.
struct SettingSources {
    in_force: Option<Vec<ConfigSetting>>,
    of_file: Option<Vec<ConfigSetting>>,
}

impl SettingSources {
    async fn read(sources: &BundleSources<'_>) -> Self {
        let in_force = match sources.daemon {
            Ok(client) => client.config().await.ok().map(|config| config_values::of_daemon(&config.values)),
            Err(_) => None,
        };
        let text = sources.config_file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        Self { in_force, of_file: text.and_then(|text| config_values::of_file(&text)) }
    }

    fn all(&self) -> Vec<ConfigSetting> {
        [&self.in_force, &self.of_file].into_iter().flatten().flatten().cloned().collect()
    }
}

/// A bundle that is being gathered.
struct BundleDraft {
    cleaner: TextCleaner,
    parts: Vec<BundlePart>,
    left_out: Vec<LeftOut>,
}

impl BundleDraft {
    fn new(cleaner: TextCleaner) -> Self {
        Self { cleaner, parts: Vec::new(), left_out: Vec::new() }
    }

    fn add(&mut self, name: &'static str, about: &'static str, value: &Value) {
        self.parts.push(BundlePart::of_json(name, about, value, &self.cleaner));
    }

    fn leave_out(&mut self, what: &'static str, why: impl Into<String>) {
        let why = self.cleaner.text(why.into());
        self.left_out.push(LeftOut { what, why });
    }

    fn configuration(&mut self, settings: &SettingSources) {
        let shown = |settings: &Option<Vec<ConfigSetting>>| settings.as_deref().map(config_values::shown);
        if settings.in_force.is_none() && settings.of_file.is_none() {
            self.leave_out("the configuration", "no daemon has one in force, and no file can be read");
            return;
        }
        let both = json!({ "in_force": shown(&settings.in_force), "file": shown(&settings.of_file) });
        self.add("configuration.json", "the configuration without its secrets", &both);
    }

    fn log(&mut self, state_dir: &Path) {
        match log_lines::log_end(state_dir) {
            Some(text) => {
                let about = "the end of the daemon's log, without its secrets";
                self.parts.push(BundlePart::of_text("log.txt", about, text, &self.cleaner));
            }
            None => self.leave_out("the log", "there is no file log/palyrad.log in the state directory"),
        }
    }

    async fn daemon(&mut self, daemon: &Result<&Client, String>) {
        const ABOUT: [&str; 4] = [
            "the daemon's state and its process",
            "the journal's head and how many entries are of which kind",
            "background tasks and their last outcome",
            "incidents of self-healing, without their subjects",
        ];
        let client = match daemon {
            Ok(client) => client,
            Err(why) => {
                self.leave_out("state, journal, tasks and incidents of a daemon", why.clone());
                return;
            }
        };
        self.answered("health.json", ABOUT[0], daemon_records::health(client).await);
        self.answered("journal.json", ABOUT[1], daemon_records::journal(client).await);
        self.answered("tasks.json", ABOUT[2], daemon_records::tasks(client).await);
        self.answered("incidents.json", ABOUT[3], daemon_records::incidents(client).await);
    }

    fn answered(&mut self, name: &'static str, about: &'static str, answer: Result<Value, ClientError>) {
        match answer {
            Ok(value) => self.add(name, about, &value),
            Err(error) => self.leave_out(about, error.to_string()),
        }
    }

    fn finish(self) -> SupportBundle {
        SupportBundle {
            replaced: self.cleaner.replaced(),
            parts: self.parts,
            left_out: self.left_out,
            made: jiff::Timestamp::now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn bundle() -> SupportBundle {
        let mut draft = BundleDraft::new(TextCleaner::new(&[]).unwrap());
        draft.add("one.json", "one", &json!({ "a": 1 }));
        draft.leave_out("another", "it is not there");
        draft.finish()
    }

    #[test]
    fn a_bundle_replaces_no_file_and_is_readable_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.tar.gz");
        let size = bundle().write(&file).unwrap();
        let found = std::fs::metadata(&file).unwrap();
        assert_eq!((found.len(), found.permissions().mode() & 0o777), (size, 0o600));
        std::fs::write(&file, "mine").unwrap();
        assert!(matches!(bundle().write(&file), Err(BundleError::FileExists { .. })));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        let nowhere = folder.path().join("no/such/folder.tar.gz");
        assert!(matches!(bundle().write(&nowhere), Err(BundleError::NotWritten { .. })));
    }

    #[test]
    fn a_bundle_says_what_it_has_and_what_it_lacks() {
        let lines = bundle().lines().join("\n");
        assert!(lines.contains("one.json") && lines.contains("without another: it is not there"), "{lines}");
        assert_eq!(bundle().contents()["left_out"][0]["what"], "another");
    }
}
