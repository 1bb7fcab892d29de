//! What a component may change in a workspace: everything but what would be run, or believed, by something else later.
//!
//! Stands before those functions of `wasi:filesystem` that take a path. Invariant: where files may be changed, no path
//! leads through a link or to what is kept, and no link is made; where they may only be read, the bindings below refuse
//! every change. Which folder a path starts from does not matter: a descriptor below what is kept is never given out.

use std::pin::Pin;

use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentNamedList, Lift, Linker, LinkerInstance, Lower, Resource};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, HostDescriptor, NewTimestamp, OpenFlags, PathFlags,
};

use crate::inside::Inside;
use crate::reach::GivenFiles;

/// Names that are left alone wherever they stand: what lies there runs with the next command, or steers it.
const KEPT: [&str; 6] = [".git", ".gitmodules", ".envrc", ".vscode", ".idea", ".palyra"];

/// Where the guarded functions are found.
const INTERFACE: &str = "wasi:filesystem/types@0.2.12";

type Told<T> = wasmtime::Result<Result<T, ErrorCode>>;
type Folder = Resource<Descriptor>;

/// Puts the guard before what the linker has.
pub(crate) fn add_to_linker(linker: &mut Linker<Inside>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let mut files = linker.instance(INTERFACE)?;
    changes(&mut files)?;
    openings(&mut files)?;
    linker.allow_shadowing(false);
    Ok(())
}

fn openings(files: &mut LinkerInstance<'_, Inside>) -> wasmtime::Result<()> {
    type Opening = (Folder, PathFlags, String, OpenFlags, DescriptorFlags);
    guard(files, "open-at", |inside, (folder, links, path, open, flags): Opening| {
        Box::pin(async move {
            Ok(match inside.stays(&folder, &path).await? {
                Ok(()) => told(inside.filesystem().open_at(folder, links, path, open, flags).await)?,
                Err(code) => Err(code),
            })
        })
    })
}

fn changes(files: &mut LinkerInstance<'_, Inside>) -> wasmtime::Result<()> {
    guard(files, "create-directory-at", |inside, (folder, path): (Folder, String)| {
        Box::pin(async move {
            Ok(match inside.stays(&folder, &path).await? {
                Ok(()) => told(inside.filesystem().create_directory_at(folder, path).await)?,
                Err(code) => Err(code),
            })
        })
    })?;
    guard(files, "remove-directory-at", |inside, (folder, path): (Folder, String)| {
        Box::pin(async move {
            Ok(match inside.stays(&folder, &path).await? {
                Ok(()) => told(inside.filesystem().remove_directory_at(folder, path).await)?,
                Err(code) => Err(code),
            })
        })
    })?;
    guard(files, "unlink-file-at", |inside, (folder, path): (Folder, String)| {
        Box::pin(async move {
            Ok(match inside.stays(&folder, &path).await? {
                Ok(()) => told(inside.filesystem().unlink_file_at(folder, path).await)?,
                Err(code) => Err(code),
            })
        })
    })?;
    moves(files)
}

fn moves(files: &mut LinkerInstance<'_, Inside>) -> wasmtime::Result<()> {
    type Renaming = (Folder, String, Folder, String);
    guard(files, "rename-at", |inside, (folder, path, new, to): Renaming| {
        Box::pin(async move {
            let (from, onto) = (inside.stays(&folder, &path).await?, inside.stays(&new, &to).await?);
            Ok(match from.and(onto) {
                Ok(()) => told(inside.filesystem().rename_at(folder, path, new, to).await)?,
                Err(code) => Err(code),
            })
        })
    })?;
    type Times = (Folder, PathFlags, String, NewTimestamp, NewTimestamp);
    guard(files, "set-times-at", |inside, (folder, links, path, read, written): Times| {
        Box::pin(async move {
            Ok(match inside.stays(&folder, &path).await? {
                Ok(()) => told(inside.filesystem().set_times_at(folder, links, path, read, written).await)?,
                Err(code) => Err(code),
            })
        })
    })?;
    let no = || async { Ok(Err::<(), _>(ErrorCode::NotPermitted)) };
    guard(files, "link-at", move |_, _: (Folder, PathFlags, String, Folder, String)| Box::pin(no()))?;
    guard(files, "symlink-at", move |_, _: (Folder, String, String)| Box::pin(no()))
}

type Work<'a, T> = Pin<Box<dyn Future<Output = Told<T>> + Send + 'a>>;

/// Puts a function in the place of one that takes a path.
fn guard<P, T>(
    files: &mut LinkerInstance<'_, Inside>,
    name: &str,
    function: impl for<'a> Fn(&'a mut Inside, P) -> Work<'a, T> + Copy + Send + Sync + 'static,
) -> wasmtime::Result<()>
where
    P: ComponentNamedList + Lift + Send + 'static,
    T: Send + 'static,
    (Result<T, ErrorCode>,): ComponentNamedList + Lower + 'static,
{
    let name = format!("[method]descriptor.{name}");
    files.func_wrap_async(&name, move |mut store: StoreContextMut<'_, Inside>, given: P| {
        Box::new(async move { Ok((function(store.data_mut(), given).await?,)) })
    })
}

fn told<T>(done: Result<T, FsError>) -> Told<T> {
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(error) => error.downcast().map(Err),
    }
}

impl Inside {
    /// Returns whether a path stays clear of what is kept and of links.
    async fn stays(&mut self, folder: &Folder, path: &str) -> Told<()> {
        if !matches!(self.given.files, GivenFiles::Change(_)) {
            return Ok(Ok(()));
        }
        let mut so_far = String::new();
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if KEPT.iter().any(|kept| name.eq_ignore_ascii_case(kept)) {
                return Ok(Err(ErrorCode::NotPermitted));
            }
            if !so_far.is_empty() {
                so_far.push('/');
            }
            so_far.push_str(name);
            let folder = Resource::new_borrow(folder.rep());
            if self.filesystem().readlink_at(folder, so_far.clone()).await.is_ok() {
                return Ok(Err(ErrorCode::NotPermitted));
            }
        }
        Ok(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_stands_where_the_bindings_are() {
        let engine = wasmtime::Engine::new(&crate::engine::compiling()).unwrap();
        let mut linker = Linker::<Inside>::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        // A name that is there already is refused: had the bindings another version, it would be taken.
        let mut files = linker.instance(INTERFACE).unwrap();
        assert!(changes(&mut files).is_err());
    }
}
