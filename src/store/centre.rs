//! The dispatch centre as its workers see it: they ask for runs, and say what became of them.

use crate::host::{Host, within};
use crate::id::HostId;
use crate::store::StoreError;
use crate::store::wire::Wire;
use crate::time::WallTime;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// What a worker says to the centre. A period stands for its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// Which runs there are.
    Runs,
    /// May I have this run?
    Take(i64),
    /// This run is done.
    Done(i64),
    /// This run has failed.
    Failed(i64),
}

/// What the centre says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// These are not done, and boundaries up to this time have been reached by the centre's clock.
    Runs {
        /// The periods.
        open: Vec<i64>,
        /// What its clock showed at the last one, or when it started.
        reached: WallTime,
    },
    /// It is yours.
    Assigned,
    /// It is somebody else's, or will come.
    Wait,
    /// There is no such run, or it is done.
    Nothing,
}

/// A client of the centre.
pub struct CentreService {
    host: Rc<dyn Host>,
    timeout: Duration,
    /// The open connection while nobody uses it.
    idle: RefCell<Option<Wire>>,
}

impl CentreService {
    /// A client on `host` that waits for at most `timeout` for a connection or an answer.
    pub fn new(host: Rc<dyn Host>, timeout: Duration) -> CentreService {
        CentreService { host, timeout, idle: RefCell::default() }
    }

    /// Connects, unless a connection is open.
    ///
    /// # Errors
    /// `NotSent`: the centre could not be reached.
    pub async fn ready(&self) -> Result<(), StoreError> {
        let wire = self.wire().await?;
        *self.idle.borrow_mut() = Some(wire);
        Ok(())
    }

    /// Says something to the centre.
    ///
    /// # Errors
    /// `MaybeApplied`: no answer came.
    pub async fn ask(&self, ask: Ask) -> Result<Told, StoreError> {
        let mut wire = self.wire().await?;
        let told = within(&*self.host, self.timeout, wire.ask(&ask)).await;
        let told = told.ok_or_else(StoreError::timed_out)?.map_err(StoreError::maybe_applied)?;
        *self.idle.borrow_mut() = Some(wire);
        Ok(told)
    }

    async fn wire(&self) -> Result<Wire, StoreError> {
        let idle = self.idle.borrow_mut().take();
        if let Some(wire) = idle {
            return Ok(wire);
        }
        let stream = within(&*self.host, self.timeout, self.host.connect(HostId::Centre)).await;
        Ok(Wire::new(stream.ok_or_else(|| StoreError::not_sent("timed out"))??))
    }
}
