//! The embedded model behind the port.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use futures::poll;
use palyra_memory::EmbeddedModel;
use palyra_memory::limits::DIMENSIONS;
use palyra_ports::embed_texts::{EmbedError, EmbedTexts, TextEmbeddings};
use palyra_testkit::embedding_suite::{check_embeddings, embedding_request};

async fn made(texts: &[&str]) -> TextEmbeddings {
    EmbeddedModel::default().embed(embedding_request(texts, None)).await.unwrap()
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[tokio::test]
async fn the_embedded_model_conforms() {
    check_embeddings(&EmbeddedModel::default()).await;
}

#[tokio::test]
async fn vectors_have_length_one_and_those_of_unknown_words_are_zero() {
    let made = made(&["We deploy on Fridays.", "cello", "... !!! \u{6771}", " "]).await;
    let lengths: Vec<f32> = made.vectors().iter().map(|vector| cosine(vector, vector).sqrt()).collect();
    for (length, expected) in lengths.iter().zip([1.0_f32, 1.0, 0.0, 0.0]) {
        assert!((length - expected).abs() < 1e-5, "{lengths:?}");
    }
}

#[tokio::test]
async fn related_words_are_nearer_than_others_and_their_order_counts_nothing() {
    let made = made(&["dentist", "doctor", "database", "her little daughter", "daughter, little her"]).await;
    let vectors = made.vectors();
    assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]));
    assert!(cosine(&vectors[3], &vectors[4]) > 0.999);
}

#[tokio::test]
async fn tokens_are_the_pieces_of_words() {
    assert_eq!(made(&["database"]).await.usage().input_tokens, 1);
    assert_eq!(made(&["database", "the database"]).await.usage().input_tokens, 3);
    assert_eq!(made(&["..."]).await.usage().input_tokens, 0);
}

#[tokio::test]
async fn another_number_of_dimensions_is_refused() {
    let model = EmbeddedModel::default();
    let offered = u32::try_from(DIMENSIONS).unwrap();
    for asked in [1, 64, 256] {
        let error = model.embed(embedding_request(&["text"], Some(asked))).await.unwrap_err();
        assert_eq!(error, EmbedError::Dimensions { asked, offered });
    }
    assert!(model.embed(embedding_request(&["text"], Some(offered))).await.is_ok());
}

#[tokio::test]
async fn requests_beyond_the_queue_are_refused_and_one_that_is_dropped_leaves_it() {
    // None of them works, so each stays where it is.
    let model = EmbeddedModel::with_limits(0, 2);
    let mut first = model.embed(embedding_request(&["text"], None));
    let mut second = model.embed(embedding_request(&["text"], None));
    assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
    let refused = model.embed(embedding_request(&["text"], None)).await;
    assert_eq!(refused, Err(EmbedError::Busy));
    drop(first);
    assert!(poll!(&mut model.embed(embedding_request(&["text"], None))).is_pending());
}
