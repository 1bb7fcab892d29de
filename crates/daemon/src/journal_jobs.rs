//! What the tool for commands reads of jobs: queries of effects.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_commands::ReadJobs;
use palyra_journal_core::families::effects;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::ReadError;
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_types::PrincipalId;
use palyra_types::effect::EffectRecord;
use palyra_types::job::JobNumber;

/// Reads jobs from a journal.
pub(crate) struct JournalJobs(pub(crate) Arc<dyn ReadFamilies>);

impl ReadJobs for JournalJobs {
    fn last_job(&self) -> BoxFuture<'static, Result<JobNumber, ReadError>> {
        self.0.query(|rows, _| effects::last_job(rows))
    }

    fn job(
        &self,
        principal: PrincipalId,
        job: JobNumber,
    ) -> BoxFuture<'static, Result<Option<EffectRecord>, ReadError>> {
        let only = EffectFilter::Job(job);
        let query = EffectQuery { principal: Some(principal), only, limit: 1, ..EffectQuery::default() };
        let found = self.0.query(move |rows, _| effects::records(rows, &query));
        async move { Ok(found.await?.pop()) }.boxed()
    }
}
