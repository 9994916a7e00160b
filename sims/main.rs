//! Simulation tests: one story a file, each with its control.

mod stage;

mod boundary_at_work;
mod claim_reply_lost;
mod cli;
mod clock_set_back;
mod commit_reply_lost;
mod crash_after_claim;
mod crash_before_payment;
mod crashed_holder;
mod cut_from_the_database;
mod database_crash;
mod determinism;
mod example;
mod fairness;
mod fast_clock;
mod horizon;
mod job_error;
mod late_clock;
mod late_delete;
mod layers;
mod misbehaviour;
mod must_break;
mod no_guard;
mod one_way_partition;
mod outage;
mod paused_holder;
mod paused_transaction;
mod payment_reply_lost;
mod pgwire_differential;
mod power_cut;
mod repetition;
mod same_second;
mod slow_clock;
mod stale_claim;
