//! Paths as a hostile or a careless model spells them.

use proptest::prelude::*;

/// Names that are dangerous, look dangerous, or are read in two ways by somebody.
const NAMES: [&str; 44] = [
    "a",
    "b",
    "made.txt",
    "..",
    ".",
    "...",
    "",
    " ",
    "~",
    "$HOME",
    "C:",
    "file:",
    "%2e%2e",
    "\u{ff0e}\u{ff0e}",
    ".git",
    ".GIT",
    ".Git",
    ".git.",
    ".git ",
    ".g\u{200c}it",
    "git~1",
    "\u{ff0e}git",
    "hooks",
    "config",
    ".github",
    "workflows",
    "Workflows",
    ".envrc",
    ".ENVRC",
    ".ssh",
    ".Ssh",
    "own",
    "OWN",
    "own.",
    "link",
    "inner",
    "out",
    "\u{e9}",
    "e\u{301}",
    "\u{c9}",
    "\u{212a}",
    "k",
    "a\u{202e}b",
    "\t",
];

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => prop::sample::select(&NAMES[..]).prop_map(str::to_owned),
        2 => "[a-c.\\\\ ]{1,6}",
        1 => (200_usize..300).prop_map(|chars| "n".repeat(chars)),
    ]
}

fn separator() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just("/"), 4 => Just("\\"), 1 => Just("//"), 1 => Just("/./"), 1 => Just("\\\\"), 1 => Just("/../")]
}

/// What stands before the names: mostly nothing.
fn beginning() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        12 => Just(""), 2 => Just("./"), 2 => Just("{ROOT}/"), 1 => Just("/"), 1 => Just("{ROOT}"), 1 => Just("file://"),
        1 => Just("{ROOT}/../"), 1 => Just("\\"), 1 => Just("//{ROOT}//"),
    ]
}

/// Returns a written path; `{ROOT}` is the folder of the workspace.
pub(crate) fn spelling() -> impl Strategy<Value = String> {
    let names = prop::collection::vec((name(), separator()), 0..7);
    let end =
        prop_oneof![6 => Just("made.txt"), 1 => Just("made.txt/"), 1 => Just(""), 1 => Just("made.txt\0")];
    let long = prop_oneof![30 => Just(0_usize), 1 => 1_990_usize..2_100];
    (beginning(), long, names, end).prop_map(|(beginning, long, names, end)| {
        let middle: String =
            names.into_iter().flat_map(|(name, separator)| [name, separator.to_owned()]).collect();
        format!("{beginning}{}{middle}{end}", "./".repeat(long))
    })
}
