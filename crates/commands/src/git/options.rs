//! Which options each subcommand of git takes here: data, and nothing else passes.
//!
//! Every option was read in git's manual as one that writes no file, reads no file that it names, starts no program and
//! leads out of the repository. Options are known by their whole names: git's abbreviations are not.

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionValue {
    /// Nothing.
    Flag,
    /// A whole number, behind `=`, as the next word, or right behind a single letter.
    Number,
    /// A number or percentage, right behind the name or behind `=`, or nothing.
    MaybeNumber,
    /// Words of a message, a pattern of text, a format or a mode, behind `=` or as the next word.
    Text,
    /// The same behind `=`, or nothing.
    MaybeText,
    /// A commit, behind `=` or as the next word.
    Commit,
    /// The same behind `=`, or nothing.
    MaybeCommit,
    /// Lines of the file that is asked about: `10,20`, `10,+5` or `:name`.
    Lines,
}

use OptionValue::{Commit, Flag, Lines, MaybeCommit, MaybeNumber, MaybeText, Number, Text};

type Rows = &'static [(OptionValue, &'static [&'static str])];

const DIFF: Rows = &[
    (
        Flag,
        &[
            "-p",
            "-u",
            "--patch",
            "-s",
            "--no-patch",
            "--raw",
            "--minimal",
            "--patience",
            "--histogram",
            "--numstat",
            "--shortstat",
            "--summary",
            "--patch-with-stat",
            "--name-only",
            "--name-status",
            "--check",
            "--full-index",
            "--compact-summary",
            "--cumulative",
            "--no-renames",
            "-D",
            "--irreversible-delete",
            "--find-copies-harder",
            "--pickaxe-all",
            "--pickaxe-regex",
            "-R",
            "-a",
            "--text",
            "-b",
            "-w",
            "--ignore-space-change",
            "--ignore-all-space",
            "--ignore-space-at-eol",
            "--ignore-cr-at-eol",
            "--ignore-blank-lines",
            "-W",
            "--function-context",
            "--no-color",
            "--no-prefix",
            "--exit-code",
            "--no-ext-diff",
            "--no-textconv",
            "-t",
            "--no-indent-heuristic",
        ],
    ),
    (Number, &["-U", "--unified", "--inter-hunk-context", "-l"]),
    (MaybeNumber, &["-M", "-C", "-B", "--find-renames", "--find-copies", "--break-rewrites", "--abbrev"]),
    (
        Text,
        &[
            "-S",
            "-G",
            "--diff-filter",
            "--diff-algorithm",
            "--word-diff-regex",
            "-I",
            "--ignore-matching-lines",
        ],
    ),
    (
        MaybeText,
        &[
            "--stat",
            "--dirstat",
            "--color",
            "--word-diff",
            "--color-words",
            "--color-moved",
            "--ignore-submodules",
        ],
    ),
];

const OF_DIFF: Rows =
    &[(Flag, &["--cached", "--staged", "--merge-base", "-q", "--quiet", "--ours", "--theirs", "--base"])];

const LOG: Rows = &[
    (
        Flag,
        &[
            "--oneline",
            "--graph",
            "--abbrev-commit",
            "--no-abbrev-commit",
            "--all",
            "--merges",
            "--no-merges",
            "--first-parent",
            "--reverse",
            "--topo-order",
            "--date-order",
            "--author-date-order",
            "--left-right",
            "--left-only",
            "--right-only",
            "--cherry-pick",
            "--cherry-mark",
            "--cherry",
            "--simplify-by-decoration",
            "--full-history",
            "--dense",
            "--sparse",
            "--ancestry-path",
            "--boundary",
            "-i",
            "--regexp-ignore-case",
            "-E",
            "--extended-regexp",
            "-F",
            "--fixed-strings",
            "-P",
            "--perl-regexp",
            "--basic-regexp",
            "--all-match",
            "--invert-grep",
            "-g",
            "--walk-reflogs",
            "--no-decorate",
            "--source",
            "--parents",
            "--children",
            "--log-size",
            "--no-notes",
            "--relative-date",
            "--no-mailmap",
            "--mailmap",
            "--cc",
            "-c",
            "-m",
            "--follow",
            "--clear-decorations",
            "--no-walk",
            "--date-order",
        ],
    ),
    (Number, &["-n", "--max-count", "--skip", "--min-parents", "--max-parents"]),
    (
        Text,
        &[
            "--since",
            "--after",
            "--until",
            "--before",
            "--author",
            "--committer",
            "--grep",
            "--grep-reflog",
            "--date",
            "--decorate-refs",
            "--decorate-refs-exclude",
            "--diff-merges",
            "--glob",
            "--format",
        ],
    ),
    (MaybeText, &["--decorate", "--pretty", "--branches", "--tags", "--remotes"]),
];

const STATUS: Rows = &[
    (
        Flag,
        &[
            "-s",
            "--short",
            "-b",
            "--branch",
            "--long",
            "--show-stash",
            "--no-renames",
            "--ahead-behind",
            "--no-ahead-behind",
        ],
    ),
    (MaybeNumber, &["--find-renames"]),
    (MaybeText, &["--porcelain", "-u", "--untracked-files", "--ignored", "--ignore-submodules"]),
];

const BLAME: Rows = &[
    (
        Flag,
        &[
            "-s",
            "-e",
            "--show-email",
            "-f",
            "--show-name",
            "-n",
            "--show-number",
            "-l",
            "--root",
            "-w",
            "-t",
            "-p",
            "--porcelain",
            "--line-porcelain",
            "-c",
            "--first-parent",
            "--show-stats",
        ],
    ),
    (MaybeNumber, &["-M", "-C", "--abbrev"]),
    (Text, &["--since", "--date"]),
    (Lines, &["-L"]),
];

const BRANCH: Rows = &[
    (
        Flag,
        &[
            "-a",
            "--all",
            "-r",
            "--remotes",
            "-v",
            "-vv",
            "--verbose",
            "-l",
            "--list",
            "--show-current",
            "-i",
            "--ignore-case",
            "--no-color",
            "--no-column",
        ],
    ),
    (Text, &["--sort", "--format"]),
    (MaybeText, &["--color", "--column"]),
    (MaybeNumber, &["--abbrev"]),
    (MaybeCommit, &["--contains", "--no-contains", "--merged", "--no-merged"]),
    (Commit, &["--points-at"]),
];

const LS_FILES: Rows = &[
    (
        Flag,
        &[
            "-c",
            "--cached",
            "-d",
            "--deleted",
            "-m",
            "--modified",
            "-o",
            "--others",
            "-i",
            "--ignored",
            "-s",
            "--stage",
            "-u",
            "--unmerged",
            "-k",
            "--killed",
            "--directory",
            "--no-empty-directory",
            "--eol",
            "--deduplicate",
            "--exclude-standard",
            "--error-unmatch",
            "--full-name",
            "-t",
            "-v",
            "--debug",
        ],
    ),
    (MaybeNumber, &["--abbrev"]),
];

const REV_PARSE: Rows = &[
    (
        Flag,
        &[
            "--verify",
            "-q",
            "--quiet",
            "--symbolic",
            "--symbolic-full-name",
            "--all",
            "--show-toplevel",
            "--show-prefix",
            "--show-cdup",
            "--git-dir",
            "--absolute-git-dir",
            "--git-common-dir",
            "--is-inside-git-dir",
            "--is-inside-work-tree",
            "--is-bare-repository",
            "--is-shallow-repository",
            "--show-superproject-working-tree",
            "--show-object-format",
            "--local-env-vars",
        ],
    ),
    (MaybeNumber, &["--short"]),
    (MaybeText, &["--abbrev-ref", "--branches", "--tags", "--remotes"]),
];

const GREP: Rows = &[
    (
        Flag,
        &[
            "-n",
            "--line-number",
            "--column",
            "-l",
            "--files-with-matches",
            "--name-only",
            "-L",
            "--files-without-match",
            "-c",
            "--count",
            "-i",
            "--ignore-case",
            "-w",
            "--word-regexp",
            "-v",
            "--invert-match",
            "-h",
            "-H",
            "--full-name",
            "-E",
            "--extended-regexp",
            "-G",
            "--basic-regexp",
            "-P",
            "--perl-regexp",
            "-F",
            "--fixed-strings",
            "-I",
            "-a",
            "--text",
            "-q",
            "--quiet",
            "--all-match",
            "--and",
            "--or",
            "--not",
            "--cached",
            "--break",
            "--heading",
            "-p",
            "--show-function",
            "-W",
            "--function-context",
            "--no-color",
            "-o",
            "--only-matching",
            "--no-textconv",
        ],
    ),
    (
        Number,
        &[
            "-A",
            "--after-context",
            "-B",
            "--before-context",
            "-C",
            "--context",
            "-m",
            "--max-count",
            "--max-depth",
        ],
    ),
    (MaybeText, &["--color"]),
    (Text, &["-e"]),
];

const DESCRIBE: Rows = &[
    (
        Flag,
        &[
            "--all",
            "--tags",
            "--contains",
            "--exact-match",
            "--long",
            "--always",
            "--first-parent",
            "--debug",
        ],
    ),
    (Number, &["--candidates"]),
    (MaybeNumber, &["--abbrev"]),
    (Text, &["--match", "--exclude"]),
    (MaybeText, &["--dirty", "--broken"]),
];

/// Options of history with which it shows what files hold, or tells whether they hold something.
const CONTENT: [&str; 17] = [
    "-p",
    "-u",
    "--patch",
    "--patch-with-stat",
    "-U",
    "--unified",
    "-W",
    "--function-context",
    "--word-diff",
    "--color-words",
    "--cc",
    "-c",
    "-m",
    "--diff-merges",
    "-S",
    "-G",
    "--check",
];

/// A subcommand of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subcommand {
    Status,
    Diff,
    Log,
    Show,
    Blame,
    Branch,
    LsFiles,
    RevParse,
    Grep,
    Describe,
}

