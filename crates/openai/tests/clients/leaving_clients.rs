//! A stream that its client closes, and one that ends because the daemon stops.

use palyra_ports::Clock;
use palyra_testkit::{Gate, Script};
use palyra_types::TapeSeq;
use palyra_types::run::{RunPhase, TerminationReason};

use crate::client_program::{ClientReport, soon};
use crate::client_trial::ClientTrial;
use crate::daemon::DISCONNECT_GRACE;

/// Whether a client reports the events of its streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventReports {
    /// It does.
    Written,
    /// It does not.
    Absent,
}

impl ClientTrial {
    /// A client that leaves: its run goes on for the grace, then it is cancelled.
    pub(crate) async fn left(&mut self, reports: EventReports) {
        let dropped = self.daemon.provider.counts().dropped;
        self.begin_endless(reports).await;
        self.client.request().await;
        assert_eq!(self.client.report().await, ClientReport::Left);
        let grace = self.daemon.clock.boot().after(DISCONNECT_GRACE);
        soon(self.daemon.clock.someone_sleeps_until(grace)).await;
        let open: Vec<_> =
            self.runs().await.into_iter().filter(|run| run.phase != RunPhase::Finished).collect();
        assert_eq!((open.len(), open[0].phase), (1, RunPhase::Running));
        self.daemon.clock.advance(DISCONNECT_GRACE);
        let (state, caller, run) = (&self.daemon.state, self.caller(), open[0].run);
        let mut follower = state.tapes.follow(caller, run, TapeSeq::default()).await.unwrap();
        while soon(follower.next()).await.unwrap().is_some() {}
        let over = state.runs.get(caller, run).await.unwrap();
        assert_eq!((over.phase, over.reason), (RunPhase::Finished, Some(TerminationReason::Cancelled)));
        soon(self.daemon.provider.wait_until(|counts| counts.dropped > dropped)).await;
    }

    /// A daemon that stops: the last event of a chat is an error, and the client raises it.
    pub(crate) async fn stopped(&mut self) {
        self.begin_endless(EventReports::Written).await;
        self.daemon.stop();
        let ClientReport::Error(sentence) = self.client.report().await else { panic!("no error") };
        assert!(sentence.contains("(PLY-"), "{sentence}");
    }

    /// Has the client open a stream whose answer begins and does not end.
    async fn begin_endless(&mut self, reports: EventReports) {
        let gate = Gate::closed();
        self.daemon.provider.push(Script::new().text("one ").hold(&gate).text("two"));
        self.client.request().await;
        if reports == EventReports::Written {
            assert_eq!(self.client.report().await, ClientReport::Begun);
        }
        soon(gate.reached()).await;
    }
}
