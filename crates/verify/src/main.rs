//! `palyra-verify`: the command line around the library.
//!
//! Owns reading arguments, progress on a terminal, printing and the exit code. Begin at [`main`].
#![expect(clippy::print_stdout, reason = "a command-line tool speaks on standard output")]

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgGroup, Parser};
use palyra_verify::{FaultCode, KeptCheckpoint, ProgressFn, StateKeys, VerifierKey, VerifyOptions};

/// A kept checkpoint has a few hundred bytes.
const CHECKPOINT_BYTES_MAX: u64 = 64 * 1024;
/// The exit code for a command line that does not fit, as of the parser.
const USAGE: u8 = 2;

/// Verifies a Palyra journal, without the daemon and without any of its code.
#[derive(Debug, Parser)]
#[command(name = "palyra-verify", version, group = ArgGroup::new("what").required(true), after_help = AFTER_HELP)]
struct CliArguments {
    /// A file of a journal, a state directory, or a folder that `palyra journal export` made.
    #[arg(value_name = "PATH", group = "what")]
    path: Option<PathBuf>,
    /// The journal: STATE/journal.db, or a copy of it.
    #[arg(long, value_name = "FILE", group = "what")]
    db: Option<PathBuf>,
    /// A folder that `palyra journal export RUN DIR` made.
    #[arg(long, value_name = "DIR", group = "what", conflicts_with_all = ["since", "keys"])]
    bundle: Option<PathBuf>,
    /// A verifier key that has to lead to the newest signed head.
    #[arg(long, value_name = "VKEY")]
    key: Option<VerifierKey>,
    /// A checkpoint that was kept earlier; the log has to go on from it. Not with --bundle, which is one run.
    #[arg(long, value_name = "FILE")]
    since: Option<PathBuf>,
    /// The daemon's state directory, to open sealed payloads with its keys. Not with --bundle.
    #[arg(long, value_name = "STATE_DIR")]
    keys: Option<PathBuf>,
    /// Accepts a bundle of a run that was exported before its end.
    #[arg(long, conflicts_with = "db")]
    open_run: bool,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Exit codes: 0 everything holds; 10 an entry, tile or payload does not match; 11 truncated; \
12 rolled back; 13 forked; 14 signature; 15 payload missing; 16 malformed or unreadable; \
17 a tool did what no decision permits; 18 nothing contradicts, but sealed payloads were not checked (--keys); \
19 a bundle without the end of its run (--open-run); 2 usage.";

/// The file of a journal in a state directory.
const DATABASE_NAME: &str = "journal.db";

/// The journal or the bundle to verify.
#[derive(Debug, PartialEq, Eq)]
enum VerifiedPlace {
    Database(PathBuf),
    Bundle(PathBuf),
}

impl CliArguments {
    /// Returns the journal or the bundle; for a path without an option the file or folder there decides.
    fn place(&self) -> VerifiedPlace {
        match (&self.db, &self.bundle, &self.path) {
            (Some(db), _, _) => VerifiedPlace::Database(db.clone()),
            (None, Some(bundle), _) => VerifiedPlace::Bundle(bundle.clone()),
            (None, None, path) => {
                let path = path.clone().unwrap_or_default();
                let inside = path.join(DATABASE_NAME);
                match (path.is_dir(), inside.is_file()) {
                    (true, true) => VerifiedPlace::Database(inside),
                    (true, false) => VerifiedPlace::Bundle(path),
                    (false, _) => VerifiedPlace::Database(path),
                }
            }
        }
    }

    /// Says which options do not go with what is verified.
    fn unsuitable(&self, place: &VerifiedPlace) -> Option<&'static str> {
        let is_bundle = matches!(place, VerifiedPlace::Bundle(_));
        match is_bundle {
            true if self.since.is_some() => {
                Some("--since is for a whole journal, and this is a bundle of one run")
            }
            true if self.keys.is_some() => {
                Some("--keys is for a whole journal, and this is a bundle of one run")
            }
            false if self.open_run => Some("--open-run is for a bundle of one run, and this is a journal"),
            _ => None,
        }
    }
}

fn main() -> ExitCode {
    let arguments = CliArguments::parse();
    let place = arguments.place();
    if let Some(what) = arguments.unsuitable(&place) {
        eprintln!("palyra-verify: {what}");
        return ExitCode::from(USAGE);
    }
    if let Some(what) = folder_as_database(&place) {
        eprintln!("palyra-verify: {what}");
        return ExitCode::from(FaultCode::Malformed.number());
    }
    let options = match options(&arguments) {
        Ok(options) => options,
        Err(what) => {
            eprintln!("palyra-verify: {what}");
            return ExitCode::from(FaultCode::Malformed.number());
        }
    };
    let report = verify(&place, options);
    let report = if arguments.open_run { report.with_open_run() } else { report };
    let text = if arguments.json {
        format!("{}\n", palyra_verify::json(&report))
    } else {
        palyra_verify::text_report(&report)
    };
    print!("{text}");
    ExitCode::from(report.exit_code())
}

fn verify(place: &VerifiedPlace, mut options: VerifyOptions) -> palyra_verify::VerifyReport {
    match place {
        VerifiedPlace::Database(path) => palyra_verify::verify_database(path, &mut options),
        VerifiedPlace::Bundle(path) => palyra_verify::verify_bundle(path, &options),
    }
}

/// Says what to name in the place of a folder.
fn folder_as_database(place: &VerifiedPlace) -> Option<String> {
    let VerifiedPlace::Database(path) = place else { return None };
    let inside = path.join(DATABASE_NAME);
    let shown = path.display();
    match (path.is_dir(), inside.is_file()) {
        (false, _) => None,
        (true, true) => {
            Some(format!("{shown} is a folder; the journal is the file in it: --db {}", inside.display()))
        }
        (true, false) => Some(format!(
            "{shown} is a folder without {DATABASE_NAME}, the file of a journal; --bundle takes a folder that \
             `palyra journal export` made"
        )),
    }
}

fn options(arguments: &CliArguments) -> Result<VerifyOptions, String> {
    let since = arguments.since.as_deref().map(kept).transpose()?;
    let keys =
        arguments.keys.as_deref().map(|state| StateKeys::open(state).map_err(|error| error.to_string()));
    let progress = std::io::stderr().is_terminal().then(|| Box::new(tell) as Box<ProgressFn>);
    Ok(VerifyOptions { key: arguments.key.clone(), since, keys: keys.transpose()?, progress })
}

fn kept(path: &Path) -> Result<KeptCheckpoint, String> {
    let mut text = String::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(CHECKPOINT_BYTES_MAX).read_to_string(&mut text));
    let shown = path.display();
    read.map_err(|error| format!("{shown}: {error}"))?;
    text.parse().map_err(|error| format!("{shown}: {error}"))
}

/// Writes over one line of the terminal; what fails there does not matter.
fn tell(what: &'static str, entries: u64) {
    if entries > 0 {
        let _ = write!(std::io::stderr(), "\r{what}: entry {entries}\x1b[K");
    }
}
