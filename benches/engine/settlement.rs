//! The settlement with SQL: what its hosts ask, over the engine and directly.
//!
//! | requests of one period | |
//! |---|---|
//! | 12 | the players earn |
//! | 3 | the nodes ask for the lease |
//! | 2 | the winner looks at the task and claims it |
//! | 2 | BEGIN and COMMIT |
//! | 1 | the settlement row |
//! | 1 | the first 30 players |
//! | 30 | a ranking row each |
//! | 1 | everybody's points are reset |
//! | 1 | the lease is given back |
//!
//! 53 a period, 318 in six. A frame is 40 bytes: a statement by its number and four integers.
//! Its answer is the number of rows and two integers for each.

use crate::books::{Arguments, Books, PLAYERS, Statement};
use crate::race::{ACQUIRE, RELEASE, Stores, ask, store};
use crate::{Count, settings};
use futures_util::future::LocalBoxFuture;
use onceproof::host::Duplex;
use onceproof::id::HostId;
use onceproof::seed::Seed;
use onceproof::settlement::RANKED;
use onceproof::time::{SimTime, Span};
use onceproof::world::engine::{Boot, Engine, event};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Periods that are settled.
pub const PERIODS: i64 = 6;

/// What all hosts together ask.
pub const REQUESTS: u32 = 318;

/// Nodes that want each period.
const NODES: u8 = 3;

const EARNINGS: i64 = 12;

/// The players are done long before it is over, and the settlement long before they begin again.
const PERIOD: Duration = Duration::from_secs(20);

/// A database and everybody who asks it.
struct World {
    engine: Rc<dyn Engine>,
    books: Rc<Books>,
    leases: Rc<Stores>,
    requests: Rc<Cell<u32>>,
}

/// One seed on the engine; how many requests were made.
pub fn on_frames(books: &Rc<Books>, seed: Seed) -> u32 {
    let (leases, requests) = (Rc::new(Stores::default()), Rc::new(Cell::new(0)));
    let settings = settings(seed, PERIOD * (PERIODS as u32 + 1));
    let build = |engine: Rc<dyn Engine>| {
        let world = Rc::new(World { engine, books: Rc::clone(books), leases: Rc::clone(&leases), requests: Rc::clone(&requests) });
        let boot = |id: HostId| -> Boot {
            let world = Rc::clone(&world);
            Rc::new(move || -> LocalBoxFuture<'static, ()> {
                let world = Rc::clone(&world);
                match id {
                    HostId::Node(n) => Box::pin(async move { world.node(n.0).await }),
                    HostId::Traffic => Box::pin(async move { world.players().await }),
                    HostId::Database => Box::pin(async move { world.database().await }),
                    _ => Box::pin(store(Rc::clone(&world.engine), id, Rc::clone(&world.leases))),
                }
            })
        };
        let hosts = [HostId::Lease, HostId::Database, HostId::Traffic].into_iter().chain((0..NODES).map(HostId::node));
        hosts.map(|id| (id, boot(id))).collect()
    };
    let told = books.undone(|| {
        event::run(&settings, Rc::new(Count::default()), build).expect("only the engine's own timers are used");
    });
    assert_eq!(told, (PERIODS, PERIODS * RANKED as i64), "every period is settled once");
    requests.get()
}

/// The same statements in the same order, asked directly.
pub fn alone(books: &Books) {
    let told = books.undone(|| {
        for period in 1..=PERIODS {
            for n in 0..EARNINGS {
                books.execute(Statement::Earn, earning(period, n));
            }
            let task = books.execute(Statement::Look, [period, 0, 0, 0]);
            books.execute(Statement::Claim, [period, task[0].1, 0, 0]);
            books.execute(Statement::Begin, [0; 4]);
            books.execute(Statement::Mark, [period, 0, 0, 0]);
            for (rank, (player, points)) in (1..).zip(books.execute(Statement::Top, [0; 4])) {
                books.execute(Statement::Rank, [period, rank, player, points]);
            }
            books.execute(Statement::Reset, [0; 4]);
            books.execute(Statement::Commit, [0; 4]);
        }
    });
    assert_eq!(told, (PERIODS, PERIODS * RANKED as i64), "every period is settled once");
}

/// How much who earns.
fn earning(period: i64, n: i64) -> Arguments {
    [10 + n, (period * 31 + n * 7) % PLAYERS + 1, 0, 0]
}

