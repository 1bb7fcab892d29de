//! Components on the disk: their bytes, and the native code that a held process made of them.
//!
//! Owns `DIGEST/component.wasm`, and when the native code beside it is made. Invariants: native code is taken up from files
//! alone that this cache wrote, in a folder that only the daemon's user can write, and only while the component beside
//! it has the digest it is known by; nothing is ever compiled in this process; what is being worked on is not removed.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use palyra_ports::{
    ComponentStoreError as Fault, ConfinedCommand, NetworkAccess, ProcessLimits, ProcessSandbox, ProcessTier,
    ProgramEnd, SandboxError, WorkspaceAccess, WorkspaceRoot,
};
use sha2::{Digest, Sha256};

use crate::compiled::{CompileError, CompiledComponent};
use crate::engine::Engine;
use crate::limits::COMPONENT_BYTES_MAX;
use crate::native::{self, NATIVE_BYTES_MAX, TakenDown};

/// The first argument of the compiler; its second is the file.
pub const COMPILE: &str = "component-compile";
/// The compiler's file name. It is a program of its own, so that the daemon does not contain it.
pub const COMPILER_PROGRAM: &str = "palyra-component-compile";
/// Exit code of the compiler for a file that is no component.
pub(crate) const MALFORMED: u8 = 65;
/// Exit code of the compiler for what this host cannot do.
pub(crate) const HOST: u8 = 71;
/// The name of a component's bytes in its folder.
const COMPONENT: &str = "component.wasm";
/// Bytes of a digest.
const DIGEST_BYTES: usize = 32;
/// Bytes of what the compiler says, at most.
const WORDS_BYTES_MAX: usize = 4 << 10;
/// How long compiling may take.
const COMPILE_TIME_MAX: Duration = Duration::from_secs(280);
/// What compiling may use up; threads count as processes.
pub const COMPILE_LIMITS: ProcessLimits = ProcessLimits {
    memory_bytes_max: 2 << 30,
    processes_max: 32,
    file_bytes_max: 0,
    scratch_bytes_max: 1 << 20,
    open_files_max: 64,
    processor_time_max: Duration::from_secs(480),
};

/// Keeps components and has them compiled.
pub(crate) struct CompileCache {
    folder: PathBuf,
    /// The compiler, [`COMPILER_PROGRAM`] or another program that answers to [`COMPILE`].
    program: PathBuf,
    sandbox: Arc<dyn ProcessSandbox>,
    limits: ProcessLimits,
    /// One is compiled at a time.
    compiling: tokio::sync::Mutex<()>,
    /// One is copied at a time.
    copying: Mutex<()>,
    /// What is worked on, and by how many.
    held: Mutex<BTreeMap<[u8; 32], usize>>,
}

/// What a compiler runs in, and what it may use.
pub(crate) struct CompilerSandbox {
    pub(crate) sandbox: Arc<dyn ProcessSandbox>,
    pub(crate) limits: ProcessLimits,
}

/// A component that is worked on: its folder stays for as long as this lives.
pub(crate) struct CacheHold {
    cache: Arc<CompileCache>,
    pub(crate) digest: [u8; 32],
}

impl Drop for CacheHold {
    fn drop(&mut self) {
        let mut held = self.cache.lock_sizes();
        if let Some(count) = held.get_mut(&self.digest) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.digest);
            }
        }
    }
}

/// Why a component that is kept cannot be called.
#[derive(Debug, Clone)]
pub(crate) enum KeptFault {
    /// Its bytes are not those it is known by, or gone.
    Changed,
    /// It cannot be made ready.
    Shelf(Fault),
}

impl From<Fault> for KeptFault {
    fn from(fault: Fault) -> Self {
        Self::Shelf(fault)
    }
}

impl CompileCache {
    pub(crate) fn new(
        folder: PathBuf,
        program: PathBuf,
        CompilerSandbox { sandbox, limits }: CompilerSandbox,
    ) -> Self {
        let (compiling, copying, held) = Default::default();
        Self { folder, program, sandbox, limits, compiling, copying, held }
    }

