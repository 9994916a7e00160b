//! The lease race: three nodes and two stores, frames of two bytes and one.

use crate::{Count, settings};
use futures_util::future::LocalBoxFuture;
use onceproof::host::Duplex;
use onceproof::id::HostId;
use onceproof::seed::Seed;
use onceproof::time::{SimTime, Span};
use onceproof::world::engine::{Boot, Engine, event};
use std::cell::Cell;
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub const ACQUIRE: u8 = b'a';
pub const RELEASE: u8 = b'r';
const WRITE: u8 = b'w';

/// What the stores hold. It is the run's own, so one struct serves both.
#[derive(Default)]
pub struct Stores {
    holder: Cell<Option<u8>>,
    writes: Cell<u32>,
}

/// Answers frames of two bytes, what and who, with one byte: whether it was done.
async fn answer(mut stream: Box<dyn Duplex>, stores: Rc<Stores>) {
    let mut frame = [0; 2];
    while stream.read_exact(&mut frame).await.is_ok() {
        let [what, who] = frame;
        let free = stores.holder.get().is_none();
        match what {
            ACQUIRE if free => stores.holder.set(Some(who)),
            RELEASE => stores.holder.set(None),
            WRITE => stores.writes.set(stores.writes.get() + 1),
            _ => {}
        }
        if stream.write_all(&[u8::from(what != ACQUIRE || free)]).await.is_err() {
            return;
        }
    }
}

/// The process of a store.
pub async fn store(engine: Rc<dyn Engine>, me: HostId, stores: Rc<Stores>) {
    let mut listener = engine.listen(me).await.expect("nobody else listens");
    while let Ok((stream, _)) = listener.accept().await {
        engine.spawn(me, "connection", Box::pin(answer(stream, Rc::clone(&stores)))).detach();
    }
}

/// Asks for something, and waits until it is done or refused.
pub async fn ask(stream: &mut Box<dyn Duplex>, what: u8, who: u8) -> bool {
    let mut reply = [0; 1];
    stream.write_all(&[what, who]).await.expect("nothing breaks");
    stream.read_exact(&mut reply).await.expect("nothing breaks");
    reply[0] == 1
}

async fn node(engine: Rc<dyn Engine>, number: u8) {
    let me = HostId::node(number);
    let mut lease = engine.connect(me, HostId::Lease).await.expect("the store listens");
    let mut database = engine.connect(me, HostId::Database).await.expect("the store listens");
    for period in 1_u64.. {
        engine.sleep(SimTime(10_000 * period).since(engine.now())).await;
        if ask(&mut lease, ACQUIRE, number).await {
            engine.sleep(2.seconds()).await;
            ask(&mut database, WRITE, number).await;
            ask(&mut lease, RELEASE, number).await;
        }
    }
}

/// One race; how often the job ran.
pub fn race(seed: Seed) -> u32 {
    let settings = settings(seed, 1.minutes());
    let stores = Rc::new(Stores::default());
    let observer = Rc::new(Count::default());
    let build = |engine: Rc<dyn Engine>| {
        let boot = |id: HostId| -> Boot {
            let (engine, stores) = (Rc::clone(&engine), Rc::clone(&stores));
            Rc::new(move || -> LocalBoxFuture<'static, ()> {
                match id {
                    HostId::Node(n) => Box::pin(node(Rc::clone(&engine), n.0)),
                    _ => Box::pin(store(Rc::clone(&engine), id, Rc::clone(&stores))),
                }
            })
        };
        let hosts = [HostId::Lease, HostId::Database, HostId::node(0), HostId::node(1), HostId::node(2)];
        hosts.map(|id| (id, boot(id))).into()
    };
    event::run(&settings, observer, build).expect("only the engine's own timers are used");
    stores.writes.get()
}
