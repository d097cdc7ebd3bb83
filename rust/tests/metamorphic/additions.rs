//! Idle hosts, pods and cables carry no traffic and must not matter.

use std::sync::Arc;

use evenkeel::fabric::{Failure as LinkFailure, Setup};
use evenkeel::ids::{HostId, LinkId, SwitchId};
use evenkeel::topology::{Link, Node, Switch, Topology};
use evenkeel::units::{Span, Time};

use super::draft::Draft;
use super::numbers::is_plain;
use super::outcome::equal;
use super::relation::{Case, CheckResult, Failure, Relation, defined, require, resolved, seen};

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "idle-host",
        says: "A host that neither sends nor receives does not matter.",
        fault: "the host's cable makes all cables longer",
        check: |case| idle(case, |parts| parts.host(SwitchId(0), Span::from_ns(500))),
    },
    Relation {
        name: "far-idle-host",
        says: "An idle host at the end of a long cable does not matter.",
        fault: "the host's cable makes all cables longer",
        check: |case| idle(case, |parts| parts.host(SwitchId(0), Span::from_us(300))),
    },
    Relation {
        name: "idle-pod",
        says: "A leaf with idle hosts does not matter.",
        fault: "the pod's cables make all cables longer",
        check: |case| pod(case, Span::from_ns(500)),
    },
    Relation {
        name: "far-idle-pod",
        says: "A leaf with idle hosts in another building does not matter.",
        fault: "the pod's cables make all cables longer",
        check: |case| pod(case, Span::from_us(60)),
    },
    Relation {
        name: "slow-idle-host",
        says: "An idle host with a slow NIC does not matter.",
        fault: "the host's cable makes all cables longer",
        check: |case| {
            idle(case, |parts| {
                parts.host(SwitchId(0), Span::from_ns(500));
                parts.links.last_mut().expect("it was added").rate = "1Gbps".parse().unwrap();
            })
        },
    },
    Relation {
        name: "unused-link-fails",
        says: "The failure of a link that no path of a message uses does not matter.",
        fault: "the link of the first sender fails",
        check: unused_link_fails,
    },
];

/// The parts of a topology.
pub(super) struct Parts {
    hosts: Vec<String>,
    switches: Vec<Switch>,
    pub(super) links: Vec<Link>,
}

impl Parts {
    pub(super) fn of(topology: &Topology) -> Self {
        Self {
            hosts: topology.host_names().to_vec(),
            switches: topology.switches().to_vec(),
            links: topology.links().to_vec(),
        }
    }

    /// Adds an idle host to a leaf.
    fn host(&mut self, leaf: SwitchId, delay: Span) {
        let host = HostId(self.hosts.len() as u32);
        self.hosts.push(format!("idle{}", host.0));
        let of_host = |link: &&Link| link.ends.iter().any(|end| end.host().is_some());
        let rate = self.links.iter().find(of_host).expect("hosts have links").rate;
        self.links.push(Link { ends: [Node::Host(host), Node::Switch(leaf)], rate, delay });
    }

    /// Adds a leaf with links to all spines and two idle hosts.
    pub(super) fn pod(&mut self, delay: Span) {
        let leaf = SwitchId(self.switches.len() as u32);
        let spines = (0u32..).zip(&self.switches).filter(|(_, it)| it.tier == 1);
        let is_of_fabric = |link: &&Link| link.ends.iter().all(|end| end.switch().is_some());
        let rate = self.links.iter().find(is_of_fabric).map(|link| link.rate);
        for (spine, _) in spines {
            let ends = [leaf, SwitchId(spine)].map(Node::Switch);
            self.links.push(Link { ends, rate: rate.expect("spines have links"), delay });
        }
        self.switches.push(Switch { name: "idle-leaf".to_owned(), tier: 0 });
        self.host(leaf, delay);
        self.host(leaf, delay);
    }

    pub(super) fn setup(self, old: &Setup) -> Option<Setup> {
        let topology = Topology::new(self.hosts, self.switches, self.links).ok()?;
        Some(Setup { topology: Arc::new(topology), ..old.clone() })
    }
}

/// Returns a leaf-spine whose switches do not divide their memory among ports.
pub(super) fn leaf_spine(case: &Case) -> Draft {
    let mut draft = case.draft.clone();
    draft.leaf_spine();
    draft.remove("switch.pfc");
    if let Some(classes) = draft.0.get_mut("class").and_then(toml::Value::as_array_mut) {
        classes
            .iter_mut()
            .filter_map(toml::Value::as_table_mut)
            .for_each(|it| drop(it.remove("pfc")));
    }
    draft
}

fn idle(case: &Case, add: impl Fn(&mut Parts)) -> CheckResult {
    let setup = resolved(&leaf_spine(case))?.setup();
    require(is_plain(&setup.topology))?;
    let mut parts = Parts::of(&setup.topology);
    add(&mut parts);
    if case.is_faulty {
        parts.links.iter_mut().for_each(|link| link.delay += Span::from_ns(1));
    }
    equal(&seen(&setup), &seen(&defined(parts.setup(&setup))?))
}

/// Adds an idle pod. A pod offers a detour around failed links, so no link may fail.
fn pod(case: &Case, delay: Span) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.remove("failure");
    let case = Case { draft, is_faulty: case.is_faulty };
    idle(&case, |parts| parts.pod(delay))
}

fn unused_link_fails(case: &Case) -> CheckResult {
    let mut draft = leaf_spine(case);
    draft.remove("failure");
    let setup = resolved(&draft)?.setup();
    let mut parts = Parts::of(&setup.topology);
    parts.pod(Span::from_ns(500));
    let setup = defined(parts.setup(&setup))?;
    let mut failing = setup.clone();
    let unused = setup.topology.links().len() as u32 - 1;
    let first: Result<_, Failure> = defined(setup.workload.messages.first());
    let used = setup.topology.host_port(first?.src).link();
    let link = if case.is_faulty { used } else { LinkId(unused) };
    failing.fabric.failures.push(LinkFailure {
        link,
        direction: evenkeel::fabric::Direction::Both,
        kind: evenkeel::fabric::FailureKind::Down,
        at: Time::ZERO + Span::from_ns(700),
        until: Time::NEVER,
        detection: Span::ZERO,
        convergence: Span::from_us(3),
    });
    equal(&seen(&setup), &seen(&failing))
}
