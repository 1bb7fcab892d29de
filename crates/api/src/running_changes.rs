//! Changes run to their end without their callers, and only so many at once.

use std::sync::Arc;

use palyra_types::ErrorCode;
use palyra_wire::operations::OperationKind;
use tokio::sync::Semaphore;
use tracing::Instrument;

use crate::api_error::ApiError;

/// Changes of one transport that run at once; further ones wait while their callers do.
const CHANGES_RUNNING_MAX: usize = 1_024;

/// Changes run to their end, also when the caller leaves while they wait: what is recorded must be in force as well.
#[derive(Debug, Clone)]
pub struct RunningChanges(Arc<Semaphore>);

impl Default for RunningChanges {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(CHANGES_RUNNING_MAX)))
    }
}

impl RunningChanges {
    /// Waits for an operation.
    ///
    /// # Errors
    /// Those of the operation; [`ErrorCode::WriteUnknown`] where the process ends while it runs, and
    /// [`ErrorCode::Internal`] where it panicked.
    pub async fn answer<T: Send + 'static>(
        &self,
        kind: OperationKind,
        work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    ) -> Result<T, ApiError> {
        if kind == OperationKind::Read {
            return work.await;
        }
        // Without its caller a change counts as well, so clients that come and go do not heap them up.
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let work = async move {
            let _permit = permit;
            work.await
        };
        match tokio::spawn(work.in_current_span()).await {
            Ok(answer) => answer,
            Err(ended) => {
                let code = if ended.is_panic() { ErrorCode::Internal } else { ErrorCode::WriteUnknown };
                Err(ApiError::new(code, "the operation was interrupted".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// The control is an operation that only reads: nothing is left to do when its caller has gone.
    #[tokio::test]
    async fn a_change_runs_to_its_end_without_its_caller() {
        for (kind, ends) in [(OperationKind::Change, true), (OperationKind::Read, false)] {
            let (go_tx, go_rx) = tokio::sync::oneshot::channel::<()>();
            let (end_tx, end_rx) = tokio::sync::oneshot::channel::<()>();
            let work = async move {
                let _ = go_rx.await;
                let _ = end_tx.send(());
                Ok(())
            };
            let running = RunningChanges::default();
            let mut call = Box::pin(running.answer(kind, work));
            assert!((&mut call).now_or_never().is_none());
            drop(call);
            let _ = go_tx.send(());
            assert_eq!(end_rx.await.is_ok(), ends, "{kind:?}");
        }
    }

    /// What a change had recorded by then is unknown, so its caller repeats it with the same key.
    #[test]
    fn a_change_that_ends_with_its_runtime_is_unknown_and_one_that_panics_is_a_fault() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let running = RunningChanges::default();
        let never = std::future::pending::<Result<(), ApiError>>();
        let mut call = Box::pin(running.answer(OperationKind::Change, never));
        assert!(runtime.block_on(async { (&mut call).now_or_never() }).is_none());
        let panics = async { if true { panic!("on purpose") } else { Ok(()) } };
        let panicked = runtime.block_on(running.answer(OperationKind::Change, panics));
        runtime.shutdown_timeout(std::time::Duration::from_secs(30));
        let ended = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(call);
        assert_eq!(ended.unwrap_err().code(), ErrorCode::WriteUnknown);
        assert_eq!(panicked.unwrap_err().code(), ErrorCode::Internal);
    }

    /// The control is the place that a change leaves when it ends.
    #[tokio::test]
    async fn changes_without_callers_are_limited() {
        let running = RunningChanges(Arc::new(Semaphore::new(1)));
        let (go_tx, go_rx) = tokio::sync::oneshot::channel::<()>();
        let first = async move {
            let _ = go_rx.await;
            Ok(())
        };
        let mut left = Box::pin(running.answer(OperationKind::Change, first));
        assert!((&mut left).now_or_never().is_none());
        drop(left);
        let mut second = Box::pin(running.answer(OperationKind::Change, async { Ok(2) }));
        tokio::task::yield_now().await;
        assert!((&mut second).now_or_never().is_none(), "the first one runs without its caller");
        go_tx.send(()).unwrap();
        assert_eq!(second.await.unwrap(), 2);
    }
}
