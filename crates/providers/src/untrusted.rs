//! Reading answers alone, for tests that make bytes up; no part of what the crate promises.

use palyra_types::model::{ModelFailure, ModelPiece, ModelRef};

use crate::anthropic_messages::assembly::MessageAssembly;
use crate::openai_chat::assembly::ChatAssembly;
use crate::openai_responses::assembly::ResponseAssembly;
use crate::wire_format::answer_reader::{AnswerAssembly, AnswerReader, PieceQueue};

/// What comes out of an answer, in order.
pub type PieceResults = Vec<Result<ModelPiece, ModelFailure>>;

/// Reads an answer of a server that speaks Chat Completions, as it comes in chunks.
#[must_use]
pub fn chat_completions<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> PieceResults {
    read(ChatAssembly::default(), chunks)
}

/// Reads an answer of a server that speaks Messages.
#[must_use]
pub fn messages<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> PieceResults {
    read(MessageAssembly::new(ModelRef::new("untrusted", "model")), chunks)
}

/// Reads an answer of a server that speaks Responses.
#[must_use]
pub fn responses<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> PieceResults {
    read(ResponseAssembly::new(ModelRef::new("untrusted", "model")), chunks)
}

fn read<'a>(assembly: impl AnswerAssembly, chunks: impl IntoIterator<Item = &'a [u8]>) -> PieceResults {
    let mut reader = AnswerReader::new(assembly);
    let mut out = PieceQueue::new();
    chunks.into_iter().for_each(|chunk| reader.feed(chunk, &mut out));
    reader.end(&mut out);
    out.into()
}
