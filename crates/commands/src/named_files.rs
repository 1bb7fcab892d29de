//! The files of the workspace that a command names.
//!
//! Owns the search behind options, wrappers and values: every word, and every part of a word, that is a file of the
//! workspace counts, because nobody can list what each program takes for a script. Says what it could not bind. Knows
//! not what a program opens by itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use palyra_ports::WorkspaceRoot;

use crate::program::{ProgramFile, digest_within};

/// Files of one command that are bound, at most.
const FILES_MAX: usize = 64;
/// Bytes of one of them, at most.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Bytes of all of them, at most.
const FILES_BYTES_MAX: u64 = 256 << 20;
/// Folders in which the words of a command are looked for, at most.
const FOLDERS_MAX: usize = 8;

/// Programs that only read, copy or translate the files that are words of their own: a change there changes no code
/// that runs. Files in their options count as code.
const READERS: [&str; 49] = [
    "basename",
    "c++",
    "cat",
    "cc",
    "chmod",
    "cksum",
    "clang",
    "clang++",
    "cmp",
    "comm",
    "cp",
    "cut",
    "diff",
    "dirname",
    "echo",
    "egrep",
    "fgrep",
    "file",
    "g++",
    "gcc",
    "git",
    "gofmt",
    "grep",
    "head",
    "hexdump",
    "ln",
    "ls",
    "md5sum",
    "mkdir",
    "mv",
    "nl",
    "od",
    "printf",
    "readlink",
    "realpath",
    "rg",
    "rm",
    "rmdir",
    "rustfmt",
    "sha1sum",
    "sha256sum",
    "sort",
    "stat",
    "strings",
    "tail",
    "touch",
    "uniq",
    "wc",
    "xxd",
];

/// Files that programs run without being told their name.
const UNNAMED: [(&[&str], &[&str]); 10] = [
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["ninja"], &["build.ninja"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml"]),
    (&["npm", "npx", "yarn", "pnpm", "bun"], &["package.json"]),
    (&["cargo"], &["Cargo.toml", "build.rs", ".cargo/config.toml"]),
    (&["pytest", "py.test"], &["conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"]),
    (&["rake"], &["Rakefile", "rakefile"]),
    (&["gradle", "gradlew"], &["build.gradle", "build.gradle.kts", "settings.gradle"]),
    (&["mvn", "mvnw"], &["pom.xml"]),
];

/// What a folder runs when it is named itself.
const OF_FOLDERS: [&str; 4] = ["__main__.py", "__init__.py", "index.js", "package.json"];
/// What may be left out at the end of a name.
const ENDINGS: [&str; 5] = [".py", ".js", ".mjs", ".cjs", ".sh"];

/// What a file is to the command that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileRole {
    /// It may be run, or decide what is.
    Code,
    /// It is read, and nothing of it runs.
    Data,
}

/// The files that a command names, in the order of its words.
#[derive(Debug, Default)]
pub(crate) struct NamedFiles {
    pub(crate) files: Vec<(FileRole, ProgramFile)>,
    /// Those that are too large or too many to be looked at.
    pub(crate) unbound: Vec<PathBuf>,
}

/// Finds them for a command that starts in `folder`; `known` are those that are bound already. Blocks on what it reads.
pub(crate) fn find_named(
    workspace: &WorkspaceRoot,
    folder: &Path,
    argv: &[String],
    known: &[&Path],
) -> NamedFiles {
    let mut search = FileSearch {
        workspace,
        folders: vec![folder.to_owned()],
        seen: known.iter().map(|path| (*path).to_owned()).collect(),
        named: NamedFiles::default(),
        bytes_left: FILES_BYTES_MAX,
    };
    let reads = argv.first().is_some_and(|word| READERS.contains(&base_name(word)));
    for word in &argv[1.min(argv.len())..] {
        search.add_folders(word);
    }
    for (at, word) in argv.iter().enumerate().skip(1) {
        let role = if reads && !word.starts_with(['-', '@']) { FileRole::Data } else { FileRole::Code };
        search.add(word, role);
        if module_of(&argv[at - 1]) == Some("") {
            search.add_module(word);
        }
        if let Some(module) = module_of(word) {
            search.add_module(module);
        }
        if !word.starts_with(|c: char| c.is_alphanumeric()) || word.contains(is_separator) {
            parts(word).into_iter().for_each(|part| search.add(part, FileRole::Code));
        }
    }
    for word in argv {
        search.add_unnamed(base_name(word));
    }
    search.named
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || "=,:;'\"`()|&<>{}@$!".contains(c)
}

