//! What tools keep between their calls, on the disk: one file for each tool and person.
//!
//! Owns the file's form: a line of its own, the SHA-256 of what follows, then each key and value behind its length (four
//! bytes, little-endian). Invariants: a file is replaced as a whole or not at all, and one that was changed is not read; once
//! it is known which tools there are, no other one's file is there or comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use palyra_types::PrincipalId;
use sha2::{Digest, Sha256};

use crate::key_value::{ALL_BYTES_MAX, KeepValues, KeyValueError, put};

/// How a file begins.
const HEADER: &[u8] = b"palyra/values/v1\n";
/// Bytes of a digest.
const DIGEST_BYTES: usize = 32;
/// Bytes of a name's digest that stand in a file's name.
const NAME_DIGEST_BYTES: usize = 16;

/// How the name of a file ends that is not yet whole.
const UNFINISHED: &str = "new";

type KeyValues = BTreeMap<String, Vec<u8>>;

/// Keeps values below a folder of the daemon's own.
pub struct FileValues {
    folder: PathBuf,
    /// Held while a file is read or replaced; how the files of the tools there are begin, once that is known.
    at_work: Mutex<Option<BTreeSet<String>>>,
}

impl FileValues {
    /// Keeps values below `folder`, which is made with the first one.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, at_work: Mutex::default() }
    }

    fn path(&self, tool: &str, of: PrincipalId) -> PathBuf {
        self.folder.join(format!("{}-{of}", prefix(tool)))
    }

    fn read(&self, tool: &str, of: PrincipalId) -> Result<KeyValues, KeyValueError> {
        match File::open(self.path(tool, of)) {
            Ok(file) => {
                let mut bytes = Vec::new();
                let limit = (HEADER.len() + DIGEST_BYTES + ALL_BYTES_MAX) as u64 + 1;
                file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
                parse(&bytes).ok_or_else(|| {
                    KeyValueError::Failed(
                        "the stored values are damaged; `tools remove` deletes them".to_owned(),
                    )
                })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(KeyValues::new()),
            Err(error) => Err(failed(error)),
        }
    }

    fn write(&self, path: &Path, values: &KeyValues) -> io::Result<()> {
        let mut body = Vec::new();
        for (key, value) in values {
            for part in [key.as_bytes(), value] {
                body.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
                body.extend_from_slice(part);
            }
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let unfinished = path.with_extension(UNFINISHED);
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(HEADER)?;
        file.write_all(&Sha256::digest(&body))?;
        file.write_all(&body)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, path)?;
        File::open(&self.folder)?.sync_all()
    }
}

/// A tool's name may be anything, a file's name may not.
fn prefix(tool: &str) -> String {
    Sha256::digest(tool.as_bytes())[..NAME_DIGEST_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[allow(clippy::needless_pass_by_value, reason = "given to map_err")]
fn failed(error: io::Error) -> KeyValueError {
    KeyValueError::Failed(format!("the disk said no: {error}"))
}

fn parse(bytes: &[u8]) -> Option<KeyValues> {
    let (digest, mut rest) = bytes.strip_prefix(HEADER)?.split_at_checked(DIGEST_BYTES)?;
    if Sha256::digest(rest)[..] != *digest {
        return None;
    }
    let mut values = KeyValues::new();
    while !rest.is_empty() {
        let key = String::from_utf8(part(&mut rest)?.to_vec()).ok()?;
        values.insert(key, part(&mut rest)?.to_vec());
    }
    Some(values)
}

fn part<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let (part, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *rest = behind;
    Some(part)
}

impl KeepValues for FileValues {
    fn get(&self, tool: &str, of: PrincipalId, key: &str) -> Result<Option<Vec<u8>>, KeyValueError> {
        let _at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.read(tool, of)?.remove(key))
    }

    fn set(
        &self,
        tool: &str,
        of: PrincipalId,
        key: &str,
        value: Option<Vec<u8>>,
    ) -> Result<(), KeyValueError> {
        let there = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        if there.as_ref().is_some_and(|there| !there.contains(&prefix(tool))) {
            return Err(KeyValueError::Failed("the tool was removed, and keeps nothing any more".to_owned()));
        }
        let mut values = self.read(tool, of)?;
        put(&mut values, key, value)?;
        self.write(&self.path(tool, of), &values).map_err(failed)
    }

    fn keys(&self, tool: &str, of: PrincipalId) -> Result<Vec<String>, KeyValueError> {
        let _at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.read(tool, of)?.into_keys().collect())
    }

    fn forget(&self, tool: &str) -> Result<(), KeyValueError> {
        let _at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = prefix(tool);
        self.remove(|of_tool, _| of_tool == gone)
    }

    fn keep_only(&self, tools: &[&str]) -> Result<(), KeyValueError> {
        let mut at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        let there = at_work.insert(tools.iter().map(|tool| prefix(tool)).collect());
        // An unfinished file is what a kill left: nobody else is at work.
        self.remove(|of_tool, rest| !there.contains(of_tool) || rest.ends_with(UNFINISHED))
    }
}

