//! Recording of an experiment of the HPCC family during a run in an external simulator.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use evenkeel_engine::endpoint::{Endpoints, Host};
use evenkeel_engine::fabric::TraceBuffer;
use evenkeel_engine::fabric::{Outcome, PacketEvent, PacketRecord, Snapshot, Watch as _};
use evenkeel_engine::ids::{HostId, PortId};
use evenkeel_engine::packet::Packet;
use evenkeel_engine::topology::Node;
use evenkeel_engine::units::Time;
use evenkeel_formats::hpcc::{self, Recorder, ResultTable};
use evenkeel_study::report;

use super::contract::{PacketEvent as FabricPacketEvent, RecordPlan};
use super::convert::TryConvert as _;
use super::core::Core;
use super::experiment::{Experiment, ExperimentError};
use super::records::FabricPacket;

/// A recorder, and the events that it has not received yet.
#[derive(Debug)]
pub(super) struct Recording {
    recorder: Recorder,
    trace: TraceBuffer,
    /// Whether a host's packets are recorded, by host.
    hosts: Vec<bool>,
    /// The temporary files, with the names of the final ones.
    files: Vec<(String, File)>,
}

impl Recording {
    fn new(experiment: &hpcc::Experiment) -> io::Result<Self> {
        let recorded = experiment.recorded();
        let mut files = Vec::new();
        let mut open = |what| -> io::Result<Box<dyn Write>> {
            let (_, name) = recorded.iter().find(|(of, _)| *of == what).expect("it is asked for");
            let file = tempfile::tempfile()?;
            let writer = BufWriter::new(file.try_clone()?);
            files.push((name.clone(), file));
            Ok(Box::new(writer))
        };
        let recorder = Recorder::new(experiment, &mut open)?;
        let setup = &experiment.setup;
        let hosts = (0..setup.topology.host_count()).map(HostId);
        Ok(Self {
            hosts: hosts.map(|host| recorder.traces(Node::Host(host))).collect(),
            trace: TraceBuffer::new(&setup.topology, &setup.fabric),
            recorder,
            files,
        })
    }

    fn note(&mut self, record: PacketRecord) {
        let now = record.at;
        self.trace.record(record);
        if self.trace.has_enough() {
            self.recorder.take_records(&self.trace.take(now));
        }
    }

    /// Delivers a packet to a host and records the control packets that the host enqueues in reply.
    pub(super) fn handle_packet(
        &mut self,
        now: Time,
        endpoints: &mut Endpoints,
        id: HostId,
        packet: &Packet,
    ) {
        // Control packets enqueued by this packet are those behind the ones that were queued
        // before.
        let before = endpoints.host(id).nic.control_packets().len();
        endpoints.handle_packet(now, id, packet);
        let Host { port, nic, .. } = endpoints.host(id);
        for &packet in nic.control_packets().skip(before) {
            let event = PacketEvent::Enqueued;
            self.note(PacketRecord { at: now, port: *port, event, waiting: 0, packet });
        }
    }

    /// True if packets of this host are recorded.
    pub(super) fn follows(&self, host: HostId) -> bool {
        self.hosts.get(host.index()).copied().unwrap_or(false)
    }

    fn finish(mut self, outcome: &Outcome) -> io::Result<Vec<(String, File)>> {
        self.recorder.take_records(&self.trace.take(Time::NEVER));
        self.recorder.finish(outcome)?;
        Ok(self.files)
    }
}

impl Core {
    /// # Panics
    /// If the event is unknown, because calls on the packet path cannot fail.
    #[allow(clippy::too_many_arguments, reason = "C++ passes plain numbers one by one")]
    pub(super) fn trace_packet(
        &mut self,
        at_ps: u64,
        port: u32,
        event: FabricPacketEvent,
        waiting: u32,
        packet: &FabricPacket,
    ) {
        let Some(recording) = &mut self.recording else { return };
        recording.note(PacketRecord {
            at: Time::from_ps(at_ps),
            port: PortId(port),
            event: event.try_convert().unwrap_or_else(|unknown| panic!("{unknown}")),
            waiting,
            packet: packet.into(),
        });
    }

    pub(super) fn sample(
        &mut self,
        now_ps: u64,
        next_event_ps: u64,
        waiting: &[u32],
        carried: &[u64],
    ) -> u64 {
        let Some(recording) = &mut self.recording else { return u64::MAX };
        let snapshot = Snapshot { waiting, carried, endpoints: &self.endpoints, pauses: &[] };
        recording.recorder.sample(Time::from_ps(now_ps), Time::from_ps(next_event_ps), &snapshot);
        recording.recorder.next_sample().as_ps()
    }
}

impl Experiment {
    pub(super) fn record_hpcc(&self, core: &mut Core) -> Result<RecordPlan, ExperimentError> {
        let experiment = self.hpcc.as_ref().ok_or(ExperimentError::NotHpcc)?;
        if experiment.recorded().is_empty() {
            return Ok(RecordPlan { next_sample_ps: u64::MAX, ..RecordPlan::default() });
        }
        let recording = Recording::new(experiment).map_err(|reason| {
            ExperimentError::Unwritable { path: "a temporary file".to_owned(), reason }
        })?;
        let topology = &self.setup.topology;
        let ports = 0..u32::try_from(2 * topology.links().len()).expect("ids are 32 bits");
        let traced = |port: &u32| recording.recorder.traces(topology.ends_of(PortId(*port)).0);
        let plan = RecordPlan {
            traced_ports: ports.filter(traced).collect(),
            sampled_ports: recording.recorder.sampled_ports().iter().map(|port| port.0).collect(),
            next_sample_ps: recording.recorder.next_sample().as_ps(),
        };
        core.recording = Some(Box::new(recording));
        Ok(plan)
    }

    pub(super) fn write_hpcc(&self, core: &mut Core, folder: &str) -> Result<(), ExperimentError> {
        let experiment = self.hpcc.as_ref().ok_or(ExperimentError::NotHpcc)?;
        let outcome = core.outcome();
        let in_folder = |name: &str| Path::new(folder).join(name);
        let unwritable = |name: &str, reason| {
            let path = in_folder(name).display().to_string();
            ExperimentError::Unwritable { path, reason }
        };
        let mut pauses = Vec::new();
        let number = |node| experiment.node_number(node);
        report::write_pfc_txt(&mut pauses, &self.setup.topology, &outcome, &number)
            .map_err(|reason| unwritable("pfc.txt", reason))?;
        let fct = experiment.fct_table(&outcome).into_bytes();
        for (table, name) in experiment.tables() {
            let text = match table {
                ResultTable::Completions => &fct,
                ResultTable::Pauses => &pauses,
            };
            std::fs::write(in_folder(&name), text).map_err(|reason| unwritable(&name, reason))?;
        }
        let Some(recording) = core.recording.take() else { return Ok(()) };
        let files = recording.finish(&outcome);
        for (name, mut file) in files.map_err(|reason| unwritable("a temporary file", reason))? {
            let copied = file
                .rewind()
                .and_then(|()| io::copy(&mut file, &mut File::create(in_folder(&name))?).map(drop));
            copied.map_err(|reason| unwritable(&name, reason))?;
        }
        Ok(())
    }
}
