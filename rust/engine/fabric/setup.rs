//! The setup of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::balance::Scheme;
use crate::balance::sender::Trimming;
use crate::endpoint::{JobClass, JobPolicy, OwnNic, Policies, Site, base_rtt};
use crate::ids::HostId;
use crate::nic::{Discipline, NicConfig, Peers};
use crate::switching::{FabricConfig, MOST_CLASSES, Switching};
use crate::topology::Topology;
use crate::units::Time;
use crate::workload::Workload;

/// Everything that determines a run: the same setup gives the same outcome, bit for bit.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Hosts, switches and links.
    pub topology: Arc<Topology>,
    /// How links and switches behave, and which of them fail.
    pub fabric: FabricConfig,
    /// The configuration of the NIC of every host,
    pub nic: NicConfig,
    /// except for these hosts. Hosts between which messages go have NICs that a queue pair can
    /// connect ([`NicConfig::mismatch`]).
    pub own_nics: BTreeMap<HostId, NicConfig>,
    /// The load-balancing scheme.
    pub scheme: Scheme,
    /// The policies of jobs with one of their own, which `scheme` does not apply to.
    pub job_policies: Vec<JobPolicy>,
    /// The traffic classes of jobs, by index among those of `fabric`; other messages are of the
    /// first class. [`super::World::new`] says what can have classes.
    pub job_classes: Vec<JobClass>,
    /// The messages and delays, and what each of them waits for.
    pub workload: Arc<Workload>,
    /// The seed of every random draw.
    pub seed: u64,
    /// The time at which a run ends that has not completed.
    pub time_limit: Time,
    /// The times at which the queues of all switches are measured, see [`super::Outcome::probes`];
    /// times after the end of the run are ignored.
    pub probes: Vec<Time>,
}

impl Setup {
    /// The policies of all messages.
    pub fn policies(&self) -> Policies {
        let Self { scheme, nic, job_policies, workload, .. } = self;
        let policies = Policies::new(scheme, nic.recovery, job_policies, workload);
        policies.with_classes(&self.job_classes)
    }

    /// How traffic classes take turns at each wire; `None` if data has one class.
    pub fn discipline(&self) -> Option<Discipline> {
        let classes = &self.fabric.classes;
        let scheduling = classes.iter().map(|class| class.scheduling);
        let packet = self.nic.payload + self.nic.header;
        (!classes.is_empty()).then(|| Discipline::new(scheduling, packet))
    }

    /// Checks that what has traffic classes can have them, as a scenario does of its file.
    ///
    /// # Panics
    /// If there are too many, if a job is of a class that there is not, or beside what knows one
    /// class of data alone: credit-based flow control, trimming, and hosts with several ports.
    pub fn check_classes(&self) {
        let (fabric, count) = (&self.fabric, self.fabric.class_count());
        assert!(count <= MOST_CLASSES, "{count} traffic classes, of at most {MOST_CLASSES}");
        for JobClass { class, .. } in &self.job_classes {
            assert!(class.index() < count, "a job of {class}, of {count} traffic classes");
        }
        if fabric.has_classes() {
            let switch = &fabric.switch;
            assert!(switch.cbfc.is_none(), "traffic classes with credit-based flow control");
            assert!(switch.trim.is_none(), "traffic classes with trimming");
            let planes = self.topology.planes().count();
            assert!(planes <= 1, "traffic classes of hosts with {planes} ports");
        }
    }

    /// The configuration of the NIC of a host.
    pub fn nic_of(&self, host: HostId) -> &NicConfig {
        self.own_nics.get(&host).unwrap_or(&self.nic)
    }

    /// The switches of a fabric for these policies.
    pub fn switching(&self) -> Switching {
        Switching::new(&self.topology, &self.fabric, &self.policies().for_switches(), self.seed)
    }

    /// The configuration of the hosts in a fabric with these switches.
    pub fn site(&self, switching: &Switching) -> Site {
        let routes = switching.intact_routes();
        let forwarding_delay = self.fabric.forwarding_delay;
        let base_rtt = |nic: &NicConfig| {
            base_rtt(&self.topology, routes, nic, forwarding_delay, &self.workload)
        };
        let hosts = (0..self.topology.host_count()).map(HostId);
        let peers = (!self.own_nics.is_empty())
            .then(|| Arc::new(Peers::new(hosts.map(|host| self.nic_of(host)))));
        let informed = |nic: &NicConfig| NicConfig { peers: peers.clone(), ..nic.clone() };
        Site {
            topology: self.topology.clone(),
            routes: routes.clone(),
            nic: Arc::new(informed(&self.nic)),
            own_nics: self.own_nics(&|nic| OwnNic {
                config: Arc::new(informed(nic)),
                base_rtt: base_rtt(nic),
            }),
            scheme: self.scheme.clone(),
            job_policies: self.job_policies.clone(),
            classes: self.discipline(),
            job_classes: self.job_classes.clone(),
            workload: self.workload.clone(),
            seed: self.seed,
            base_rtt: base_rtt(&self.nic),
            forwarding_delay,
            trimming: match self.fabric.switch.trim {
                Some(_) => Trimming::On,
                None => Trimming::Off,
            },
        }
    }

    /// The NICs that are not configured as the others, of which `make` makes each kind once.
    fn own_nics(&self, make: &impl Fn(&NicConfig) -> OwnNic) -> BTreeMap<HostId, OwnNic> {
        let mut kinds: Vec<(&NicConfig, OwnNic)> = Vec::new();
        let mut of_hosts = BTreeMap::new();
        for (&host, config) in &self.own_nics {
            let known = kinds.iter().find(|(kind, _)| *kind == config).map(|(_, own)| own.clone());
            let own = known.unwrap_or_else(|| {
                let own = make(config);
                kinds.push((config, own.clone()));
                own
            });
            of_hosts.insert(host, own);
        }
        of_hosts
    }
}
