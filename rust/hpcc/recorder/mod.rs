//! What an experiment writes while it runs: the trace, and what its monitors see.
//!
//! A recorder watches the run of either world and writes each file as it goes on; where they are
//! written to is up to the caller.

mod interface;
mod queue_monitor;
mod switch_monitor;
#[cfg(test)]
mod tests;
mod trace;
mod trace_format;

use std::fmt;
use std::io::{self, Write};

use self::queue_monitor::QueueMonitor;
use self::switch_monitor::{
    BEYOND, BUCKET, ConnectionMonitor, NotificationMonitor, Turns, UplinkMonitor, last_look,
};
use self::trace::Trace;
use crate::fabric::{Outcome, PacketRecord, Sight, Verdict, Watch};
use crate::hpcc::config::Family;
use crate::hpcc::{Experiment, wire};
use crate::ids::PortId;
use crate::topology::Node;
use crate::units::Time;

/// A file that is written while an experiment runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// What happens to packets, `TRACE_OUTPUT_FILE`.
    Trace,
    /// What waits in switches, `QLEN_MON_FILE`.
    Queues,
    /// What goes up from switches with hosts, `UPLINK_MON_FILE`.
    Uplinks,
    /// Connections of hosts, `CONN_MON_FILE`.
    Connections,
    /// Congestion notifications, `CNP_OUTPUT_FILE`.
    Notifications,
}

/// A table that is written when an experiment is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// `fct.txt`.
    Completions,
    /// `pfc.txt`.
    Pauses,
}

/// Names that results have already.
const RESULTS: [&str; 5] = ["fct.txt", "pfc.txt", "flows.csv", "links.csv", "summary.json"];

/// What files are called that the configuration does not name.
const USUAL: [&str; 5] = ["mix.tr", "qlen.txt", "uplink.txt", "conn.txt", "cnp.txt"];

/// Where a file goes, and whether that has worked so far.
struct Sink {
    to: Box<dyn Write>,
    failed: Option<io::Error>,
}

impl Sink {
    fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = write(&mut *self.to).err();
        }
    }
}

/// Something that writes into a file of its own.
struct Part<T> {
    of: T,
    sink: Sink,
}

/// Watches an experiment's run and writes what its configuration asks for.
pub struct Recorder {
    /// By host, then by switch, whether its packets are traced.
    traced: [Vec<bool>; 2],
    trace: Option<Part<Trace>>,
    queues: Option<Part<QueueMonitor>>,
    uplinks: Option<Part<UplinkMonitor>>,
    connections: Option<Part<ConnectionMonitor>>,
    notifications: Option<Part<NotificationMonitor>>,
    /// When flows start.
    from: Time,
    switch_turns: Turns,
    notification_turns: Turns,
    ports: Vec<PortId>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a recorder")
    }
}

impl Experiment {
    /// The files that are written while it runs, with the names that its configuration gives them:
    /// the trace where `ENABLE_TRACE` and `TRACE_FILE` ask for it; lengths of queues where a
    /// configuration of HPCC says from when to when; monitors of ConWeave that are named.
    pub fn recorded(&self) -> Vec<(Recorded, String)> {
        let (config, names) = (&self.config, &self.config.outputs);
        let is_of = |family| config.family() == family;
        let has_span = config.queues_from.zip(config.queues_until).is_some_and(|(a, b)| a < b);
        let looks = |name: &Option<String>| is_of(Family::ConWeave) && name.is_some();
        let asked = [
            (self.traced.is_some(), Recorded::Trace, &names.trace),
            (is_of(Family::Hpcc) && has_span, Recorded::Queues, &names.queues),
            (looks(&names.uplinks), Recorded::Uplinks, &names.uplinks),
            (looks(&names.connections), Recorded::Connections, &names.connections),
            (looks(&names.notifications), Recorded::Notifications, &names.notifications),
        ];
        let mut files: Vec<(Recorded, String)> = Vec::new();
        for ((_, what, name), other) in
            asked.into_iter().zip(USUAL).filter(|((asked, ..), _)| *asked)
        {
            let is_free = |name: &String| {
                !RESULTS.contains(&name.as_str()) && !files.iter().any(|(_, taken)| taken == name)
            };
            let numbered = (2..).map(|n: u32| format!("{n}-{other}"));
            let names = name.iter().cloned().chain([other.to_owned()]).chain(numbered);
            let name = names.into_iter().find(is_free).expect("numbers do not end before names do");
            files.push((what, name));
        }
        files
    }

