//! Work that takes long: a few at a time, on threads of their own, so that moves, waits and short reads
//! are never behind it.

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;

use super::error::Problem;

/// Writing pages, and pieces of long answers. A page of a document takes thirty megabytes while it is
/// drawn.
pub(crate) static DRAWING: Turns = Turns::of(2);

/// Comparing two versions, which takes fifty.
pub(crate) static COMPARING: Turns = Turns::of(1);

/// How many may do one kind of work at once.
pub(crate) struct Turns(Semaphore);

/// One of them.
pub(crate) struct Turn(SemaphorePermit<'static>);

impl Turns {
    const fn of(many: usize) -> Self {
        Turns(Semaphore::const_new(many))
    }

    /// Waits for a turn. Whatever the work needs is read after that, so that nobody who waits holds it.
    pub(crate) async fn take(&'static self) -> Turn {
        Turn(self.0.acquire().await.expect("it is never closed"))
    }

    /// Does it when its turn has come.
    pub(crate) async fn run<T: Send + 'static>(
        &'static self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        self.take().await.run(work).await
    }
}

impl Turn {
    /// Does it now. The turn lasts as long as the work, also when the client has left.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let done = spawn_blocking(move || {
            let _turn = self.0;
            work()
        });
        done.await.map_err(|died| Problem::fault(format!("long work died: {died}")))
    }
}
