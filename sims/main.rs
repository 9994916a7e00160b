//! Simulation tests: one story a file, each with its control.

mod stage;

mod claim_reply_lost;
mod cli;
mod commit_reply_lost;
mod crash_after_claim;
mod crash_before_payment;
mod crashed_holder;
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
mod lease_cut;
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
mod restart_frees;
mod slow_clock;
mod two_commands;
