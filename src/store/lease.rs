//! The lease store: redis-rs over one multiplexed connection, which every task of a process shares.

use crate::host::{Host, Task, within};
use crate::id::HostId;
use crate::store::StoreError;
use crate::time::millis;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, ProtocolVersion, RedisConnectionInfo, Script};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Deletes a lease, but only its owner's own.
pub const RELEASE_SCRIPT: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

/// Extends a lease by as many milliseconds as its second argument says, but only its owner's own.
pub const RENEW_SCRIPT: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";

thread_local! {
    // A script is known to the server by its hash; it is computed once a thread.
    static RELEASE: Rc<Script> = Rc::new(Script::new(RELEASE_SCRIPT));
    static RENEW: Rc<Script> = Rc::new(Script::new(RENEW_SCRIPT));
}

/// A client of the lease store, or of one of several.
pub struct LeaseStore {
    host: Rc<dyn Host>,
    server: HostId,
    pub(super) timeout: Duration,
    open: RefCell<Open>,
}

/// The connection, and how many there were: a call that fails late must not drop its successor.
#[derive(Default)]
struct Open {
    generation: u64,
    connection: Option<MultiplexedConnection>,
    /// It would wait for answers that do not come.
    driver: Option<Task>,
}

impl LeaseStore {
    /// A client on `host` that waits for at most `timeout` for a connection or an answer.
    pub fn new(host: Rc<dyn Host>, timeout: Duration) -> LeaseStore {
        LeaseStore::of(host, HostId::Lease, timeout)
    }

    /// As [`LeaseStore::new`], of another server.
    pub fn of(host: Rc<dyn Host>, server: HostId, timeout: Duration) -> LeaseStore {
        LeaseStore { host, server, timeout, open: RefCell::default() }
    }

    /// The server.
    pub fn server(&self) -> HostId {
        self.server
    }

    /// Connects, unless a connection is open.
    ///
    /// # Errors
    /// `NotSent`: the store could not be reached.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.connection().await.map(drop)
    }

    /// `SET key value NX PX ttl`: whether the lease was granted.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn set_nx_px(&self, key: &str, value: &str, ttl: Duration) -> Result<bool, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        let mut command = redis::cmd("SET");
        command.arg(key).arg(value).arg("NX").arg("PX").arg(millis(ttl));
        let granted: Option<String> = self.call(generation, command.query_async(&mut connection)).await?;
        Ok(granted.is_some())
    }

    /// `SETNX key value`: whether the key was set. It never runs out by itself.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn setnx(&self, key: &str, value: &str) -> Result<bool, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        let set: i64 = self.call(generation, redis::cmd("SETNX").arg(key).arg(value).query_async(&mut connection)).await?;
        Ok(set == 1)
    }

    /// `PEXPIRE key ttl`, whoever holds it: whether there was such a key. `EXPIRE` is the same in whole seconds.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn pexpire(&self, key: &str, ttl: Duration) -> Result<bool, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        let expires: i64 = self.call(generation, redis::cmd("PEXPIRE").arg(key).arg(millis(ttl)).query_async(&mut connection)).await?;
        Ok(expires == 1)
    }

    /// `GET key`.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn get(&self, key: &str) -> Result<Option<String>, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        self.call(generation, redis::cmd("GET").arg(key).query_async(&mut connection)).await
    }

    /// `DEL key`, whoever holds it: whether there was anything to delete.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn del(&self, key: &str) -> Result<bool, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        let deleted: i64 = self.call(generation, redis::cmd("DEL").arg(key).query_async(&mut connection)).await?;
        Ok(deleted == 1)
    }

    /// Deletes the lease if its value is still `token`: whether it was.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn compare_and_delete(&self, key: &str, token: &str) -> Result<bool, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        let script = RELEASE.with(Rc::clone);
        let deleted: i64 = self.call(generation, script.key(key).arg(token).invoke_async(&mut connection)).await?;
        Ok(deleted == 1)
    }

    /// Sets the lease's expiry anew if its value is still `token`: whether it was.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn compare_and_expire(&self, key: &str, token: &str, ttl: Duration) -> Result<bool, StoreError> {
        let (generation, mut connection) = self.connection().await?;
        let script = RENEW.with(Rc::clone);
        let extended: i64 = self.call(generation, script.key(key).arg(token).arg(millis(ttl)).invoke_async(&mut connection)).await?;
        Ok(extended == 1)
    }

    /// Does anything with a connection: `work` as a whole has the client timeout.
    ///
    /// # Errors
    /// As every call to a store.
    pub async fn with<T>(&self, work: impl AsyncFnOnce(MultiplexedConnection) -> redis::RedisResult<T>) -> Result<T, StoreError> {
        let (generation, connection) = self.connection().await?;
        self.call(generation, work(connection)).await
    }

    pub(super) async fn connection(&self) -> Result<(u64, MultiplexedConnection), StoreError> {
        {
            let open = self.open.borrow();
            if let Some(connection) = &open.connection {
                return Ok((open.generation, connection.clone()));
            }
        }
        let (connection, driver) =
            within(&*self.host, self.timeout, Box::pin(self.connect())).await.unwrap_or_else(|| Err(StoreError::not_sent("timed out")))?;
        let mut open = self.open.borrow_mut();
        open.generation += 1;
        open.connection = Some(connection.clone());
        open.driver = Some(driver);
        Ok((open.generation, connection))
    }

    async fn connect(&self) -> Result<(MultiplexedConnection, Task), StoreError> {
        let stream = self.host.connect(self.server).await?;
        // RESP2 needs no greeting, and the library's name is not worth a round trip: nothing is sent here.
        let info = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP2).set_skip_set_lib_name();
        // The library's own timeout would be a tokio timer; ours follows the clock of the host.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let (connection, driver) = MultiplexedConnection::new_with_config(&info, stream, config).await.map_err(StoreError::not_sent)?;
        Ok((connection, self.host.spawn("lease-driver", Box::pin(driver))))
    }

    pub(super) async fn call<T>(&self, generation: u64, call: impl Future<Output = redis::RedisResult<T>>) -> Result<T, StoreError> {
        self.call_within(self.timeout, generation, call).await
    }

    /// A call that may take longer than others.
    pub(super) async fn call_within<T>(
        &self,
        limit: Duration,
        generation: u64,
        call: impl Future<Output = redis::RedisResult<T>>,
    ) -> Result<T, StoreError> {
        let failed = match within(&*self.host, limit, call).await {
            Some(Ok(value)) => return Ok(value),
            Some(Err(error)) => StoreError::from(error),
            None => StoreError::timed_out(),
        };
        if failed.lost_connection() {
            let mut open = self.open.borrow_mut();
            if open.generation == generation {
                open.connection = None;
                if let Some(driver) = open.driver.take() {
                    driver.abort();
                }
            }
        }
        Err(failed)
    }
}
