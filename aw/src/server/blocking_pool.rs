//! Limits how much long work runs at once, so that moves, waits and short reads never queue behind it.

use aw_record::spawn_long_work;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::error::Problem;

/// Renders pages and writes pieces of long responses. Rendering a document takes 30 MB.
pub(crate) static DRAWING: BlockingPool = BlockingPool::new(2);

/// Compares two versions of a document, which takes 50 MB.
pub(crate) static COMPARING: BlockingPool = BlockingPool::new(1);

/// Limits how many jobs of one kind run at once.
pub(crate) struct BlockingPool(Semaphore);

/// The right to run one job.
pub(crate) struct PoolSlot(SemaphorePermit<'static>);

impl BlockingPool {
    const fn new(jobs: usize) -> Self {
        BlockingPool(Semaphore::const_new(jobs))
    }

    /// Waits for a free slot. Callers read their input after this, so that a queued job holds no memory.
    pub(crate) async fn take(&'static self) -> PoolSlot {
        PoolSlot(self.0.acquire().await.expect("it is never closed"))
    }

    /// Runs a job as soon as a slot is free.
    pub(crate) async fn run<T: Send + 'static>(
        &'static self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        self.take().await.run(job).await
    }
}

impl PoolSlot {
    /// Runs a job now. The slot is held until the job ends, even if the client disconnects.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let done = spawn_long_work(move || {
            let _slot = self.0;
            job()
        });
        done.await.map_err(|error| Problem::fault(format!("a blocking job panicked: {error}")))
    }
}
