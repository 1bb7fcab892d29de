//! Pages of sessions, runs, approvals and effects of a journal with many of each, beside pages of a plain SQLite table.

use std::time::{Duration, Instant};

use anyhow::Context;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use palyra_client::Client;
use palyra_wire::v1;
use rusqlite::{Connection, params};

use super::filled::{busy_session, fill_records};
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, Unit};
use crate::measure::samples::SampleSet;

pub(super) const NAME: &str = "lists";

const ROWS_MANY: u64 = 10_000;
const ROWS_QUICK: u64 = 2_000;
const ROWS_SMALLEST: u64 = 120;
/// Rows of a page, as a client asks for them by default.
const PAGE_ROWS: u32 = 50;
/// Bytes of a row of the plain table: about those of a run with its preview.
const PLAIN_ROW_BYTES: usize = 300;

/// A page: how many rows it has, and what leads to the next one.
type ListPage = (usize, String);

/// A list with its filter.
struct ListCase {
    what: &'static str,
    page: for<'a> fn(&'a Client, String) -> LocalBoxFuture<'a, anyhow::Result<ListPage>>,
}

const CASES: [ListCase; 9] = [
    ListCase { what: "sessions", page: |client, token| sessions(client, token, "").boxed_local() },
    ListCase {
        what: "sessions with a text in them",
        page: |client, token| sessions(client, token, "notes").boxed_local(),
    },
    ListCase { what: "runs", page: |client, token| runs(client, token, Default::default()).boxed_local() },
    ListCase {
        what: "finished runs",
        page: |client, token| {
            let only = v1::RunFilter::Finished.into();
            runs(client, token, v1::ListRunsRequest { only, ..Default::default() }).boxed_local()
        },
    },
    ListCase {
        what: "runs of one session",
        page: |client, token| {
            let session_id = busy_session().id.to_string();
            runs(client, token, v1::ListRunsRequest { session_id, ..Default::default() }).boxed_local()
        },
    },
    ListCase {
        what: "all approvals",
        page: |client, token| approvals(client, token, v1::ApprovalFilter::All).boxed_local(),
    },
    ListCase {
        what: "decided approvals",
        page: |client, token| approvals(client, token, v1::ApprovalFilter::Decided).boxed_local(),
    },
    ListCase {
        what: "effects",
        page: |client, token| effects(client, token, v1::EffectFilter::Unspecified).boxed_local(),
    },
    ListCase {
        what: "effects that change something",
        page: |client, token| effects(client, token, v1::EffectFilter::Changing).boxed_local(),
    },
];

async fn sessions(client: &Client, page_token: String, search: &str) -> anyhow::Result<ListPage> {
    let search = search.to_owned();
    let request = v1::ListSessionsRequest { page_size: PAGE_ROWS, page_token, search, ..Default::default() };
    let page = client.call(request).await?;
    Ok((page.sessions.len(), page.next_page_token))
}

async fn runs(client: &Client, page_token: String, filter: v1::ListRunsRequest) -> anyhow::Result<ListPage> {
    let page = client.call(v1::ListRunsRequest { page_size: PAGE_ROWS, page_token, ..filter }).await?;
    Ok((page.runs.len(), page.next_page_token))
}

async fn approvals(
    client: &Client,
    page_token: String,
    only: v1::ApprovalFilter,
) -> anyhow::Result<ListPage> {
    let request = v1::ListApprovalsRequest {
        only: only.into(),
        page_size: PAGE_ROWS,
        page_token,
        ..Default::default()
    };
    let page = client.call(request).await?;
    Ok((page.approvals.len(), page.next_page_token))
}

async fn effects(client: &Client, page_token: String, only: v1::EffectFilter) -> anyhow::Result<ListPage> {
    let request =
        v1::ListEffectsRequest { only: only.into(), page_size: PAGE_ROWS, page_token, ..Default::default() };
    let page = client.call(request).await?;
    Ok((page.effects.len(), page.next_page_token))
}

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let home = lab.home(folder.path())?;
    let rows = lab.effort.of(ROWS_SMALLEST, ROWS_QUICK, ROWS_MANY);
    fill_records(&home.state(), rows).await?;
    let daemon = home.start(&lab.daemon_program).await?;
    let plain = PlainTable::fill(&folder.path().join("plain.db"), rows)?;
    let mut figures = Vec::new();
    for case in &CASES {
        let (mut ours, mut least) = (SampleSet::times(), SampleSet::times());
        let (mut token, mut before) = (String::new(), i64::MAX);
        for _ in 0..lab.effort.of(2, 40, 400) {
            let is_first = token.is_empty();
            let begun = Instant::now();
            let (count, next) = (case.page)(&daemon.client, token).await.context(case.what)?;
            ours.push_time(begun.elapsed());
            // The last page is empty where the one before it was just full.
            anyhow::ensure!(count > 0 || !is_first, "the first page of {} is empty", case.what);
            token = next;
            let (took, last) = plain.page(before)?;
            least.push_time(took);
            before = last;
        }
        let what = format!("a page of {PAGE_ROWS}: {} ({rows} rows)", case.what);
        let figure =
            BenchFigure::new(NAME, what, Unit::Ms, ours.summary()).beside("plain SQLite", least.summary());
        figures.push(figure.note("the pages follow each other, and begin again after the last"));
    }
    daemon.stop().await?;
    Ok(figures)
}

/// A table with as many rows, read by its key in this process: no socket, no user, no record.
struct PlainTable(Connection);

impl PlainTable {
    fn fill(database: &std::path::Path, rows: u64) -> anyhow::Result<Self> {
        let connection = Connection::open(database)?;
        connection
            .execute_batch("CREATE TABLE row(id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT; BEGIN")?;
        let body = vec![7_u8; PLAIN_ROW_BYTES];
        let mut insert = connection.prepare("INSERT INTO row(body) VALUES (?1)")?;
        for _ in 0..rows {
            insert.execute(params![body])?;
        }
        drop(insert);
        connection.execute_batch("COMMIT")?;
        Ok(Self(connection))
    }

    /// Reads the page before a key; returns the time it took and where the next one begins.
    fn page(&self, before: i64) -> anyhow::Result<(Duration, i64)> {
        let begun = Instant::now();
        let sql = "SELECT id, body FROM row WHERE id < ?1 ORDER BY id DESC LIMIT ?2";
        let mut statement = self.0.prepare_cached(sql)?;
        let mut rows = statement.query(params![before, PAGE_ROWS])?;
        let (mut last, mut count) = (i64::MAX, 0);
        while let Some(row) = rows.next()? {
            last = row.get(0)?;
            let _body: Vec<u8> = row.get(1)?;
            count += 1;
        }
        let next = if count < PAGE_ROWS { i64::MAX } else { last };
        Ok((begun.elapsed(), next))
    }
}
