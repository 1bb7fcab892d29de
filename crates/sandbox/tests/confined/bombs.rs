//! What a program may use up; each bomb ends within its limits.

use palyra_ports::{LimitRung, ProcessLimits, ProcessSandbox, ProgramEnd};

use crate::host::{BOTH, HOLDS, Host};

const MIB: u64 = 1 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn processes_run_out() {
    let host = Host::new();
    let script = "import os, time\nn = 0\nwhile True:\n  try:\n    if os.fork() == 0: time.sleep(1000)\n    n += 1\n  except \
                  OSError: break\nprint(n)";
    for tier in BOTH {
        let mut command = host.command(tier, "/usr/bin/python3", &["-c", script]);
        command.limits.processes_max = 32;
        let made: u64 = host.run(command).await.printed().parse().expect("a number");
        assert!((20..32).contains(&made), "{tier:?} made {made}");
    }
}

/// Without a table of users of its own a program is counted with all that its user runs.
#[tokio::test(flavor = "multi_thread")]
async fn who_runs_much_beside_it_leaves_a_program_its_processes() {
    let sleep = || std::process::Command::new("/bin/sleep").arg("1000").spawn().expect("it starts");
    let mut beside: Vec<_> = (0..40).map(|_| sleep()).collect();
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let host = host.without_groups();
        let mut command = host.command(tier, "/bin/sh", &["-c", "/bin/true | /bin/true; echo well"]);
        command.limits.processes_max = 20;
        assert_eq!(host.run(command).await.printed(), "well", "{hold:?}");
    }
    for process in &mut beside {
        process.kill().expect("it ends");
        process.wait().expect("it is gone");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_of_one_process_runs_out() {
    let host = Host::new();
    let script = "kept = []\nwhile len(kept) < 1000: kept.append(b'x' * (1 << 20))\nprint('all of it')";
    for tier in BOTH {
        let mut command = host.command(tier, "/usr/bin/python3", &["-c", script]);
        command.limits.memory_bytes_max = 128 * MIB;
        let done = host.run(command).await;
        assert!(!done.output.contains("all of it"), "{tier:?} {done:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_of_many_processes_runs_out() {
    let host = Host::new();
    let script = "import os, time\nfor n in range(8):\n  if os.fork() == 0:\n    kept = b'x' * (100 << 20)\n    time.sleep(5)\n    \
                  os._exit(0)\nfor n in range(8): os._exit(9) if os.wait()[1] else 0\nprint('all of it')";
    for tier in BOTH {
        let mut command = host.command(tier, "/usr/bin/python3", &["-c", script]);
        command.limits.memory_bytes_max = 300 * MIB;
        let done = host.run(command).await;
        assert!(!done.output.contains("all of it"), "{tier:?} {done:?}");
        if host.sandbox.offer().limits == LimitRung::ProcessLimits {
            assert_eq!(done.ended, ProgramEnd::OverMemory);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scratch_space_and_its_inodes_run_out() {
    let host = Host::new();
    for tier in BOTH {
        let mut command = host.command(
            tier,
            "/bin/sh",
            &["-c", "dd if=/dev/zero of=/tmp/full bs=1M count=100 2>/dev/null; stat -c %s /tmp/full"],
        );
        command.limits.scratch_bytes_max = 16 * MIB;
        assert_eq!(host.run(command.clone()).await.printed(), (16 * MIB).to_string());
        command.program = "/usr/bin/python3".into();
        command.arguments[2] = "n = 0
while True:
  try: open(f'/tmp/{n}', 'w').close()
  except OSError: break
  \
                                n += 1
print(n)"
            .into();
        let made: u64 = host.run(command).await.printed().parse().expect("a number");
        assert!(made < 4096, "{made} files");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_grows_no_further() {
    let host = Host::new();
    for tier in BOTH {
        let mut command =
            host.command(tier, "/usr/bin/python3", &["-c", "open('big', 'wb').truncate(1 << 40)"]);
        command.limits.file_bytes_max = 8 * MIB;
        host.run(command).await;
        let size = std::fs::metadata(host.work().join("big")).expect("the file").len();
        assert!(size <= 8 * MIB, "{size}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processor_time_runs_out() {
    let host = Host::new();
    for tier in BOTH {
        let mut command = host.command(tier, "/bin/sh", &["-c", "while :; do :; done"]);
        command.limits =
            ProcessLimits { processor_time_max: std::time::Duration::from_secs(1), ..command.limits };
        assert!(matches!(host.run(command).await.ended, ProgramEnd::Signalled { signal: 9 | 24 }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_that_nobody_reads_holds_nobody_up() {
    let host = Host::new();
    for tier in BOTH {
        let mut process = host.start(host.command(tier, "/usr/bin/yes", &[])).await.expect("it starts");
        // Its pipe is full and stays so.
        process.stop();
        assert_eq!(process.wait().await, ProgramEnd::Stopped);
    }
}

/// Where no group counts, somebody looks: at heaps, at pages that relatives share, and at processes, whose number the
/// kernel does not hold root to.
#[tokio::test(flavor = "multi_thread")]
async fn without_groups_all_together_is_looked_at() {
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let host = host.without_groups();
        for kept in ["bytearray(100 << 20)", "mmap.mmap(-1, 100 << 20)"] {
            let script = format!(
                "import mmap, os, time\nfor n in range(8):\n  if os.fork() == 0:\n    kept = {kept}\n    for at in range(0, 100 << \
                 20, 4096): kept[at] = 1\n    time.sleep(1000)\ntime.sleep(1000)"
            );
            let mut command = host.command(tier, "/usr/bin/python3", &["-c", &script]);
            command.limits.memory_bytes_max = 300 * MIB;
            assert_eq!(host.run(command).await.ended, ProgramEnd::OverMemory, "{hold:?} {kept}");
        }
        let script = "import os, time\nn = 0\nwhile True:\n  try:\n    if os.fork() == 0: time.sleep(1000)\n    n += 1\n  except OSError: break\nprint(n)";
        let mut command = host.command(tier, "/usr/bin/python3", &["-c", script]);
        command.limits.processes_max = 32;
        let done = host.run(command).await;
        let held = done.ended == ProgramEnd::Exited { code: 0 }
            && done.printed().parse().is_ok_and(|made: u64| made < 33);
        assert!(done.ended == ProgramEnd::OverProcesses || held, "{hold:?} {done:?}");
    }
}
