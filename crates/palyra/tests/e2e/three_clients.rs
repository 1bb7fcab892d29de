//! Three clients come and go during one run and see the same.

use palyra_client::{Client, FollowEvent, RunFollower};
use palyra_types::RunId;
use palyra_wire::v1;

use crate::home::Home;

const STEPS: &str = "[pace=8] read a.md then read b.md then list the files then read c.md then read a.md \
                     then find *.md then read b.md";

/// Follows until `entries_max` entries came, or the end; returns the entries.
async fn follow(mut follower: RunFollower, entries_max: usize) -> Vec<v1::TapeEntry> {
    let mut entries = Vec::new();
    while entries.len() < entries_max {
        match follower.next().await.unwrap() {
            Some(FollowEvent::Entry(entry)) => entries.push(*entry),
            Some(FollowEvent::Ended(_)) | None => break,
            Some(_) => {}
        }
    }
    entries
}

/// Attaches again and again for a few entries each, always after the last that was seen.
async fn come_and_go(client: Client, run: RunId, stays: [usize; 4]) -> Vec<v1::TapeEntry> {
    let mut entries: Vec<v1::TapeEntry> = Vec::new();
    for stay in stays.iter().cycle() {
        let after = entries.last().map_or(0, |entry| entry.tape_seq);
        let more = follow(RunFollower::attach(&client, run, after), *stay).await;
        if more.len() < *stay {
            entries.extend(more);
            return entries;
        }
        entries.extend(more);
    }
    entries
}

#[test]
fn clients_that_attach_detach_and_reattach_see_identical_tapes() {
    let home = Home::new();
    for name in ["a.md", "b.md", "c.md"] {
        home.write(name, &format!("# {name}\n\nOne line of text.\n"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let starter = home.client().await;
        let start = v1::StartRunRequest {
            input: STEPS.to_owned(),
            workspace_root: home.work().display().to_string(),
            ..Default::default()
        };
        let opened = starter.start_run(start).await.unwrap();
        let run: RunId = opened.run_id.parse().unwrap();
        let mut clients = Vec::new();
        for _ in 0..3 {
            clients.push(home.client().await);
        }
        let [one, two, three] = clients.try_into().ok().unwrap();
        let (one, two, three) = tokio::join!(
            come_and_go(one, run, [1, 2, 3, 5]),
            come_and_go(two, run, [7, 1, 4, 2]),
            come_and_go(three, run, [3, 11, 1, 6]),
        );
        let late = follow(RunFollower::attach(&starter, run, 0), usize::MAX).await;
        assert!(late.len() > 40, "only {} entries", late.len());
        assert!(one == two && two == three && three == late);
        let numbers: Vec<_> = late.iter().map(|entry| entry.tape_seq).collect();
        assert_eq!(numbers, (1..=u32::try_from(late.len()).unwrap()).collect::<Vec<_>>());
        let last = late.last().and_then(|entry| entry.event.clone());
        assert!(
            matches!(last, Some(v1::tape_entry::Event::RunFinished(end)) if end.state == 3),
            "it is done"
        );
    });
}
