//! What a strategy may touch: the lease store, the database, the payout service.
