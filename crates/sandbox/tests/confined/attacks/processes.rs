//! Other processes: their ends, their memory, their environment, their terminal.

use super::By::{Python, Shell};
use super::check;

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_is_read() {
    check(Shell(r#"tr '\0' '\n' < "/proc/$VICTIM/environ""#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_ended() {
    check(Shell(r#"kill -9 "$VICTIM"; sleep 0.1"#)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_process_is_ended() {
    check(Shell(r#"kill -TERM "$VICTIM" 2>/dev/null; for p in /proc/[0-9]*; do [ "${p#/proc/}" = "$VICTIM" ] && kill -9 "${p#/proc/}"; done; sleep 0.1"#))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_traced() {
    check(Python(concat!(
        "import ctypes, os, time\n",
        "libc = ctypes.CDLL(None, use_errno=True)\n",
        "victim = int(os.environ['VICTIM'])\n",
        "seized = libc.ptrace(16, victim, None, None)\n", // PTRACE_ATTACH
        "time.sleep(0.05)\n",
        "libc.ptrace(8, victim, None, None)\n", // PTRACE_KILL
        "time.sleep(0.1)\n",
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_of_a_process_is_read() {
    check(Python(concat!(
        "import os, re\n",
        "victim = os.environ['VICTIM']\n",
        "for line in open(f'/proc/{victim}/maps'):\n",
        "    if '[stack]' in line:\n",
        "        a, b = (int(x, 16) for x in line.split()[0].split('-'))\n",
        "        m = open(f'/proc/{victim}/mem', 'rb')\n",
        "        m.seek(a)\n",
        "        found = re.search(rb'VICTIM=([a-z0-9-]+)', m.read(b - a))\n",
        "        print(found.group(1).decode() if found else '')\n",
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_descriptor_of_a_process_is_taken() {
    check(Python(concat!(
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
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_core_is_dumped() {
    check(Shell(
        r#"ulimit -c unlimited 2>/dev/null && [ "$(ulimit -c)" = unlimited ] && echo canary-7f3a91"#,
    ))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn input_is_put_into_the_terminal() {
    check(Python(concat!(
        "import fcntl, os, pty, struct\n",
        "master, slave = pty.openpty()\n",
        "os.setsid() if os.getsid(0) != os.getpid() else None\n",
        "fcntl.ioctl(slave, 0x540E, 0)\n",    // TIOCSCTTY
        "fcntl.ioctl(slave, 0x5412, b'x')\n", // TIOCSTI
        "print('canary-7f3a91')\n",
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_of_a_process_are_lowered() {
    check(Python("import os, resource as r; r.prlimit(int(os.environ['VICTIM']), r.RLIMIT_NOFILE, (7, 7))"))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_put_last() {
    check(Python("import os; os.setpriority(os.PRIO_PROCESS, int(os.environ['VICTIM']), 19)")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn semaphores_of_others_are_removed() {
    check(Python("import ctypes, os; ctypes.CDLL(None).semctl(int(os.environ['SEMAPHORES']), 0, 0)")).await;
}
