//! The files that an experiment writes while it runs: HPCC's packet trace and the monitors of HPCC
//! and ConWeave, in the formats of those simulators.
//!
//! A [`Recorder`] observes a run, in this crate's fabric or in ns-3, and writes each file as the
//! run proceeds. The caller decides where the bytes go.

mod connection_monitor;
mod interface;
mod notification_monitor;
mod output_files;
mod queue_monitor;
mod sampling;
#[cfg(test)]
mod tests;
mod trace;
mod trace_format;
mod uplink_monitor;

use std::fmt;
use std::io::{self, Write};

use self::connection_monitor::ConnectionMonitor;
use self::interface::{Interface, interfaces};
use self::notification_monitor::NotificationMonitor;
pub use self::output_files::{RecordedFile, ResultTable};
use self::queue_monitor::QueueMonitor;
use self::sampling::{SamplingTimes, last_sample};
use self::trace::Trace;
use self::uplink_monitor::UplinkMonitor;
use super::experiment::{Experiment, TracedNodes};
use super::wire;
use crate::fabric::{Outcome, PacketRecord, Snapshot, Verdict, Watch};
use crate::ids::PortId;
use crate::topology::Node;
use crate::units::Time;

/// The destination of a file. After its first error, nothing more is written.
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

/// The source of a file's content, and its destination.
struct Output<T> {
    source: T,
    sink: Sink,
}

impl<T> Output<T> {
    fn new(source: T, to: Box<dyn Write>) -> Self {
        Self { source, sink: Sink { to, failed: None } }
    }
}

/// Observes the run of an experiment and writes the files that its configuration requests.
pub struct Recorder {
    traced: TracedNodes,
    trace: Option<Output<Trace>>,
    queues: Option<Output<QueueMonitor>>,
    uplinks: Option<Output<UplinkMonitor>>,
    connections: Option<Output<ConnectionMonitor>>,
    notifications: Option<Output<NotificationMonitor>>,
    /// Earliest start of flows.
    from: Time,
    /// Sampling times of uplinks and connections.
    switch_samples: SamplingTimes,
    notification_samples: SamplingTimes,
    /// Ports whose counters the monitors read.
    ports: Vec<PortId>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("from", &self.from).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Creates a recorder of the files that [`Experiment::recorded`] lists; `open` returns the
    /// destination of each.
    ///
    /// # Errors
    /// Fails if `open` does, or if the header of a file cannot be written.
    pub fn new<E: From<io::Error>>(
        experiment: &Experiment,
        open: &mut dyn FnMut(RecordedFile) -> Result<Box<dyn Write>, E>,
    ) -> Result<Self, E> {
        let config = &experiment.config;
        let from = config.flowgen_start.unwrap_or(wire::FLOWGEN_START);
        let until = config.flowgen_stop.unwrap_or(wire::FLOWGEN_STOP);
        let mut recorder = Self {
            traced: experiment.traced_nodes(),
            trace: None,
            queues: None,
            uplinks: None,
            connections: None,
            notifications: None,
            from,
            switch_samples: SamplingTimes::of_switches(until, config.monitor_every),
            notification_samples: SamplingTimes::of_notifications(),
            ports: Vec::new(),
        };
        let topology = &experiment.setup.topology;
        let interfaces = interfaces(topology, &|node| experiment.node_number(node));
        for (file, _) in experiment.recorded() {
            recorder.add(file, open(file)?, experiment, &interfaces)?;
        }
        Ok(recorder)
    }

    /// Adds the source of a file.
    fn add(
        &mut self,
        file: RecordedFile,
        mut to: Box<dyn Write>,
        experiment: &Experiment,
        interfaces: &[Interface],
    ) -> io::Result<()> {
        match file {
            RecordedFile::Trace => {
                let trace = Trace::new(experiment, interfaces);
                trace.write_header(experiment, &mut *to)?;
                self.trace = Some(Output::new(trace, to));
            }
            RecordedFile::Queues => {
                let config = &experiment.config;
                let [from, until] =
                    [config.queues_from, config.queues_until].map(|at| at.unwrap_or(Time::NEVER));
                let monitor = QueueMonitor::new(interfaces, from, until);
                self.ports.extend(monitor.ports());
                self.queues = Some(Output::new(monitor, to));
            }
            RecordedFile::Uplinks => {
                let monitor = UplinkMonitor::new(interfaces);
                self.ports.extend(monitor.ports());
                self.switch_samples.start(self.from);
                self.uplinks = Some(Output::new(monitor, to));
            }
            RecordedFile::Connections => {
                let monitor = ConnectionMonitor::new(experiment.host_numbers());
                let hosts = interfaces.iter().filter(|it| matches!(it.owner, Node::Host(_)));
                self.ports.extend(hosts.map(|it| it.port));
                self.switch_samples.start(self.from);
                self.connections = Some(Output::new(monitor, to));
            }
            RecordedFile::Notifications => {
                let monitor = NotificationMonitor::new(experiment.host_numbers());
                self.notification_samples.start(notification_monitor::first_sample(self.from));
                self.notifications = Some(Output::new(monitor, to));
            }
        }
        Ok(())
    }

