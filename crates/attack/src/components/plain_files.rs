//! Files as a plain host opens them: by whatever path it is told, from the workspace on, through every link.
//!
//! Stands before those functions of `wasi:filesystem` that take a path. The folder that is given out is `/`, so that
//! where plain code would arrive is always below it.

use std::path::{Path, PathBuf};

use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentNamedList, Lift, Linker, LinkerInstance, Lower, Resource, ResourceTable};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode as Code;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    DescriptorFlags, DescriptorStat, ErrorCode, HostDescriptor, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// What stands behind the imports.
pub(super) struct PlainState {
    pub(super) table: ResourceTable,
    pub(super) wasi: WasiCtx,
    pub(super) work: PathBuf,
}

impl WasiView for PlainState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

type FolderHandle = Resource<Descriptor>;

/// Puts plain code before what the linker has.
pub(super) fn add_to_linker(linker: &mut Linker<PlainState>) -> wasmtime::Result<()> {
    let mut files = linker.instance("wasi:filesystem/types@0.2.12")?;
    opens(&mut files)?;
    moves(&mut files)?;
    wrap(&mut files, "create-directory-at", |open, (folder, path): (FolderHandle, String)| {
        let path = open.found(&path, LastLink::Itself);
        open.filesystem().create_directory_at(folder, path)
    })?;
    wrap(&mut files, "remove-directory-at", |open, (folder, path): (FolderHandle, String)| {
        let path = open.found(&path, LastLink::Itself);
        open.filesystem().remove_directory_at(folder, path)
    })?;
    wrap(&mut files, "unlink-file-at", |open, (folder, path): (FolderHandle, String)| {
        let path = open.found(&path, LastLink::Itself);
        open.filesystem().unlink_file_at(folder, path)
    })
}

fn opens(files: &mut LinkerInstance<'_, PlainState>) -> wasmtime::Result<()> {
    type OpenArguments = (FolderHandle, PathFlags, String, OpenFlags, DescriptorFlags);
    wrap(files, "open-at", |open, (folder, links, path, how, flags): OpenArguments| {
        let path = open.found(&path, LastLink::Followed);
        open.filesystem().open_at(folder, links, path, how, flags)
    })?;
    type TimeArguments = (FolderHandle, PathFlags, String, NewTimestamp, NewTimestamp);
    wrap(files, "set-times-at", |open, (folder, links, path, read, written): TimeArguments| {
        let path = open.found(&path, LastLink::Followed);
        open.filesystem().set_times_at(folder, links, path, read, written)
    })?;
    wrap(
        files,
        "stat-at",
        |open, (folder, links, path): (FolderHandle, PathFlags, String)| -> Result<DescriptorStat, _> {
            let path = open.found(&path, LastLink::Followed);
            open.filesystem().stat_at(folder, links, path)
        },
    )
}

fn moves(files: &mut LinkerInstance<'_, PlainState>) -> wasmtime::Result<()> {
    type Renaming = (FolderHandle, String, FolderHandle, String);
    wrap(files, "rename-at", |open, (folder, path, new, to): Renaming| {
        let (path, to) = (open.found(&path, LastLink::Itself), open.found(&to, LastLink::Itself));
        open.filesystem().rename_at(folder, path, new, to)
    })?;
    type LinkArguments = (FolderHandle, PathFlags, String, FolderHandle, String);
    wrap(files, "link-at", |open, (folder, _, path, new, to): LinkArguments| {
        let (path, to) = (open.found(&path, LastLink::Itself), open.found(&to, LastLink::Itself));
        open.filesystem().link_at(folder, PathFlags::empty(), path, new, to)
    })?;
    wrap(files, "symlink-at", |open, (_, target, path): (FolderHandle, String, String)| {
        let path = Path::new("/").join(open.found(&path, LastLink::Itself));
        std::os::unix::fs::symlink(target, path).map_err(FsError::from)
    })
}

fn wrap<P, T>(
    files: &mut LinkerInstance<'_, PlainState>,
    name: &str,
    function: impl Fn(&mut PlainState, P) -> Result<T, FsError> + Send + Sync + 'static,
) -> wasmtime::Result<()>
where
    P: ComponentNamedList + Lift + 'static,
    (Result<T, ErrorCode>,): ComponentNamedList + Lower + 'static,
{
    let name = format!("[method]descriptor.{name}");
    files.func_wrap(&name, move |mut store: StoreContextMut<'_, PlainState>, given: P| {
        let done = function(store.data_mut(), given);
        Ok((match done {
            Ok(done) => Ok(done),
            Err(error) => Err(error.downcast().map(|code: Code| code.into())?),
        },))
    })
}

/// What becomes of a link at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastLink {
    Followed,
    Itself,
}

impl PlainState {
    /// Returns where plain code arrives, from `/` on.
    fn found(&self, path: &str, last: LastLink) -> String {
        let whole = self.work.join(path);
        let followed = (last == LastLink::Followed).then(|| whole.canonicalize().ok()).flatten();
        let named = || {
            // A link to nothing is followed, too: what is made then is made there.
            let link = whole.read_link().ok().filter(|_| last == LastLink::Followed);
            let whole = link.map_or_else(|| whole.clone(), |link| whole.with_file_name(link));
            Some(whole.parent()?.canonicalize().ok()?.join(whole.file_name()?))
        };
        let found = followed.or_else(named).unwrap_or(whole.clone());
        found.strip_prefix("/").unwrap_or(&found).display().to_string()
    }
}
