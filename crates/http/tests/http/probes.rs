//! Probes of supervisors, and counters for Prometheus.

use std::time::Duration;

use palyra_admin::access::TokenRequest;
use palyra_types::access::{AccessScope, ScopeSet};

use crate::calls::start;
use crate::daemon::TestDaemon;
use crate::talk::Call;

#[tokio::test]
async fn probes_need_no_token_and_say_when_no_new_work_begins() {
    let daemon = TestDaemon::start().await;
    let health = Call::open("/healthz").with("host", "127.0.0.1").send(&daemon).await;
    assert_eq!((health.status, health.json()["status"].as_str()), (200, Some("ok")));
    let ready = Call::open("/readyz").send(&daemon).await;
    assert_eq!((ready.status, ready.json()["ready"].as_bool()), (200, Some(true)), "{ready:?}");
    for check in ["serving", "journal_writable", "journal_answers", "runs_answer"] {
        assert_eq!(ready.json()["checks"][check], true, "{check}");
    }
    assert!(ready.json()["newest_entry_age_seconds"].is_u64(), "{ready:?}");
    daemon.stop_requested.cancel();
    let draining = Call::open("/readyz").send(&daemon).await;
    assert_eq!((draining.status, draining.json()["checks"]["serving"].as_bool()), (503, Some(false)));
    assert_eq!(Call::open("/healthz").send(&daemon).await.status, 200, "the process lives on");
}

#[tokio::test]
async fn metrics_are_for_holders_of_a_token_and_hold_nothing_of_anyone() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:canary").await;
    let run = start(&daemon, &token, "canary").await;
    Call::get(&format!("/api/v1/runs/{run}"), &token).send(&daemon).await;
    Call::get("/api/v1/runs/canary", &token).send(&daemon).await;
    Call::get("/canary", &token).send(&daemon).await;
    Call::open("/metrics").send(&daemon).await.refused(401, "PLY-1201");
    Call::get("/metrics", &token).send(&daemon).await.refused(403, "PLY-1203");
    let scopes = Some(ScopeSet::of(&[AccessScope::Metrics]));
    let scraper = TokenRequest::program("user:local", "scraper", Duration::from_secs(3_600));
    let scraper = daemon.token_of(TokenRequest { scopes, ..scraper }).await;
    let metrics = Call::get("/metrics", &scraper).send(&daemon).await;
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        "palyra_build_info{version=\"1.2.3\"} 1",
        "palyra_journal_writable 1",
        "palyra_http_requests_total{operation=\"StartRun\",status=\"2xx\"} 1",
        "palyra_http_requests_total{operation=\"GetRun\",status=\"2xx\"} 1",
        "palyra_http_requests_total{operation=\"GetRun\",status=\"4xx\"} 1",
        "palyra_http_requests_total{operation=\"other\",status=\"4xx\"} 2",
    ] {
        assert!(metrics.body.lines().any(|found| found == line), "{line} in\n{}", metrics.body);
    }
    assert!(!metrics.body.contains("canary") && !metrics.body.contains(&run));
    for line in metrics.body.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.rsplit_once(' ').is_some_and(|(_, value)| value.parse::<f64>().is_ok()), "{line}");
    }
}
