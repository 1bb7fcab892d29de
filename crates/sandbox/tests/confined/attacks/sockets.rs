//! Whoever listens on this host.

use super::By::Python;
use super::check;

#[tokio::test(flavor = "multi_thread")]
async fn a_local_socket_is_reached() {
    check(Python(concat!(
        "import os, socket\n",
        "s = socket.socket(socket.AF_UNIX)\n",
        "s.connect(os.environ['OUT'] + '/socket')\n",
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_socket_is_reached_by_a_pair() {
    check(Python(concat!(
        "import os, socket\n",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n",
        "try: a.connect(os.environ['OUT'] + '/socket')\n",
        "except OSError: pass\n",
        "socket.socket(socket.AF_UNIX).connect(os.environ['OUT'] + '/socket')\n",
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_of_the_host_is_reached() {
    check(Python(concat!(
        "import os, socket\n",
        "socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 2)\n",
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_is_reached_by_another_name() {
    check(Python(concat!(
        "import os, socket\n",
        "for host in ('localhost', '0.0.0.0', '::ffff:127.0.0.1'):\n",
        "    try: socket.create_connection((host, int(os.environ['PORT'])), 2)\n",
        "    except OSError: pass\n",
    )))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_datagram_leaves() {
    check(Python(concat!(
        "import os, socket\n",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n",
        "s.sendto(b'canary', ('127.0.0.1', int(os.environ['DATAGRAMS'])))\n",
    )))
    .await;
}
