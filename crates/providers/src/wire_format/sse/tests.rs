//! The decoder against tables, every cut, and random bytes.

use proptest::prelude::*;

use super::*;

const ROOM: usize = 1024;

fn decode(chunks: &[&[u8]]) -> Vec<(String, String)> {
    let mut decoder = SseDecoder::new(ROOM);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, |event| events.push(event)).expect("small events");
    }
    events.extend(decoder.finish().expect("small events"));
    events.into_iter().map(|event| (event.kind, event.data)).collect()
}

#[test]
fn fields_comments_and_line_ends_are_read() {
    let check = |input: &str, expect: &[(&str, &str)]| {
        let owned: Vec<(String, String)> = expect.iter().map(|(k, d)| ((*k).into(), (*d).into())).collect();
        assert_eq!(decode(&[input.as_bytes()]), owned, "{input:?}");
    };
    check("data: a\n\ndata:b\n\n", &[("", "a"), ("", "b")]);
    check("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &[("", "a"), ("", "b"), ("", "c")]);
    check("data: a\ndata: b\ndata\n\n", &[("", "a\nb\n")]);
    check(": ping\n\n:\n\nevent: error\nid: 7\nretry: 1\ndata:  x \n\n", &[("error", " x ")]);
    check("event: lonely\n\ndata: a\n\n", &[("", "a")]);
    check("data: open end", &[("", "open end")]);
    check("data: open end\n", &[("", "open end")]);
    check("\u{feff}data: a\n\n", &[("", "a")]);
    check("datax: a\nnonsense\n\n", &[]);
    check("", &[]);
}

#[test]
fn every_cut_gives_the_same_events() {
    let stream =
        "\u{feff}: hi\r\n\r\nevent: e\r\ndata: gr\u{fc}n \u{1f600}\r\ndata: two\r\n\r\n\ndata: [DONE]\r\r"
            .as_bytes();
    let whole = decode(&[stream]);
    assert_eq!(whole.len(), 2);
    for cut in 0..=stream.len() {
        assert_eq!(decode(&[&stream[..cut], &stream[cut..]]), whole, "cut at {cut}");
    }
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(decode(&bytes), whole);
}

#[test]
fn what_is_too_large_is_refused_in_time() {
    let refused = |chunks: &[&[u8]]| {
        let mut decoder = SseDecoder::new(ROOM);
        chunks.iter().any(|chunk| decoder.feed(chunk, |_| ()).is_err())
    };
    let line = vec![b'x'; ROOM + 1];
    assert!(refused(&[&line]));
    assert!(refused(&[&line[..ROOM], &line[..1]]));
    let data = "data: 0123456789\n".repeat(200);
    assert!(refused(&[data.as_bytes()]));
    let events = "data: 0123456789\n\n".repeat(200);
    assert!(!refused(&[events.as_bytes()]));
}

proptest! {
    #[test]
    fn any_bytes_in_any_split_give_the_same(
        bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
        cuts in prop::collection::vec(0usize..200, 0..6),
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(decode(&chunks), decode(&[&bytes]));
    }
}
