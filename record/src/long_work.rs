//! Threads for long work: reads of whole debates, searches, pages, differences.
//!
//! They have a lower priority than the threads that serve and write. Otherwise a write that wakes up
//! while long work uses every core would wait for the scheduler, several times as long as it takes
//! itself.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// A runtime that lends only its blocking threads. Those of the serving runtime cannot be slowed down:
/// they take over the serving when a serving thread blocks.
static THREADS: LazyLock<Runtime> = LazyLock::new(|| {
    let built = Builder::new_current_thread()
        .thread_name("aw-long-work")
        .on_thread_start(lower_priority)
        .build();
    built.expect("a runtime without drivers needs nothing of the system")
});

/// Runs long work on a thread of its own. The caller limits how many run at once.
pub fn spawn_long_work<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    THREADS.spawn_blocking(work)
}

#[cfg(target_os = "linux")]
fn lower_priority() {
    use rustix::process::setpriority_process;
    use rustix::thread::gettid;

    /// About a tenth of the time of a thread that serves, when both want the same core.
    const NICENESS: i32 = 10;
    // On Linux each thread has its own priority. If it cannot be set, long work competes with the
    // other threads.
    let _ = setpriority_process(Some(gettid()), NICENESS);
}

/// Elsewhere a process has one priority.
#[cfg(not(target_os = "linux"))]
fn lower_priority() {}