    fn lock_sizes(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a component's folder from being removed.
    fn hold(self: &Arc<Self>, digest: [u8; 32]) -> CacheHold {
        *self.lock_sizes().entry(digest).or_default() += 1;
        CacheHold { cache: Arc::clone(self), digest }
    }

    /// Copies a file; returns its digest and size.
    pub(crate) fn keep(self: &Arc<Self>, source: &Path) -> Result<(CacheHold, u64), Fault> {
        let bytes = read_source(source)?;
        let held = self.hold(Sha256::digest(&bytes).into());
        let folder = self.folder_of(&held.digest);
        let _copying = self.copying.lock().unwrap_or_else(PoisonError::into_inner);
        if !read_bounded(&folder.join(COMPONENT), COMPONENT_BYTES_MAX).is_ok_and(|kept| kept == bytes) {
            self.write(&folder, COMPONENT, &bytes).map_err(disk)?;
        }
        Ok((held, bytes.len() as u64))
    }

    /// Removes what belongs to none of these and is not worked on.
    pub(crate) fn keep_only(&self, digests: &[[u8; 32]]) {
        let Ok(folders) = std::fs::read_dir(&self.folder) else { return };
        // Nobody begins to work on what is looked at here.
        let held = self.lock_sizes();
        let kept: Vec<String> = digests.iter().chain(held.keys()).map(hex).collect();
        for folder in folders.flatten() {
            let name = folder.file_name().into_string().unwrap_or_default();
            if name.len() == 2 * DIGEST_BYTES && !kept.contains(&name) {
                // What stays is in nobody's way.
                let _ = std::fs::remove_dir_all(folder.path());
            }
        }
    }

    /// Returns the files of native code with their sizes, but for those of components that are worked on.
    fn idle_native(&self, held: &BTreeMap<[u8; 32], usize>) -> Vec<(PathBuf, u64)> {
        let kept: Vec<String> = held.keys().map(hex).collect();
        let folders = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let folders = folders.filter(|folder| {
            let name = folder.file_name().into_string().unwrap_or_default();
            let is_folder = folder.file_type().is_ok_and(|kind| kind.is_dir());
            is_folder && name.len() == 2 * DIGEST_BYTES && !kept.contains(&name)
        });
        folders.flat_map(|folder| native::files(&folder.path())).collect()
    }

    /// Returns the bytes of native code that [`Self::free_native`] removes.
    pub(crate) fn native_bytes(&self) -> u64 {
        let held = self.lock_sizes().clone();
        self.idle_native(&held).iter().map(|(_, bytes)| bytes).sum()
    }

    /// Removes native code, which is made again when it is needed, but for that of components that are worked on; returns its
    /// bytes.
    pub(crate) fn free_native(&self) -> u64 {
        // Work begins on none of them meanwhile.
        let held = self.lock_sizes();
        let removed =
            self.idle_native(&held).into_iter().filter(|(path, _)| std::fs::remove_file(path).is_ok());
        removed.map(|(_, bytes)| bytes).sum()
    }

    /// Returns the bytes of a component after its digest was compared; `None` where it is missing or differs.
    pub(crate) fn check(&self, digest: &[u8; 32]) -> io::Result<Option<u64>> {
        match read_bounded(&self.folder_of(digest).join(COMPONENT), COMPONENT_BYTES_MAX) {
            Ok(bytes) => Ok((Sha256::digest(&bytes)[..] == *digest).then_some(bytes.len() as u64)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the bytes of the native code of a component after its digest was compared, zero where there is none; `None`
    /// where it differs.
    pub(crate) fn check_native(&self, digest: &[u8; 32]) -> io::Result<Option<u64>> {
        match native::check(&self.folder_of(digest).join(native::name())) {
            Err(error) if is_missing(&error) => Ok(Some(0)),
            checked => checked,
        }
    }

    /// Removes native code that differs from its digest.
    pub(crate) fn discard_native(&self, digest: &[u8; 32]) -> io::Result<()> {
        if self.check_native(digest)?.is_some() {
            return Ok(());
        }
        std::fs::remove_file(self.folder_of(digest).join(native::name()))
    }

    /// Puts a component back in its place; the caller moved aside what was there.
    pub(crate) fn put_back(&self, digest: &[u8; 32], bytes: &[u8]) -> io::Result<()> {
        if Sha256::digest(bytes)[..] != *digest {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the copy has another digest"));
        }
        let _copying = self.copying.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(&self.folder_of(digest), COMPONENT, bytes)
    }

    /// Returns where the bytes of a component are.
    pub(crate) fn path_of(&self, digest: &[u8; 32]) -> PathBuf {
        self.folder_of(digest).join(COMPONENT)
    }

    /// Makes a component ready that was kept: compiles it where that was not done before.
    pub(crate) async fn ready(
        self: &Arc<Self>,
        engine: &Engine,
        digest: [u8; 32],
    ) -> Result<CompiledComponent, KeptFault> {
        let _held = self.hold(digest);
        let _compiling = self.compiling.lock().await;
        let (cache, of) = (Arc::clone(self), engine.clone());
        let looked = blocking(move || cache.taken_up(&of, digest)).await?;
        if let Some(compiled) = looked? {
            return Ok(compiled);
        }
        if let Err(fault) = self.compile(&digest).await {
            // What there is of it fits nothing.
            let _ = std::fs::remove_file(self.folder_of(&digest).join(native::UNFINISHED));
            return Err(fault.into());
        }
        let (cache, engine) = (Arc::clone(self), engine.clone());
        let put = blocking(move || {
            native::put(&cache.folder_of(&digest), &native::name()).map_err(disk)?;
            cache.taken_up(&engine, digest)
        });
        match put.await?? {
            Some(compiled) => Ok(compiled),
            None => {
                let program = self.program.display();
                let what = format!(
                    "{program} is of another version than this daemon; install both from one release"
                );
                Err(Fault::Host { what }.into())
            }
        }
    }

    /// Takes up native code that was made before; `None` when there is none that fits.
    fn taken_up(&self, engine: &Engine, digest: [u8; 32]) -> Result<Option<CompiledComponent>, KeptFault> {
        let folder = self.folder_of(&digest);
        let component = read_bounded(&folder.join(COMPONENT), COMPONENT_BYTES_MAX);
        let component = component.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => KeptFault::Changed,
            _ => disk(error).into(),
        })?;
        if Sha256::digest(&component)[..] != digest {
            return Err(KeptFault::Changed);
        }
        drop(component);
        let Some(native) = native::read(&folder.join(native::name())) else { return Ok(None) };
        // SAFETY: it was written by `ready` and by nobody else: the file has its digest before it, belongs to this user,
        // and nobody else may write it or its folder.
        match unsafe { engine.take_up(native.code(), digest) } {
            Ok(compiled) => Ok(Some(compiled)),
            // Of another version, whose name is the same by chance.
            Err(CompileError::Malformed { .. }) => Ok(None),
            Err(error @ (CompileError::Unfit { .. } | CompileError::TooLarge { .. })) => {
                Err(Fault::Invalid { what: error.to_string() }.into())
            }
        }
    }

    /// Has a component compiled by a process that is held; whatever it does, it ends with that process. What it says is
    /// native code that is not yet in its place.
    async fn compile(&self, digest: &[u8; 32]) -> Result<(), Fault> {
        if !self.program.is_file() {
            let what = format!(
                "components are compiled by `{COMPILER_PROGRAM}`, and {} does not exist; a release has it, and \
                 `cargo build --release -p palyra-wasm --features compiler` builds it",
                self.program.display()
            );
            return Err(Fault::Host { what });
        }
        let folder = self.folder_of(digest).canonicalize().map_err(disk)?;
        let component = folder.join(COMPONENT);
        let command = ConfinedCommand {
            tier: ProcessTier::Confined,
            program: self.program.clone(),
            arguments: vec!["palyra".into(), COMPILE.into(), component.into()],
            // As many threads as there are limits for, however many processors there are.
            environment: vec![("RAYON_NUM_THREADS".into(), "2".into())],
            directory: folder.clone(),
            workspace: WorkspaceRoot::open(&folder).map_err(|error| disk(io::Error::other(error)))?,
            access: WorkspaceAccess::Read,
            kept: Vec::new(),
            readable: vec![self.program.clone()],
            sealed: Vec::new(),
            network: NetworkAccess::None,
            limits: self.limits,
        };
        let started = std::time::Instant::now();
        let mut process = self.sandbox.start(command).await.map_err(sandbox_fault)?;
        let Some((output, errors)) = process.take_output() else {
            return Err(Fault::System { what: "the compiler has no output".to_owned() });
        };
        let unfinished = folder.join(native::UNFINISHED);
        let native = tokio::task::spawn_blocking(move || native::take_down(output, &unfinished));
        let words = tokio::task::spawn_blocking(move || gather(errors, WORDS_BYTES_MAX));
        let ended = tokio::time::timeout(COMPILE_TIME_MAX, process.wait()).await;
        // Ends it where it goes on, and with that its output.
        drop(process);
        let limit = |what: &str| Fault::Limit { what: format!("compiling it was ended: {what}") };
        let ended = ended.map_err(|_| limit("it took too long"))?;
        let native = native.await.map_err(|lost| Fault::System { what: lost.to_string() })?;
        let words = words.await.unwrap_or_default();
        tracing::debug!(?ended, ?native, ms = started.elapsed().as_millis(), "a component was compiled");
        match ended {
            ProgramEnd::Exited { code: 0 } => match native.map_err(disk)? {
                TakenDown::Whole { .. } => Ok(()),
                TakenDown::TooLarge => {
                    let mib = NATIVE_BYTES_MAX >> 20;
                    Err(limit(&format!("its native code has more than {mib} MiB")))
                }
            },
            ProgramEnd::Exited { code } if code == i32::from(MALFORMED) => {
                Err(Fault::Invalid { what: format!("it is not a WebAssembly component: {}", plain(&words)) })
            }
            ProgramEnd::Exited { code } if code == i32::from(HOST) => {
                Err(Fault::System { what: format!("the compiler could not begin: {}", plain(&words)) })
            }
            ProgramEnd::OverMemory => Err(limit("it used too much memory")),
            ProgramEnd::Signalled { .. }
            | ProgramEnd::Exited { .. }
            | ProgramEnd::OverProcesses
            | ProgramEnd::KeptLost
            | ProgramEnd::Stopped => {
                Err(limit("it used more memory, time or threads than compiling may, or broke the compiler"))
            }
        }
    }

    fn folder_of(&self, digest: &[u8; 32]) -> PathBuf {
        self.folder.join(hex(digest))
    }

    /// Puts a file in its place as a whole.
    fn write(&self, folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let unfinished = folder.join(format!(".new-{name}"));
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, folder.join(name))?;
        File::open(folder)?.sync_all()?;
        File::open(&self.folder)?.sync_all()
    }
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let lost = |error: tokio::task::JoinError| Fault::System { what: error.to_string() };
    tokio::task::spawn_blocking(work).await.map_err(lost)
}

#[allow(clippy::needless_pass_by_value, reason = "given to map_err")]
fn disk(error: io::Error) -> Fault {
    Fault::System { what: format!("the disk said no: {error}") }
}

#[allow(clippy::needless_pass_by_value, reason = "given to map_err")]
fn sandbox_fault(error: SandboxError) -> Fault {
    let what = format!("components are compiled in a sandboxed process, which failed: {error}");
    match error {
        SandboxError::Missing { .. } => Fault::Host { what },
        SandboxError::NotStarted { .. } | SandboxError::TooLong { .. } | SandboxError::Broken { .. } => {
            Fault::System { what }
        }
    }
}

fn read_source(source: &Path) -> Result<Vec<u8>, Fault> {
    let unreadable = |error: io::Error| Fault::System { what: format!("the file cannot be read: {error}") };
    let file = File::open(source).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(Fault::Invalid { what: "it is not a file".to_owned() });
    }
    let mut bytes = Vec::new();
    file.take(COMPONENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > COMPONENT_BYTES_MAX {
        let what =
            format!("it has more than {} MiB, which is the most that is taken", COMPONENT_BYTES_MAX >> 20);
        return Err(Fault::Limit { what });
    }
    Ok(bytes)
}

/// Returns whether there is no file. A link in its place is none that this cache wrote.
fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn read_bounded(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns what a compiler said, as a line that steers no terminal.
fn plain(words: &[u8]) -> String {
    String::from_utf8_lossy(words).chars().filter(|c| !c.is_control()).take(400).collect()
}

/// Reads to the end; keeps so much at most.
fn gather(from: OwnedFd, bytes_max: usize) -> Vec<u8> {
    let (mut from, mut kept) = (File::from(from), Vec::new());
    // Where it is lost, what it had read is told.
    let _ = io::Read::by_ref(&mut from).take(bytes_max as u64).read_to_end(&mut kept);
    let _ = io::copy(&mut from, &mut io::sink());
    kept
}

fn hex(digest: &[u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
