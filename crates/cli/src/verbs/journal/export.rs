//! `palyra journal export`: a bundle that proves itself without the daemon.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use palyra_client::{Client, ClientError};
use palyra_types::ErrorCode;
use palyra_wire::v1::export_journal_request::What;
use serde_json::json;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::ids::RunName;
use palyra_explain::is_like_id;
use palyra_screen_text::{bytes, count, shell_word};

/// Files of a bundle, at most: a log of 2^32 entries in tiles.
const FILES_MAX: u64 = 40_000_000;

/// Write a bundle that can be checked without the daemon
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  palyra journal export last proof\n  palyra-verify proof")]
pub(crate) struct ExportArgs {
    /// What proves this run: its id or a part of it, `last`; also before DIR, without `--run`
    #[arg(long, value_name = "RUN")]
    run: Option<RunName>,
    /// The whole log as static tiles (C2SP tlog-tiles), without content
    #[arg(long, conflicts_with = "run")]
    tiles: bool,
    /// A folder that does not exist yet, or is empty
    #[arg(value_name = "DIR", required = true, num_args = 1..=2)]
    places: Vec<PathBuf>,
    /// The result as JSON
    #[arg(long)]
    json: bool,
}

impl ExportArgs {
    /// Returns the run, none for the whole log, and the folder.
    fn run_and_folder(&self) -> Result<(Option<RunName>, PathBuf), Failure> {
        let is_named = self.tiles || self.run.is_some();
        match self.places.as_slice() {
            [folder] if is_named => Ok((self.run.clone(), folder.clone())),
            [run, folder] if !is_named => {
                let run = run.to_string_lossy();
                let parsed = run.parse::<RunName>();
                let parsed = parsed.map_err(|error| Failure::Usage(format!("`{run}`: {error}")))?;
                Ok((Some(parsed), folder.clone()))
            }
            [only] => {
                let only = only.to_string_lossy();
                let (run, folder) = if is_like_id(&only) { (&*only, "proof") } else { ("last", &*only) };
                Err(Failure::Usage(format!(
                    "a run and a folder are named: `palyra journal export {} {}`; --tiles takes the whole log",
                    shell_word(run),
                    shell_word(folder)
                )))
            }
            _ => Err(Failure::Usage("beside --run and --tiles only the folder is named".to_owned())),
        }
    }
}

pub(crate) async fn export(context: &Context, client: &Client, args: ExportArgs) -> Result<Exit, Failure> {
    let (run, folder) = args.run_and_folder()?;
    let what = match run {
        Some(run) => What::RunId(run.resolve(client).await?.to_string()),
        None => What::Tiles(true),
    };
    let mut parts = client.export_journal(what).await?;
    // A refusal comes before the first part, and leaves no folder behind.
    let mut next = parts.next().await?;
    let mut bundle = Bundle::begin(folder)?;
    while let Some(part) = next {
        bundle.take(&part.path, &part.data)?;
        next = parts.next().await?;
        context.output.progress(&format!(
            "exporting, {} in {}",
            bytes(bundle.bytes),
            count(bundle.files, "file")
        ));
    }
    context.output.end_progress();
    bundle.end_file()?;
    match OutputFormat::from(args.json) {
        OutputFormat::Json => context
            .output
            .json(&json!({ "folder": bundle.folder, "files": bundle.files, "bytes": bundle.bytes }))?,
        OutputFormat::Text => context.output.line(&format!(
            "{} in {}, {}",
            count(bundle.files, "file"),
            bundle.folder.display(),
            bytes(bundle.bytes)
        ))?,
    }
    Ok(Exit::Done)
}

/// A folder that is being filled.
struct Bundle {
    folder: PathBuf,
    open: Option<(String, File)>,
    files: u64,
    bytes: u64,
}

impl Bundle {
    fn begin(folder: PathBuf) -> Result<Self, Failure> {
        fs::create_dir_all(&folder).map_err(|error| cannot(&folder, &error))?;
        let mut there = fs::read_dir(&folder).map_err(|error| cannot(&folder, &error))?;
        if there.next().is_some() {
            return Err(Failure::Usage(format!("{} is not empty", folder.display())));
        }
        Ok(Self { folder, open: None, files: 0, bytes: 0 })
    }

    fn take(&mut self, path: &str, data: &[u8]) -> Result<(), Failure> {
        if self.open.as_ref().is_none_or(|(open, _)| open != path) {
            self.end_file()?;
            self.open = Some((path.to_owned(), self.create(path)?));
        }
        self.bytes += data.len() as u64;
        let Some((_, file)) = &mut self.open else { return Ok(()) };
        file.write_all(data).map_err(|error| cannot(&self.folder, &error))
    }

    /// Makes a file that has to be new: no name comes twice, and none leads out of the folder.
    fn create(&mut self, path: &str) -> Result<File, Failure> {
        const WRONG: ClientError =
            ClientError::Protocol { what: "a bundle names a file that it must not have" };
        let relative = Path::new(path);
        let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || path.is_empty() || path.contains(['\\', '\0']) || self.files >= FILES_MAX {
            return Err(WRONG.into());
        }
        let file = self.folder.join(relative);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(|error| cannot(parent, &error))?;
        }
        self.files += 1;
        File::create_new(&file).map_err(|error| cannot(&file, &error))
    }

    fn end_file(&mut self) -> Result<(), Failure> {
        match self.open.take() {
            Some((_, file)) => file.sync_all().map_err(|error| cannot(&self.folder, &error)),
            None => Ok(()),
        }
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::local(ErrorCode::InvalidArgument, format!("{} cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_before_the_folder_or_by_its_option() {
        let args = |run: Option<&str>, tiles: bool, places: &[&str]| ExportArgs {
            run: run.map(|run| run.parse().unwrap()),
            tiles,
            places: places.iter().map(PathBuf::from).collect(),
            json: false,
        };
        let last = || Some("last".parse::<RunName>().unwrap());
        for (args, expect) in [
            (args(Some("last"), false, &["proof"]), last()),
            (args(None, false, &["last", "proof"]), last()),
            (args(None, true, &["proof"]), None),
        ] {
            assert_eq!(args.run_and_folder().unwrap(), (expect, PathBuf::from("proof")));
        }
        for (args, wanted) in [
            (args(None, false, &["last"]), "`palyra journal export last proof`"),
            (args(None, false, &["my-proof"]), "`palyra journal export last my-proof`"),
            (args(None, false, &["no run!", "proof"]), "`no run!`: "),
            (args(None, true, &["last", "proof"]), "only the folder"),
        ] {
            let failure = args.run_and_folder().unwrap_err();
            assert!(failure.exit() == Exit::Usage && failure.to_string().contains(wanted), "{failure}");
        }
    }

    #[test]
    fn a_bundle_stays_in_its_folder_and_writes_each_file_once() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("bundle");
        let mut bundle = Bundle::begin(folder.clone()).unwrap();
        for (path, data) in [("checkpoint", "a"), ("checkpoint", "b"), ("tile/0/000", "c")] {
            bundle.take(path, data.as_bytes()).unwrap();
        }
        for bad in ["../escape", "/etc/escape", "tile/../../escape", "", "./x/../../escape", "checkpoint"] {
            assert!(bundle.take(bad, b"x").is_err(), "{bad}");
        }
        assert_eq!(fs::read_to_string(folder.join("checkpoint")).unwrap(), "ab");
        assert!(!home.path().join("escape").exists());
        assert!(Bundle::begin(folder).is_err(), "a folder with files is left alone");
    }
}
