//! What a call asks git: options that are taken, commits, and paths of the workspace; and the words git is started with.
//!
//! Invariant: each word is what it was taken for. Nothing that a model wrote is read by git as an option that is not in
//! the table, as a path outside of the workspace, as magic in front of a path, or as a file by its digest.

use std::iter::Peekable;
use std::path::Path;
use std::vec::IntoIter;

use palyra_types::places::{folded_names, is_credential};

use super::options::{OptionValue, Subcommand};
use super::revisions::{ObjectKinds, revision};
use crate::failure::CommandFailure;

/// What a model wrote.
#[derive(Debug, Default)]
pub(super) struct WrittenQuestion {
    pub(super) subcommand: String,
    pub(super) options: Vec<String>,
    pub(super) revisions: Vec<String>,
    pub(super) paths: Vec<String>,
}

/// What git is asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GitQuestion {
    pub(super) subcommand: Subcommand,
    /// With their values.
    pub(super) options: Vec<String>,
    /// What to look for.
    pub(super) pattern: Option<String>,
    pub(super) revisions: Vec<String>,
    /// From the workspace root; all of credentials, or none.
    pub(super) paths: Vec<String>,
    /// Whether the paths are those of credentials, which a person was asked about.
    pub(super) names_credentials: bool,
}

impl GitQuestion {
    /// Reads a call.
    pub(super) fn read(written: WrittenQuestion, root: &Path) -> Result<Self, CommandFailure> {
        let unknown = || arguments(format!("git has no subcommand `{}` here", shown(&written.subcommand)));
        let subcommand = Subcommand::named(&written.subcommand).ok_or_else(unknown)?;
        let mut words =
            OptionWords { subcommand, options: Vec::new(), others: Vec::new(), paths: Vec::new() };
        words.read(written.options)?;
        let OptionWords { options, mut others, paths: behind, .. } = words;
        let mut paths = Vec::new();
        for (path, is_own) in
            written.paths.iter().map(|path| (path, true)).chain(behind.iter().map(|path| (path, false)))
        {
            let path = inside(path, root)?;
            if !is_own && is_credential(&folded_names(&path)) {
                return Err(arguments(format!(
                    "`{}` may hold credentials; name it in `paths`",
                    shown(&path)
                )));
            }
            paths.push(path);
        }
        let pattern = match subcommand {
            Subcommand::Grep if !options.iter().any(|word| word == "-e") => {
                if others.is_empty() {
                    return Err(arguments(
                        "grep needs a pattern: put `-e` and the pattern into `options`".to_owned(),
                    ));
                }
                Some(others.remove(0))
            }
            _ => None,
        };
        others.extend(written.revisions);
        let revisions = revisions(subcommand, &options, others)?;
        let secret = paths.iter().filter(|path| is_credential(&folded_names(path))).count();
        if secret > 0 && secret < paths.len() {
            return Err(arguments(
                "some of `paths` may hold credentials; ask for those in a call of their own".to_owned(),
            ));
        }
        let question = Self { subcommand, options, pattern, revisions, paths, names_credentials: secret > 0 };
        question.check().map(|()| question)
    }

    fn check(&self) -> Result<(), CommandFailure> {
        let Self { subcommand, paths, revisions, .. } = self;
        let refused = |why: &str| Err(arguments(format!("git {} {why}", subcommand.name())));
        match subcommand {
            Subcommand::Blame if paths.len() != 1 => refused("is about one file: name it in `paths`"),
            Subcommand::Blame if revisions.len() > 1 => refused("takes one revision"),
            Subcommand::Branch | Subcommand::RevParse | Subcommand::Describe if !paths.is_empty() => {
                refused("takes no paths")
            }
            Subcommand::Status | Subcommand::LsFiles if !revisions.is_empty() => {
                refused("takes no revisions; name files and folders in `paths`")
            }
            Subcommand::Log if self.has("--follow") && (self.shows_content() || paths.len() != 1) => refused(
                "--follow takes one path, and shows no differences with it; leave `-p` and its like out",
            ),
            _ => Ok(()),
        }
    }