    /// Writes the rest of each file after the run has ended.
    ///
    /// # Errors
    /// Returns the first error of writing a file, now or earlier.
    pub fn finish(mut self, outcome: &Outcome) -> io::Result<()> {
        if let Some(Output { source, sink }) = &mut self.queues {
            sink.write(|to| source.write_totals(outcome.ended, to));
        }
        if outcome.verdict == Verdict::Completed {
            self.sample_after_end(outcome);
        }
        let sinks = [
            self.trace.map(|output| output.sink),
            self.queues.map(|output| output.sink),
            self.uplinks.map(|output| output.sink),
            self.connections.map(|output| output.sink),
            self.notifications.map(|output| output.sink),
        ];
        for mut sink in sinks.into_iter().flatten() {
            sink.write(|to| to.flush());
            sink.failed.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    fn sample_switches(&mut self, now: Time, snapshot: &Snapshot<'_>) {
        if let Some(Output { source, sink }) = &mut self.uplinks {
            sink.write(|to| source.sample(now, &|port| snapshot.carried[port.index()], to));
        }
        if let Some(Output { source, sink }) = &mut self.connections {
            sink.write(|to| source.sample(now, snapshot.endpoints, to));
        }
        self.switch_samples.advance();
    }

    /// Takes the samples between the last completion and the check at which the family's simulators
    /// notice it and stop.
    fn sample_after_end(&mut self, outcome: &Outcome) {
        let last = last_sample(self.from, outcome.ended);
        let carried = |port: PortId| outcome.link_bytes[port.index()].get();
        while self.switch_samples.next() <= last && self.switch_samples.next() != Time::NEVER {
            let now = self.switch_samples.next();
            if let Some(Output { source, sink }) = &mut self.uplinks {
                sink.write(|to| source.sample(now, &carried, to));
            }
            if let Some(Output { source, sink }) = &mut self.connections {
                sink.write(|to| source.sample_completed(now, to));
            }
            self.switch_samples.advance();
        }
    }
}

impl Watch for Recorder {
    fn traces(&self, node: Node) -> bool {
        let TracedNodes { hosts, switches } = &self.traced;
        let traced = match node {
            Node::Host(host) => hosts.get(host.index()),
            Node::Switch(switch) => switches.get(switch.index()),
        };
        self.trace.is_some() && traced.copied().unwrap_or(false)
    }

    fn sampled_ports(&self) -> &[PortId] {
        &self.ports
    }

    fn next_sample(&self) -> Time {
        let queues = self.queues.as_ref().map_or(Time::NEVER, |output| output.source.next());
        queues.min(self.switch_samples.next()).min(self.notification_samples.next())
    }

    fn sample(&mut self, now: Time, next_event: Time, snapshot: &Snapshot<'_>) {
        if let Some(Output { source, sink }) = &mut self.queues
            && source.next() <= now
        {
            sink.write(|to| source.sample(next_event, snapshot.waiting, to));
        }
        if self.switch_samples.next() <= now {
            self.sample_switches(now, snapshot);
        }
        if let Some(Output { source, sink }) = &mut self.notifications
            && self.notification_samples.next() <= now
        {
            sink.write(|to| source.sample(now, snapshot.endpoints, to));
            // No packet arrives before the next event, so samples before it would find nothing.
            self.notification_samples.advance_past(next_event);
        }
    }

    fn take_records(&mut self, records: &[PacketRecord]) {
        let Some(Output { source, sink }) = &mut self.trace else { return };
        for record in records {
            sink.write(|to| source.write(record, to));
        }
    }
}
