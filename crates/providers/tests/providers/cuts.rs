//! Recorded streams over real sockets, cut by a connection that breaks.
//!
//! The unit tests cut at every byte; here the cuts lie before, within and behind every event.

use std::path::Path;
use std::time::Duration;

use palyra_model_server::{Behaviour, Cut, Reply};
use palyra_types::model::ModelFailureClass as Class;

use crate::support::{Given, KEY, Subject, read};

const FORMATS: [(Subject, &str); 3] = [
    (Subject::Chat, "openai_chat"),
    (Subject::Messages, "anthropic_messages"),
    (Subject::Responses, "openai_responses"),
];

/// The recordings of a format, by name; documents are no streams.
fn recordings(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(folder);
    let files = std::fs::read_dir(folder).expect("recordings").map(|file| file.expect("a file").path());
    let streams = files.filter(|path| path.extension().is_some_and(|kind| kind == "sse"));
    streams.map(|path| (path.display().to_string(), std::fs::read(path).expect("readable"))).collect()
}

fn reply(stream: &[u8]) -> Reply {
    Reply::raw("text/event-stream", stream)
}

/// Places before, within and behind each event.
fn places(stream: &[u8]) -> Vec<usize> {
    let ends = stream.windows(2).enumerate().filter(|(_, two)| *two == b"\n\n").map(|(at, _)| at + 2);
    let mut places: Vec<usize> =
        ends.flat_map(|end| [end.saturating_sub(17), end - 2, end - 1, end]).collect();
    places.retain(|place| *place < stream.len());
    places
}

#[tokio::test]
async fn a_connection_that_breaks_is_one_failure_and_never_an_answer() {
    for (subject, folder) in FORMATS {
        let (server, provider) = subject.served(Behaviour::always(Reply::text("ok"))).await;
        let play = async |reply: Reply| -> Given {
            server.behave(Behaviour::always(reply).with_key(KEY));
            read(provider.as_ref(), &subject.request("Hi")).await
        };
        for (name, stream) in recordings(folder) {
            let whole = play(reply(&stream)).await;
            let text = whole.texts.concat();
            let bytewise = play(reply(&stream).in_chunks_of(1)).await;
            assert_eq!((bytewise.texts.concat(), &bytewise.end), (text.clone(), &whole.end), "{name}");
            for place in places(&stream) {
                let cut = play(reply(&stream).cut_at(place, Cut::Close)).await;
                assert!(text.starts_with(&cut.texts.concat()), "{name} at {place}");
                let Err(failure) = cut.end else {
                    let rest = String::from_utf8_lossy(&stream[place..]);
                    panic!("{name} at {place} was an answer without {rest}")
                };
                let told = whole.end.as_ref().err().map(|failure| failure.class);
                let expected = [Some(Class::Network), told].contains(&Some(failure.class));
                assert!(expected, "{name} at {place}: {:?}", failure.class);
            }
        }
        assert_eq!(server.counts().invalid, 0);
    }
    assert!(FORMATS.iter().all(|(_, folder)| recordings(folder).len() >= 9));
}

#[tokio::test]
async fn a_server_that_falls_silent_anywhere_is_a_timeout() {
    for (subject, folder) in FORMATS {
        let (_, stream) = recordings(folder).into_iter().next().expect("a recording");
        let place = places(&stream)[1];
        let (server, _) = subject.served(Behaviour::always(reply(&stream).cut_at(place, Cut::Silence))).await;
        let provider = subject.at(&server.base_url(), Duration::from_millis(100));
        let failure = read(provider.as_ref(), &subject.request("Hi")).await.end.expect_err("a failure");
        assert_eq!(failure.class, Class::Timeout);
        server.wait_until(|counts| counts.aborted == 1).await;
    }
}
