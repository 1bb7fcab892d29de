//! A person approves after six minutes: a stream lives until then and goes on, an answer that is not streamed says what
//! to do after one minute, and in both cases there is one run with one effect.

use std::time::Duration;

use palyra_ports::Clock;
use palyra_types::model::ChatMessage;

use crate::client_program::ClientReport;
use crate::client_trial::{ANSWER, ClientTrial};
use crate::daemon::HEARTBEAT;

/// How long the person takes.
const SIX_MINUTES: Duration = Duration::from_secs(360);
/// How long an answer that is not streamed waits for a person.
const PERSON_WAIT: Duration = Duration::from_secs(60);

impl ClientTrial {
    /// A stream: an event at least every heartbeat keeps the client, and the answer goes on behind the approval.
    pub(crate) async fn streamed(&mut self) {
        self.ask().await;
        assert_eq!(self.client.report().await, ClientReport::Begun);
        let asked = self.daemon.asked().await;
        let began = self.daemon.clock.boot();
        while self.daemon.clock.boot().since(began) < SIX_MINUTES {
            self.daemon.clock.advance(HEARTBEAT);
            assert_eq!(self.client.report().await, ClientReport::Beat);
        }
        self.check_runs(1).await;
        self.approve(&asked).await;
        assert_eq!(self.client.report().await, ClientReport::Answer(ANSWER.to_owned()));
        self.check_runs(0).await;
    }

    /// The same for a client that does not report events: the daemon sends the next one each time.
    pub(crate) async fn streamed_silently(&mut self) {
        self.ask().await;
        let asked = self.daemon.asked().await;
        self.daemon.heartbeat_is_awaited().await;
        let began = self.daemon.clock.boot();
        while self.daemon.clock.boot().since(began) < SIX_MINUTES {
            self.daemon.pass_heartbeat().await;
        }
        self.check_runs(1).await;
        self.approve(&asked).await;
        assert_eq!(self.client.report().await, ClientReport::Answer(ANSWER.to_owned()));
        self.check_runs(0).await;
    }

    /// No stream: a sentence comes after a minute, and the next request of the conversation gets the answer.
    pub(crate) async fn whole(&mut self) {
        self.ask().await;
        let asked = self.daemon.asked().await;
        let began = self.daemon.clock.boot();
        let Self { daemon, client, .. } = &mut *self;
        let report = loop {
            tokio::select! {
                biased;
                report = client.report() => break report,
                () = daemon.pass_heartbeat() => {}
            }
        };
        let waited = daemon.clock.boot().since(began);
        assert!((PERSON_WAIT..PERSON_WAIT * 2).contains(&waited), "{waited:?}");
        let ClientReport::Answer(sentence) = report else { panic!("{report:?}") };
        for part in ["This run waits", "`palyra approve`", &asked.run.to_string(), "next message"] {
            assert!(sentence.contains(part), "{sentence}");
        }
        self.check_runs(1).await;
        self.daemon.clock.advance(SIX_MINUTES.saturating_sub(waited));
        self.client.request().await;
        self.daemon.heartbeat_is_awaited().await;
        self.check_runs(1).await;
        self.approve(&asked).await;
        assert_eq!(self.client.report().await, ClientReport::Answer(ANSWER.to_owned()));
        self.check_runs(0).await;
        let last = self.daemon.provider.requests().pop().unwrap();
        let is_remark = |message: &ChatMessage| match message {
            ChatMessage::User { text, .. } => text.expose().contains("is it done?"),
            ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. } => false,
        };
        assert!(last.messages.iter().any(is_remark), "the model reads what the client says meanwhile");
    }
}
