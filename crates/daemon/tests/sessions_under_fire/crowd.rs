//! The clients: each says its inputs, repeats what got no answer, and gives up on answers at odd moments.

use std::net::SocketAddr;
use std::sync::Arc;

use palyra_client::{Client, ConnectOptions, DaemonTarget, FollowEvent, RunFollower, TcpAddress};
use palyra_types::{Content, ErrorCode, RunId, SessionId};
use palyra_wire::v1;
use tokio::sync::watch;

/// How an input was said, and which run had it.
#[derive(Debug, Clone)]
pub(crate) struct Receipt {
    pub(crate) text: String,
    pub(crate) delivery: v1::InputDelivery,
    pub(crate) run: String,
}

/// What all clients share.
pub(crate) struct Crowd {
    address: TcpAddress,
    receipts: watch::Sender<usize>,
}

impl Crowd {
    pub(crate) fn new(address: SocketAddr, token: Content<String>) -> Self {
        let address = TcpAddress::parse(&format!("http://{address}"), Some(token)).unwrap();
        Self { address, receipts: watch::Sender::new(0) }
    }

    /// Connects as soon as somebody serves.
    pub(crate) async fn connected(&self) -> Client {
        loop {
            match Client::connect(ConnectOptions::new(DaemonTarget::Tcp(self.address.clone()))).await {
                Ok(client) => return client,
                Err(error) if error.is_unreachable() => tokio::task::yield_now().await,
                Err(error) => panic!("a daemon that answers: {error}"),
            }
        }
    }

    pub(crate) async fn open_session(&self) -> SessionId {
        let request = v1::ResolveSessionRequest::default();
        let resolved = self.connected().await.call(request).await.unwrap();
        resolved.session.unwrap().session_id.parse().unwrap()
    }

    pub(crate) async fn wait_for_receipts(&self, wanted: usize) {
        self.receipts.subscribe().wait_for(|receipts| *receipts >= wanted).await.unwrap();
    }

    /// Says a client's inputs one after the other; each has its receipt before the next.
    pub(crate) async fn says_its_inputs(
        self: Arc<Self>,
        number: usize,
        session: SessionId,
        inputs: usize,
    ) -> Vec<Receipt> {
        let mut client = self.connected().await;
        let mut receipts: Vec<Receipt> = Vec::new();
        for at in 0..inputs {
            let delivery = delivery(number, at);
            let text = format!("client {number} says {at}");
            let mut gives_up = (number + at).is_multiple_of(7);
            let run = loop {
                // The second of two ways in: an input to the run that had the one before.
                let before =
                    receipts.last().filter(|_| at % 3 == 2).map(|receipt| receipt.run.parse().unwrap());
                let saying = say(&client, session, before, &text, delivery);
                let answer = if std::mem::take(&mut gives_up) {
                    // Whatever it came to, it is said again, with the same key.
                    impatient(saying, number * 5 % 60).await
                } else {
                    Some(saying.await)
                };
                match answer {
                    Some(Ok(run)) => break run,
                    None => {}
                    Some(Err(error)) if error.is_unreachable() => client = self.connected().await,
                    Some(Err(error)) if is_passing(error.code()) => tokio::task::yield_now().await,
                    Some(Err(error)) => panic!("an input is taken: {error} {:?}", error.code()),
                }
            };
            receipts.push(Receipt { text, delivery, run });
            self.receipts.send_modify(|receipts| *receipts += 1);
        }
        receipts
    }

    /// Waits until no run is open.
    pub(crate) async fn wait_for_rest(&self) {
        let client = self.connected().await;
        loop {
            let open = v1::ListRunsRequest {
                only: v1::RunFilter::Open.into(),
                page_size: 500,
                ..Default::default()
            };
            let runs = client.call(open).await.unwrap().runs;
            // The last of all, so that most of the others are over with it.
            let Some(last) = runs.first() else { return };
            let mut follower = RunFollower::attach(&client, last.run_id.parse().unwrap(), 0);
            while let Some(event) = follower.next().await.unwrap() {
                if matches!(event, FollowEvent::Ended(_)) {
                    break;
                }
            }
        }
    }
}

/// What a torn-down daemon may say on its way out, or one that is hard pressed.
fn is_passing(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::QueueFull
            | ErrorCode::WriteUnknown
            | ErrorCode::JournalBusy
            | ErrorCode::Fenced
            | ErrorCode::ShuttingDown
            | ErrorCode::DaemonUnreachable
    )
}

fn delivery(number: usize, at: usize) -> v1::InputDelivery {
    match (number * 31 + at * 17) % 10 {
        0 | 1 => v1::InputDelivery::Steer,
        2 => v1::InputDelivery::Interrupt,
        _ => v1::InputDelivery::Queue,
    }
}

async fn say(
    client: &Client,
    session: SessionId,
    before: Option<RunId>,
    text: &str,
    delivery: v1::InputDelivery,
) -> Result<String, palyra_client::ClientError> {
    let key = text.replace(' ', "-");
    if let Some(run) = before {
        let input = v1::Input {
            text: text.to_owned(),
            idempotency_key: key,
            delivery: delivery.into(),
            ..v1::Input::default()
        };
        return client
            .send_input(run, input, palyra_client::InputReach::RunOrNew)
            .await
            .map(|accepted| accepted.run_id);
    }
    let selector = v1::SessionSelector {
        session_id: session.to_string(),
        require_existing: true,
        ..v1::SessionSelector::default()
    };
    let start = v1::StartRunRequest {
        session: Some(selector),
        input: text.to_owned(),
        idempotency_key: key,
        delivery: delivery.into(),
        ..v1::StartRunRequest::default()
    };
    client.start_run(start).await.map(|opened| opened.run_id)
}

/// Drops a call after a few turns of the executor.
async fn impatient<T>(call: impl Future<Output = T>, turns: usize) -> Option<T> {
    tokio::select! {
        biased;
        answer = call => Some(answer),
        () = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        } => None,
    }
}