    pub(super) fn has(&self, option: &str) -> bool {
        self.options.iter().any(|word| word == option)
    }

    /// Returns whether the answer shows or tells what is in files that the call does not name.
    pub(super) fn shows_content(&self) -> bool {
        let is_told = |word: &String| {
            let name = word.split('=').next().unwrap_or_default();
            let short = word.get(..2).filter(|_| !word.starts_with("--")).unwrap_or_default();
            Subcommand::shows_content(name) || Subcommand::shows_content(short)
        };
        match self.subcommand {
            Subcommand::Diff | Subcommand::Show | Subcommand::Grep => true,
            // It asks a file whether it changed, by what is left of it in the sandbox.
            Subcommand::Status => true,
            Subcommand::Log => self.options.iter().any(is_told),
            Subcommand::Blame
            | Subcommand::Branch
            | Subcommand::LsFiles
            | Subcommand::RevParse
            | Subcommand::Describe => false,
        }
    }

    /// Returns the words behind `git`'s own settings; `hidden` are patterns of paths that are left out.
    pub(super) fn words(&self, hidden: impl Iterator<Item = String>) -> Vec<String> {
        let mut words = vec![self.subcommand.name().to_owned()];
        words.extend(self.always().iter().map(|word| (*word).to_owned()));
        words.extend(self.options.iter().cloned());
        if let Some(pattern) = &self.pattern {
            words.extend(["-e".to_owned(), pattern.clone()]);
        }
        words.extend(self.revisions.iter().cloned());
        if matches!(self.subcommand, Subcommand::Branch | Subcommand::RevParse | Subcommand::Describe) {
            return words;
        }
        words.push("--".to_owned());
        match self.subcommand {
            Subcommand::Blame => words.extend(self.paths.iter().cloned()),
            _ => words.extend(self.paths.iter().map(|path| format!(":(literal){path}"))),
        }
        if self.shows_content() && !self.names_credentials {
            words.extend(hidden);
        }
        words
    }

    /// Returns the words with which git is asked which paths it leaves out; patterns of them follow. `None` where it
    /// leaves none out.
    pub(super) fn asks_what_is_left_out(&self) -> Option<Vec<String>> {
        let is_file = |word: &String| word.starts_with(':') || word.contains("}:");
        let only_files = !self.revisions.is_empty() && self.revisions.iter().all(is_file);
        if !self.shows_content()
            || self.names_credentials
            || (self.subcommand == Subcommand::Show && only_files)
        {
            return None;
        }
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let mut asked = match self.subcommand {
            Subcommand::Diff => words(&["diff", "--name-only", "-z", "--ignore-submodules=all"]),
            Subcommand::Show | Subcommand::Log => words(&["show", "--format=", "--name-only", "-z"]),
            Subcommand::Grep => words(&["ls-files", "-z"]),
            _ => words(&["status", "--porcelain", "-z", "--ignore-submodules=all"]),
        };
        if self.subcommand == Subcommand::Diff {
            let kept = |word: &&String| ["--cached", "--staged", "--merge-base"].contains(&word.as_str());
            asked.extend(self.options.iter().filter(kept).cloned());
        }
        if matches!(self.subcommand, Subcommand::Diff | Subcommand::Show) {
            asked.extend(self.revisions.iter().filter(|word| !is_file(word)).cloned());
        }
        asked.push("--".to_owned());
        Some(asked)
    }

