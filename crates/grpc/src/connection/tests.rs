//! Who is let in, for how long, and who makes way.

use tokio::io::AsyncReadExt;

use super::*;

const SOON: Duration = Duration::from_secs(10);

async fn tcp_acceptor(
    connections_max: usize,
    greeting_span: Duration,
) -> (ConnectionAcceptor, std::net::SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let limits = ServeLimits { connections_max, greeting_span, ..ServeLimits::default() };
    (ConnectionAcceptor::tcp(listener, limits, watch::Sender::new(0)), address)
}

#[tokio::test]
async fn an_accepted_tcp_connection_sends_small_frames_at_once() {
    let (mut acceptor, address) = tcp_acceptor(1, SOON).await;
    let (_client, connection) = tokio::join!(TcpStream::connect(address), acceptor.next());
    let Socket::Tcp(stream) = &connection.socket else { panic!("a TCP connection came") };
    assert!(stream.nodelay().unwrap());
    assert_eq!(connection.peer, Peer::Tcp);
}

#[tokio::test]
async fn a_local_peer_is_known_by_its_user() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut acceptor = ConnectionAcceptor::unix(
        UnixListener::bind(&path).unwrap(),
        ServeLimits::default(),
        watch::Sender::new(0),
    );
    let (_client, connection) = tokio::join!(UnixStream::connect(&path), acceptor.next());
    assert_eq!(connection.peer, Peer::Local(Some(rustix::process::geteuid().as_raw())));
}

#[tokio::test]
async fn one_connection_too_many_is_closed_and_its_place_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let limits = ServeLimits { connections_max: 1, ..ServeLimits::default() };
    let mut acceptor =
        ConnectionAcceptor::unix(UnixListener::bind(&path).unwrap(), limits, watch::Sender::new(0));
    let (_first, taken) = tokio::join!(UnixStream::connect(&path), acceptor.next());
    let mut second = UnixStream::connect(&path).await.unwrap();
    let waiting = tokio::spawn(async move { acceptor.next().await.peer });
    assert_eq!(second.read(&mut [0; 1]).await.unwrap(), 0);
    drop(taken);
    let _third = UnixStream::connect(&path).await.unwrap();
    assert!(matches!(waiting.await.unwrap(), Peer::Local(_)));
}

/// Returns how reading from a connection fails, if it does so at once.
async fn fails(connection: &mut Connection) -> Option<io::ErrorKind> {
    let mut bytes = [0; 64];
    let mut read = Box::pin(connection.read(&mut bytes));
    match futures::poll!(&mut read) {
        Poll::Ready(read) => read.err().map(|error| error.kind()),
        Poll::Pending => None,
    }
}

async fn connect(
    acceptor: &mut ConnectionAcceptor,
    from: &str,
    to: std::net::SocketAddr,
) -> (TcpStream, Connection) {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
    let (client, connection) = tokio::join!(socket.connect(to), acceptor.next());
    (client.unwrap(), connection)
}

#[tokio::test]
async fn the_oldest_of_those_without_a_token_makes_way_and_no_other() {
    let (mut acceptor, address) = tcp_acceptor(4, SOON).await;
    let (_a, mut proven) = connect(&mut acceptor, "127.0.0.1", address).await;
    proven.standing().unwrap().prove();
    let (_b, mut single) = connect(&mut acceptor, "127.0.0.2", address).await;
    let (_c, mut oldest) = connect(&mut acceptor, "127.0.0.1", address).await;
    // Half of the permits are for those without a token; one of an address with fewer is not the first to go.
    let (_d, mut next) = connect(&mut acceptor, "127.0.0.1", address).await;
    assert_eq!(
        fails(&mut single).await,
        Some(io::ErrorKind::TimedOut),
        "of two addresses with one each, the older"
    );
    let (_e, mut last) = connect(&mut acceptor, "127.0.0.3", address).await;
    assert_eq!(
        fails(&mut oldest).await,
        Some(io::ErrorKind::TimedOut),
        "the oldest of the address that has most"
    );
    assert_eq!(
        (fails(&mut next).await, fails(&mut last).await, fails(&mut proven).await),
        (None, None, None)
    );
    assert_eq!(acceptor.admission.free_permits(), 1);
    drop((proven, single, oldest, next, last));
    assert_eq!(acceptor.admission.free_permits(), 4, "every place comes back, once");
}

#[tokio::test(start_paused = true)]
async fn who_shows_no_token_in_time_is_cut_off() {
    let limits = ServeLimits::default();
    let (mut acceptor, address) = tcp_acceptor(64, limits.newcomer_span * 9).await;
    let (_a, mut silent) = connect(&mut acceptor, "127.0.0.1", address).await;
    let (_b, mut probe) = connect(&mut acceptor, "127.0.0.1", address).await;
    let (_c, mut holder) = connect(&mut acceptor, "127.0.0.1", address).await;
    probe.standing().unwrap().note_call();
    let standing = holder.standing().unwrap();
    standing.note_call();
    standing.prove();
    tokio::time::advance(limits.first_call_span).await;
    assert_eq!(fails(&mut silent).await, Some(io::ErrorKind::TimedOut));
    assert_eq!((fails(&mut probe).await, fails(&mut holder).await), (None, None));
    tokio::time::advance(limits.newcomer_span).await;
    assert_eq!(fails(&mut probe).await, Some(io::ErrorKind::TimedOut), "a probe needs no longer");
    assert_eq!(fails(&mut holder).await, None);
}

#[tokio::test(start_paused = true)]
async fn who_does_not_greet_in_time_is_cut_off_and_who_does_is_not() {
    let (mut acceptor, address) = tcp_acceptor(2, SOON).await;
    let (client, silent) = tokio::join!(TcpStream::connect(address), acceptor.next());
    let mut silent = silent;
    let failed = silent.read(&mut [0; 64]).await.unwrap_err();
    assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
    drop(client);

    let mut greeting =
        PrefaceState::Awaited { bytes_left: GREETING_BYTES, deadline: Box::pin(tokio::time::sleep(SOON)) };
    futures::future::poll_fn(|context| Poll::Ready(greeting.watch(context, GREETING_BYTES))).await.unwrap();
    tokio::time::advance(SOON * 2).await;
    futures::future::poll_fn(|context| Poll::Ready(greeting.watch(context, 0))).await.unwrap();
}