/// Returns the parts of a word that may be names: the values of its options, and the words of a line in it.
fn parts(word: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = word.split(is_separator).filter(|part| !part.is_empty()).collect();
    // A value that follows the letter of its option at once, where other letters may stand before that: `-sfrules`.
    if let Some(letters) = short_options(word) {
        let ends = letters.char_indices().skip(1).map(|(at, _)| at);
        parts.extend(ends.take(OPTION_LETTERS_MAX).map(|at| &letters[at..]));
    }
    parts
}

/// Letters before a value in one word, at most.
const OPTION_LETTERS_MAX: usize = 12;

/// Returns what stands behind one dash.
fn short_options(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))
}

/// Returns the module that a word of Python's options runs, as `-m` or `-Bmname`; empty where the next word is its name.
fn module_of(word: &str) -> Option<&str> {
    let (before, module) = short_options(word)?.split_once('m')?;
    before.chars().all(|letter| letter.is_ascii_alphabetic()).then_some(module)
}

struct FileSearch<'a> {
    workspace: &'a WorkspaceRoot,
    folders: Vec<PathBuf>,
    seen: BTreeSet<PathBuf>,
    named: NamedFiles,
    bytes_left: u64,
}

impl FileSearch<'_> {
    /// A folder that is named may be the one in which the rest is looked for: `make -C sub`, `env -C sub`.
    fn add_folders(&mut self, word: &str) {
        let start = self.folders[0].clone();
        for part in std::iter::once(word).chain(parts(word)) {
            let folder = start.join(part).canonicalize().unwrap_or_default();
            let fits = self.folders.len() < FOLDERS_MAX && !self.folders.contains(&folder);
            if fits && folder.starts_with(self.workspace.path()) && folder.is_dir() {
                self.folders.push(folder);
            }
        }
    }

    fn add(&mut self, name: &str, role: FileRole) {
        if name.is_empty() || name.contains('\0') {
            return;
        }
        for folder in self.folders.clone() {
            let path = folder.join(name);
            if path.is_dir() {
                OF_FOLDERS.iter().for_each(|inner| self.bind(&path.join(inner), role));
            } else {
                self.bind(&path, role);
                let with_ending = |ending: &&str| folder.join([name, ending].concat());
                ENDINGS.iter().map(with_ending).for_each(|path| self.bind(&path, role));
            }
        }
    }

    /// Adds what `-m a.b` of Python runs.
    fn add_module(&mut self, word: &str) {
        let path = word.replace('.', "/");
        let (package, _) = word.split_once('.').unwrap_or((word, ""));
        self.add(&path, FileRole::Code);
        self.add(package, FileRole::Code);
    }

    fn add_unnamed(&mut self, program: &str) {
        let files = UNNAMED.iter().find(|(programs, _)| programs.contains(&program));
        let Some((_, files)) = files else { return };
        for folder in self.folders.clone() {
            files.iter().for_each(|file| self.bind(&folder.join(file), FileRole::Code));
        }
    }

    /// Binds a file, if that is one of the workspace; links are followed.
    fn bind(&mut self, path: &Path, role: FileRole) {
        let Ok(real) = path.canonicalize() else { return };
        if !real.starts_with(self.workspace.path()) || !real.is_file() || !self.seen.insert(real.clone()) {
            return;
        }
        let bytes = real.metadata().map_or(u64::MAX, |metadata| metadata.len());
        if self.named.files.len() >= FILES_MAX || bytes > FILE_BYTES_MAX.min(self.bytes_left) {
            self.named.unbound.push(real);
            return;
        }
        match digest_within(self.workspace, &real, FILE_BYTES_MAX) {
            Ok(digest) => {
                self.bytes_left -= bytes;
                self.named.files.push((role, ProgramFile { path: real, digest, sealed: None }));
            }
            Err(_unreadable) => self.named.unbound.push(real),
        }
    }
}
