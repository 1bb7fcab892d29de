//! Attacks as they are written down: files of scripts with a line above each that says what it is.
//!
//! Owns the reading of `#: CASE | VARIANT | OPTIONS`. Options are words: `root` for what only that user can do to an
//! unguarded host, `x86` for calls of that machine, `kernel` for what a host may lack, `mounts` and `own_root` for what only
//! those hold against, `user` for what the user of a program of root's
//! daemon cannot do by itself, `closed` for a file that only its owner may read, `kept`, `stop`, `descriptors`, `scratch`, `busy` and `locked` for what the host does meanwhile, and limits such as `processes=40` or `memory_mib=128`.

/// What runs a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptLanguage {
    Shell,
    Python,
}

/// One attack by a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramAttack {
    pub(crate) case: u8,
    pub(crate) variant: String,
    options: Vec<String>,
    pub(crate) by: ScriptLanguage,
    pub(crate) script: String,
}

const PRELUDE: &str = include_str!("../../cases/prelude.py");

/// Every file of scripts.
const FILES: [(ScriptLanguage, &str); 7] = [
    (ScriptLanguage::Shell, include_str!("../../cases/files.sh")),
    (ScriptLanguage::Python, include_str!("../../cases/processes.py")),
    (ScriptLanguage::Python, include_str!("../../cases/sockets.py")),
    (ScriptLanguage::Python, include_str!("../../cases/descriptors.py")),
    (ScriptLanguage::Python, include_str!("../../cases/bombs.py")),
    (ScriptLanguage::Python, include_str!("../../cases/signals.py")),
    (ScriptLanguage::Python, include_str!("../../cases/activity.py")),
];

impl ProgramAttack {
    /// Whether it was written with an option.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.options.iter().any(|known| known == option)
    }

    /// Returns the number of an option such as `processes=40`.
    pub(crate) fn number(&self, option: &str) -> Option<u64> {
        let value = |known: &String| known.strip_prefix(option)?.strip_prefix('=')?.parse().ok();
        self.options.iter().find_map(value)
    }

    /// Returns the program that runs it, and its arguments.
    pub(crate) fn program(&self) -> (&'static str, Vec<String>) {
        match self.by {
            ScriptLanguage::Shell => {
                ("/bin/sh", vec!["-c".to_owned(), format!("echo alive\n{}", self.script)])
            }
            ScriptLanguage::Python => {
                let flags = ["-I", "-S", "-c"].map(str::to_owned);
                (
                    "/usr/bin/python3",
                    flags.into_iter().chain([format!("{PRELUDE}\n{}", self.script)]).collect(),
                )
            }
        }
    }
}

/// Attacks on what belongs to root.
const OF_USERS: &str = include_str!("../../cases/users.py");

/// Reads the attacks on what belongs to root.
pub(crate) fn of_users() -> Vec<ProgramAttack> {
    read(ScriptLanguage::Python, OF_USERS)
}

/// Returns what harms nobody and says as whom it runs.
pub(crate) fn asks_for_its_user() -> ProgramAttack {
    let (variant, script) = ("its user".to_owned(), "id -u".to_owned());
    ProgramAttack { case: 136, variant, options: Vec::new(), by: ScriptLanguage::Shell, script }
}

/// Reads every attack of this machine.
pub(crate) fn all() -> Vec<ProgramAttack> {
    let here = |attack: &ProgramAttack| !attack.has("x86") || cfg!(target_arch = "x86_64");
    FILES.iter().flat_map(|(by, text)| read(*by, text)).filter(here).collect()
}

fn read(by: ScriptLanguage, text: &str) -> Vec<ProgramAttack> {
    let mut attacks: Vec<ProgramAttack> = Vec::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("#: ") {
            let mut parts = head.split(" | ");
            let case = parts.next().and_then(|case| case.trim().parse().ok()).unwrap_or_default();
            let variant = parts.next().unwrap_or_default().trim().to_owned();
            let options = parts.next().unwrap_or_default();
            let options = options.split_ascii_whitespace().map(str::to_owned).collect();
            attacks.push(ProgramAttack { case, variant, options, by, script: String::new() });
        } else if let Some(attack) = attacks.last_mut() {
            attack.script.push_str(line);
            attack.script.push('\n');
        }
    }
    attacks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_script_is_read_with_what_stands_above_it() {
        let read =
            read(ScriptLanguage::Shell, "#: 13 | many | alone processes=40\none\ntwo\n#: 14 | more\nthree\n");
        assert_eq!(
            (read[0].case, read[0].variant.as_str(), read[0].script.as_str()),
            (13, "many", "one\ntwo\n")
        );
        assert_eq!(
            (read[0].number("processes"), read[0].has("alone"), read[1].has("alone")),
            (Some(40), true, false)
        );
    }

    #[test]
    fn every_attack_has_a_number_and_a_name_of_its_own() {
        let all = [all(), of_users()].concat();
        assert!(
            all.iter()
                .all(|attack| attack.case > 0 && !attack.variant.is_empty() && !attack.script.is_empty())
        );
        let names: BTreeSet<_> = all.iter().map(|attack| (attack.case, &attack.variant)).collect();
        assert_eq!(names.len(), all.len());
    }
}