impl World {
    /// Answers every connection, each in a task of its own.
    async fn database(&self) {
        let mut listener = self.engine.listen(HostId::Database).await.expect("nobody else listens");
        while let Ok((stream, _)) = listener.accept().await {
            let answers = answer(stream, Rc::clone(&self.books));
            self.engine.spawn(HostId::Database, "connection", Box::pin(answers)).detach();
        }
    }

    /// Asks the database, and waits for its rows.
    async fn query(&self, stream: &mut Box<dyn Duplex>, statement: Statement, arguments: Arguments) -> Vec<(i64, i64)> {
        self.requests.set(self.requests.get() + 1);
        let mut frame = [0; 40];
        for (word, number) in frame.chunks_exact_mut(8).zip([statement as i64].into_iter().chain(arguments)) {
            word.copy_from_slice(&number.to_be_bytes());
        }
        stream.write_all(&frame).await.expect("nothing breaks");
        let rows = stream.read_i64().await.expect("nothing breaks");
        let mut answer = Vec::with_capacity(rows as usize);
        for _ in 0..rows {
            answer.push((stream.read_i64().await.expect("nothing breaks"), stream.read_i64().await.expect("nothing breaks")));
        }
        answer
    }

    async fn ask(&self, stream: &mut Box<dyn Duplex>, what: u8, who: u8) -> bool {
        self.requests.set(self.requests.get() + 1);
        ask(stream, what, who).await
    }

    async fn sleep_until(&self, at: SimTime) {
        self.engine.sleep(at.since(self.engine.now())).await;
    }

    /// The players earn from the fourth second of a period on.
    async fn players(&self) {
        let mut database = self.engine.connect(HostId::Traffic, HostId::Database).await.expect("the store listens");
        for period in 1..=PERIODS {
            for n in 0..EARNINGS {
                self.sleep_until(SimTime::ZERO + PERIOD * (period as u32 - 1) + 4.seconds() + 500.ms() * n as u32).await;
                self.query(&mut database, Statement::Earn, earning(period, n)).await;
            }
        }
    }

    /// A node asks for the lease at the end of each period; who gets it works for two seconds and settles.
    async fn node(&self, number: u8) {
        let me = HostId::node(number);
        let mut lease = self.engine.connect(me, HostId::Lease).await.expect("the store listens");
        let mut database = self.engine.connect(me, HostId::Database).await.expect("the store listens");
        for period in 1..=PERIODS {
            self.sleep_until(SimTime::ZERO + PERIOD * period as u32).await;
            if self.ask(&mut lease, ACQUIRE, number).await {
                self.settle(&mut database, period, number).await;
                self.ask(&mut lease, RELEASE, number).await;
            }
        }
    }

    async fn settle(&self, database: &mut Box<dyn Duplex>, period: i64, number: u8) {
        let task = self.query(database, Statement::Look, [period, 0, 0, 0]).await;
        self.query(database, Statement::Claim, [period, task[0].1, 0, 0]).await;
        self.engine.sleep(2.seconds()).await;
        self.query(database, Statement::Begin, [0; 4]).await;
        self.query(database, Statement::Mark, [period, i64::from(number), 0, 0]).await;
        for (rank, (player, points)) in (1..).zip(self.query(database, Statement::Top, [0; 4]).await) {
            self.query(database, Statement::Rank, [period, rank, player, points]).await;
        }
        self.query(database, Statement::Reset, [0; 4]).await;
        self.query(database, Statement::Commit, [0; 4]).await;
    }
}

/// Answers frames until the client goes away.
async fn answer(mut stream: Box<dyn Duplex>, books: Rc<Books>) {
    let mut frame = [0; 40];
    while stream.read_exact(&mut frame).await.is_ok() {
        let mut words = frame.chunks_exact(8).map(|word| i64::from_be_bytes(word.try_into().expect("eight bytes")));
        let mut next = || words.next().expect("five words");
        let statement = Statement::numbered(next()).expect("one of the statements");
        let rows = books.execute(statement, std::array::from_fn(|_| next()));
        let mut reply = Vec::with_capacity(8 + 16 * rows.len());
        reply.extend((rows.len() as i64).to_be_bytes());
        for (first, second) in rows {
            reply.extend(first.to_be_bytes());
            reply.extend(second.to_be_bytes());
        }
        if stream.write_all(&reply).await.is_err() {
            return;
        }
    }
}
