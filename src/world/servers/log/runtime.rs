//! What the Raft crate runs on: the tasks, the timers and the clock of the member whose code is
//! being polled. The crate asks for all of them without saying for whom, so every future of a
//! member carries its host and puts it where [`MemberRuntime`] finds it.

use crate::host::Host;
use crate::time::millis;
use futures_util::future::LocalBoxFuture;
use openraft::{AsyncRuntime, TokioRuntime};
use std::cell::RefCell;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::oneshot;

thread_local! {
    static HERE: RefCell<Option<Rc<dyn Host>>> = const { RefCell::new(None) };
}

/// Does something with the host whose code is being polled.
fn here<R>(work: impl FnOnce(&dyn Host) -> R) -> R {
    let host = HERE.with_borrow(Clone::clone).expect("a member's code runs inside of `On`");
    work(&*host)
}

/// A future that belongs to a host.
pub struct On<F> {
    host: Rc<dyn Host>,
    work: Pin<Box<F>>,
}

impl<F: Future> On<F> {
    /// `work`, as code of `host`.
    pub fn new(host: Rc<dyn Host>, work: F) -> On<F> {
        On { host, work: Box::pin(work) }
    }
}

/// Puts back who was there before, also when the poll panics.
struct Before(Option<Rc<dyn Host>>);

impl Drop for Before {
    fn drop(&mut self) {
        HERE.set(self.0.take());
    }
}

impl<F: Future> Future for On<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _before = Before(HERE.replace(Some(Rc::clone(&self.host))));
        self.work.as_mut().poll(context)
    }
}

/// Runs a task of a member for as long as its process lives.
pub fn spawn(host: &Rc<dyn Host>, name: &'static str, work: impl Future<Output = ()> + 'static) {
    host.spawn(name, Box::pin(On::new(Rc::clone(host), work))).detach();
}

/// The runtime of the Raft crate.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MemberRuntime;

/// A task ended without a result: its process died.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the task is gone")]
pub struct Gone;

/// Too late.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("too late")]
pub struct Elapsed;

/// The result of a task.
pub struct Joined<T>(oneshot::Receiver<T>);

impl<T> Future for Joined<T> {
    type Output = Result<T, Gone>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|result| result.map_err(|_| Gone))
    }
}

/// Work that has to be done in time.
pub struct InTime<F> {
    work: Pin<Box<F>>,
    limit: LocalBoxFuture<'static, ()>,
}

impl<F: Future> Future for InTime<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(done) = self.work.as_mut().poll(context) {
            return Poll::Ready(Ok(done));
        }
        self.limit.as_mut().poll(context).map(|()| Err(Elapsed))
    }
}

/// What a member's clock has counted, in milliseconds. Before its beginning there is time too: the crate subtracts timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counted(i64);

impl Add<Duration> for Counted {
    type Output = Counted;
    fn add(self, d: Duration) -> Counted {
        Counted(self.0.saturating_add_unsigned(millis(d)))
    }
}

impl Sub<Duration> for Counted {
    type Output = Counted;
    fn sub(self, d: Duration) -> Counted {
        Counted(self.0.saturating_sub_unsigned(millis(d)))
    }
}

impl Sub for Counted {
    type Output = Duration;
    /// Zero if it is not later.
    fn sub(self, earlier: Counted) -> Duration {
        Duration::from_millis(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }
}

impl AddAssign<Duration> for Counted {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl SubAssign<Duration> for Counted {
    fn sub_assign(&mut self, d: Duration) {
        *self = *self - d;
    }
}

impl openraft::Instant for Counted {
    fn now() -> Counted {
        Counted(0) + here(|host| host.counts())
    }
}

impl AsyncRuntime for MemberRuntime {
    type JoinError = Gone;
    type JoinHandle<T: 'static> = Joined<T>;
    type Sleep = LocalBoxFuture<'static, ()>;
    type Instant = Counted;
    type TimeoutError = Elapsed;
    type Timeout<R, T: Future<Output = R>> = InTime<T>;
    // The one thing it is asked for is an election timeout, and the range for that holds one
    // number, which was drawn from the host's own stream (`member`).
    type ThreadLocalRng = <TokioRuntime as AsyncRuntime>::ThreadLocalRng;
    type OneshotSender<T> = <TokioRuntime as AsyncRuntime>::OneshotSender<T>;
    type OneshotReceiver<T> = oneshot::Receiver<T>;
    type OneshotReceiverError = oneshot::error::RecvError;

    fn spawn<T>(future: T) -> Joined<T::Output>
    where
        T: Future + 'static,
        T::Output: 'static,
    {
        let (result, joined) = oneshot::channel();
        let host = HERE.with_borrow(Clone::clone).expect("a member's code runs inside of `On`");
        spawn(&host, "raft", async move {
            // Nobody may want to know.
            let _ = result.send(future.await);
        });
        Joined(joined)
    }

    fn sleep(duration: Duration) -> Self::Sleep {
        here(|host| host.sleep(duration))
    }

    fn sleep_until(deadline: Counted) -> Self::Sleep {
        Self::sleep(deadline - <Counted as openraft::Instant>::now())
    }

    fn timeout<R, F: Future<Output = R>>(duration: Duration, future: F) -> InTime<F> {
        InTime { work: Box::pin(future), limit: Self::sleep(duration) }
    }

    fn timeout_at<R, F: Future<Output = R>>(deadline: Counted, future: F) -> InTime<F> {
        InTime { work: Box::pin(future), limit: Self::sleep_until(deadline) }
    }

    fn is_panic(_: &Gone) -> bool {
        // The engine notices panics by itself.
        false
    }

    fn thread_rng() -> Self::ThreadLocalRng {
        TokioRuntime::thread_rng()
    }

    fn oneshot<T>() -> (Self::OneshotSender<T>, oneshot::Receiver<T>) {
        TokioRuntime::oneshot()
    }
}
