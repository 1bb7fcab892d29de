//! The limits of requests, what an answer has to be, and names of models.

use palyra_types::model::UsageSource;

use super::*;

fn texts(sizes: &[usize]) -> Vec<Content<String>> {
    sizes.iter().map(|bytes| Content::new("x".repeat(*bytes))).collect()
}

#[test]
fn a_request_beyond_a_limit_names_the_limit_and_the_text() {
    use EmbeddingRequestError as Error;
    let (text, all) = (EMBEDDING_TEXT_BYTES_MAX, EMBEDDING_REQUEST_BYTES_MAX);
    let full = vec![text; all / text];
    let over = [full.clone(), vec![1]].concat();
    for (sizes, dimensions, expected) in [
        (vec![1], None, Ok(())),
        (vec![text, 1], Some(1), Ok(())),
        (full, Some(EMBEDDING_DIMENSIONS_MAX), Ok(())),
        (vec![1; EMBEDDING_TEXTS_MAX], None, Ok(())),
        (vec![], None, Err(Error::NoTexts)),
        (vec![1; EMBEDDING_TEXTS_MAX + 1], None, Err(Error::TooManyTexts { count: EMBEDDING_TEXTS_MAX + 1 })),
        (vec![1, 0], None, Err(Error::EmptyText { index: 1 })),
        (vec![1, 1, text + 1], None, Err(Error::TextTooLong { index: 2, bytes: text + 1 })),
        (over, None, Err(Error::TooManyBytes { bytes: all + 1 })),
        (vec![1], Some(0), Err(Error::DimensionsOutOfRange { asked: 0 })),
        (
            vec![1],
            Some(EMBEDDING_DIMENSIONS_MAX + 1),
            Err(Error::DimensionsOutOfRange { asked: EMBEDDING_DIMENSIONS_MAX + 1 }),
        ),
    ] {
        assert_eq!(EmbeddingRequest::check(&texts(&sizes), dimensions), expected, "{} texts", sizes.len());
    }
}

#[test]
fn a_request_counts_its_bytes() {
    let request = EmbeddingRequest::new(vec!["one".into(), "two words".into()], Some(7)).expect("two texts");
    assert_eq!((request.bytes(), request.texts().len(), request.dimensions()), (12, 2, Some(7)));
    assert!(EmbeddingRequest::new(vec!["".into()], None).is_err());
}

#[test]
fn vectors_that_are_not_an_answer_are_refused() {
    use InvalidEmbeddings as Error;
    let usage = TokenUsage { input_tokens: 3, source: UsageSource::Reported, ..TokenUsage::default() };
    let made = |vectors: Vec<Vec<f32>>, texts: usize| TextEmbeddings::new(vectors, texts, usage);
    let answer = made(vec![vec![0.5, -0.5], vec![0.0, 1.0]], 2).expect("an answer");
    assert_eq!((answer.dimensions(), answer.vectors().len(), answer.usage()), (2, 2, usage));
    let large = EMBEDDING_DIMENSIONS_MAX as usize + 1;
    for (vectors, texts, expected) in [
        (vec![vec![1.0]], 2, Error::OtherCount { vectors: 1, texts: 2 }),
        (vec![vec![1.0], vec![1.0]], 1, Error::OtherCount { vectors: 2, texts: 1 }),
        (vec![], 0, Error::Dimensions { found: 0 }),
        (vec![vec![]], 1, Error::Dimensions { found: 0 }),
        (vec![vec![0.0; large]], 1, Error::Dimensions { found: large }),
        (vec![vec![1.0], vec![1.0, 2.0]], 2, Error::UnequalDimensions { index: 1, found: 2, first: 1 }),
        (vec![vec![1.0], vec![f32::NAN]], 2, Error::NotFinite { index: 1 }),
        (vec![vec![f32::INFINITY]], 1, Error::NotFinite { index: 0 }),
    ] {
        assert_eq!(made(vectors, texts).expect_err("refused"), expected);
    }
}

#[test]
fn names_are_that_of_the_embedded_model_and_those_of_providers() {
    for text in ["palyra-embedded", "local/nomic-embed-text", "openrouter/qwen/embed"] {
        let name = EmbeddingModelName::parse(text).expect("a name");
        assert_eq!(name.to_string(), text);
        assert_eq!(name == EmbeddingModelName::Embedded, text == EMBEDDED_MODEL_NAME);
    }
    for text in ["", "palyra", "text-embedding-3-small", "local/", "/m"] {
        assert_eq!(EmbeddingModelName::parse(text), None, "{text}");
    }
}
