//! Beyond this machine: TLS with a certificate of the operator, or a proxy that takes it off.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use palyra_http::{ListenerReach, TlsFiles, server_config};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::daemon::{DaemonOptions, TestDaemon};
use crate::talk::{Call, Wire};

fn pem(kind: &str, der: &[u8]) -> String {
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", STANDARD.encode(der))
}

#[tokio::test]
async fn a_client_that_trusts_the_certificate_is_served_and_clear_text_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["palyra.example".to_owned()]).unwrap();
    let files = TlsFiles { certificate: folder.path().join("cert"), key: folder.path().join("key") };
    std::fs::write(&files.certificate, pem("CERTIFICATE", made.cert.der())).unwrap();
    std::fs::write(&files.key, pem("PRIVATE KEY", &made.signing_key.serialize_der())).unwrap();
    let options = DaemonOptions {
        tls: Some(server_config(&files).unwrap()),
        public_url: Some("https://palyra.example"),
        ..Default::default()
    };
    let daemon = TestDaemon::start_with(options).await;
    let token = daemon.token("user:alice").await;
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let stream = TcpStream::connect(daemon.address).await.unwrap();
    let name = ServerName::try_from("palyra.example").unwrap();
    let mut stream = TlsConnector::from(config).connect(name, stream).await.unwrap();
    let call = Call::get("/api/v1/runs", &token).with("host", "palyra.example").with("connection", "close");
    stream.write_all(call.text(daemon.address).as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    assert!(text.contains("strict-transport-security: max-age="), "{text}");

    let mut clear = Wire::open(daemon.address).await;
    clear.send(&call.text(daemon.address)).await;
    assert!(clear.head().await.is_none());
}

#[tokio::test]
async fn without_tls_only_named_proxies_and_this_machine_connect() {
    let elsewhere = ListenerReach::Proxies(vec!["10.0.0.7".parse().unwrap()]);
    let options = DaemonOptions {
        reach: Some(elsewhere),
        public_url: Some("https://palyra.example"),
        ..Default::default()
    };
    let daemon = TestDaemon::start_with(options).await;
    let token = daemon.token("user:alice").await;
    let call = Call::get("/api/v1/runs", &token).with("host", "palyra.example");
    let forged = call.with("x-forwarded-user", "user:local").with("x-forwarded-for", "127.0.0.1");
    assert_eq!(
        forged.send(&daemon).await.json()["runs"],
        serde_json::json!([]),
        "headers of a proxy name nobody"
    );
    Call::open("/api/v1/runs")
        .with("host", "palyra.example")
        .with("x-forwarded-user", "user:local")
        .send(&daemon)
        .await
        .refused(401, "PLY-1201");
}
