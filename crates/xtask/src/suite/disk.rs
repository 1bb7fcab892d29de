//! Room on the disk, looked at before anything is built.
//!
//! A disk that fills up in the middle shows itself as a linker killed by a signal and as five failed phases.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::command;

const GIB: u64 = 1 << 30;
/// What the whole suite puts below `target` in a fresh clone (10 GiB by the build alone), and room for the failure suites.
const NEEDED: u64 = 16 * GIB;

/// Refuses to begin where the target folder has less room than a build from nothing and its tests take.
///
/// What an earlier build left there counts as room: most of it is used again or written over.
pub(super) fn demand_room() -> Result<()> {
    let target = crate::repo::target();
    if target.is_dir() {
        check(free_bytes(&target)?, used_bytes(&target)?)
            .with_context(|| format!("on the disk of {}", target.display()))
    } else {
        let root = crate::repo::root();
        check(free_bytes(&root)?, 0).with_context(|| format!("on the disk of {}", root.display()))
    }
}

fn check(free: u64, built: u64) -> Result<()> {
    if free + built.min(NEEDED) < NEEDED {
        bail!(
            "{} GiB are free, and the suite needs {} in a fresh clone: free some, or set CARGO_TARGET_DIR to a \
             folder on a larger disk",
            free / GIB,
            NEEDED / GIB
        );
    }
    Ok(())
}

fn free_bytes(folder: &Path) -> Result<u64> {
    let mut df = Command::new("df");
    df.args(["--output=avail", "-B1"]).arg(folder);
    last_number(&command::read(df)?).context("`df` printed no number")
}

fn used_bytes(folder: &Path) -> Result<u64> {
    let mut du = Command::new("du");
    du.args(["-s", "-B1"]).arg(folder);
    let printed = command::read(du)?;
    printed.split_whitespace().next().and_then(|word| word.parse().ok()).context("`du` printed no number")
}

fn last_number(printed: &str) -> Option<u64> {
    printed.lines().last()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_too_small_for_the_build_is_refused_with_both_numbers() {
        let refused = check(8 * GIB, 0).expect_err("8 GiB are too few").to_string();
        assert!(refused.contains("8 GiB are free") && refused.contains("needs 16"), "{refused}");
        assert!(check(NEEDED, 0).is_ok());
        assert!(check(8 * GIB, 16 * GIB).is_ok(), "what is built already need not be built");
    }

    #[test]
    fn the_disk_of_this_checkout_is_read() {
        let folder = crate::repo::root();
        assert!(free_bytes(&folder).expect("df answers") > 0);
        assert!(used_bytes(&folder.join("crates")).expect("du answers") > 0);
    }
}
