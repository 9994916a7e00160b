//! A question to the log: to whoever led last, then to whoever is said to lead, then to the next.

use crate::id::HostId;
use crate::store::log::{Answer, Command, Reply};
use crate::store::{LogService, StoreError};
use crate::strategy::context::{Context, Error};
use crate::trace::StepName;
use std::pin::pin;

/// How many members are asked before a client gives up, one after the other. Between two of them
/// it waits for half its timeout: together about as long as an election takes.
const REQUESTS: u32 = 8;

/// The replicated log.
#[derive(Clone, Copy)]
pub struct LogSteps<'c> {
    pub(in crate::strategy) context: &'c Context,
    pub(in crate::strategy) service: &'c LogService,
}

impl LogSteps<'_> {
    /// Writes a command into the log: what came of it. Every request to a member is a step of this name.
    ///
    /// # Errors
    /// As every step; the last one if no member could answer.
    pub async fn ask(self, step: StepName, command: Command) -> Result<Answer, Error> {
        self.ask_at_most(step, command, REQUESTS).await
    }

    /// The same, for what runs out by itself: once, and once more if another member leads by now.
    ///
    /// # Errors
    /// As [`LogSteps::ask`].
    pub async fn ask_in_passing(self, step: StepName, command: Command) -> Result<Answer, Error> {
        self.ask_at_most(step, command, 2).await
    }

    async fn ask_at_most(self, step: StepName, command: Command, requests: u32) -> Result<Answer, Error> {
        let Self { context, service } = self;
        let mut why = StoreError::not_sent("no member of the log leads");
        for asked in 0..requests {
            let member = service.presumed();
            let (ready, request) = (pin!(service.ready(member)), pin!(service.ask(member, command)));
            match context.operation(step, HostId::Log(member), ready, request).await {
                Ok(Reply::Answered(answer)) => return Ok(answer),
                Ok(Reply::Ask(leader)) if leader != member => {
                    service.presume(leader);
                    // At once the first time; a second one may be about somebody who is dead.
                    if asked == 0 {
                        continue;
                    }
                }
                Ok(Reply::Ask(_) | Reply::NoLeader) => service.presume(member + 1),
                Err(Error::Store(error)) => {
                    service.presume(member + 1);
                    why = error;
                }
                Err(other @ (Error::Job(_) | Error::GuardLost)) => return Err(other),
            }
            if asked + 1 < requests {
                context.sleep(context.scenario().node.timeout / 2).await;
            }
        }
        Err(why.into())
    }
}
