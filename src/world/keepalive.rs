//! TCP keepalive of the database's host. PostgreSQL turns it on and leaves its times to the system
//! (`tcp_keepalives_idle`, `tcp_keepalives_interval` and `tcp_keepalives_count` are 0 by default);
//! they are Linux's, as tcp(7) tells them. A host that does not know the connection answers the
//! first probe with a reset, so the session of a client that lost power ends two hours after it
//! said something last, or when nine probes went unanswered. Only whoever fell silent is asked.
//!
//! The lease store keeps nothing for a connection but a place among those who wait for a message. Redis
//! asks after 300 s (`tcp-keepalive`), and by default nobody waits for longer than 5 s (`queue.block`).

use crate::id::HostId;
use crate::time::Span;
use crate::world::servers::postgres::Line;
use crate::world::state::World;
use std::rc::{Rc, Weak};
use std::time::Duration;

/// `tcp_keepalive_probes`.
const PROBES: u32 = 9;

impl World {
    /// `tcp_keepalive_time`.
    fn idle(&self) -> Duration {
        self.in_scale(2.hours())
    }

    /// `tcp_keepalive_intvl`.
    fn between_probes(&self) -> Duration {
        self.in_scale(75.seconds())
    }

    /// From now on the database cannot know whether the clients on a host are still there.
    pub(super) fn doubt(self: &Rc<Self>, host: HostId) {
        let process = self.incarnation(host);
        for line in self.database.trouble().lines_of(host) {
            if line.upgrade().is_some_and(|line| !line.doubted.replace(true)) {
                self.probe(host, process, line, 0);
            }
        }
    }

    /// `sent` probes have been sent: waits until the next is due, or finds that the connection has ended.
    fn probe(self: &Rc<Self>, host: HostId, process: u32, line: Weak<Line>, sent: u32) {
        let Some(known) = line.upgrade() else { return };
        let due = known.heard.get() + self.idle() + self.between_probes() * sent;
        if self.now() < due {
            return self.later(due, move |world| world.ask(host, process, line, sent));
        }
        self.ask(host, process, line, sent);
    }

    fn ask(self: &Rc<Self>, host: HostId, process: u32, line: Weak<Line>, sent: u32) {
        let Some(known) = line.upgrade() else { return };
        let heard_meanwhile = self.now() < known.heard.get() + self.idle();
        let (reached, there) = (self.reaches(HostId::Database, host), self.is_still(host, process));
        if reached && there {
            known.doubted.set(false);
        } else if heard_meanwhile {
            self.probe(host, process, line, 0);
        } else if reached || sent == PROBES {
            known.gone.notify_one();
        } else {
            self.probe(host, process, line, sent + 1);
        }
    }
}
