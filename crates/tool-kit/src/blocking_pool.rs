//! The bounded pool of blocking work.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// How many blocking calls of one pool run at once; further ones wait.
pub const BLOCKING_CALLS_MAX: usize = 8;

/// Runs blocking work off the threads that serve sessions. Clones share their room.
#[derive(Debug, Clone)]
pub struct BlockingPool {
    room: Arc<Semaphore>,
}

impl Default for BlockingPool {
    fn default() -> Self {
        Self { room: Arc::new(Semaphore::new(BLOCKING_CALLS_MAX)) }
    }
}

impl BlockingPool {
    /// Runs work to its end; `None` when it panics. A caller that stops waiting does not make room.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let permit = Arc::clone(&self.room).acquire_owned().await.expect("the pool is never closed");
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        work.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use futures::poll;

    use super::*;

    #[tokio::test]
    async fn a_ninth_call_waits_for_room() {
        let pool = BlockingPool::default();
        let eight = u32::try_from(BLOCKING_CALLS_MAX).unwrap();
        let taken = Arc::clone(&pool.room).acquire_many_owned(eight).await.unwrap();
        let mut ninth = Box::pin(pool.run(|| "done"));
        assert!(matches!(poll!(&mut ninth), Poll::Pending));
        drop(taken);
        assert_eq!(ninth.await, Some("done"));
        assert_eq!(pool.room.available_permits(), BLOCKING_CALLS_MAX);
    }

    #[tokio::test]
    async fn work_that_panics_gives_its_room_back() {
        let pool = BlockingPool::default();
        assert_eq!(pool.run(|| -> u8 { panic!("a bug") }).await, None);
        assert_eq!(pool.room.available_permits(), BLOCKING_CALLS_MAX);
    }
}
