//! Queues of traffic classes, for all ports.

use super::port::ClassQueues;
use crate::fabric::setup::Setup;
use crate::ids::PortId;
use crate::sharing::{Discipline, MOST_CLASSES};

/// Class queues of all ports.
#[derive(Debug)]
pub(super) struct Classes {
    pub(super) discipline: Discipline,
    /// The number of classes.
    pub(super) count: usize,
    /// Class queues, by port id.
    pub(super) queues: Vec<ClassQueues>,
    /// Dropped data packets, by class.
    pub(super) dropped: [u64; MOST_CLASSES],
}

impl Classes {
    /// Creates the table of a run; `None` if data has one class.
    pub(in crate::fabric::network) fn of(setup: &Setup) -> Option<Box<Self>> {
        let discipline = setup.discipline()?;
        let ports = 2 * setup.topology.links().len();
        let queues = (0..ports).map(|_| ClassQueues::default()).collect();
        let (count, dropped) = (setup.fabric.class_count(), [0; MOST_CLASSES]);
        Some(Box::new(Self { discipline, count, queues, dropped }))
    }

    /// Returns the queues of a port.
    pub(super) fn of_port(&self, port: PortId) -> &ClassQueues {
        &self.queues[port.index()]
    }
}