impl FileValues {
    /// Removes the files whose names, in two parts, are meant.
    fn remove(&self, is_meant: impl Fn(&str, &str) -> bool) -> Result<(), KeyValueError> {
        let folder = match std::fs::read_dir(&self.folder) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        let mut removed = false;
        for entry in folder {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let parts = name.to_str().and_then(|name| name.split_once('-'));
            if parts.is_some_and(|(of_tool, rest)| is_meant(of_tool, rest)) {
                std::fs::remove_file(entry.path()).map_err(failed)?;
                removed = true;
            }
        }
        if !removed {
            return Ok(());
        }
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(number: u128) -> PrincipalId {
        PrincipalId::from_parts(1, number)
    }

    #[test]
    fn values_outlive_their_store_and_belong_to_one_tool_and_person() {
        let folder = tempfile::tempdir().unwrap();
        let open = || FileValues::new(folder.path().join("values"));
        open().set("count", person(1), "n", Some(vec![1, 2])).unwrap();
        open().set("count", person(1), "m", Some(Vec::new())).unwrap();
        assert_eq!(open().get("count", person(1), "n").unwrap(), Some(vec![1, 2]));
        assert_eq!(open().keys("count", person(1)).unwrap(), ["m", "n"]);
        assert_eq!(open().get("count", person(2), "n").unwrap(), None);
        assert_eq!(open().get("other", person(1), "n").unwrap(), None);
        open().set("count", person(1), "n", None).unwrap();
        assert_eq!(open().keys("count", person(1)).unwrap(), ["m"]);
        open().set("other", person(1), "n", Some(vec![3])).unwrap();
        open().forget("count").unwrap();
        assert!(open().keys("count", person(1)).unwrap().is_empty());
        assert_eq!(open().get("other", person(1), "n").unwrap(), Some(vec![3]));
    }

    #[test]
    fn a_tool_that_is_no_longer_there_keeps_nothing_and_nothing_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let open = || FileValues::new(folder.path().join("values"));
        let values = open();
        for tool in ["gone", "stays"] {
            values.set(tool, person(1), "n", Some(vec![1])).unwrap();
        }
        std::fs::write(values.path("stays", person(2)).with_extension(UNFINISHED), "half of it").unwrap();
        // What a kill leaves between a removal and this: the next start sweeps.
        let values = open();
        values.keep_only(&["stays"]).unwrap();
        let names = || std::fs::read_dir(folder.path().join("values")).unwrap().count();
        assert_eq!(names(), 1);
        // A call that still runs writes nothing into the place of what was removed.
        let late = values.set("gone", person(1), "n", Some(vec![2]));
        assert!(matches!(late, Err(KeyValueError::Failed(_))), "{late:?}");
        assert_eq!((names(), values.get("gone", person(1), "n")), (1, Ok(None)));
        // The control: what stays keeps its values, and what is added keeps new ones.
        assert_eq!(values.get("stays", person(1), "n"), Ok(Some(vec![1])));
        values.keep_only(&["stays", "gone"]).unwrap();
        values.set("gone", person(1), "n", Some(vec![3])).unwrap();
        assert_eq!(values.get("gone", person(1), "n"), Ok(Some(vec![3])));
    }

    #[test]
    fn what_does_not_fit_or_was_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let values = FileValues::new(folder.path().to_owned());
        for number in 0..15 {
            values.set("t", person(1), &format!("k{number}"), Some(vec![7; 256 << 10])).unwrap();
        }
        let more = values.set("t", person(1), "more", Some(vec![7; 256 << 10]));
        assert_eq!(more, Err(KeyValueError::TooLarge));
        assert_eq!(values.keys("t", person(1)).unwrap().len(), 15);
        let path = values.path("t", person(1));
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(matches!(values.get("t", person(1), "k1"), Err(KeyValueError::Failed(_))));
    }
}
