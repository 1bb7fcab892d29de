//! The unprivileged user and group of the host as which a program of root's daemon runs.
//!
//! Owns the numbers, the change to them, and the maps of a mount that let such a program work in files of another owner.
//! Invariant: no file on a disk ever gets one of these numbers for an owner. Source: user_namespaces(7),
//! mount_setattr(2).

use std::fmt::Write;
use std::io;

use rustix::thread::{Gid, Uid, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use serde::{Deserialize, Serialize};

/// The first number, and how many there are: neither people, services nor containers have them, nor what directory
/// services compute from the identifiers of a domain.
const FIRST: u32 = 2_100_000_000;
const COUNT: u32 = 65_536;

/// One more than the highest number of a user or group.
const END: u32 = u32::MAX;

/// A user and a group with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramIds(u32);

impl ProgramIds {
    /// Returns those of a keeper: programs that run at the same time have different ones.
    pub(crate) fn of(keeper: u64) -> Self {
        Self(FIRST + u32::try_from(keeper % u64::from(COUNT)).unwrap_or(0))
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// Makes this process theirs, and takes it out of all other groups.
    pub(crate) fn become_them(self) -> io::Result<()> {
        let (user, group) = (Uid::from_raw(self.0), Gid::from_raw(self.0));
        set_thread_groups(&[])?;
        set_thread_res_gid(group, group, group)?;
        set_thread_res_uid(user, user, user)?;
        Ok(())
    }

    /// Returns the map of the keeper's namespace: root, who puts the mounts in place, and these.
    pub(crate) fn map_of_keeper(self) -> String {
        format!("0 0 1\n{0} {0} 1\n", self.0)
    }

    /// Returns the map of a mount where these take the place of an owner, and all others are who they are.
    pub(crate) fn map_of_mount(self, owner: u32) -> String {
        let (low, high) = (owner.min(self.0), owner.max(self.0));
        let mut map = String::new();
        let mut same = |from: u32, to: u32| {
            if from < to {
                let _ = writeln!(map, "{from} {from} {}", to - from);
            }
        };
        same(0, low);
        same(low.saturating_add(1), high);
        same(high.saturating_add(1), END);
        let _ = writeln!(map, "{owner} {} 1", self.0);
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_one_that_nobody_has() {
        for keeper in [0, 1, 65_535, 65_536, u64::MAX] {
            assert!((FIRST..FIRST + COUNT).contains(&ProgramIds::of(keeper).number()));
        }
        assert_ne!(ProgramIds::of(0), ProgramIds::of(1));
    }

    #[test]
    fn a_mount_shows_one_owner_as_the_program_and_all_others_as_they_are() {
        let ids = ProgramIds(2_100_000_000);
        let shown = |owner: u32, file: u32| {
            let map = ids.map_of_mount(owner);
            let found = map.lines().filter_map(|line| {
                let parts: Vec<u32> = line.split(' ').map(|part| part.parse().expect("a number")).collect();
                let inner = file.checked_sub(parts[0]).filter(|inner| *inner < parts[2])?;
                Some(parts[1] + inner)
            });
            let found: Vec<u32> = found.collect();
            assert!(found.len() < 2, "{map}");
            found.first().copied()
        };
        for owner in [0, 1, 1000, 2_099_999_999, 2_100_000_001, 4_294_967_294] {
            assert_eq!(shown(owner, owner), Some(ids.number()), "{owner}");
            assert_eq!(shown(owner, ids.number()), None, "{owner}");
            let others = [0, 1, 2, 999, 1001, 65_534, 2_099_999_998, 2_100_000_002, 4_294_967_293];
            for file in others.into_iter().filter(|file| *file != owner) {
                assert_eq!(shown(owner, file), Some(file), "{owner} {file}");
            }
        }
    }
}
