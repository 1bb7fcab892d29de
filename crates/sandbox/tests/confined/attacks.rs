//! What a program must not reach; every case has a canary.

use crate::host::{BOTH, Host};

#[tokio::test(flavor = "multi_thread")]
async fn files_outside_are_out_of_reach() {
    let host = Host::new();
    let canary = host.folder.path().join("canary");
    std::fs::write(&canary, "singing").expect("a canary");
    for tier in BOTH {
        let at = canary.display();
        let done = host.shell(tier, &format!("cat {at}; echo dead > {at}; rm {at}; true")).await;
        assert!(!done.output.contains("singing"), "{done:?}");
        assert_eq!(std::fs::read_to_string(&canary).expect("the canary"), "singing");
    }
}