    /// Every name that a file of its may have, now or when other things were asked for: what is
    /// there by such a name is an earlier result.
    pub fn file_names(&self) -> Vec<String> {
        let names = &self.config.outputs;
        let given = [
            &names.fct,
            &names.pfc,
            &names.queues,
            &names.trace,
            &names.uplinks,
            &names.connections,
            &names.notifications,
        ];
        let given = given.into_iter().flatten().filter(|name| !RESULTS.contains(&name.as_str()));
        let written = self.recorded().into_iter().map(|(_, name)| name);
        let usual = USUAL.map(str::to_owned);
        written.chain(given.cloned()).chain(usual).collect()
    }

    /// The tables that are written when it is over: `fct.txt` and `pfc.txt`, and each once more
    /// by the name that the configuration gives it, if that is another one.
    pub fn tables(&self) -> Vec<(Table, String)> {
        let mut files =
            vec![(Table::Completions, "fct.txt".to_owned()), (Table::Pauses, "pfc.txt".to_owned())];
        let recorded = self.recorded();
        let named = [
            (Table::Completions, &self.config.outputs.fct),
            (Table::Pauses, &self.config.outputs.pfc),
        ];
        for (what, name) in named {
            let Some(name) = name else { continue };
            let mut taken = recorded.iter().map(|(_, name)| name);
            let is_taken = RESULTS.contains(&name.as_str()) || taken.any(|other| other == name);
            if !is_taken && !files.iter().any(|(_, other)| other == name) {
                files.push((what, name.clone()));
            }
        }
        files
    }
}

impl Recorder {
    /// A recorder for what [`Experiment::recorded`] names, each of which goes where `open` says.
    ///
    /// # Errors
    /// Those of `open`, and of writing what comes first.
    pub fn new<E: From<io::Error>>(
        experiment: &Experiment,
        open: &mut dyn FnMut(Recorded) -> Result<Box<dyn Write>, E>,
    ) -> Result<Self, E> {
        let config = &experiment.config;
        let topology = &experiment.setup.topology;
        let interfaces = interface::interfaces(topology, &|node| experiment.node_number(node));
        let from = config.flowgen_start.unwrap_or(wire::FLOWGEN_START);
        let until = config.flowgen_stop.unwrap_or(wire::FLOWGEN_STOP).saturating_add(BEYOND);
        // The family takes seconds for nanoseconds here.
        let first_bucket = Time::from_ps(from.as_ps() / 1_000_000_000_000 * 1_000);
        let mut recorder = Self {
            traced: experiment.followed(),
            trace: None,
            queues: None,
            uplinks: None,
            connections: None,
            notifications: None,
            from,
            switch_turns: Turns { next: Time::NEVER, until, every: config.monitor_every },
            notification_turns: Turns { next: Time::NEVER, until: Time::NEVER, every: BUCKET },
            ports: Vec::new(),
        };
        for (what, _) in experiment.recorded() {
            let mut sink = Sink { to: open(what)?, failed: None };
            match what {
                Recorded::Trace => {
                    let of = Trace::new(experiment, &interfaces);
                    of.begin(experiment, &mut *sink.to)?;
                    recorder.trace = Some(Part { of, sink });
                }
                Recorded::Queues => {
                    let [from, until] = [config.queues_from, config.queues_until]
                        .map(|at| at.unwrap_or(Time::NEVER));
                    let of = QueueMonitor::new(&interfaces, from, until);
                    recorder.ports.extend(of.ports());
                    recorder.queues = Some(Part { of, sink });
                }
                Recorded::Uplinks => {
                    let of = UplinkMonitor::new(&interfaces);
                    recorder.ports.extend(of.ports());
                    recorder.switch_turns.next = from;
                    recorder.uplinks = Some(Part { of, sink });
                }
                Recorded::Connections => {
                    let of = ConnectionMonitor::new(experiment.host_numbers());
                    let hosts = interfaces.iter().filter(|it| matches!(it.owner, Node::Host(_)));
                    recorder.ports.extend(hosts.map(|it| it.port));
                    recorder.switch_turns.next = from;
                    recorder.connections = Some(Part { of, sink });
                }
                Recorded::Notifications => {
                    let of = NotificationMonitor::new(experiment.host_numbers());
                    recorder.notification_turns.next = first_bucket;
                    recorder.notifications = Some(Part { of, sink });
                }
            }
        }
        Ok(recorder)
    }

