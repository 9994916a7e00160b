//! A numbered database of the lease store that nobody else uses: strategies give their leases
//! fixed names, so neither two tests nor anybody's own keys may meet them.

use crate::corner::TIMEOUT;
use onceproof::host::Database;
use onceproof::id::HostId;
use onceproof::real::Network;
use onceproof::redis;
use onceproof::seed::Seed;
use onceproof::store::{LeaseStore, StoreError};
use onceproof::time::Span;
use std::rc::Rc;
use std::{process, thread};

/// Says whose the database is; it runs out by itself if a test is killed.
const OWNER: &str = "onceproof:test";

/// Runs `story` with the number of an empty database, and empties it of what the story left.
pub async fn in_a_database_of_its_own<T>(url: &str, story: impl AsyncFnOnce(u8) -> Result<T, StoreError>) -> Result<T, StoreError> {
    let mine = format!("{}-{:?}", process::id(), thread::current().id());
    let (number, store) = claim(url, &mine).await?;
    let told = story(number).await;
    // All of them are ours: it was empty, and the owner's key has kept others away.
    let left: Vec<String> = store.with(async |mut c| redis::cmd("KEYS").arg("*").query_async(&mut c).await).await?;
    for key in left.iter().filter(|key| *key != OWNER) {
        store.del(key).await?;
    }
    store.compare_and_delete(OWNER, &mine).await?;
    told
}

/// The number of an empty database, which is `mine` from now on, and a client of it.
async fn claim(url: &str, mine: &str) -> Result<(u8, LeaseStore), StoreError> {
    for number in 1..16 {
        let network = Network::new(Seed(1), Database::default()).and_then(|network| network.with_lease_store(url, number))?;
        let store = LeaseStore::new(Rc::new(network).host(HostId::Traffic), TIMEOUT);
        if store.set_nx_px(OWNER, mine, 60.seconds()).await? {
            let keys: i64 = store.with(async |mut c| redis::cmd("DBSIZE").query_async(&mut c).await).await?;
            if keys == 1 {
                return Ok((number, store));
            }
            store.compare_and_delete(OWNER, mine).await?;
        }
    }
    Err(StoreError::rejected("no database of the lease store is free"))
}
