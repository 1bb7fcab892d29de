//! Files that come with an input: those inside the message, and those announced there and brought in parts.
//!
//! Owns the order and the sizes of parts; what a file may be is decided below. Invariant: never more bytes are
//! stored than were announced, and never more are announced than the limits allow.
//! Begin at [`FileAssembly`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use palyra_runtime::RequestError;
use palyra_runtime::session::{IncomingFile, check_sizes};
use palyra_types::{Content, PrincipalId};
use palyra_wire::v1::{Attachment, AttachmentPart};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api_error::ApiError;

/// Bytes of one part, at most.
pub const PART_BYTES_MAX: usize = 1024 * 1024;
/// KiB of files on their way in, over all streams, at most.
const UPLOADS_KIB_MAX: usize = 64 * 1024;
/// KiB of them that are one principal's, at most: a client with idle streams leaves room to others.
const UPLOADS_OF_ONE_KIB_MAX: usize = 40 * 1024;

/// Reads the files of a message that cannot be followed by parts.
pub fn inline(attachments: Vec<Attachment>) -> Result<Vec<IncomingFile>, ApiError> {
    let assembly = FileAssembly::new(attachments)?;
    if !assembly.is_complete() {
        let text = "an attachment has no content here; only RunStream takes it in parts";
        return Err(ApiError::invalid_frame(text));
    }
    Ok(assembly.finish())
}

/// The room for files on their way in.
#[derive(Clone)]
pub struct UploadQuota {
    all: Arc<Semaphore>,
    each: Arc<Mutex<BTreeMap<PrincipalId, Weak<Semaphore>>>>,
}

/// Room that is taken until this is dropped.
pub struct UploadRoom {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
}

impl Default for UploadQuota {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(UPLOADS_KIB_MAX)), each: Arc::default() }
    }
}

impl UploadQuota {
    /// Takes room for what a principal's message announces.
    pub fn room_for(&self, principal: PrincipalId, assembly: &FileAssembly) -> Result<UploadRoom, ApiError> {
        let kib = u32::try_from(assembly.missing_bytes().div_ceil(1024)).unwrap_or(u32::MAX);
        let take = |room: Arc<Semaphore>| {
            room.try_acquire_many_owned(kib).map_err(|_| ApiError::from(RequestError::QueueFull))
        };
        let own = take(self.of(principal))?;
        Ok(UploadRoom { _all: take(Arc::clone(&self.all))?, _own: own })
    }

    /// Returns a principal's own room; who has nothing on its way is forgotten.
    fn of(&self, principal: PrincipalId) -> Arc<Semaphore> {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        each.retain(|_, room| room.strong_count() > 0);
        let known = each.get(&principal).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let room = Arc::new(Semaphore::new(UPLOADS_OF_ONE_KIB_MAX));
            each.insert(principal, Arc::downgrade(&room));
            room
        })
    }
}

/// The files of one input, as far as they are there.
pub struct FileAssembly {
    files: Vec<PartialFile>,
    /// The first file that is not complete.
    next: usize,
}

struct PartialFile {
    name: String,
    media_type: String,
    bytes: usize,
    content: Vec<u8>,
}

impl PartialFile {
    fn missing(&self) -> usize {
        self.bytes.saturating_sub(self.content.len())
    }
}

impl FileAssembly {
    /// Reads what a message holds and announces.
    pub fn new(attachments: Vec<Attachment>) -> Result<Self, ApiError> {
        let sizes =
            attachments.iter().map(|file| (file.name.as_str(), file.bytes.max(file.content.len() as u64)));
        check_sizes(sizes).map_err(RequestError::from)?;
        let mut files = Vec::new();
        for Attachment { name, media_type, bytes, content } in attachments {
            let announced = usize::try_from(bytes).unwrap_or(usize::MAX);
            if !content.is_empty() && announced != 0 && announced != content.len() {
                return Err(ApiError::invalid_frame("an attachment has another size than it says"));
            }
            let bytes = announced.max(content.len());
            files.push(PartialFile { name, media_type, bytes, content });
        }
        let mut assembly = Self { files, next: 0 };
        assembly.skip_complete();
        Ok(assembly)
    }

    /// Returns whether every byte is there.
    pub fn is_complete(&self) -> bool {
        self.next == self.files.len()
    }

    fn missing_bytes(&self) -> usize {
        self.files.iter().map(PartialFile::missing).sum()
    }

    fn skip_complete(&mut self) {
        while self.files.get(self.next).is_some_and(|file| file.missing() == 0) {
            self.next += 1;
        }
    }