impl Subcommand {
    /// All of them, by their names.
    pub(super) const ALL: [(Self, &'static str); 10] = [
        (Self::Status, "status"),
        (Self::Diff, "diff"),
        (Self::Log, "log"),
        (Self::Show, "show"),
        (Self::Blame, "blame"),
        (Self::Branch, "branch"),
        (Self::LsFiles, "ls-files"),
        (Self::RevParse, "rev-parse"),
        (Self::Grep, "grep"),
        (Self::Describe, "describe"),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| *known == name).map(|(subcommand, _)| subcommand)
    }

    pub(super) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(known, _)| *known == self).map_or("", |(_, name)| name)
    }

    fn tables(self) -> &'static [Rows] {
        match self {
            Self::Status => &[STATUS],
            Self::Diff => &[DIFF, OF_DIFF],
            Self::Log | Self::Show => &[DIFF, LOG],
            Self::Blame => &[BLAME],
            Self::Branch => &[BRANCH],
            Self::LsFiles => &[LS_FILES],
            Self::RevParse => &[REV_PARSE],
            Self::Grep => &[GREP],
            Self::Describe => &[DESCRIBE],
        }
    }

    fn rows(self) -> impl Iterator<Item = &'static (OptionValue, &'static [&'static str])> {
        self.tables().iter().flat_map(|rows| rows.iter())
    }

    /// Returns what follows an option of this very name; `None` for one that is not taken.
    pub(super) fn option(self, name: &str) -> Option<OptionValue> {
        self.rows().find(|(_, names)| names.contains(&name)).map(|(value, _)| *value)
    }

    /// Returns the options that are taken, for a refusal.
    pub(super) fn options(self) -> String {
        let mut names: Vec<&str> = self.rows().flat_map(|(_, names)| names.iter().copied()).collect();
        names.sort_unstable();
        names.dedup();
        names.join(" ")
    }

    /// Returns whether an option of this name has history tell what files hold.
    pub(super) fn shows_content(name: &str) -> bool {
        CONTENT.contains(&name)
    }
}
