//! Reading answers alone, for tests that make bytes up; no part of what the crate promises.

use palyra_types::model::{ModelFailure, ModelPiece, ModelRef};

use crate::anthropic_messages::assembly::MessageAssembly;
use crate::openai_chat::assembly::Assembly as ChatAssembly;
use crate::wire_format::answer_reader::{AnswerReader, Assembly, Pieces};

/// What comes out of an answer, in order.
pub type Heard = Vec<Result<ModelPiece, ModelFailure>>;

/// Reads an answer of a server that speaks Chat Completions, as it comes in chunks.
#[must_use]
pub fn chat_completions<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    read(ChatAssembly::default(), chunks)
}

/// Reads an answer of a server that speaks Messages.
#[must_use]
pub fn messages<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    read(MessageAssembly::new(ModelRef::new("untrusted", "model")), chunks)
}

fn read<'a>(assembly: impl Assembly, chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut reader = AnswerReader::new(assembly);
    let mut out = Pieces::new();
    chunks.into_iter().for_each(|chunk| reader.feed(chunk, &mut out));
    reader.end(&mut out);
    out.into()
}
