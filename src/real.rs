//! The seam of [`crate::host`] in the real world: tokio's sockets, the machine's clock. The same
//! strategies, clients and servers run on it that run in a simulation.
//!
//! Nothing goes wrong here on purpose, and nothing is judged: what hosts record is kept for
//! whoever wants to look at it. A [`Network`] knows where services are: those that it was told of,
//! and those that its own hosts offer on the loopback interface. It needs a `tokio::task::LocalSet`
//! on a runtime that drives sockets and timers.

mod address;
mod host;

pub use host::RealHost;

use crate::host::Database;
use crate::id::{AttemptId, HostId};
use crate::seed::Seed;
use crate::time::{SimTime, WallTime, millis};
use crate::trace::Event;
use address::authority;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::time::{Instant, SystemTime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};

/// What the hosts of one real deployment share.
pub struct Network {
    seed: Seed,
    began: Instant,
    database: Database,
    /// Which database of the lease store its clients use, by number.
    lease_number: u8,
    /// Where services are, as `host:port`.
    services: RefCell<BTreeMap<HostId, String>>,
    /// Whose a connection is, by the port that it comes from.
    ports: RefCell<BTreeMap<u16, HostId>>,
    records: RefCell<Vec<(SimTime, Event)>>,
    complaints: RefCell<Vec<(AttemptId, String)>>,
}

impl Network {
    /// A network on which nobody listens yet but the database. Its hosts draw from `seed`.
    ///
    /// # Errors
    /// `InvalidInput`: the URL of the database names no host.
    pub fn new(seed: Seed, database: Database) -> io::Result<Network> {
        let services = match &database {
            Database::PostgreSql { login: None } => BTreeMap::new(),
            Database::PostgreSql { login: Some(url) } => BTreeMap::from([(HostId::Database, authority(url, 5432)?)]),
            Database::MySql { url } => BTreeMap::from([(HostId::Database, authority(url, 3306)?)]),
        };
        Ok(Network {
            seed,
            began: now(),
            database,
            lease_number: 0,
            services: RefCell::new(services),
            ports: RefCell::default(),
            records: RefCell::default(),
            complaints: RefCell::default(),
        })
    }

    /// With the lease store of this URL, `redis://host:port`, in which clients use the database with this number.
    ///
    /// # Errors
    /// `InvalidInput`: the URL names no host.
    pub fn with_lease_store(mut self, url: &str, number: u8) -> io::Result<Network> {
        self.lease_number = number;
        self.services.get_mut().insert(HostId::Lease, authority(url, 6379)?);
        Ok(self)
    }

    /// A host on this network.
    pub fn host(self: &Rc<Network>, id: HostId) -> Rc<RealHost> {
        let random = self.seed.fork("host").nth(id.index() as u64).rng();
        Rc::new(RealHost::new(id, Rc::clone(self), RefCell::new(random)))
    }

    /// What hosts have recorded, in the order in which they did.
    pub fn records(&self) -> Vec<(SimTime, Event)> {
        self.records.borrow().clone()
    }

    /// Why attempts came to nothing.
    pub fn complaints(&self) -> Vec<(AttemptId, String)> {
        self.complaints.borrow().clone()
    }

    fn record(&self, event: Event) {
        self.records.borrow_mut().push((self.now(), event));
    }

    fn complain(&self, attempt: AttemptId, why: String) {
        self.complaints.borrow_mut().push((attempt, why));
    }

    fn now(&self) -> SimTime {
        SimTime(millis(now() - self.began))
    }

    /// Connects, so that a listener of this network knows who it is.
    async fn dial(&self, from: HostId, to: HostId) -> io::Result<TcpStream> {
        let known = self.services.borrow().get(&to).cloned();
        let service = known.ok_or_else(|| io::Error::new(io::ErrorKind::ConnectionRefused, format!("nobody has said where {to} is")))?;
        let mut failed = io::Error::new(io::ErrorKind::NotFound, format!("{service} has no address"));
        for address in lookup_host(service).await? {
            match self.reach(from, address).await {
                Ok(mut stream) => {
                    if to == HostId::Lease && self.lease_number > 0 {
                        select(&mut stream, self.lease_number).await?;
                    }
                    return Ok(stream);
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    async fn reach(&self, from: HostId, to: SocketAddr) -> io::Result<TcpStream> {
        let (socket, any) = match to {
            SocketAddr::V4(_) => (TcpSocket::new_v4()?, SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))),
            SocketAddr::V6(_) => (TcpSocket::new_v6()?, SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))),
        };
        socket.set_nodelay(true)?;
        // Its port is known before anybody can accept it.
        socket.bind(any)?;
        self.ports.borrow_mut().insert(socket.local_addr()?.port(), from);
        socket.connect(to).await
    }

    async fn listen(&self, host: HostId) -> io::Result<TcpListener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        self.services.borrow_mut().insert(host, listener.local_addr()?.to_string());
        Ok(listener)
    }

    /// Who has connected; `None`: nobody of this network.
    fn caller(&self, address: SocketAddr) -> Option<HostId> {
        self.ports.borrow().get(&address.port()).copied()
    }
}

/// Asks for a database of the lease store, before the client library has said anything.
async fn select(stream: &mut TcpStream, number: u8) -> io::Result<()> {
    const DONE: &[u8] = b"+OK\r\n";
    stream.write_all(format!("SELECT {number}\r\n").as_bytes()).await?;
    let mut answer = [0; DONE.len()];
    stream.read_exact(&mut answer).await?;
    match answer == DONE {
        true => Ok(()),
        false => Err(io::Error::other(format!("the lease store has no database {number}"))),
    }
}

#[expect(clippy::disallowed_methods, reason = "outside of simulations the machine's clock is the true time")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "outside of simulations hosts have the machine's clock")]
fn wall() -> WallTime {
    let shows = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // Rounded down: a clock does not show what has not come yet.
    WallTime(i64::try_from(shows.as_millis()).unwrap_or(i64::MAX))
}
