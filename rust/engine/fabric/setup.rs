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

/// Everything that determines a run. Equal setups give bit-identical outcomes.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Hosts, switches and links.
    pub topology: Arc<Topology>,
    /// Behavior of links and switches, and their failures.
    pub fabric: FabricConfig,
    /// NIC configuration of every host that is not in `own_nics`.
    pub nic: NicConfig,
    /// Hosts with a NIC configuration of their own. Hosts that exchange messages must have NICs
    /// that a queue pair can connect ([`NicConfig::mismatch`]).
    pub own_nics: BTreeMap<HostId, NicConfig>,
    /// Load-balancing scheme.
    pub scheme: Scheme,
    /// Policies of jobs to which `scheme` does not apply.
    pub job_policies: Vec<JobPolicy>,
    /// Traffic classes of jobs, by index among those of `fabric`. Other messages use the first
    /// class. [`super::World::new`] lists the features that exclude classes.
    pub job_classes: Vec<JobClass>,
    /// Messages and delays, with their dependencies.
    pub workload: Arc<Workload>,
    /// Seed of every random draw.
    pub seed: u64,
    /// Time at which an incomplete run ends.
    pub time_limit: Time,
    /// Times at which the queues of all switches are measured; see [`super::Outcome::probes`].
    /// Times after the end of the run are ignored.
    pub probes: Vec<Time>,
}

impl Setup {
    /// Returns the policies of all messages.
    pub fn policies(&self) -> Policies {
        let Self { scheme, nic, job_policies, workload, .. } = self;
        let policies = Policies::new(scheme, nic.recovery, job_policies, workload);
        policies.with_classes(&self.job_classes)
    }

    /// Returns the scheduling of traffic classes at each wire; `None` if data has one class.
    pub fn discipline(&self) -> Option<Discipline> {
        let classes = &self.fabric.classes;
        let scheduling = classes.iter().map(|class| class.scheduling);
        let packet = self.nic.payload + self.nic.header;
        (!classes.is_empty()).then(|| Discipline::new(scheduling, packet))
    }

    /// Checks that traffic classes are valid here, as a scenario file is checked.
    ///
    /// # Panics
    /// If there are too many, if a job's class does not exist, or if classes are combined with
    /// credit-based flow control, trimming or hosts with several ports.
    pub fn check_classes(&self) {
        let (fabric, count) = (&self.fabric, self.fabric.class_count());
        assert!(count <= MOST_CLASSES, "{count} traffic classes, of at most {MOST_CLASSES}");
        for JobClass { class, .. } in &self.job_classes {
            assert!(
                class.index() < count,
                "a job uses {class}, but there are {count} traffic classes"
            );
        }
        if fabric.has_classes() {
            let switch = &fabric.switch;
            assert!(
                switch.cbfc.is_none(),
                "traffic classes cannot be combined with credit-based flow control"
            );
            assert!(switch.trim.is_none(), "traffic classes cannot be combined with trimming");
            let planes = self.topology.planes().count();
            assert!(
                planes <= 1,
                "traffic classes cannot be combined with hosts that have {planes} ports"
            );
        }
    }

    /// Returns the NIC configuration of a host.
    pub fn nic_of(&self, host: HostId) -> &NicConfig {
        self.own_nics.get(&host).unwrap_or(&self.nic)
    }

    /// Creates the switches of the fabric for these policies.
    pub fn switching(&self) -> Switching {
        Switching::new(&self.topology, &self.fabric, &self.policies().for_switches(), self.seed)
    }

    /// Returns the configuration of the hosts in a fabric with these switches.
    pub fn site(&self, switching: &Switching) -> Site {
        let routes = switching.intact_routes();
        let forwarding_delay = self.fabric.forwarding_delay;
        let base_rtt = |nic: &NicConfig| {
            base_rtt(&self.topology, routes, nic, forwarding_delay, &self.workload)
        };
        let hosts = (0..self.topology.host_count()).map(HostId);
        // Equal NICs need no table of their peers.
        let peers = (!self.own_nics.is_empty())
            .then(|| Arc::new(Peers::new(hosts.map(|host| self.nic_of(host)))));
        let with_peers = |nic: &NicConfig| NicConfig { peers: peers.clone(), ..nic.clone() };
        Site {
            topology: self.topology.clone(),
            routes: routes.clone(),
            nic: Arc::new(with_peers(&self.nic)),
            own_nics: self.own_nics(&|nic| OwnNic {
                config: Arc::new(with_peers(nic)),
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

    /// Returns the NICs of hosts with their own configuration. `make` is called once for each
    /// distinct one.
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
