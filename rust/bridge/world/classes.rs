//! Traffic classes: their description, and the order in which they use a wire.
//!
//! The simulator has the queues. This library schedules them, in the same way as its own fabric.

use evenkeel_engine::endpoint::JobClass;
use evenkeel_engine::fabric::Setup;
use evenkeel_engine::ids::{ClassId, HostId, PortId};
use evenkeel_engine::nic::{ClassSet, Discipline, ExternalTraffic, Start, Turns};
use evenkeel_engine::units::Time;
use thiserror::Error;

use super::contract::TrafficClass;
use super::core::Core;
use super::experiment::ExperimentError;
use super::records::FabricPacket;

/// Size of the range of message streams that programs have in each class: one half for their queue
/// pairs, the other for their messages. The range of class `c` begins at `c + 1` times this; the
/// workload uses the streams below.
pub(super) const STREAMS: u32 = 1 << 24;

/// The reason why a program gets no stream.
#[derive(Debug, Error)]
pub(super) enum StreamError {
    /// No class has this name.
    #[error("there is no traffic class '{name}': {has}")]
    NoClass {
        /// The name.
        name: String,
        /// The classes of the fabric.
        has: String,
    },
    /// All streams are used.
    #[error("with traffic classes a NIC has at most {} queue pairs (ENOMEM)", STREAMS / 2)]
    QueuePairs,
    /// The number is too large.
    #[error("stream {0} is not available to programs: use one below {most}", most = STREAMS / 2)]
    Messages(u32),
}

/// The class scheduling state of switch ports.
#[derive(Debug)]
pub(super) struct PortSchedulers {
    discipline: Discipline,
    /// By port.
    schedulers: Vec<Turns>,
}

impl PortSchedulers {
    /// Creates the state of a run; `None` if it has no classes.
    pub(super) fn of(setup: &Setup) -> Option<Self> {
        let discipline = setup.discipline()?;
        let schedulers = vec![Turns::default(); 2 * setup.topology.links().len()];
        Some(Self { discipline, schedulers })
    }
}

/// Assigns the message streams of programs to their classes, if there are several.
///
/// # Errors
/// If the workload itself uses such streams.
pub(super) fn assign_class_streams(setup: &mut Setup) -> Result<(), ExperimentError> {
    let streams = setup.workload.messages.iter().map(|message| message.stream);
    let of_programs = streams.max().filter(|&highest| highest >= STREAMS);
    if let Some(stream) = of_programs.filter(|_| setup.fabric.has_classes()) {
        return Err(ExperimentError::Streams { stream, most: STREAMS });
    }
    for job in &mut setup.job_classes {
        job.streams.end = job.streams.end.min(STREAMS);
    }
    let others = (1..setup.fabric.classes.len() as u32).map(|class| JobClass {
        streams: (class + 1) * STREAMS..(class + 2) * STREAMS,
        class: ClassId(class),
    });
    setup.job_classes.extend(others);
    Ok(())
}

impl Core {
    pub(super) fn classes(&self) -> Vec<TrafficClass> {
        let classes = self.setup.fabric.classes.iter();
        classes.map(|class| TrafficClass { name: class.name.clone(), pfc: class.pfc }).collect()
    }

    pub(super) fn stream_in(
        &self,
        name: &str,
        stream: u32,
        of_qp: bool,
    ) -> Result<u32, StreamError> {
        let classes = &self.setup.fabric.classes;
        let found = classes.iter().position(|class| class.name == name);
        let class = match found {
            Some(class) => class as u32,
            None if name.is_empty() => 0,
            None => {
                let names: Vec<_> = classes.iter().map(|it| format!("'{}'", it.name)).collect();
                let has = if names.is_empty() {
                    "add classes before the fabric is made".to_owned()
                } else {
                    format!("the fabric has {}", names.join(", "))
                };
                return Err(StreamError::NoClass { name: name.to_owned(), has });
            }
        };
        let first = (class + 1) * STREAMS;
        match (of_qp, stream < STREAMS / 2) {
            (true, true) => Ok(first + stream),
            // Without classes, the streams above belong to no class.
            (true, false) if classes.is_empty() => Ok(first + stream),
            (true, false) => Err(StreamError::QueuePairs),
            (false, true) => Ok(first + STREAMS / 2 + stream),
            (false, false) => Err(StreamError::Messages(stream)),
        }
    }

    pub(super) fn choose_class(&mut self, port: u32, waiting: u8) -> u32 {
        let waiting = ClassSet::from_bits(waiting);
        let chosen =
            self.schedulers.as_mut().and_then(|PortSchedulers { discipline, schedulers }| {
                discipline.choose(&mut schedulers[PortId(port).index()], waiting)
            });
        chosen.expect("a class has a packet that may start") as u32
    }

    pub(super) fn charge_class(&mut self, port: u32, class: u32, bytes: u16, waits: bool) {
        if let Some(PortSchedulers { discipline, schedulers }) = &mut self.schedulers {
            let schedulers = &mut schedulers[PortId(port).index()];
            discipline.charge(schedulers, ClassId(class).index(), bytes, waits);
        }
    }

    pub(super) fn pause_class(&mut self, host: u32, class: u32, paused: bool) {
        self.endpoints.host_mut(HostId(host)).nic.pause_class(ClassId(class), paused);
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "one call of the contract, all of it plain numbers"
    )]
    pub(super) fn poll_transmit_beside(
        &mut self,
        host: u32,
        now_ps: u64,
        waiting: u8,
        first: u8,
        packet: &mut FabricPacket,
        traffic_class: &mut u32,
    ) -> bool {
        let others = ExternalTraffic {
            waiting: ClassSet::from_bits(waiting),
            first: ClassSet::from_bits(first),
        };
        let nic = &mut self.endpoints.host_mut(HostId(host)).nic;
        match nic.poll_transmit_shared(Time::from_ps(now_ps), others) {
            Some(Start::Own(own)) => {
                *packet = FabricPacket::from(&own);
                true
            }
            Some(Start::External(class)) => {
                *traffic_class = class.0;
                false
            }
            None => panic!("a class has a packet that may start"),
        }
    }

    pub(super) fn charge_beside(&mut self, host: u32, class: u32, bytes: u16, waits: bool) {
        let nic = &mut self.endpoints.host_mut(HostId(host)).nic;
        nic.charge_external(ClassId(class), bytes, waits);
    }
}