    /// The run is over: writes what is left.
    ///
    /// # Errors
    /// The first thing that could not be written, now or before.
    pub fn finish(mut self, outcome: &Outcome) -> io::Result<()> {
        if let Some(Part { of, sink }) = &mut self.queues {
            sink.write(|to| of.dump(outcome.ended, to));
        }
        if outcome.verdict == Verdict::Completed {
            self.look_on(outcome);
        }
        let sinks = [
            self.trace.map(|part| part.sink),
            self.queues.map(|part| part.sink),
            self.uplinks.map(|part| part.sink),
            self.connections.map(|part| part.sink),
            self.notifications.map(|part| part.sink),
        ];
        for mut sink in sinks.into_iter().flatten() {
            sink.write(|to| to.flush());
            sink.failed.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    fn look_at_switches(&mut self, now: Time, sight: &Sight<'_>) {
        if let Some(Part { of, sink }) = &mut self.uplinks {
            sink.write(|to| of.look(now, &|port| sight.carried[port.index()], to));
        }
        if let Some(Part { of, sink }) = &mut self.connections {
            sink.write(|to| of.look(now, sight.endpoints, to));
        }
        self.switch_turns.go_on();
    }
}

impl Recorder {
    /// The looks that the family takes at what is over.
    fn look_on(&mut self, outcome: &Outcome) {
        let last = last_look(self.from, outcome.ended);
        let carried = |port: PortId| outcome.link_bytes[port.index()].get();
        while self.switch_turns.next <= last && self.switch_turns.next != Time::NEVER {
            let now = self.switch_turns.next;
            if let Some(Part { of, sink }) = &mut self.uplinks {
                sink.write(|to| of.look(now, &carried, to));
            }
            if let Some(Part { of, sink }) = &mut self.connections {
                sink.write(|to| of.look_at_nothing(now, to));
            }
            self.switch_turns.go_on();
        }
    }
}

impl Watch for Recorder {
    fn follows(&self, node: Node) -> bool {
        let [hosts, switches] = &self.traced;
        let followed = match node {
            Node::Host(host) => hosts.get(host.index()),
            Node::Switch(switch) => switches.get(switch.index()),
        };
        self.trace.is_some() && followed.copied().unwrap_or(false)
    }

    fn looks_at(&self) -> &[PortId] {
        &self.ports
    }

    fn next_look(&self) -> Time {
        let queues = self.queues.as_ref().map_or(Time::NEVER, |part| part.of.next());
        queues.min(self.switch_turns.next).min(self.notification_turns.next)
    }

    fn look(&mut self, now: Time, next_event: Time, sight: &Sight<'_>) {
        if let Some(Part { of, sink }) = &mut self.queues
            && of.next() <= now
        {
            sink.write(|to| of.look(next_event, sight.waiting, to));
        }
        if self.switch_turns.next <= now {
            self.look_at_switches(now, sight);
        }
        if let Some(Part { of, sink }) = &mut self.notifications
            && self.notification_turns.next <= now
        {
            sink.write(|to| of.look(now, sight.endpoints, to));
            // No packet arrives before the next event.
            self.notification_turns.go_past(next_event);
        }
    }

    fn take(&mut self, records: &[PacketRecord]) {
        let Some(Part { of, sink }) = &mut self.trace else { return };
        for record in records {
            sink.write(|to| of.write(record, to));
        }
    }
}
