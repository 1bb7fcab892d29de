//! What a program must not reach: each attack is run unconfined first, where it has to touch its canary, and then
//! under both tiers, where it must not.
//!
//! A canary is a file whose content may not change or be seen, a socket that nobody may reach, or a process that nobody
//! may end. It is looked at, never what the attack says.

use std::io::Read;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use palyra_ports::ProcessTier;

use crate::host::{BOTH, HOLDS, Host};

const SECRET: &str = "canary-7f3a91";

/// What the attacks go for; new for each run of each.
struct Canaries {
    /// A folder outside the workspace, with everything in it.
    outside: PathBuf,
    tcp: TcpListener,
    unix: UnixListener,
    victim: Child,
    printed: String,
}

impl Canaries {
    fn new(host: &Host) -> Self {
        let outside = host.folder.path().join("outside");
        let _ = std::fs::remove_dir_all(&outside);
        std::fs::create_dir(&outside).expect("a folder");
        for name in ["file", "victim.txt"] {
            std::fs::write(outside.join(name), SECRET).expect("a canary");
        }
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let unix = UnixListener::bind(outside.join("socket")).expect("a socket");
        tcp.set_nonblocking(true).expect("settings");
        unix.set_nonblocking(true).expect("settings");
        let victim = Command::new("/bin/sleep")
            .arg("1000")
            .env_clear()
            .env("VICTIM", SECRET)
            .stdout(Stdio::null())
            .spawn()
            .expect("a victim");
        Self { outside, tcp, unix, victim, printed: String::new() }
    }

    /// The attack's variables.
    fn environment(&self) -> Vec<(String, String)> {
        let port = self.tcp.local_addr().expect("its address").port();
        vec![
            ("OUT".into(), self.outside.display().to_string()),
            ("PORT".into(), port.to_string()),
            ("VICTIM".into(), self.victim.id().to_string()),
            ("DAEMON".into(), std::process::id().to_string()),
        ]
    }

    /// Says which canaries were touched.
    fn touched(mut self) -> Vec<String> {
        let mut touched = Vec::new();
        for name in ["file", "victim.txt"] {
            if std::fs::read_to_string(self.outside.join(name)).is_ok_and(|text| text == SECRET) {
                continue;
            }
            touched.push(format!("{name} changed"));
        }
        let extra = std::fs::read_dir(&self.outside).expect("the folder").count();
        if extra != 3 {
            touched.push(format!("{extra} files outside"));
        }
        if self.tcp.accept().is_ok() {
            touched.push("TCP connection".into());
        }
        if self.unix.accept().is_ok() {
            touched.push("local connection".into());
        }
        if self.victim.try_wait().expect("the victim").is_some() {
            touched.push("the victim ended".into());
        }
        if self.printed.contains(SECRET) {
            touched.push("the secret was seen".into());
        }
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        touched
    }
}

