//! Names and numbers of hosts, switches and links must not matter.

use std::sync::Arc;

use evenkeel::fabric::{Direction, Setup};
use evenkeel::ids::{HostId, LinkId, PortId, SwitchId};
use evenkeel::rng::{Purpose, Stream};
use evenkeel::topology::{Link, Node, Switch, Topology};
use evenkeel::units::Span;
use evenkeel::workload::{Message, Workload};

use super::outcome::{ComparableOutcome, equal};
use super::relation::{
    Case, CheckResult, Failure, Relation, defined, lengthen, require, resolved, seen,
};
use super::statistics::require_alike;

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "rename",
        says: "Names of hosts and switches do not matter.",
        fault: "a message is a byte longer",
        check: rename,
    },
    Relation {
        name: "renumber-hosts",
        says: "The order in which hosts are numbered does not matter, over seeds.",
        fault: "every message is twice as long",
        check: |case| over_seeds(case, |order, random| random.shuffle(&mut order.hosts)),
    },
    Relation {
        name: "renumber-switches",
        says: "The order in which switches are numbered does not matter, over seeds.",
        fault: "every message is twice as long",
        check: |case| over_seeds(case, |order, random| random.shuffle(&mut order.switches)),
    },
    Relation {
        name: "renumber-links",
        says: "The order of links, ports and link ends does not matter, over seeds.",
        fault: "every message is twice as long",
        check: |case| {
            over_seeds(case, |order, random| {
                random.shuffle(&mut order.links);
                order.is_flipped = true;
            })
        },
    },
    Relation {
        name: "renumber-lone-message",
        says: "No numbering matters to a lone message on a fabric with one path.",
        fault: "a message is a byte longer",
        check: lone_message,
    },
];

/// The new number of each host, switch and link.
struct Order {
    hosts: Vec<u32>,
    switches: Vec<u32>,
    links: Vec<u32>,
    /// Whether the two ends of each link are swapped.
    is_flipped: bool,
}

impl Order {
    fn of(topology: &Topology) -> Self {
        let numbers = |count: usize| (0..count as u32).collect();
        Self {
            hosts: numbers(topology.host_names().len()),
            switches: numbers(topology.switches().len()),
            links: numbers(topology.links().len()),
            is_flipped: false,
        }
    }

    fn node(&self, node: Node) -> Node {
        match node {
            Node::Host(HostId(id)) => Node::Host(HostId(self.hosts[id as usize])),
            Node::Switch(SwitchId(id)) => Node::Switch(SwitchId(self.switches[id as usize])),
        }
    }

    fn host(&self, host: HostId) -> HostId {
        HostId(self.hosts[host.index()])
    }

    fn link(&self, link: LinkId) -> LinkId {
        LinkId(self.links[link.index()])
    }

    /// Returns the new number of `port`.
    fn port(&self, port: PortId) -> PortId {
        let side = (port.0 & 1) ^ u32::from(self.is_flipped);
        PortId(2 * self.link(port.link()).0 + side)
    }

    fn topology(&self, old: &Topology) -> Option<Topology> {
        let hosts = reordered(old.host_names(), &self.hosts);
        let switches: Vec<Switch> = reordered(old.switches(), &self.switches);
        let moved = |link: &Link| {
            let [a, b] = link.ends.map(|end| self.node(end));
            Link { ends: if self.is_flipped { [b, a] } else { [a, b] }, ..link.clone() }
        };
        let links: Vec<Link> = old.links().iter().map(moved).collect();
        Topology::new(hosts, switches, reordered(&links, &self.links)).ok()
    }

    fn workload(&self, old: &Workload) -> Workload {
        let mut workload = old.clone();
        for message in &mut workload.messages {
            let (src, dst) = (self.host(message.src), self.host(message.dst));
            *message = Message { src, dst, ..*message };
        }
        for delay in &mut workload.delays {
            delay.host = self.host(delay.host);
        }
        workload
    }

    /// Returns the setup with new numbers.
    fn setup(&self, old: &Setup) -> Option<Setup> {
        let mut setup = Setup {
            topology: Arc::new(self.topology(&old.topology)?),
            workload: Arc::new(self.workload(&old.workload)),
            ..old.clone()
        };
        for failure in &mut setup.fabric.failures {
            failure.link = self.link(failure.link);
            if let Direction::From(port) = failure.direction {
                failure.direction = Direction::From(self.port(port));
            }
        }
        Some(setup)
    }
}

/// Returns the items, each at its new number.
fn reordered<T: Clone>(items: &[T], numbers: &[u32]) -> Vec<T> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&old| numbers[old]);
    order.into_iter().map(|old| items[old].clone()).collect()
}

/// Returns true if a topology consists of nothing but hosts, switches and links.
pub(super) fn is_plain(topology: &Topology) -> bool {
    let is_one = topology.planes().count() == 1 && topology.separate_rails() == 1;
    is_one && topology.scale_up().is_none() && topology.direct().is_none()
}

