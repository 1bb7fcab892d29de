//! The twenty effects, in the order in which the model wants them, and what they leave behind.
//!
//! Invariant: each has a name of its own, and leaves exactly one trace of it: a line of the server's log, a line of
//! the counter's file, or a line of a file of the workspace. None of the traces can be left twice unnoticed.

use serde_json::{Value, json};

use crate::tools::{ACT, ASK, CALL, KEYED};

/// What an effect leaves its trace in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EffectKind {
    /// The server's log.
    Keyed,
    /// The counter's file.
    Opaque,
    /// The workspace.
    Probe,
}

/// One effect.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Effect {
    pub(super) name: &'static str,
    pub(super) kind: EffectKind,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

/// What the files hold in the end.
pub(super) const FILES: [(&str, &str); 4] = [
    ("deep/d.txt", "p6\n"),
    ("extra.txt", "made beside\n"),
    ("moved.txt", "p4\np5\np7\n"),
    ("notes.txt", "p1\np2\np3\nend\n"),
];

const INTO_TWO_FILES: &str = "\
--- a/notes.txt
+++ b/notes.txt
@@ -1,3 +1,4 @@
 p1
 p2
+p3
 end
--- /dev/null
+++ b/extra.txt
@@ -0,0 +1 @@
+made beside
";

const INTO_A_NEW_NAME: &str = "\
diff --git a/b.txt b/moved.txt
rename from b.txt
rename to moved.txt
--- a/b.txt
+++ b/moved.txt
@@ -1,2 +1,3 @@
 p4
 p5
+p7
";

/// Returns the effects, turn by turn.
pub(super) fn turns() -> Vec<Vec<Effect>> {
    vec![
        vec![keyed("k1", false), count("a1", false)],
        vec![write("p1", "notes.txt", "p1\nend\n"), count("a2", false)],
        vec![edit("p2", "notes.txt", "end\n", "p2\nend\n"), keyed("k2", true)],
        vec![count("a3", true), keyed("k3", false)],
        vec![patch("p3", INTO_TWO_FILES), count("a4", false)],
        vec![keyed("k4", true), write("p4", "b.txt", "p4\n"), keyed("k5", false)],
        vec![edit("p5", "b.txt", "p4\n", "p4\np5\n"), count("a5", true)],
        vec![write("p6", "deep/d.txt", "p6\n"), keyed("k6", false), patch("p7", INTO_A_NEW_NAME)],
        vec![count("a6", false), keyed("k7", true)],
    ]
}

/// Returns all of them.
pub(super) fn all() -> Vec<Effect> {
    turns().into_iter().flatten().collect()
}

fn keyed(name: &'static str, ask: bool) -> Effect {
    Effect { name, kind: EffectKind::Keyed, tool: KEYED, arguments: json!({ CALL: name, ASK: ask }) }
}

fn count(name: &'static str, ask: bool) -> Effect {
    Effect { name, kind: EffectKind::Opaque, tool: ACT, arguments: json!({ CALL: name, ASK: ask }) }
}

fn write(name: &'static str, path: &str, content: &str) -> Effect {
    probe(name, "write_file", json!({ "path": path, "content": content }))
}

fn edit(name: &'static str, path: &str, old: &str, new: &str) -> Effect {
    probe(name, "edit_file", json!({ "path": path, "old": old, "new": new }))
}

fn patch(name: &'static str, patch: &str) -> Effect {
    probe(name, "apply_patch", json!({ "patch": patch }))
}

fn probe(name: &'static str, tool: &'static str, arguments: Value) -> Effect {
    Effect { name, kind: EffectKind::Probe, tool, arguments }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_and_each_file_effect_has_its_line() {
        let of = |kind| all().iter().filter(|effect| effect.kind == kind).count();
        assert_eq!([EffectKind::Keyed, EffectKind::Opaque, EffectKind::Probe].map(of), [7, 6, 7]);
        for effect in all().iter().filter(|effect| effect.kind == EffectKind::Probe) {
            let lines = FILES.iter().flat_map(|(_, text)| text.lines());
            assert_eq!(lines.filter(|line| *line == effect.name).count(), 1, "{}", effect.name);
        }
    }
}