    /// Returns the path in an answer to that.
    pub(super) fn name_in<'n>(&self, answer: &'n str) -> &'n str {
        match self.subcommand {
            // Two letters say how it stands.
            Subcommand::Status => answer.get(3..).unwrap_or_default(),
            _ => answer.rsplit('\n').next().unwrap_or_default(),
        }
    }

    /// Returns whether the call asks about a path.
    pub(super) fn is_about(&self, path: &str) -> bool {
        let below = |above: &String| {
            above == "."
                || path
                    .strip_prefix(above.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !path.is_empty() && (self.paths.is_empty() || self.paths.iter().any(below))
    }

    /// What a subcommand is told whatever is asked: that it starts nothing, and asks no repository within.
    fn always(&self) -> &'static [&'static str] {
        match self.subcommand {
            Subcommand::Diff => {
                &["--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty"]
            }
            Subcommand::Log | Subcommand::Show => &["--no-ext-diff", "--no-textconv", "--submodule=short"],
            Subcommand::Status => &["--ignore-submodules=dirty"],
            Subcommand::Blame => &["--no-textconv"],
            Subcommand::Grep => &["--no-textconv", "--no-recurse-submodules"],
            Subcommand::Branch | Subcommand::LsFiles | Subcommand::RevParse | Subcommand::Describe => &[],
        }
    }
}

fn revisions(
    subcommand: Subcommand,
    options: &[String],
    words: Vec<String>,
) -> Result<Vec<String>, CommandFailure> {
    match subcommand {
        Subcommand::Branch => {
            let lists = options.iter().any(|word| word == "--list" || word == "-l");
            match words.iter().find(|word| !lists || word.starts_with('-')) {
                Some(word) => Err(arguments(format!(
                    "git branch only lists here, and `{}` would make a branch; add `--list` to look for a name",
                    shown(word)
                ))),
                None => Ok(words),
            }
        }
        Subcommand::RevParse => {
            // It shows digests, never what they name.
            words.iter().try_for_each(|word| revision(word, ObjectKinds::Files).map(drop))?;
            Ok(words)
        }
        Subcommand::Show => words.iter().map(|word| revision(word, ObjectKinds::Files)).collect(),
        _ => words.iter().map(|word| revision(word, ObjectKinds::Commits)).collect(),
    }
}

/// The words of `options`, sorted out.
struct OptionWords {
    subcommand: Subcommand,
    options: Vec<String>,
    /// Words that are no options: revisions, or a pattern before them.
    others: Vec<String>,
    /// Words behind `--`.
    paths: Vec<String>,
}

