//! A host: a kernel that runs for as long as the simulation, and at most one process on it.
//!
//! turmoil's own `crash` is not used. It acts between steps only, says goodbye in a power cut
//! too, and delivers nothing to a crashed host: what arrives waits for the restart, so that a
//! connect to a dead process hangs instead of being refused. Here turmoil's host is the kernel,
//! and processes come and go on it: their sockets are closed, and strangers refused, by turmoil.

use super::process::{Gate, Process, TaskCell};
use super::wire::Bell;
use super::{TURMOIL_MS, Turmoil};
use crate::id::HostId;
use crate::world::contain;
use crate::world::engine::Boot;
use std::cell::{OnceCell, RefCell};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::RuntimeMetrics;

/// What only the kernel can do, because it has to happen inside its host.
pub(super) enum Order {
    /// Start the first task of a process.
    Boot(Rc<Process>),
    /// Start a task that was spawned from outside the host.
    Start(Rc<Process>, Rc<TaskCell>),
    /// Drop an aborted task.
    End(Rc<Process>, Rc<TaskCell>),
    /// Drop all tasks of a dead process.
    Bury(Rc<Process>),
}

pub(super) struct Machine {
    pub(super) host: HostId,
    pub(super) bell: Arc<Bell>,
    pub(super) address: OnceCell<IpAddr>,
    pub(super) boot: RefCell<Option<Boot>>,
    /// The present process; `None` = the host is down.
    pub(super) process: RefCell<Option<Rc<Process>>>,
    /// What turmoil's runtime for this host counts.
    pub(super) metrics: OnceCell<RuntimeMetrics>,
    orders: RefCell<VecDeque<Order>>,
}

impl Machine {
    pub(super) fn new(host: HostId, bell: Arc<Bell>) -> Machine {
        Machine {
            host,
            bell,
            address: OnceCell::new(),
            boot: RefCell::default(),
            process: RefCell::default(),
            metrics: OnceCell::new(),
            orders: RefCell::default(),
        }
    }

    pub(super) fn order(&self, order: Order) {
        self.orders.borrow_mut().push_back(order);
        self.bell.ring();
    }

    /// Starts a process, if none runs.
    pub(super) fn start(&self) {
        if self.process.borrow().is_none() {
            let process = Rc::new(Process::new(self.host));
            *self.process.borrow_mut() = Some(process.clone());
            self.order(Order::Boot(process));
        }
    }

    /// Kills the process, if one runs: from this moment on none of its tasks is polled.
    pub(super) fn kill(&self) -> bool {
        let Some(process) = self.process.take() else { return false };
        process.dead.set(true);
        self.order(Order::Bury(process));
        true
    }

    fn next_order(&self) -> Option<Order> {
        self.orders.borrow_mut().pop_front()
    }

    /// Forgets everything, so that nothing keeps anything alive in a circle. Called outside the simulation.
    pub(super) fn clear(&self) {
        self.boot.take();
        self.kill();
        while let Some(order) = self.next_order() {
            if let Order::Bury(process) = order {
                process.end();
            }
        }
    }
}

/// The software of turmoil's host.
#[expect(clippy::disallowed_methods, reason = "turmoil drives the timers of its own runtime")]
pub(super) async fn kernel(engine: Rc<Turmoil>, machine: Rc<Machine>) -> turmoil::Result {
    machine.metrics.get_or_init(|| tokio::runtime::Handle::current().metrics());
    loop {
        engine.inside(machine.host, || {
            while let Some(order) = machine.next_order() {
                obey(&engine, &machine, order);
            }
        });
        let next = {
            let mut state = engine.wire.lock();
            state.flush(machine.host, &machine.bell).map(|due| due.saturating_sub(state.now))
        };
        engine.report();
        let sleep = async {
            match next {
                Some(ms) => tokio::time::sleep(Duration::from_millis(ms.max(TURMOIL_MS))).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = machine.bell.rung() => {}
            () = sleep => {}
        }
    }
}

fn obey(engine: &Rc<Turmoil>, machine: &Machine, order: Order) {
    match order {
        Order::Boot(process) => {
            let boot = machine.boot.borrow().clone().filter(|_| !process.dead.get());
            let Some(boot) = boot else { return };
            match contain(|| boot()) {
                Ok(main) => {
                    let task = process.add(super::process::Kind::Application, main);
                    run(engine, process, task);
                }
                Err(message) => engine.panicked(machine.host, message),
            }
        }
        Order::Start(process, task) => run(engine, process, task),
        Order::End(process, task) => process.end_task(&task),
        Order::Bury(process) => process.end(),
    }
}

/// Hands a task to turmoil's runtime for this host. Called inside the host.
pub(super) fn run(engine: &Rc<Turmoil>, process: Rc<Process>, task: Rc<TaskCell>) {
    // The handle is not needed: the gate ends by itself when its task has ended.
    drop(tokio::task::spawn_local(Gate { engine: engine.clone(), process, task }));
}
