//! A grant of the log: for one period, or for the whole job.

use crate::store::StoreError;
use crate::store::log::{Answer, Command, Key};
use crate::strategy::context::{Context, Error};
use crate::time::millis;

/// How many renewals in a row may go unanswered. One leaves time for another before the grant runs out.
const UNANSWERED: u32 = 1;

/// A grant that this process holds, as far as it knows.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    key: Key,
    nonce: u64,
    /// Its place in the log.
    pub token: i64,
}

impl Grant {
    /// Asks for `key`: the grant, or the answer that is none.
    ///
    /// # Errors
    /// As every step.
    pub async fn ask(context: &Context, key: Key) -> Result<Result<Grant, Answer>, Error> {
        let nonce = context.random();
        let ttl_ms = millis(context.scenario().log.lease);
        Ok(match context.log().ask("log.grant", Command::Grant { key, nonce, ttl_ms }).await? {
            Answer::Granted { token } => Ok(Grant { key, nonce, token }),
            other => Err(other),
        })
    }

    /// The work of an attempt, for as long as the grant is renewed beside it. A renewal that takes as long as the grant may last is a loss.
    ///
    /// # Errors
    /// As the work; the grant was lost meanwhile.
    pub async fn work(self, context: &Context) -> Result<(), Error> {
        tokio::select! {
            biased;
            worked = context.work() => worked,
            () = self.watch(context) => Err(Error::GuardLost),
        }
    }

    async fn watch(self, context: &Context) {
        let knobs = &context.scenario().log;
        let (ttl_ms, patience) = (millis(knobs.lease), knobs.lease.saturating_sub(knobs.renew_every));
        let mut unanswered = 0;
        loop {
            context.sleep(knobs.renew_every).await;
            let renewed = tokio::select! {
                biased;
                answer = context.log().ask("log.renew", Command::Renew { key: self.key, nonce: self.nonce, ttl_ms }) => answer,
                () = context.sleep(patience) => return,
            };
            match renewed {
                Ok(Answer::Yes) => unanswered = 0,
                Err(_) if unanswered < UNANSWERED => unanswered += 1,
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Gives it back. If that fails, it runs out by itself.
    pub async fn release(self, context: &Context) {
        let _ = context.log().ask_in_passing("log.release", Command::Release { key: self.key, nonce: self.nonce }).await;
    }

    /// Decides the key for this grant: whether it is its own decision now.
    ///
    /// # Errors
    /// As every step.
    pub async fn decide(self, context: &Context) -> Result<bool, Error> {
        match context.log().ask("log.decide", Command::Decide { key: self.key, nonce: self.nonce }).await? {
            Answer::Decided { token, .. } => Ok(token == self.token),
            Answer::No | Answer::Over => Ok(false),
            other => Err(unexpected(&other)),
        }
    }
}

/// The log said what answers another question.
pub fn unexpected(answer: &Answer) -> Error {
    StoreError::rejected(format!("the log answered {answer:?}")).into()
}
