//! The queues of traffic classes of all ports.

use super::port::ClassQueues;
use crate::fabric::setup::Setup;
use crate::ids::PortId;
use crate::sharing::{Discipline, MOST_CLASSES};

/// The queues of all ports by class.
#[derive(Debug)]
pub(super) struct Classes {
    pub(super) discipline: Discipline,
    /// The number of classes.
    pub(super) count: usize,
    /// By port id.
    pub(super) queues: Vec<ClassQueues>,
    /// By class: data packets that were dropped.
    pub(super) dropped: [u64; MOST_CLASSES],
}

impl Classes {
    /// Those of a run, if it has classes.
    pub(in crate::fabric::network) fn of(setup: &Setup) -> Option<Box<Self>> {
        let discipline = setup.discipline()?;
        let ports = 2 * setup.topology.links().len();
        let queues = (0..ports).map(|_| ClassQueues::default()).collect();
        let (count, dropped) = (setup.fabric.class_count(), [0; MOST_CLASSES]);
        Some(Box::new(Self { discipline, count, queues, dropped }))
    }

    /// The queues of a port.
    pub(super) fn of_port(&self, port: PortId) -> &ClassQueues {
        &self.queues[port.index()]
    }
}
