//! Finds out whether a model sees images: it is shown a coloured one and asked for the colour.
//!
//! A server that drops images without a word, and a model that guesses, name another colour.

use std::sync::Arc;

use futures::StreamExt;
use palyra_ports::ModelProvider;
use palyra_types::attachment::{Attachment, AttachmentBody, RenderedAttachment};
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{ChatMessage, ModelPiece, ModelRef, ModelRequest};
use palyra_types::sampling::SamplingOptions;
use palyra_types::tool::ToolCatalog;

/// A picture of one colour.
const PICTURE: &[u8] = include_bytes!("orange.png");
const COLOUR: &str = "orange";
const OUTPUT_TOKENS_MAX: u32 = 64;
/// More text than this is no answer to the question.
const ANSWER_BYTES_MAX: usize = 2_048;

/// Whether a model takes images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageSupport {
    /// Settings, names or its server say that it does.
    Known,
    /// Nothing says that it does.
    Unknown,
    /// It named the colour of a picture.
    Seen,
    /// It was shown a picture and did not name its colour.
    NotSeen,
}

/// Shows a model the picture; what it sees is remembered by its provider.
pub(crate) async fn try_image(provider: &Arc<dyn ModelProvider>, model: &ModelRef) -> ImageSupport {
    let mut stream = provider.stream(Arc::new(request(model)));
    let mut text = String::new();
    while let Some(piece) = stream.next().await {
        match piece {
            Ok(ModelPiece::Text(piece)) if text.len() < ANSWER_BYTES_MAX => text.push_str(piece.expose()),
            Ok(ModelPiece::Text(_) | ModelPiece::Reasoning(_)) => {}
            Ok(ModelPiece::Answer(_)) => break,
            Err(_) => return ImageSupport::NotSeen,
        }
    }
    if !text.to_lowercase().contains(COLOUR) {
        return ImageSupport::NotSeen;
    }
    provider.note_images_seen(&model.model);
    if provider.model_info(&model.model).capabilities.images {
        ImageSupport::Seen
    } else {
        ImageSupport::Unknown
    }
}

fn request(model: &ModelRef) -> ModelRequest {
    let attachment = Attachment {
        name: "picture.png".into(),
        media_type: "image/png".into(),
        bytes: PICTURE.len() as u64,
        sha256: palyra_ledger::sha256(PICTURE).into(),
        body: AttachmentBody::Blob { index: 0 },
    };
    let data = Some(PICTURE.into());
    let attachments = vec![RenderedAttachment {
        attachment: Arc::new(attachment),
        place: None,
        data,
        delimiter: DataDelimiter::default(),
    }];
    let text = "Which colour is this picture? Answer with one word.".into();
    ModelRequest {
        model: model.clone(),
        system: "Answer with one word.".into(),
        messages: vec![ChatMessage::User { text, attachments, said: None }],
        tools: Arc::new(ToolCatalog::default()),
        client_tools: None,
        output_tokens_max: Some(OUTPUT_TOKENS_MAX),
        response_format: None,
        sampling: SamplingOptions::default(),
    }
}
