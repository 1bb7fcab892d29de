//! What has to be held so that a file stays as it is.
//!
//! Owns the way to a kept file: the folders and links on it, and what lies at its end. Mounts nothing. Invariant: whoever
//! looks by the name afterwards finds the same, whether the name is a link or leads through one.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links on the way to one file, at most; the kernel follows as many.
const LINKS_MAX: usize = 40;

/// What is held of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptPart {
    /// Where it lies: it cannot be moved away, and what is in it may change.
    Place,
    /// All of it: a link's target, a file's bytes, a folder with all that is in it.
    Whole,
}

/// Returns what to hold for a file of a workspace, in order; nothing when it is not there.
pub(crate) fn way_to(workspace: &Path, kept: &Path) -> Vec<(PathBuf, KeptPart)> {
    let Ok(inner) = kept.strip_prefix(workspace) else { return Vec::new() };
    let mut way =
        PathWalk { workspace, at: workspace.to_owned(), rest: parts(inner), held: Vec::new(), links: 0 };
    while let Some(part) = way.rest.pop_front() {
        if !way.step(&part) {
            break;
        }
    }
    if way.links == 0 && !way.rest.is_empty() { Vec::new() } else { way.held }
}

struct PathWalk<'w> {
    workspace: &'w Path,
    at: PathBuf,
    rest: VecDeque<OsString>,
    held: Vec<(PathBuf, KeptPart)>,
    links: usize,
}

impl PathWalk<'_> {
    /// Goes on by one name; says whether there is a way on.
    fn step(&mut self, part: &OsString) -> bool {
        if part == ".." {
            self.at.pop();
        } else {
            self.at.push(part);
        }
        if !self.at.starts_with(self.workspace) {
            return self.come_back();
        }
        let Ok(found) = fs::symlink_metadata(&self.at) else {
            self.rest.push_front(part.clone());
            return false;
        };
        if found.is_symlink() {
            return self.follow();
        }
        let held = if self.rest.is_empty() { KeptPart::Whole } else { KeptPart::Place };
        if self.at != self.workspace || held == KeptPart::Whole {
            self.held.push((self.at.clone(), held));
        }
        true
    }

    fn follow(&mut self) -> bool {
        self.held.push((self.at.clone(), KeptPart::Whole));
        self.links += 1;
        let target = fs::read_link(&self.at).unwrap_or_default();
        self.at.pop();
        if target.is_absolute() {
            self.at = PathBuf::from("/");
        }
        for part in parts(&target).into_iter().rev() {
            self.rest.push_front(part);
        }
        if self.at.starts_with(self.workspace) { self.links <= LINKS_MAX } else { self.come_back() }
    }

    /// Nobody who is held changes what lies outside, but the way may lead back in.
    fn come_back(&mut self) -> bool {
        let whole = self.at.join(self.rest.drain(..).collect::<PathBuf>());
        let Ok(real) = whole.canonicalize() else { return false };
        let Ok(inner) = real.strip_prefix(self.workspace) else { return false };
        self.at = self.workspace.to_owned();
        self.rest = parts(inner);
        self.links += 1;
        if self.rest.is_empty() {
            self.held.push((self.at.clone(), KeptPart::Whole));
        }
        self.links <= LINKS_MAX
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let named = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().filter(named).map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_way_to_a_file_is_held_to_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("the folder");
        let work = root.join("work");
        for path in ["work/.git/hooks", "work/shared/hooks", "outside"] {
            fs::create_dir_all(root.join(path)).expect("a folder");
        }
        symlink("../shared/hooks", work.join(".git/linked")).expect("a link");
        symlink(".git", work.join("alias")).expect("a link");
        symlink(root.join("outside"), work.join("away")).expect("a link");
        symlink("../work/shared", root.join("outside/back")).expect("a link");
        symlink("nowhere", work.join("dangling")).expect("a link");
        symlink("loop", work.join("loop")).expect("a link");
        symlink(&work, work.join("all")).expect("a link");
        let way = |kept: &str| -> Vec<(String, KeptPart)> {
            let inner = |path: &Path| path.strip_prefix(&work).expect("inside").display().to_string();
            way_to(&work, &work.join(kept)).iter().map(|(path, held)| (inner(path), *held)).collect()
        };
        let owned = |way: &[(&str, KeptPart)]| {
            way.iter().map(|(path, held)| ((*path).to_owned(), *held)).collect::<Vec<_>>()
        };
        use KeptPart::{Place, Whole};
        let rows: [(&str, &[(&str, KeptPart)]); 10] = [
            (".git/hooks", &[(".git", Place), (".git/hooks", Whole)]),
            (".git/missing", &[]),
            (".git/missing/more", &[]),
            (
                ".git/linked",
                &[(".git", Place), (".git/linked", Whole), ("shared", Place), ("shared/hooks", Whole)],
            ),
            ("alias/hooks", &[("alias", Whole), (".git", Place), (".git/hooks", Whole)]),
            ("away", &[("away", Whole)]),
            ("away/back/hooks", &[("away", Whole), ("shared", Place), ("shared/hooks", Whole)]),
            ("dangling", &[("dangling", Whole)]),
            ("all", &[("all", Whole), ("", Whole)]),
            ("all/.git", &[("all", Whole), (".git", Whole)]),
        ];
        for (kept, held) in rows {
            assert_eq!(way(kept), owned(held), "{kept}");
        }
        assert!(way("loop").iter().all(|held| *held == ("loop".to_owned(), Whole)));
    }
}
