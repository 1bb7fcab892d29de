//! Which file a command's first word is, and which script it names.
//!
//! Owns the search. The environment of the daemon does not count: programs are looked for where the settings say.
//! Invariant: a program lies in a folder of the system, in one that was named readable, or in the workspace, links
//! followed; one in the workspace is read once and run from what was read.

use std::fs;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_ports::{SealedFile, WorkspaceRoot};
use rustix::fs::{MemfdFlags, SealFlags};
use sha2::{Digest, Sha256};

use crate::failure::CommandFailure;
use crate::opened::{open_file, read_whole};
use crate::settings::CommandSettings;

/// Bytes of a program or script that is run, at most.
const PROGRAM_BYTES_MAX: u64 = 512 << 20;
/// Bytes of one that is copied before it is run, at most.
const SEALED_BYTES_MAX: u64 = 64 << 20;

/// Folders of the system, as a sandbox shows them.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix/store"];

/// Programs that run what their first argument names.
const INTERPRETERS: [&str; 14] = [
    "sh", "bash", "dash", "zsh", "ksh", "python", "python3", "perl", "ruby", "node", "lua", "php", "Rscript",
    "tclsh",
];

/// Programs that start what a later word names.
const WRAPPERS: [&str; 12] = [
    "env", "nice", "timeout", "nohup", "setsid", "stdbuf", "ionice", "chrt", "taskset", "time", "xargs",
    "flock",
];

/// A file that a command runs.
#[derive(Debug, Clone)]
pub(crate) struct ProgramFile {
    /// Its real path.
    pub(crate) path: PathBuf,
    /// SHA-256 of its bytes.
    pub(crate) digest: [u8; 32],
    /// Its bytes, when commands could change the file.
    pub(crate) sealed: Option<SealedFile>,
}

/// Where a file that a command runs is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocatedProgram {
    /// Its real path.
    pub(crate) path: PathBuf,
    pub(crate) place: ProgramPlace,
}

/// Who could change a file that a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramPlace {
    /// Commands.
    Workspace,
    /// Nobody who is held.
    System,
}

/// Finds the program of a command that starts in `folder`; blocks on what it reads.
pub(crate) fn find_program(
    settings: &CommandSettings,
    workspace: &WorkspaceRoot,
    folder: &Path,
    word: &str,
) -> Result<ProgramFile, CommandFailure> {
    look_at(workspace, locate_program(settings, workspace, folder, word)?)
}

/// Says where that program is, and reads nothing of it; blocks all the same.
pub(crate) fn locate_program(
    settings: &CommandSettings,
    workspace: &WorkspaceRoot,
    folder: &Path,
    word: &str,
) -> Result<LocatedProgram, CommandFailure> {
    let candidates: Vec<PathBuf> = if word.contains('/') {
        vec![folder.join(word)]
    } else {
        settings.search.iter().map(|place| place.join(word)).collect()
    };
    let found = candidates.iter().find(|path| is_program(path)).ok_or_else(|| {
        let mend = if word.contains('/') {
            "check the path"
        } else {
            "if it is installed elsewhere, name its folder in `commands.path` of palyra.toml, then `palyra admin stop`: \
             the next start of the daemon uses it"
        };
        CommandFailure::NotFound(format!(
            "there is no program `{word}`; {mend}; searched: {}",
            places(&candidates)
        ))
    })?;
    locate(settings, workspace, found)
}

/// Finds the script that an interpreter, or a program that starts another one, is told to run: the first word behind it
/// that is a file of the workspace. What options mean is not read: a value that is no file is passed over.
pub(crate) fn find_script(
    settings: &CommandSettings,
    workspace: &WorkspaceRoot,
    folder: &Path,
    argv: &[String],
) -> Result<Option<ProgramFile>, CommandFailure> {
    let Some(first) = argv.iter().position(|word| starts_another(word)) else { return Ok(None) };
    let in_workspace = |word: &String| {
        let real = folder.join(word).canonicalize().ok()?;
        (real.is_file() && real.starts_with(workspace.path())).then_some(real)
    };
    match argv[first + 1..].iter().find_map(in_workspace) {
        Some(script) => look_at(workspace, locate(settings, workspace, &script)?).map(Some),
        None => Ok(None),
    }
}

/// Whether a word names a program that runs what a later word names, whatever its version.
fn starts_another(word: &str) -> bool {
    let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().chain(&WRAPPERS).any(|known| *known == bare || *known == name)
}

fn locate(
    settings: &CommandSettings,
    workspace: &WorkspaceRoot,
    path: &Path,
) -> Result<LocatedProgram, CommandFailure> {
    let real = path.canonicalize().map_err(unreadable(path))?;
    if real.starts_with(workspace.path()) {
        return Ok(LocatedProgram { path: real, place: ProgramPlace::Workspace });
    }
    let readable = settings.readable.iter().filter_map(|place| place.canonicalize().ok());
    let shown = SYSTEM.iter().map(PathBuf::from).chain(readable).any(|place| real.starts_with(place));
    if !shown {
        return Err(CommandFailure::PathRefused(format!(
            "commands cannot read `{}`; name its folder in `commands.readable` of palyra.toml, then `palyra admin stop`: \
             the next start of the daemon uses it; or use a program of the system or of the workspace",
            real.display()
        )));
    }
    Ok(LocatedProgram { path: real, place: ProgramPlace::System })
}

fn look_at(workspace: &WorkspaceRoot, located: LocatedProgram) -> Result<ProgramFile, CommandFailure> {
    let LocatedProgram { path, place } = located;
    let looked = match place {
        ProgramPlace::Workspace => sealed(workspace, &path),
        ProgramPlace::System => digest_of(workspace, &path).map(|digest| (digest, None)),
    };
    let (digest, sealed) = looked.map_err(unreadable(&path))?;
    Ok(ProgramFile { path, digest, sealed })
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> CommandFailure {
    move |error| CommandFailure::NotFound(format!("`{}` cannot be read: {error}", path.display()))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

fn places(candidates: &[PathBuf]) -> String {
    let folders: Vec<_> =
        candidates.iter().filter_map(|path| path.parent()).map(|at| at.display().to_string()).collect();
    folders.join(", ")
}

fn sealed(workspace: &WorkspaceRoot, path: &Path) -> io::Result<([u8; 32], Option<SealedFile>)> {
    let mut bytes = Vec::new();
    read_whole(&open_file(workspace, path)?, SEALED_BYTES_MAX, |piece| bytes.extend_from_slice(piece))?;
    let file = SealedFile { path: path.to_owned(), bytes: Arc::new(seal(&bytes)?) };
    Ok((Sha256::digest(&bytes).into(), Some(file)))
}

fn digest_of(workspace: &WorkspaceRoot, path: &Path) -> io::Result<[u8; 32]> {
    digest_within(workspace, path, PROGRAM_BYTES_MAX)
}

/// Returns the digest of a file of at most so many bytes.
pub(crate) fn digest_within(workspace: &WorkspaceRoot, path: &Path, bytes_max: u64) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    read_whole(&open_file(workspace, path)?, bytes_max, |piece| hash.update(piece))?;
    Ok(hash.finalize().into())
}

/// Copies bytes to memory that nobody can change any more.
fn seal(bytes: &[u8]) -> io::Result<OwnedFd> {
    let memory = rustix::fs::memfd_create("program", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut memory = fs::File::from(memory);
    memory.write_all(bytes)?;
    memory.rewind()?;
    rustix::fs::fcntl_add_seals(
        &memory,
        SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL,
    )?;
    Ok(memory.into())
}
