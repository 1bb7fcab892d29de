//! A disk that fills during a backup or a restore: a typed error, and nothing is left.

use std::path::PathBuf;
use std::process::Command;

/// Runs this very test inside a small file system; `unshare` (util-linux) makes it.
#[test]
fn a_full_disk_leaves_nothing_of_a_backup() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "mount -t tmpfs -o size=3m none \"$1\" && exec \"$2\" --exact full_disk::on_a_small_disk --nocapture";
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    command.arg(folder.path()).arg(program).env("PALYRA_SMALL_DISK", folder.path());
    let output = command.output().expect("`unshare` (util-linux) makes the file system for this test");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("a full disk was met 2 times"), "{text}");
}

/// What is done there; elsewhere it is passed over.
#[tokio::test]
async fn on_a_small_disk() {
    let Some(small) = std::env::var_os("PALYRA_SMALL_DISK").map(PathBuf::from) else { return };
    let house = crate::house::House::new();
    let journal = house.open();
    crate::house::write_runs(&journal, 0, 100).await;
    journal.close().await;
    drop(journal);
    house.back_up("copy").unwrap();
    let size = std::fs::metadata(house.path("copy/journal.db")).unwrap().len();
    let watch = palyra_backup::BackupWatch::default();
    let mut met = 0;

    // A file system that is full says so while the copy is written: the check before finds room.
    let filler = small.join("filler");
    std::fs::write(&filler, vec![7; 3 * 1024 * 1024 - usize::try_from(size).unwrap() - 1_200_000]).unwrap();
    let target = small.join("backup");
    let mut plan = house.plan("unused", palyra_backup::CopyPace::Alone);
    plan.target.clone_from(&target);
    let taker = small.join("taker");
    let taking = palyra_backup::BackupWatch {
        progress: std::sync::Arc::new(move |_, _| {
            // Another program takes the rest meanwhile.
            use std::io::Write;
            if let Ok(mut file) = std::fs::File::create(&taker) {
                while file.write_all(&[1; 4096]).is_ok() {}
            }
        }),
        stop: palyra_backup::StopSignal::default(),
    };
    let error = palyra_backup::create(&plan, &taking).unwrap_err();
    assert_eq!(error.code(), palyra_types::ErrorCode::DiskFull, "{error}");
    met += 1;
    assert_eq!(crate::house::names(&small), ["filler", "taker"], "the partial backup is removed");

    let plan = palyra_backup::RestorePlan { backup: house.path("copy"), state_dir: small.join("state") };
    let error = palyra_backup::restore(&plan, &watch).unwrap_err();
    assert_eq!(error.code(), palyra_types::ErrorCode::DiskFull, "{error}");
    met += 1;
    assert_eq!(crate::house::names(&small), ["filler", "taker"], "nothing is left of the restore");

    // The control: with room both work.
    std::fs::remove_file(small.join("filler")).unwrap();
    std::fs::remove_file(small.join("taker")).unwrap();
    palyra_backup::restore(&plan, &watch).unwrap();
    println!("a full disk was met {met} times");
}
