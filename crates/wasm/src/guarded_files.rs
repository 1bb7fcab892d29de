//! What a component may change in a workspace: everything but what would be run, or believed, by something else later.
//!
//! Stands before those functions of `wasi:filesystem` that take a path. Invariant: where files may be changed, no path
//! leads through a link or to what is kept, and no link is made; where they may only be read, the bindings below refuse
//! every change. Which folder a path starts from does not matter: no descriptor of what is kept, nor of a folder in which
//! it takes a second name to know it, is given out, and no such folder is moved.

use std::pin::Pin;

use palyra_types::places::{folded, is_git, is_steering, leads_to_steering};
use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentNamedList, Lift, Linker, LinkerInstance, Lower, Resource};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, HostDescriptor, NewTimestamp, OpenFlags, PathFlags,
};

use crate::inside::InstanceState;
use crate::reach::GivenFiles;

/// Where a daemon finds instructions in a workspace.
const OWN: &str = ".palyra";
/// Where daemons keep their things in a home.
const OWN_PAIRS: [(&str, &str); 2] = [(".config", "palyra"), (".local", "state")];

/// What becomes of the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathEnd {
    /// It is changed in its place.
    Stays,
    /// Other paths start from it, or it is found under another name.
    Leads,
}

/// Where the guarded functions are found.
const INTERFACE: &str = "wasi:filesystem/types@0.2.12";

type FileResult<T> = wasmtime::Result<Result<T, ErrorCode>>;
type FolderHandle = Resource<Descriptor>;

/// Puts the guard before what the linker has.
pub(crate) fn add_to_linker(linker: &mut Linker<InstanceState>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let mut files = linker.instance(INTERFACE)?;
    changes(&mut files)?;
    openings(&mut files)?;
    linker.allow_shadowing(false);
    Ok(())
}

fn openings(files: &mut LinkerInstance<'_, InstanceState>) -> wasmtime::Result<()> {
    type OpenArguments = (FolderHandle, PathFlags, String, OpenFlags, DescriptorFlags);
    guard(files, "open-at", |inside, (folder, links, path, open, flags): OpenArguments| {
        Box::pin(async move {
            Ok(match inside.stays(&folder, &path, PathEnd::Leads).await? {
                Ok(()) => file_result(inside.filesystem().open_at(folder, links, path, open, flags).await)?,
                Err(code) => Err(code),
            })
        })
    })
}

fn changes(files: &mut LinkerInstance<'_, InstanceState>) -> wasmtime::Result<()> {
    guard(files, "create-directory-at", |inside, (folder, path): (FolderHandle, String)| {
        Box::pin(async move {
            Ok(match inside.stays(&folder, &path, PathEnd::Stays).await? {
                Ok(()) => file_result(inside.filesystem().create_directory_at(folder, path).await)?,
                Err(code) => Err(code),
            })
        })
    })?;
    guard(files, "remove-directory-at", |inside, (folder, path): (FolderHandle, String)| {
        Box::pin(async move {
            Ok(match inside.stays(&folder, &path, PathEnd::Stays).await? {
                Ok(()) => file_result(inside.filesystem().remove_directory_at(folder, path).await)?,
                Err(code) => Err(code),
            })
        })
    })?;
    guard(files, "unlink-file-at", |inside, (folder, path): (FolderHandle, String)| {
        Box::pin(async move {
            Ok(match inside.stays(&folder, &path, PathEnd::Stays).await? {
                Ok(()) => file_result(inside.filesystem().unlink_file_at(folder, path).await)?,
                Err(code) => Err(code),
            })
        })
    })?;
    moves(files)
}

