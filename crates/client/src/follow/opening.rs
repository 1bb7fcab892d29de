//! What a client says first on a stream: whom it wants, and the files that come along.
//!
//! Invariant: the frames can be made again as often as the stream is opened; content is kept once.

use std::sync::Arc;

use palyra_wire::v1;
use palyra_wire::v1::run_stream_request::Frame;

/// The most bytes of a file in one frame.
const PART_BYTES_MAX: usize = 1024 * 1024;

/// The first frames of a stream.
#[derive(Debug, Clone)]
pub(crate) struct StreamOpening {
    first: Frame,
    files: Arc<[Vec<u8>]>,
}

impl StreamOpening {
    /// Starts a run; its files travel in frames of their own.
    pub(crate) fn start(mut start: v1::StartRunRequest) -> Self {
        let files = start.attachments.iter_mut().map(take_content).collect();
        Self { first: Frame::Start(start), files }
    }

    /// Returns whether a run may begin with it.
    pub(crate) fn starts_a_run(&self) -> bool {
        matches!(self.first, Frame::Start(_))
    }

    /// Attaches to a run.
    pub(crate) fn attach(run_id: String, after_tape_seq: u32) -> Self {
        Self { first: Frame::Attach(v1::Attach { run_id, after_tape_seq }), files: Arc::new([]) }
    }

    /// Returns the frames in order, for a daemon whose model has this fingerprint.
    pub(crate) fn frames(&self, model: &[u8]) -> impl Iterator<Item = v1::RunStreamRequest> + Send + use<> {
        let files = Arc::clone(&self.files);
        let places: Vec<_> = places(&files).collect();
        let parts = places.into_iter().map(move |(index, from, to)| {
            let data = files[index][from..to].to_vec();
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            Frame::AttachmentPart(v1::AttachmentPart { index, data })
        });
        let mut first = self.first.clone();
        if let Frame::Start(start) = &mut first {
            start.model_fingerprint = model.to_vec();
        }
        std::iter::once(first).chain(parts).map(|frame| v1::RunStreamRequest { frame: Some(frame) })
    }
}

fn take_content(file: &mut v1::Attachment) -> Vec<u8> {
    let content = std::mem::take(&mut file.content);
    file.bytes = content.len() as u64;
    content
}

/// Returns where each part begins and ends: the file's number, from, to.
fn places(files: &[Vec<u8>]) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    files.iter().enumerate().flat_map(|(index, file)| {
        let starts = (0..file.len()).step_by(PART_BYTES_MAX);
        starts.map(move |from| (index, from, file.len().min(from + PART_BYTES_MAX)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_travel_in_parts_in_order_as_often_as_asked() {
        let file = |bytes: usize| v1::Attachment { content: vec![7; bytes], ..Default::default() };
        let start = v1::StartRunRequest {
            attachments: vec![file(PART_BYTES_MAX + 1), file(0), file(3)],
            ..Default::default()
        };
        let opening = StreamOpening::start(start);
        for _ in 0..2 {
            let frames: Vec<_> = opening.frames(&[]).map(|frame| frame.frame.unwrap()).collect();
            let Frame::Start(start) = &frames[0] else { panic!("{frames:?}") };
            let announced: Vec<_> =
                start.attachments.iter().map(|file| (file.bytes, file.content.len())).collect();
            assert_eq!(announced, [(PART_BYTES_MAX as u64 + 1, 0), (0, 0), (3, 0)]);
            let parts: Vec<_> = frames[1..]
                .iter()
                .map(|frame| match frame {
                    Frame::AttachmentPart(part) => (part.index, part.data.len()),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(parts, [(0, PART_BYTES_MAX), (0, 1), (2, 3)]);
        }
    }
}
