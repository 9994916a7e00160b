//! Exit codes, and the failures that lead to them.

use crate::explore::observe::NoResult;
use crate::explore::sweep::Stopped;
use std::process::{ExitCode, Termination};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: as expected.
    AsExpected,
    /// 1: an unexpected verdict.
    Unexpected,
    /// 2: wrong usage, bad input, or output that cannot be written.
    Usage,
    /// 3: the harness cannot be trusted.
    Distrust,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    /// The number that a shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::AsExpected => 0,
            Exit::Unexpected => 1,
            Exit::Usage => 2,
            Exit::Distrust => 3,
            Exit::Interrupted => 130,
        }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}

/// Why a command had no result. The text is a lowercase line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The user has to write something else.
    #[error("{0}")]
    Usage(String),
    /// Standard output takes nothing more: the disk is full, say.
    #[error("cannot write to standard output: {0}")]
    Output(String),
    /// The harness is wrong.
    #[error("{0}")]
    Distrust(String),
    /// Ctrl-C.
    #[error("interrupted; nothing was written, earlier reports are as they were")]
    Interrupted,
    /// Ctrl-C, and what has been done is kept.
    #[error("{0}")]
    Suspended(String),
}

impl Failure {
    /// A user's mistake, from whatever tells it.
    #[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
    pub fn usage(told: impl ToString) -> Failure {
        Failure::Usage(told.to_string())
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Failure::Usage(_) | Failure::Output(_) => Exit::Usage,
            Failure::Distrust(_) => Exit::Distrust,
            Failure::Interrupted | Failure::Suspended(_) => Exit::Interrupted,
        }
    }
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Failure {
        match &stopped {
            _ if stopped.is_interrupted() => Failure::Interrupted,
            Stopped::Cancelled => Failure::Interrupted,
            Stopped::NoResult { why: NoResult::Refused(_), .. } => Failure::usage(stopped),
            Stopped::NoResult { strategy, class, seed, why: NoResult::Bug(what) } => Failure::Distrust(format!(
                "onceproof itself failed: {what}, in a run of {strategy} under {class} with seed {seed}; the same command fails the same way again"
            )),
        }
    }
}
