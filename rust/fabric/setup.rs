//! The setup of a run.

use std::sync::Arc;

use crate::balance::Scheme;
use crate::balance::sender::Trimming;
use crate::endpoint::{JobPolicy, Policies, Site, base_rtt};
use crate::nic::NicConfig;
use crate::switching::{FabricConfig, Switching};
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
    /// The configuration of the NIC of every host.
    pub nic: NicConfig,
    /// The load-balancing scheme.
    pub scheme: Scheme,
    /// The policies of jobs with one of their own, which `scheme` does not apply to.
    pub job_policies: Vec<JobPolicy>,
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
        Policies::new(&self.scheme, self.nic.recovery, &self.job_policies, &self.workload)
    }

    /// The switches of a fabric for these policies.
    pub(crate) fn switching(&self) -> Switching {
        Switching::new(&self.topology, &self.fabric, &self.policies().for_switches(), self.seed)
    }

    /// The configuration of the hosts in a fabric with these switches.
    pub(crate) fn site(&self, switching: &Switching) -> Site {
        let routes = switching.intact_routes();
        Site {
            topology: self.topology.clone(),
            routes: routes.clone(),
            nic: self.nic.clone(),
            scheme: self.scheme.clone(),
            job_policies: self.job_policies.clone(),
            workload: self.workload.clone(),
            seed: self.seed,
            base_rtt: base_rtt(&self.topology, routes, &self.nic, self.fabric.forwarding_delay),
            trimming: match self.fabric.switch.trim {
                Some(_) => Trimming::On,
                None => Trimming::Off,
            },
        }
    }
}
