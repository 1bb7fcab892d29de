//! One client's end of a `RunStream`.

use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use palyra_wire::v1::run_stream_response::Frame;
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{
    Attach, Input, Opened, RunStreamRequest, RunStreamResponse, StartRunRequest, StreamEnd, TapeEntry,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::MetadataValue;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};

use crate::daemon::PATIENCE;

/// The frames that were heard between two points.
pub(crate) struct ReceivedEvents {
    pub(crate) entries: Vec<TapeEntry>,
    pub(crate) others: Vec<Frame>,
}

pub(crate) struct Talk {
    say: Option<mpsc::Sender<RunStreamRequest>>,
    hear: Streaming<RunStreamResponse>,
}

pub(crate) fn start(input: &str) -> StartRunRequest {
    StartRunRequest { input: input.to_owned(), ..StartRunRequest::default() }
}

pub(crate) fn attach(run_id: &str, after_tape_seq: u32) -> Say {
    Say::Attach(Attach { run_id: run_id.to_owned(), after_tape_seq })
}

pub(crate) fn input(text: &str) -> Say {
    Say::Input(Input { text: text.to_owned(), idempotency_key: String::new(), ..Input::default() })
}

/// Puts a token into a request.
pub(crate) fn bearing<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    let value = MetadataValue::try_from(format!("Bearer {token}")).unwrap();
    request.metadata_mut().insert("authorization", value);
    request
}

impl Talk {
    /// Opens a stream whose first frame is `first`.
    pub(crate) async fn open(channel: Channel, first: Say) -> Result<Self, Status> {
        Self::open_with(channel, Request::new, Some(Some(first))).await
    }

    /// Opens a stream over TCP.
    pub(crate) async fn open_bearing(channel: Channel, token: &str, first: Say) -> Result<Self, Status> {
        Self::open_with(channel, |frames| bearing(token, frames), Some(Some(first))).await
    }

    /// Opens a stream with a first frame, an empty one, or none and a half-close.
    pub(crate) async fn open_oddly(channel: Channel, first: Option<Option<Say>>) -> Result<Self, Status> {
        Self::open_with(channel, Request::new, first).await
    }

    async fn open_with(
        channel: Channel,
        wrap: impl FnOnce(ReceiverStream<RunStreamRequest>) -> Request<ReceiverStream<RunStreamRequest>>,
        first: Option<Option<Say>>,
    ) -> Result<Self, Status> {
        let (say, frames) = mpsc::channel(16);
        let say = match first {
            Some(frame) => {
                say.send(RunStreamRequest { frame }).await.unwrap();
                Some(say)
            }
            None => {
                drop(say);
                None
            }
        };
        let request = wrap(ReceiverStream::new(frames));
        let mut client = GatewayServiceClient::new(channel);
        let response = client.run_stream(request);
        let response = tokio::time::timeout(PATIENCE, response).await.expect("an answer comes")?;
        Ok(Self { say, hear: response.into_inner() })
    }

    /// Begins a stream that is not answered before more was said.
    pub(crate) async fn open_saying(channel: Channel, first: Say) -> Saying {
        let (say, frames) = mpsc::channel(16);
        say.send(RunStreamRequest { frame: Some(first) }).await.unwrap();
        let request = Request::new(ReceiverStream::new(frames));
        let opening =
            tokio::spawn(async move { GatewayServiceClient::new(channel).run_stream(request).await });
        Saying { say, opening }
    }

    pub(crate) async fn say(&self, frame: Say) {
        self.say_oddly(Some(frame)).await;
    }

    pub(crate) async fn say_oddly(&self, frame: Option<Say>) {
        self.say.as_ref().expect("not half-closed").send(RunStreamRequest { frame }).await.unwrap();
    }

    pub(crate) fn half_close(&mut self) {
        self.say = None;
    }

    /// Returns the next frame; `None` once the call ended well.
    pub(crate) async fn next(&mut self) -> Result<Option<Frame>, Status> {
        let message = tokio::time::timeout(PATIENCE, self.hear.message()).await.expect("a frame comes")?;
        Ok(message.map(|message| message.frame.expect("no frame is empty")))
    }

    pub(crate) async fn opened(&mut self) -> Opened {
        match self.next().await.unwrap() {
            Some(Frame::Opened(opened)) => opened,
            other => panic!("first comes Opened, not {other:?}"),
        }
    }

    /// Hears until a frame is as wanted; it is the last of what is returned.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Frame) -> bool) -> ReceivedEvents {
        let mut heard = ReceivedEvents { entries: Vec::new(), others: Vec::new() };
        loop {
            let frame = self.next().await.unwrap().expect("the stream goes on");
            let found = wanted(&frame);
            match frame {
                Frame::Entry(entry) => heard.entries.push(entry),
                other => heard.others.push(other),
            }
            if found {
                return heard;
            }
        }
    }

    /// Hears until an entry's event is as wanted.
    pub(crate) async fn until_event(&mut self, wanted: impl Fn(&Event) -> bool) -> ReceivedEvents {
        self.until(|frame| match frame {
            Frame::Entry(entry) => entry.event.as_ref().is_some_and(&wanted),
            _ => false,
        })
        .await
    }

    /// Hears to the end, which must be StreamEnd and then a good status.
    pub(crate) async fn rest(&mut self) -> (ReceivedEvents, StreamEnd) {
        let mut heard = self.until(|frame| matches!(frame, Frame::End(_))).await;
        assert_eq!(self.next().await.unwrap(), None);
        let Some(Frame::End(end)) = heard.others.pop() else { panic!("until() stops at the end") };
        (heard, end)
    }

    /// Hears until the call fails.
    pub(crate) async fn failure(&mut self) -> Status {
        loop {
            match self.next().await {
                Err(status) => return status,
                Ok(Some(_)) => {}
                Ok(None) => panic!("the call ended well"),
            }
        }
    }
}

/// A stream on which only the client has spoken.
pub(crate) struct Saying {
    say: mpsc::Sender<RunStreamRequest>,
    opening: tokio::task::JoinHandle<Result<tonic::Response<Streaming<RunStreamResponse>>, Status>>,
}

impl Saying {
    pub(crate) async fn say(&self, frame: Say) {
        self.say.send(RunStreamRequest { frame: Some(frame) }).await.unwrap();
    }

    /// Waits for the daemon's word.
    pub(crate) async fn heard(self) -> Result<Talk, Status> {
        let response =
            tokio::time::timeout(PATIENCE, self.opening).await.expect("an answer comes").unwrap()?;
        Ok(Talk { say: Some(self.say), hear: response.into_inner() })
    }
}

impl ReceivedEvents {
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.entries.iter().map(|entry| entry.tape_seq).collect()
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.entries.iter().filter_map(|entry| entry.event.as_ref())
    }

    pub(crate) fn text(&self) -> String {
        let pieces = self.events().filter_map(|event| match event {
            Event::ModelText(text) => Some(text.text.as_str()),
            _ => None,
        });
        pieces.collect()
    }
}