fn moves(files: &mut LinkerInstance<'_, InstanceState>) -> wasmtime::Result<()> {
    type Renaming = (FolderHandle, String, FolderHandle, String);
    guard(files, "rename-at", |inside, (folder, path, new, to): Renaming| {
        Box::pin(async move {
            let from = inside.stays(&folder, &path, PathEnd::Leads).await?;
            Ok(match from.and(inside.stays(&new, &to, PathEnd::Leads).await?) {
                Ok(()) => file_result(inside.filesystem().rename_at(folder, path, new, to).await)?,
                Err(code) => Err(code),
            })
        })
    })?;
    type TimeArguments = (FolderHandle, PathFlags, String, NewTimestamp, NewTimestamp);
    guard(files, "set-times-at", |inside, (folder, links, path, read, written): TimeArguments| {
        Box::pin(async move {
            Ok(match inside.stays(&folder, &path, PathEnd::Stays).await? {
                Ok(()) => {
                    file_result(inside.filesystem().set_times_at(folder, links, path, read, written).await)?
                }
                Err(code) => Err(code),
            })
        })
    })?;
    let no = || async { Ok(Err::<(), _>(ErrorCode::NotPermitted)) };
    guard(files, "link-at", move |_, _: (FolderHandle, PathFlags, String, FolderHandle, String)| {
        Box::pin(no())
    })?;
    guard(files, "symlink-at", move |_, _: (FolderHandle, String, String)| Box::pin(no()))
}

type FileWork<'a, T> = Pin<Box<dyn Future<Output = FileResult<T>> + Send + 'a>>;

/// Puts a function in the place of one that takes a path.
fn guard<P, T>(
    files: &mut LinkerInstance<'_, InstanceState>,
    name: &str,
    function: impl for<'a> Fn(&'a mut InstanceState, P) -> FileWork<'a, T> + Copy + Send + Sync + 'static,
) -> wasmtime::Result<()>
where
    P: ComponentNamedList + Lift + Send + 'static,
    T: Send + 'static,
    (Result<T, ErrorCode>,): ComponentNamedList + Lower + 'static,
{
    let name = format!("[method]descriptor.{name}");
    files.func_wrap_async(&name, move |mut store: StoreContextMut<'_, InstanceState>, given: P| {
        Box::new(async move { Ok((function(store.data_mut(), given).await?,)) })
    })
}

fn file_result<T>(done: Result<T, FsError>) -> FileResult<T> {
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(error) => error.downcast().map(Err),
    }
}

impl InstanceState {
    /// Returns whether a path stays clear of what is kept and of links.
    async fn stays(&mut self, folder: &FolderHandle, path: &str, end: PathEnd) -> FileResult<()> {
        let GivenFiles::Change(root) = &self.given.files else { return Ok(Ok(())) };
        // The name above a path counts only where the path starts from the root: no other folder that counts is held.
        let above = root.file_name().map(|name| folded(&name.to_string_lossy())).unwrap_or_default();
        let (mut names, mut so_far) = (vec![above], String::new());
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if !so_far.is_empty() {
                so_far.push('/');
            }
            so_far.push_str(name);
            if name == ".." {
                names.pop();
            } else {
                names.push(folded(name));
            }
            if names.is_empty() || is_kept(&names) {
                return Ok(Err(ErrorCode::NotPermitted));
            }
            let folder = Resource::new_borrow(folder.rep());
            if self.filesystem().readlink_at(folder, so_far.clone()).await.is_ok() {
                return Ok(Err(ErrorCode::NotPermitted));
            }
        }
        let leads = names.len() > 1 && leads_to_steering(&names);
        Ok(if leads && end == PathEnd::Leads { Err(ErrorCode::NotPermitted) } else { Ok(()) })
    }
}

/// Returns whether the last of these names is left alone: what lies there runs later, or steers what does.
fn is_kept(names: &[String]) -> bool {
    let [.., above, name] = names else { return false };
    is_git(name) || name == OWN || is_steering(names) || OWN_PAIRS.contains(&(above.as_str(), name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_stands_where_the_bindings_are() {
        let engine = wasmtime::Engine::new(&crate::engine_settings::settings()).unwrap();
        let mut linker = Linker::<InstanceState>::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        // A name that is there already is refused: had the bindings another version, it would be taken.
        let mut files = linker.instance(INTERFACE).unwrap();
        assert!(changes(&mut files).is_err());
    }
}
