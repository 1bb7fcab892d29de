//! Parts of the kernel that are not for programs.

use super::By::Python;
use super::check;

#[tokio::test(flavor = "multi_thread")]
async fn an_io_ring_reads_for_it() {
    check(Python(concat!(
        "import ctypes, os\n",
        "libc = ctypes.CDLL(None, use_errno=True)\n",
        "params = (ctypes.c_char * 120)()\n",
        "fd = libc.syscall(425, 4, params)\n", // io_uring_setup
        "print('canary-7f3a91' if fd >= 0 else os.strerror(ctypes.get_errno()))\n",
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_read() {
    check(Python(concat!(
        "import ctypes, os\n",
        "libc = ctypes.CDLL(None, use_errno=True)\n",
        "key = libc.syscall(248, b'user', b'canary', b'x', 1, -3)\n", // add_key, KEY_SPEC_SESSION_KEYRING
        "print('canary-7f3a91' if key > 0 else os.strerror(ctypes.get_errno()))\n",
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_userfault_is_made() {
    check(Python(concat!(
        "import ctypes\n",
        "libc = ctypes.CDLL(None)\n",
        "print('canary-7f3a91' if libc.syscall(323, 1) >= 0 else 'refused')\n", // userfaultfd, UFFD_USER_MODE_ONLY
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn performance_counters_are_opened() {
    check(Python(concat!(
        "import ctypes\n",
        "libc = ctypes.CDLL(None, use_errno=True)\n",
        "attr = (ctypes.c_uint32 * 32)(1, 128)\n", // PERF_TYPE_SOFTWARE
        "attr[10] = 0x60\n",                       // exclude the kernel and the hypervisor
        "fd = libc.syscall(298, attr, 0, -1, -1, 0)\n",
        "import os; print('canary-7f3a91' if fd >= 0 else os.strerror(ctypes.get_errno()))\n",
    )))
    .await;
}

/// Asks for one thing of a file, a folder, or a pair of sockets.
macro_rules! asking {
    ($what:literal) => {
        Python(concat!(
            "import fcntl, os, socket, struct\n",
            "open('own', 'w').close()\n",
            "file, folder = os.open('own', os.O_RDONLY), os.open('.', os.O_RDONLY)\n",
            "pair = socket.socketpair()[0]\n",
            "try:\n",
            "    ",
            $what,
            "\n",
            "    print('canary-7f3a91')\n",
            "except OSError as error: print(error)\n",
        ))
    };
}

/// F_SETLEASE, F_RDLCK: whoever writes to a leased file waits until its holder lets go, for up to 45 seconds.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_leased() {
    check(asking!("fcntl.fcntl(file, 1024, 0)")).await;
}

/// F_NOTIFY, DN_MODIFY.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_tells_of_its_changes() {
    check(asking!("fcntl.fcntl(folder, 1026, 2)")).await;
}

/// F_SETOWN.
#[tokio::test(flavor = "multi_thread")]
async fn a_descriptor_signals_a_process() {
    check(asking!("fcntl.fcntl(pair, 8, os.getppid())")).await;
}

/// F_SETOWN_EX.
#[tokio::test(flavor = "multi_thread")]
async fn a_descriptor_signals_a_thread() {
    check(asking!("fcntl.fcntl(pair, 15, struct.pack('ii', 1, os.getpid()))")).await;
}

/// F_SETSIG.
#[tokio::test(flavor = "multi_thread")]
async fn a_descriptor_sends_another_signal() {
    check(asking!("fcntl.fcntl(pair, 10, 9)")).await;
}

/// FIOSETOWN.
#[tokio::test(flavor = "multi_thread")]
async fn a_socket_signals_a_process() {
    check(asking!("fcntl.ioctl(pair, 0x8901, struct.pack('i', os.getpid()))")).await;
}

/// SIOCSPGRP.
#[tokio::test(flavor = "multi_thread")]
async fn a_socket_signals_a_group() {
    check(asking!("fcntl.ioctl(pair, 0x8902, struct.pack('i', os.getpid()))")).await;
}
