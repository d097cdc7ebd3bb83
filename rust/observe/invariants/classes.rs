//! The order in which packets of several traffic classes may start.
//!
//! For weighted classes, the check depends only on their shares and not on the algorithm. While two
//! of them are continuously backlogged, neither may get ahead of the other by more than a few
//! packets. For the surplus round robin of `sharing` the limit is three full packets per unit of
//! weight. In `m` rounds one class has sent at most `m` times its weight plus a packet, the other
//! at least `m - 1` times its weight minus a packet.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::fabric::{ClassConfig, Scheduling, Setup};
use crate::ids::HostId;
use crate::packet::{Packet, PacketKind};
use crate::sharing::ClassSet;

/// Maximum lead of a class over another, in full packets per unit of its weight.
const MAX_LEAD: i128 = 3;

/// The classes of a fabric.
#[derive(Debug, Clone, Default)]
pub(super) struct ClassRules {
    /// Empty if data has one class.
    pub(super) classes: Vec<ClassConfig>,
    /// Size of a full packet on the wire, in bytes.
    pub(super) packet: u64,
}

/// The classes of the messages between each pair of hosts, if all are known before the run.
#[derive(Debug, Default)]
pub(super) struct PairClasses(BTreeMap<(HostId, HostId), ClassSet>);

impl PairClasses {
    /// Returns the classes of a setup. Empty without classes, or if servers relay messages among
    /// their hosts.
    pub(super) fn of(setup: &Setup) -> Self {
        let mut pairs: BTreeMap<(HostId, HostId), ClassSet> = BTreeMap::new();
        if !setup.fabric.has_classes() || setup.topology.scale_up().is_some() {
            return Self(pairs);
        }
        let policies = setup.policies();
        for message in &setup.workload.messages {
            let classes = pairs.entry((message.src, message.dst)).or_default();
            *classes = classes.with(policies.class_of(message.stream).index());
        }
        Self(pairs)
    }

    /// Checks the class of a data packet that a NIC sends. Returns the violation, if any.
    pub(super) fn start_from_host(&self, packet: &Packet) -> Option<String> {
        let classes = self.0.get(&(packet.src, packet.dst))?;
        let class = packet.class();
        let is_wrong = packet.kind == PacketKind::Data && !classes.has(class.index());
        is_wrong.then(|| format!("a NIC sends data of {class}, but no message has that class"))
    }
}

/// The balance between the classes of a port.
#[derive(Debug)]
pub(super) struct ClassModel {
    rules: Arc<ClassRules>,
    /// By class and other class: bytes sent while the other was backlogged times the other's
    /// weight, minus the same quantity of the other.
    ahead: Vec<i128>,
}

impl ClassModel {
    pub(super) fn new(rules: &Arc<ClassRules>) -> Self {
        let count = rules.classes.len();
        Self { rules: Arc::clone(rules), ahead: vec![0; count * count] }
    }

    /// Returns the number of queues without priority.
    pub(super) fn count(&self) -> usize {
        self.rules.classes.len().max(1)
    }

    fn weight(&self, class: usize) -> Option<i128> {
        match self.rules.classes.get(class)?.scheduling {
            Scheduling::Strict => None,
            Scheduling::Weighted(weight) => Some(weight.into()),
        }
    }

    /// Checks a packet of a class that starts, and returns the violation, if any. `waits` tells
    /// which classes have a packet that could start.
    pub(super) fn start(
        &mut self,
        class: usize,
        bytes: u16,
        waits: impl Fn(usize) -> bool,
    ) -> Option<String> {
        let count = self.rules.classes.len();
        let own = self.weight(class);
        let precedes = |other: &usize| match own {
            None => *other < class,
            Some(_) => true,
        };
        let strict = (0..count).filter(|&it| it != class && self.weight(it).is_none());
        if let Some(other) = strict.filter(precedes).find(|&it| waits(it)) {
            return Some(format!("class {class} starts while strict class {other} is queued"));
        }
        let own = own?;
        let limit = MAX_LEAD * i128::from(self.rules.packet);
        let mut fault = None;
        for other in (0..count).filter(|&it| it != class && waits(it)) {
            let Some(weight) = self.weight(other) else { continue };
            self.ahead[class * count + other] += i128::from(bytes) * weight;
            self.ahead[other * count + class] -= i128::from(bytes) * weight;
            if self.ahead[class * count + other] > limit * own * weight {
                fault = Some(format!("class {class} exceeds its share relative to class {other}"));
            }
        }
        fault
    }

    /// Resets the balance of a class that has no packet that could start.
    pub(super) fn reset(&mut self, class: usize) {
        let count = self.rules.classes.len();
        for other in 0..count {
            self.ahead[class * count + other] = 0;
            self.ahead[other * count + class] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ClassId;

    fn model(scheduling: &[Scheduling]) -> ClassModel {
        let class = |&scheduling| ClassConfig { name: String::new(), scheduling, pfc: true };
        let classes = scheduling.iter().map(class).collect();
        ClassModel::new(&Arc::new(ClassRules { classes, packet: 1_000 }))
    }

    #[test]
    fn a_waiting_strict_class_is_served_first() {
        let mut of = model(&[Scheduling::Strict, Scheduling::Strict, Scheduling::Weighted(1)]);
        let is_wrong = |of: &mut ClassModel, class, waiting: &[usize]| {
            of.start(class, 100, |it| waiting.contains(&it)).is_some()
        };
        assert!(!is_wrong(&mut of, 0, &[0, 1, 2]) && !is_wrong(&mut of, 1, &[1, 2]));
        assert!(is_wrong(&mut of, 1, &[0, 1]) && is_wrong(&mut of, 2, &[1, 2]));
    }

    #[test]
    fn a_weighted_class_gets_no_more_than_its_share() {
        let mut of = model(&[Scheduling::Weighted(2), Scheduling::Weighted(1)]);
        let both = |_| true;
        for class in [0, 0, 1].repeat(100) {
            assert_eq!(of.start(class, 1_000, both), None);
        }
        let alone = (0..).find(|_| of.start(0, 1_000, both).is_some()).unwrap();
        assert_eq!(alone, 6, "three packets per unit of weight");
        of.reset(1);
        assert_eq!(of.start(0, 1_000, both), None);
    }

    #[test]
    fn a_nic_sends_no_data_of_a_class_that_no_message_has() {
        let mut packet = Packet { kind: PacketKind::Data, ..Packet::default() };
        let classes = ClassSet::NONE.with(1);
        let pairs = PairClasses(BTreeMap::from([((packet.src, packet.dst), classes)]));
        assert!(pairs.start_from_host(&packet).is_some());
        packet.set_class(ClassId(1));
        assert_eq!(pairs.start_from_host(&packet), None);
    }
}
