//! How programs end, and that nothing of them is left.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use palyra_ports::{COMMAND_BYTES_MAX, ProcessTier, ProgramEnd, SandboxError};

use crate::host::{BOTH, HOLDS, Hold, Host};

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_and_signals_are_told() {
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        assert_eq!(host.shell(tier, "exit 7").await.ended, ProgramEnd::Exited { code: 7 });
        assert_eq!(host.shell(tier, "kill -9 $$").await.ended, ProgramEnd::Signalled { signal: 9 });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_there_is_a_refusal() {
    let host = Host::new();
    for tier in BOTH {
        let refused = host.start(host.command(tier, "/usr/bin/no-such-program", &[])).await.err();
        assert!(matches!(refused, Some(SandboxError::NotStarted { .. })), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_mechanism_is_a_refusal_with_its_name() {
    let host = Host::new();
    let without = host.sandbox.without(|offer| offer.landlock_abi = 0);
    let refused =
        palyra_ports::ProcessSandbox::start(&without, host.command(ProcessTier::Confined, "/bin/true", &[]));
    assert!(matches!(refused.await.err(), Some(SandboxError::Missing { mechanism: "Landlock" })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_what_ran_away_too() {
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let script = "(setsid sh -c 'echo ready; sleep 1000' &) ; sleep 1000";
        let mut process =
            host.start(host.command(tier, "/bin/sh", &["-c", script])).await.expect("it starts");
        let (output, _errors) = process.take_output().expect("output");
        let mut line = [0; 6];
        let mut output = std::fs::File::from(output);
        std::io::Read::read_exact(&mut output, &mut line).expect("a line");
        process.stop();
        assert_eq!(process.wait().await, ProgramEnd::Stopped);
        // The write end is held by whoever is left.
        assert_eq!(std::io::Read::read(&mut output, &mut line).expect("the end"), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_words_reach_the_program_as_may_and_more_are_refused_by_name() {
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let script = "printf %s \"$@\" | wc -c";
        let mut command = host.command(tier, "/bin/sh", &["-c", script, "sh"]);
        let room = COMMAND_BYTES_MAX - command.text_bytes() - 2 * 8;
        // Bytes that no JSON string holds as they are.
        command.arguments.push(OsString::from_vec(vec![0xff; room / 2]));
        command.arguments.push(OsString::from_vec(vec![1; room - room / 2]));
        assert_eq!(command.text_bytes(), COMMAND_BYTES_MAX);
        assert_eq!(host.run(command.clone()).await.printed(), room.to_string(), "{hold:?}");
        command.arguments[4].push("x");
        let refused = host.start(command).await.err();
        assert!(matches!(refused, Some(SandboxError::TooLong { bytes }) if bytes == COMMAND_BYTES_MAX + 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_for_scratch_is_private_and_new() {
    let (host, tier) = Host::new().held_as(Hold::WithoutNamespaces);
    let done =
        host.shell(tier, "stat -c %a \"$TMPDIR\"; ls -A \"$TMPDIR\"; echo kept > \"$HOME/file\"").await;
    assert_eq!(done.printed(), "700");
    let left = std::fs::read_dir(host.folder.path().join("scratch")).expect("the folder").count();
    assert_eq!(left, 0);
}