fn rename(case: &Case) -> CheckResult {
    let setup = resolved(&case.draft)?.setup();
    let old = &setup.topology;
    require(is_plain(old))?;
    let hosts = (0..old.host_count()).map(|id| format!("z{}", 99 - id.min(99))).collect();
    let switch = |(id, old): (usize, &Switch)| Switch { name: format!("box{id}"), ..old.clone() };
    let switches = old.switches().iter().enumerate().map(switch).collect();
    let topology = defined(Topology::new(hosts, switches, old.links().to_vec()).ok())?;
    let mut renamed = Setup { topology: Arc::new(topology), ..setup.clone() };
    if case.is_faulty {
        lengthen(&mut renamed);
    }
    equal(&seen(&setup), &seen(&renamed))
}

/// Returns a fabric with little traffic and nothing that refers to the numbers of its parts.
fn small(case: &Case) -> super::draft::Draft {
    let mut draft = case.draft.clone();
    draft.remove("topology.scale_up").short(20_000).calm();
    if !["leaf-spine", "fat-tree", "rail-optimized"].contains(&draft.name("topology.kind")) {
        draft.leaf_spine();
    }
    draft
}

fn over_seeds(case: &Case, change: fn(&mut Order, &mut Stream)) -> CheckResult {
    let scenario = resolved(&small(case))?;
    require(is_plain(&scenario.topology))?;
    // This hash of ids has no seed, so a sample over seeds is a single draw.
    require(!case.draft.text().contains("ecmp-murmur"))?;
    let is_uneven = scenario.seed % 2 == 1;
    let of_seed = |seed: u64| {
        let setup = defined(scenario.with_seed(seed).ok())?.setup();
        Ok(if is_uneven { uneven(setup) } else { setup })
    };
    let renumbered = |seed: u64| {
        let setup: Setup = of_seed(seed)?;
        let mut order = Order::of(&setup.topology);
        change(&mut order, &mut Stream::new(scenario.seed, Purpose::Test, 1));
        let mut renumbered = defined(order.setup(&setup))?;
        if case.is_faulty {
            renumbered.workload = doubled(&renumbered.workload);
        }
        Ok(seen(&renumbered))
    };
    require_alike(&|seed| Ok(seen(&of_seed(seed)?)), &renumbered)
}

/// Returns the setup with longer cables at every second switch above the leaves.
fn uneven(mut setup: Setup) -> Setup {
    let old = &setup.topology;
    let is_far = |end: &Node| {
        end.switch().is_some_and(|id| id.0 % 2 == 1 && old.switches()[id.index()].tier > 0)
    };
    let far: Vec<bool> = old.links().iter().map(|link| link.ends.iter().any(is_far)).collect();
    let longer =
        |link: LinkId, delay| if far[link.index()] { delay + Span::from_us(20) } else { delay };
    setup.topology = Arc::new((**old).clone().with_delays(longer));
    setup
}

/// Returns the workload with messages of twice the length.
fn doubled(workload: &Workload) -> Arc<Workload> {
    let mut wrong = workload.clone();
    for message in &mut wrong.messages {
        *message = Message { bytes: message.bytes + message.bytes, ..*message };
    }
    Arc::new(wrong)
}

fn lone_message(case: &Case) -> CheckResult {
    // Each switch draws at random which packets carry a measurement, and which packet it trims.
    let text = case.draft.text();
    require(!["hpcc-pint", "arriving-or-last"].iter().any(|it| text.contains(it)))?;
    let mut draft = case.draft.clone();
    draft.leaf_spine().one_workload().short(50_000).remove("failure");
    draft.set("topology.spines", 1).set("topology.parallel_links", 1);
    // A step threshold: on a ramp each port would draw which packets it marks.
    let step = [("step".to_owned(), "800KB".into())];
    draft.set("switch.ecn", toml::Table::from_iter(step)).calm();
    let scenario = resolved(&draft)?;
    let mut setup = scenario.setup();
    let first = *defined(setup.workload.messages.first())?;
    setup.workload = Arc::new(Workload::independent(vec![first]));
    setup.job_policies.clear();
    let mut order = Order::of(&setup.topology);
    let mut random = Stream::new(scenario.seed, Purpose::Test, 2);
    for numbers in [&mut order.hosts, &mut order.switches, &mut order.links] {
        random.shuffle(numbers);
    }
    order.is_flipped = true;
    let mut renumbered: Setup = defined(order.setup(&setup))?;
    if case.is_faulty {
        lengthen(&mut renumbered);
    }
    equal(&ComparableOutcome::sorted(seen(&setup)), &ComparableOutcome::sorted(seen(&renumbered)))
}

#[test]
fn renumbering_is_invertible() {
    let setup = crate::fabric_properties::parse("[topology]\nleaves = 2\nspines = 2\n").setup();
    let mut order = Order::of(&setup.topology);
    order.hosts.swap(0, 5);
    order.links.swap(1, 7);
    let changed = order.topology(&setup.topology).ok_or(Failure::Undefined).unwrap();
    assert_ne!(changed, *setup.topology);
    assert_eq!(order.topology(&changed).unwrap().links(), setup.topology.links());
}
