//! Fault classes in a few words, for those who do not know their names yet.

/// What happens in a class; nothing for one that this version does not know.
pub fn about(faults: &str) -> &'static str {
    match faults {
        "calm" => "nothing goes wrong",
        "skew" => "clocks are wrong by up to 5 min, some pair by at least 4 min",
        "drift" => "clocks run up to 2 % fast or slow",
        "step" => "a clock jumps by up to an hour",
        "crash" => "a process dies and comes back after 5 min",
        "power" => "a host falls silent and comes back after 5 min",
        "pause" => "a process stops, for 40 min or until its lease has just run out",
        "partition" => "a node is cut from everything for 40 min",
        "lease-cut" => "a node is cut from the lease store for 40 min",
        "db-cut" => "a node is cut from the database for 40 min",
        "slow" => "the job or the requests are slow",
        "reply-lost" => "a request is applied, its answer never arrives",
        "job-error" => "the job fails, once or several times",
        "lease-loss" => "the lease store restarts, forgets, fails over, is busy, or its clock jumps",
        "db-error" => "the database refuses a commit, or ends a session in a transaction",
        "db-restart" => "the database restarts",
        "outage" => "no node is alive around the end of a period",
        "log-fault" => "a member of the replicated log dies, stops or is cut off",
        "civil" => "summer time, leap days, ends of months, other time zones",
        "shutdown" => "a node is told to stop while it works",
        "redelivery" => "the queue hands out a message twice",
        "swarm" => "a random mix of all of them, on deployments drawn at random",
        "single" => "every single fault of seven kinds at every step, one after the other",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::FaultClass;

    #[test]
    fn every_known_class_is_told_once() {
        let mut told = FaultClass::ALL.map(|class| about(class.name())).to_vec();
        assert!(told.iter().all(|about| !about.is_empty()));
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), FaultClass::ALL.len());
    }
}