impl OptionWords {
    fn read(&mut self, words: Vec<String>) -> Result<(), CommandFailure> {
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            if word.contains('\0') {
                return Err(arguments("a word of `options` has a NUL in it".to_owned()));
            }
            if word == "--" {
                self.paths.extend(words.by_ref());
            } else if word.starts_with("--") {
                self.long(&word, &mut words)?;
            } else if word.len() > 1 && word.starts_with('-') {
                self.short(&word, &mut words)?;
            } else {
                self.others.push(word);
            }
        }
        Ok(())
    }

    fn long(&mut self, word: &str, rest: &mut Peekable<IntoIter<String>>) -> Result<(), CommandFailure> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let kind = self.subcommand.option(name).ok_or_else(|| self.refused(word))?;
        match (kind, value) {
            (OptionValue::MaybeCommit, None) => match rest.next_if(|word| !word.starts_with('-')) {
                Some(commit) => {
                    let commit = self.value(kind, name, &commit)?;
                    self.options.push(format!("{name}={commit}"));
                }
                None => self.options.push(word.to_owned()),
            },
            (OptionValue::Flag | OptionValue::MaybeNumber | OptionValue::MaybeText, None) => {
                self.options.push(word.to_owned());
            }
            (OptionValue::Flag, Some(_)) => return Err(self.refused(word)),
            (kind, Some(value)) => {
                let value = self.value(kind, name, value)?;
                self.options.push(format!("{name}={value}"));
            }
            (kind, None) => {
                let value = rest.next().ok_or_else(|| arguments(format!("`{name}` needs a value")))?;
                let value = self.value(kind, name, &value)?;
                self.options.push(format!("{name}={value}"));
            }
        }
        Ok(())
    }

    fn short(&mut self, word: &str, rest: &mut Peekable<IntoIter<String>>) -> Result<(), CommandFailure> {
        let is_count = word[1..].bytes().all(|byte| byte.is_ascii_digit());
        if is_count && matches!(self.subcommand, Subcommand::Log | Subcommand::Show | Subcommand::Grep) {
            self.options.push(word.to_owned());
            return Ok(());
        }
        let name = word.get(..2).ok_or_else(|| self.refused(word))?;
        let value = &word[2..];
        match (self.subcommand.option(word), self.subcommand.option(name)) {
            (Some(OptionValue::Flag), _) => self.options.push(word.to_owned()),
            (
                _,
                Some(kind @ (OptionValue::MaybeNumber | OptionValue::MaybeText | OptionValue::MaybeCommit)),
            ) => {
                let value = if value.is_empty() { String::new() } else { self.value(kind, name, value)? };
                self.options.push(format!("{name}{value}"));
            }
            (_, Some(OptionValue::Flag)) | (_, None) => self.bundle(word)?,
            (_, Some(kind)) => {
                let value = match value {
                    "" => rest.next().ok_or_else(|| arguments(format!("`{name}` needs a value")))?,
                    value => value.to_owned(),
                };
                let value = self.value(kind, name, &value)?;
                // A word of its own, where git takes it for nothing else whatever it begins with.
                match name {
                    "-e" => self.options.extend([name.to_owned(), value]),
                    _ => self.options.push(format!("{name}{value}")),
                }
            }
        }
        Ok(())
    }

    /// Several letters behind one dash, all of them flags.
    fn bundle(&mut self, word: &str) -> Result<(), CommandFailure> {
        let letters: Vec<String> = word[1..].chars().map(|letter| format!("-{letter}")).collect();
        let are_flags =
            letters.iter().all(|letter| self.subcommand.option(letter) == Some(OptionValue::Flag));
        if !are_flags {
            return Err(self.refused(word));
        }
        self.options.extend(letters);
        Ok(())
    }

    fn value(&self, kind: OptionValue, name: &str, value: &str) -> Result<String, CommandFailure> {
        let wrong = |what: &str| arguments(format!("`{name}` takes {what}, not `{}`", shown(value)));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match kind {
            OptionValue::Flag => Err(wrong("no value")),
            OptionValue::Number if is_number(value.strip_prefix('-').unwrap_or(value)) => {
                Ok(value.to_owned())
            }
            OptionValue::MaybeNumber if is_number(value.strip_suffix('%').unwrap_or(value)) => {
                Ok(value.to_owned())
            }
            OptionValue::Number | OptionValue::MaybeNumber => Err(wrong("a number")),
            OptionValue::Text | OptionValue::MaybeText => Ok(value.to_owned()),
            OptionValue::Commit | OptionValue::MaybeCommit => revision(value, ObjectKinds::Commits),
            OptionValue::Lines => {
                let is_lines = value.bytes().all(|byte| byte.is_ascii_digit() || b",+-".contains(&byte));
                let names = value.strip_prefix(':').is_some_and(|name| !name.contains(':'));
                if is_lines || names { Ok(value.to_owned()) } else { Err(wrong("lines such as `10,20`")) }
            }
        }
    }

    fn refused(&self, word: &str) -> CommandFailure {
        let name = self.subcommand.name();
        arguments(format!(
            "`{}` is not an option of git {name} here; abbreviations are not accepted; put revisions into \
             `revisions`, files and folders into `paths`; it takes {}",
            shown(word),
            self.subcommand.options()
        ))
    }
}

/// Returns a path from the workspace root, which it does not leave.
fn inside(path: &str, root: &Path) -> Result<String, CommandFailure> {
    let below = Path::new(path).strip_prefix(root).ok().and_then(Path::to_str).unwrap_or(path);
    let leads_out = below.starts_with('/') || below.split('/').any(|name| name == "..");
    if leads_out || below.contains('\0') {
        return Err(CommandFailure::PathRefused(format!(
            "`{}` leads out of the workspace; write paths from its root, such as `src/main.rs`",
            shown(path)
        )));
    }
    let names: Vec<&str> = below.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    Ok(if names.is_empty() { ".".to_owned() } else { names.join("/") })
}

fn arguments(why: String) -> CommandFailure {
    CommandFailure::Arguments(why)
}

fn shown(word: &str) -> String {
    word.chars().take(200).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests;