    /// Takes the next bytes.
    pub fn take(&mut self, part: &AttachmentPart) -> Result<(), ApiError> {
        let due = self.next;
        let Some(file) = self.files.get_mut(due) else {
            return Err(ApiError::invalid_frame("nothing that was announced waits for this part"));
        };
        if usize::try_from(part.index) != Ok(due) {
            return Err(ApiError::invalid_frame("parts come in the order in which files were announced"));
        }
        if part.data.is_empty() || part.data.len() > PART_BYTES_MAX {
            return Err(ApiError::invalid_frame("a part has 1 byte to 1 MiB"));
        }
        if part.data.len() > file.missing() {
            return Err(ApiError::invalid_frame("more bytes came for an attachment than were announced"));
        }
        file.content.extend_from_slice(&part.data);
        self.skip_complete();
        Ok(())
    }

    /// Returns the files; all of them are complete.
    pub fn finish(self) -> Vec<IncomingFile> {
        let file = |part: PartialFile| IncomingFile {
            name: Content::new(part.name),
            media_type: Content::new(part.media_type),
            content: Content::new(Arc::from(part.content)),
        };
        self.files.into_iter().map(file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(bytes: u64) -> Attachment {
        Attachment { name: "a".to_owned(), bytes, ..Attachment::default() }
    }

    fn inside(content: &[u8], bytes: u64) -> Attachment {
        Attachment { content: content.to_vec(), bytes, ..announced(0) }
    }

    fn part(index: u32, data: &[u8]) -> AttachmentPart {
        AttachmentPart { index, data: data.to_vec() }
    }

    #[test]
    fn parts_fill_what_was_announced_in_order() {
        let files = vec![announced(3), inside(b"in", 2), announced(0), inside(b"side", 0), announced(1)];
        let mut assembly = FileAssembly::new(files).unwrap();
        assert_eq!(assembly.missing_bytes(), 4);
        for (index, data) in [(0, b"ab".as_slice()), (0, b"c"), (4, b"d")] {
            assert!(!assembly.is_complete());
            assembly.take(&part(index, data)).unwrap();
        }
        assert!(assembly.is_complete());
        assert!(assembly.take(&part(4, b"x")).is_err(), "nothing waits any more");
        let contents: Vec<_> =
            assembly.finish().into_iter().map(|file| file.content.into_exposed()).collect();
        let contents: Vec<&[u8]> = contents.iter().map(AsRef::as_ref).collect();
        assert_eq!(contents, [b"abc".as_slice(), b"in", b"", b"side", b"d"]);
    }

    #[test]
    fn parts_out_of_order_too_long_or_empty_are_refused() {
        let wrong = [part(1, b"a"), part(0, b""), part(0, b"abcd"), part(7, b"a")];
        for part in wrong {
            let mut assembly = FileAssembly::new(vec![announced(3), announced(9)]).unwrap();
            assert!(assembly.take(&part).is_err(), "{part:?}");
        }
        let mut assembly = FileAssembly::new(vec![announced(3 * 1024 * 1024)]).unwrap();
        assert!(assembly.take(&part(0, &vec![0; PART_BYTES_MAX + 1])).is_err());
        assert!(assembly.take(&part(0, &vec![0; PART_BYTES_MAX])).is_ok());
    }

    #[test]
    fn sizes_are_checked_before_any_byte_comes() {
        for files in [vec![announced(u64::MAX)], vec![announced(16 << 20); 2], vec![announced(1); 33]] {
            assert!(FileAssembly::new(files).is_err());
        }
        assert!(FileAssembly::new(vec![inside(b"abc", 2)]).is_err());
        assert!(inline(vec![announced(1)]).is_err() && inline(vec![inside(b"a", 1)]).is_ok());
    }

    #[test]
    fn there_is_an_end_to_what_is_on_its_way() {
        let uploads = UploadQuota::default();
        let file = |mib: u64| FileAssembly::new(vec![announced(mib << 20)]).unwrap();
        let somebody = |number: u8| PrincipalId::from_bytes([number; 16]);
        let take = |who: u8, mib: u64| uploads.room_for(somebody(who), &file(mib));
        let first: Vec<_> = (0..10).map(|_| take(1, 4).unwrap_or_else(|_| panic!("room"))).collect();
        assert!(take(1, 1).is_err(), "one principal has taken what is one's");
        let second = take(2, 16).unwrap_or_else(|_| panic!("room is left to others"));
        assert!(take(3, 16).is_err(), "all together have an end too");
        assert!(uploads.room_for(somebody(1), &FileAssembly::new(vec![inside(b"a", 1)]).unwrap()).is_ok());
        drop(first);
        assert!(take(1, 16).is_ok() && take(3, 16).is_ok());
        drop(second);
        assert!(take(1, 1).is_ok());
        assert_eq!(uploads.each.lock().unwrap().len(), 1, "nobody is remembered for ever");
    }
}
