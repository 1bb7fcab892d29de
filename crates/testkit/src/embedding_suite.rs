//! What every model behind [`EmbedTexts`] must do.
//!
//! Begin at [`check_embeddings`].

use palyra_ports::embed_texts::{
    EMBEDDING_DIMENSIONS_MAX, EMBEDDING_TEXT_BYTES_MAX, EMBEDDING_TEXTS_MAX, EmbedError, EmbedTexts,
    EmbeddingRequest, TextEmbeddings,
};
use palyra_types::Redacted;
use palyra_types::model::ModelFailureClass;

/// How far two numbers of the same vector may differ: servers compute texts of one request together.
const TOLERANCE: f32 = 1e-5;

/// Texts of many kinds; none is empty.
const TEXTS: [&str; 7] = [
    "We deploy on Fridays.",
    "a",
    "  \n\t ",
    "Grüße an Jürgen, 東京 \u{1f600}",
    "\u{0}\u{7f}\u{202e}",
    "We deploy on Fridays.",
    "{\"json\": [\"and <tags>\", 1e999]}",
];

/// Makes a request of texts.
///
/// # Panics
/// If the texts are beyond the limits of a request.
#[must_use]
pub fn embedding_request(texts: &[&str], dimensions: Option<u32>) -> EmbeddingRequest {
    let texts = texts.iter().map(|text| Redacted::cleaned((*text).to_owned())).collect();
    EmbeddingRequest::new(texts, dimensions).expect("texts within the limits")
}

/// Checks a model.
///
/// # Panics
/// Where the model does something else than the port says.
pub async fn check_embeddings(model: &dyn EmbedTexts) {
    one_vector_for_each_text_in_order(model).await;
    the_limits_are_taken(model).await;
    dimensions_are_those_that_were_asked_for(model).await;
    // A request that is never polled, or dropped, leaves the model usable.
    drop(model.embed(embedding_request(&TEXTS, None)));
    made(model, &["after a dropped request"]).await;
}

async fn made(model: &dyn EmbedTexts, texts: &[&str]) -> TextEmbeddings {
    let made = model.embed(embedding_request(texts, None)).await;
    let made = made.unwrap_or_else(|error| panic!("{}: {error}", model.embedding_model().name));
    assert_eq!(made.vectors().len(), texts.len());
    for vector in made.vectors() {
        assert_eq!(vector.len(), made.dimensions() as usize);
        assert!(vector.iter().all(|number| number.is_finite()));
    }
    if let Some(dimensions) = model.embedding_model().dimensions {
        assert_eq!(made.dimensions(), dimensions);
    }
    made
}

async fn one_vector_for_each_text_in_order(model: &dyn EmbedTexts) {
    let all = made(model, &TEXTS).await;
    assert!(all.usage().input_tokens > 0, "nothing was counted");
    assert_eq!(all.usage().output_tokens, 0, "nothing is written");
    for (text, expected) in TEXTS.iter().zip(all.vectors()) {
        let alone = made(model, &[text]).await;
        let far = alone.vectors()[0].iter().zip(expected).any(|(a, b)| (a - b).abs() > TOLERANCE);
        assert!(!far, "`{text}` has another vector alone");
    }
    let differ = |one: usize, other: usize| {
        let pairs = all.vectors()[one].iter().zip(&all.vectors()[other]);
        pairs.into_iter().any(|(a, b)| (a - b).abs() > TOLERANCE)
    };
    assert!(differ(0, 6), "different texts have the same vector");
    assert!(!differ(0, 5), "the same text has different vectors");
}

async fn the_limits_are_taken(model: &dyn EmbedTexts) {
    let many = vec!["text"; EMBEDDING_TEXTS_MAX];
    made(model, &many).await;
    let long = "word ".repeat(EMBEDDING_TEXT_BYTES_MAX / 5);
    made(model, &[&long]).await;
}

async fn dimensions_are_those_that_were_asked_for(model: &dyn EmbedTexts) {
    let usual = made(model, &["text"]).await.dimensions();
    for asked in [usual, usual / 2, EMBEDDING_DIMENSIONS_MAX] {
        match model.embed(embedding_request(&["text"], Some(asked))).await {
            Ok(made) => assert_eq!(made.dimensions(), asked),
            Err(EmbedError::Dimensions { asked: named, offered }) => {
                assert_eq!((named, asked != usual), (asked, true));
                assert_ne!(offered, asked);
            }
            Err(EmbedError::Model(failure)) => {
                assert_eq!(failure.class, ModelFailureClass::Permanent, "a server may refuse a number");
                assert_ne!(asked, usual);
            }
            Err(EmbedError::Busy) => panic!("one request is not too many"),
        }
    }
}