/// How an attack is written.
enum By {
    Shell(&'static str),
    Python(&'static str),
}

/// Runs an attack unconfined and under both tiers.
async fn check(attack: By) {
    let host = Host::new();
    let (program, flag, script) = match attack {
        By::Shell(script) => ("/bin/sh", "-c", script),
        By::Python(script) => ("/usr/bin/python3", "-c", script),
    };

    let mut canaries = Canaries::new(&host);
    let mut control = Command::new(program);
    control.args([flag, script]).envs(canaries.environment()).current_dir(host.work());
    let output = control.stdin(Stdio::null()).output().expect("it runs unconfined");
    canaries.printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let touched = canaries.touched();
    assert!(
        !touched.is_empty(),
        "unconfined it touches nothing: {}",
        String::from_utf8_lossy(&output.stderr)
    );

    for hold in HOLDS {
        let (host, tier) = Host::new().as_held(hold);
        let mut canaries = Canaries::new(&host);
        let mut command = host.command(tier, program, &[flag, script]);
        command
            .environment
            .extend(canaries.environment().into_iter().map(|(name, value)| (name.into(), value.into())));
        let done = host.run(command).await;
        canaries.printed = done.output.clone();
        let touched = canaries.touched();
        assert!(touched.is_empty(), "{hold:?}: {touched:?} {done:?}");
    }
}

macro_rules! attacks {
    ($($(#[$doc:meta])* $name:ident: $by:ident($script:expr);)*) => {$(
        $(#[$doc])*
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            check(By::$by($script)).await;
        }
    )*};
}

attacks! {
    a_file_is_read: Shell(r#"cat "$OUT/file""#);
    a_file_is_written: Shell(r#"echo dead > "$OUT/file""#);
    a_file_is_removed: Shell(r#"rm "$OUT/file""#);
    a_file_is_made: Shell(r#"echo new > "$OUT/new""#);
    a_file_is_renamed: Shell(r#"mv "$OUT/file" "$OUT/other""#);
    a_file_is_cut: Python("import os; os.truncate(os.environ['OUT'] + '/file', 0)");
    a_hard_link_reaches_out: Shell(r#"ln "$OUT/file" in && echo dead > in"#);
    a_symlink_reaches_out: Shell(r#"ln -s "$OUT/file" out && cat out"#);
    a_folder_link_reaches_out: Shell(r#"ln -s "$OUT" dir && echo new > dir/new"#);
    dots_reach_out: Shell(r#"cat "../outside/file""#);
    the_root_of_a_process_reaches_out: Shell(r#"cat "/proc/self/root$OUT/file" "/proc/$VICTIM/root$OUT/file""#);
    the_root_of_process_one_reaches_out: Shell(r#"cat "/proc/1/root$OUT/file" || cat "$OUT/file""#);
    the_folder_of_a_process_reaches_out: Shell(r#"cat "/proc/$DAEMON/cwd/../../$OUT/file" "/proc/$DAEMON/root/$OUT/file""#);
    an_environment_is_read: Shell(r#"tr '\0' '\n' < "/proc/$VICTIM/environ""#);
    a_process_is_ended: Shell(r#"kill -9 "$VICTIM"; sleep 0.1"#);
    every_process_is_ended: Shell(r#"kill -TERM "$VICTIM" 2>/dev/null; for p in /proc/[0-9]*; do [ "${p#/proc/}" = "$VICTIM" ] && kill -9 "${p#/proc/}"; done; sleep 0.1"#);
    a_process_is_traced: Python(concat!(
        "import ctypes, os, time\n",
        "libc = ctypes.CDLL(None, use_errno=True)\n",
        "victim = int(os.environ['VICTIM'])\n",
        "seized = libc.ptrace(16, victim, None, None)\n", // PTRACE_ATTACH
        "time.sleep(0.05)\n",
        "libc.ptrace(8, victim, None, None)\n", // PTRACE_KILL
        "time.sleep(0.1)\n",
    ));
    memory_of_a_process_is_read: Python(concat!(
        "import os, re\n",
        "victim = os.environ['VICTIM']\n",
        "for line in open(f'/proc/{victim}/maps'):\n",
        "    if '[stack]' in line:\n",
        "        a, b = (int(x, 16) for x in line.split()[0].split('-'))\n",
        "        m = open(f'/proc/{victim}/mem', 'rb')\n",
        "        m.seek(a)\n",
        "        found = re.search(rb'VICTIM=([a-z0-9-]+)', m.read(b - a))\n",
        "        print(found.group(1).decode() if found else '')\n",
    ));
    a_descriptor_of_a_process_is_taken: Python(concat!(
        "import ctypes, os\n",
        "libc = ctypes.CDLL(None, use_errno=True)\n",
        "pid = libc.syscall(434, int(os.environ['DAEMON']), 0)\n", // pidfd_open
        "for n in range(3, 200):\n",
        "    fd = libc.syscall(438, pid, n, 0)\n", // pidfd_getfd
        "    if fd < 0: continue\n",
        "    try: name = os.readlink(f'/proc/self/fd/{fd}')\n",
        "    except OSError: continue\n",
        "    if 'outside' in name or 'socket' in name:\n",
        "        import socket\n",
        "        open(os.environ['OUT'] + '/taken', 'w').close()\n",
    ));
    a_local_socket_is_reached: Python(concat!(
        "import os, socket\n",
        "s = socket.socket(socket.AF_UNIX)\n",
        "s.connect(os.environ['OUT'] + '/socket')\n",
    ));
    a_local_socket_is_reached_by_a_pair: Python(concat!(
        "import os, socket\n",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n",
        "try: a.connect(os.environ['OUT'] + '/socket')\n",
        "except OSError: pass\n",
        "socket.socket(socket.AF_UNIX).connect(os.environ['OUT'] + '/socket')\n",
    ));
    a_port_of_the_host_is_reached: Python(concat!(
        "import os, socket\n",
        "socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 2)\n",
    ));
    a_port_is_reached_by_another_name: Python(concat!(
        "import os, socket\n",
        "for host in ('localhost', '0.0.0.0', '::ffff:127.0.0.1'):\n",
        "    try: socket.create_connection((host, int(os.environ['PORT'])), 2)\n",
        "    except OSError: pass\n",
    ));
    a_new_namespace_gives_the_host_back: Shell(r#"unshare -Ur cat "$OUT/file" || unshare -Urm sh -c 'umount /tmp; cat "$OUT/file"'"#);
    a_mount_gives_the_host_back: Shell(r#"unshare -Urm sh -c 'mkdir -p m && mount --rbind / m && cat "m$OUT/file"'"#);
    old_roots_are_entered: Shell(r#"cat "/proc/1/cwd/$OUT/file" "/proc/1/fd/"* ".$OUT/file" "$OUT/file" 2>/dev/null; true"#);
    a_setuid_program_is_left_behind: Shell(r#"cp /bin/true keep && chmod 4755 keep && [ -u keep ] && echo canary-7f3a91"#);
    a_core_is_dumped: Shell(r#"ulimit -c unlimited 2>/dev/null && [ "$(ulimit -c)" = unlimited ] && echo canary-7f3a91"#);
    an_io_ring_reads_for_it: Python(concat!(
        "import ctypes, os\n",
        "libc = ctypes.CDLL(None, use_errno=True)\n",
        "params = (ctypes.c_char * 120)()\n",
        "fd = libc.syscall(425, 4, params)\n", // io_uring_setup
        "print('canary-7f3a91' if fd >= 0 else os.strerror(ctypes.get_errno()))\n",
    ));
    keys_are_read: Python(concat!(
        "import ctypes, os\n",
        "libc = ctypes.CDLL(None, use_errno=True)\n",
        "key = libc.syscall(248, b'user', b'canary', b'x', 1, -3)\n", // add_key, KEY_SPEC_SESSION_KEYRING
        "print('canary-7f3a91' if key > 0 else os.strerror(ctypes.get_errno()))\n",
    ));
    a_userfault_is_made: Python(concat!(
        "import ctypes\n",
        "libc = ctypes.CDLL(None)\n",
        "print('canary-7f3a91' if libc.syscall(323, 1) >= 0 else 'refused')\n", // userfaultfd, UFFD_USER_MODE_ONLY
    ));
    performance_counters_are_opened: Python(concat!(
        "import ctypes\n",
        "libc = ctypes.CDLL(None, use_errno=True)\n",
        "attr = (ctypes.c_uint32 * 32)(1, 128)\n", // PERF_TYPE_SOFTWARE
        "attr[10] = 0x60\n", // exclude the kernel and the hypervisor
        "fd = libc.syscall(298, attr, 0, -1, -1, 0)\n",
        "import os; print('canary-7f3a91' if fd >= 0 else os.strerror(ctypes.get_errno()))\n",
    ));
    input_is_put_into_the_terminal: Python(concat!(
        "import fcntl, os, pty, struct\n",
        "master, slave = pty.openpty()\n",
        "os.setsid() if os.getsid(0) != os.getpid() else None\n",
        "fcntl.ioctl(slave, 0x540E, 0)\n", // TIOCSCTTY
        "fcntl.ioctl(slave, 0x5412, b'x')\n", // TIOCSTI
        "print('canary-7f3a91')\n",
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_inherited_but_three_descriptors() {
    let host = Host::new();
    let held = std::fs::File::open(host.folder.path()).expect("a descriptor");
    rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).expect("it would be inherited");
    for tier in BOTH {
        let done = host.run(host.command(tier, "/bin/ls", &["/proc/self/fd"])).await;
        // The fourth is the folder that is being listed.
        assert_eq!(done.printed(), "0\n1\n2\n3");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_tmp_is_gone_afterwards() {
    let host = Host::new();
    for tier in BOTH {
        assert_eq!(
            host.shell(tier, "echo kept > /tmp/palyra-left-over; cat /tmp/palyra-left-over").await.printed(),
            "kept"
        );
        assert!(!std::path::Path::new("/tmp/palyra-left-over").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kept_files_stay_and_cannot_be_moved_away() {
    let host = Host::new();
    let hooks = host.work().join(".git/hooks");
    for tier in BOTH {
        let _ = std::fs::remove_dir_all(host.work().join(".git"));
        std::fs::create_dir_all(&hooks).expect("hooks");
        std::fs::write(hooks.join("pre-commit"), SECRET).expect("a hook");
        let script = "echo evil > .git/hooks/pre-commit; mv .git/hooks .git/old; rm -rf .git/hooks; mv .git away; \
                      echo evil > .git/hooks/new; echo fine > .git/other";
        let mut command = host.command(tier, "/bin/sh", &["-c", script]);
        command.kept = vec![hooks.clone()];
        let done = host.run(command).await;
        assert_eq!(std::fs::read_to_string(hooks.join("pre-commit")).expect("the hook"), SECRET, "{done:?}");
        assert!(!hooks.join("new").exists());
        assert_eq!(std::fs::read_to_string(host.work().join(".git/other")).expect("a file"), "fine\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tier_c_shows_nothing_of_the_host() {
    let host = Host::new();
    let done = host
        .shell(
            ProcessTier::Isolated,
            "ls / | tr '\\n' ' '; cat /etc/shadow /etc/hostname; hostname; ls /home /root /var; echo $$",
        )
        .await;
    assert!(!done.output.contains("root:"), "{done:?}");
    assert!(done.output.contains("sandbox"), "{done:?}");
    let mut shadow = String::new();
    let _ = std::fs::File::open("/etc/hostname").and_then(|mut file| file.read_to_string(&mut shadow));
    assert!(shadow.trim().is_empty() || !done.output.contains(shadow.trim()), "{done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_program_is_what_was_looked_at() {
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::sync::Arc;

    use palyra_ports::SealedFile;
    use rustix::fs::{MemfdFlags, SealFlags};

    let host = Host::new();
    let script = host.work().join("script.sh");
    for tier in BOTH {
        std::fs::write(&script, "#!/bin/sh\necho evil\n").expect("a script");
        let memory = rustix::fs::memfd_create("script", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
        let mut memory = std::fs::File::from(memory.expect("memory"));
        memory.write_all(b"#!/bin/sh\necho approved $0; echo evil > $0\n").expect("bytes");
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&memory, seals).expect("seals");
        let mut command = host.command(tier, script.to_str().expect("text"), &[]);
        command.sealed = vec![SealedFile { path: script.clone(), bytes: Arc::new(OwnedFd::from(memory)) }];
        let done = host.run(command).await;
        assert_eq!(done.output.trim_end(), format!("approved {}", script.display()), "{done:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_is_only_read_stays_as_it_is() {
    let host = Host::new();
    std::fs::write(host.work().join("file"), SECRET).expect("a file");
    for tier in BOTH {
        let script = "cat file; echo dead > file; rm file; touch new; true";
        let mut command = host.command(tier, "/bin/sh", &["-c", script]);
        command.access = palyra_ports::WorkspaceAccess::Read;
        assert_eq!(host.run(command).await.printed(), SECRET);
        assert_eq!(std::fs::read_dir(host.work()).expect("the folder").count(), 1);
        assert_eq!(std::fs::read_to_string(host.work().join("file")).expect("the file"), SECRET);
    }
}
