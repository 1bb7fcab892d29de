//! What makes strace meet one call of a recording before any other.

use std::collections::BTreeMap;

use super::recording::SystemCall;

/// The call by which SQLite, as this workspace compiles it, waits for a file's content.
pub const DATABASE_SYNC: &str = "fdatasync";
/// The call by which everything else waits, and SQLite for folders.
pub const FILE_SYNC: &str = "fsync";

/// The first thread whose `when`-th call of this kind, on this file if one is named, begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// The name of the call.
    pub kind: String,
    /// The only file whose calls count.
    pub path: Option<String>,
    /// From 1.
    pub when: usize,
}

impl Selector {
    /// Returns what selects the call at `place`, or nothing where another thread always comes first.
    #[must_use]
    pub fn of(calls: &[SystemCall], place: usize) -> Option<Self> {
        let call = calls.get(place)?;
        [None, call.path.clone()].into_iter().find_map(|path| {
            let mut selector = Self { kind: call.kind.clone(), path, when: 0 };
            let same = |other: &&SystemCall| other.thread == call.thread && selector.counts(other);
            let when = calls[..=place].iter().filter(same).count();
            selector.when = when;
            (selector.place_in(calls) == Some(place)).then_some(selector)
        })
    }

    /// Returns the place of the call that it selects.
    #[must_use]
    pub fn place_in(&self, calls: &[SystemCall]) -> Option<usize> {
        let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
        calls.iter().position(|call| {
            if !self.counts(call) {
                return false;
            }
            let count = seen.entry(call.thread).or_default();
            *count += 1;
            *count == self.when
        })
    }

    fn counts(&self, call: &SystemCall) -> bool {
        call.kind == self.kind && (self.path.is_none() || self.path == call.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(list: &[(u32, &str, &str)]) -> Vec<SystemCall> {
        let call = |(thread, kind, path): &(u32, &str, &str)| SystemCall {
            thread: *thread,
            kind: (*kind).to_owned(),
            path: Some((*path).to_owned()),
        };
        list.iter().map(call).collect()
    }

    #[test]
    fn the_busiest_thread_is_met_by_counting_alone() {
        let calls = calls(&[(1, "write", "a"), (2, "write", "b"), (2, "write", "b")]);
        let selector = Selector::of(&calls, 2).expect("it is the first second one");
        assert_eq!(selector, Selector { kind: "write".to_owned(), path: None, when: 2 });
    }

    #[test]
    fn another_thread_that_comes_first_is_told_apart_by_its_file() {
        let calls = calls(&[(1, "fsync", "wal"), (2, "fsync", "effects")]);
        let selector = Selector::of(&calls, 1).expect("its file tells it apart");
        assert_eq!((selector.path.as_deref(), selector.when), (Some("effects"), 1));
        assert_eq!(selector.place_in(&calls), Some(1));
    }

    #[test]
    fn a_call_behind_one_just_like_it_is_out_of_reach() {
        let calls = calls(&[(1, "fsync", "wal"), (2, "fsync", "wal")]);
        assert_eq!(Selector::of(&calls, 1), None);
    }
}
