//! A thousand inputs from fifty clients into one session, over real gRPC and the real journal, while the daemon's
//! runtime is torn down again and again: one run at a time, in order, and nothing typed is lost or doubled.
//!
//! Begin at [`a_thousand_inputs_are_each_taken_once_and_in_order`].

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod crowd;
mod fire_home;
mod verdict;

use std::net::TcpListener;
use std::sync::Arc;

use crowd::Crowd;
use fire_home::FireHome;

/// Clients at once.
const CLIENTS: usize = 50;
/// Inputs of each.
const INPUTS_PER_CLIENT: usize = 20;
/// The runtime is torn down when so many inputs have their receipt.
const KILLED_AT: [usize; 4] = [40, 300, 600, 950];

#[test]
fn a_thousand_inputs_are_each_taken_once_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    outside.block_on(async {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut house = FireHome::open(folder.path(), &tcp);
        let token = house.token("user:crowd").await;
        let crowd = Arc::new(Crowd::new(tcp.local_addr().unwrap(), token));
        let session = crowd.open_session().await;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                tokio::spawn(Arc::clone(&crowd).says_its_inputs(client, session, INPUTS_PER_CLIENT))
            })
            .collect();
        for receipts in KILLED_AT {
            crowd.wait_for_receipts(receipts).await;
            house.tear_down().await;
            house = FireHome::open(folder.path(), &tcp);
        }
        let mut receipts = Vec::new();
        for client in clients {
            receipts.extend(client.await.unwrap());
        }
        assert_eq!(receipts.len(), CLIENTS * INPUTS_PER_CLIENT);
        crowd.wait_for_rest().await;
        let story = verdict::Story::read(&crowd.connected().await, session).await;
        story.check(&receipts);
        eprintln!("{}", story.told());
        house.tear_down().await;
    });
}
