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
