//! NICs with settings of their own.

use std::path::Path;

use evenkeel_engine::fabric::Setup;
use evenkeel_engine::ids::HostId;
use evenkeel_engine::nic::NicConfig;
use evenkeel_engine::units::Bytes;
use evenkeel_scenario::Scenario;

use super::contract::NicSettings;
use super::experiment::{Experiment, ExperimentError, InlineText, NIC, expect_supported_by_ns3};
use super::verbs::with_settings;

impl Experiment {
    pub(super) fn set_host_nics(&mut self, nics: &[NicSettings]) -> Result<(), ExperimentError> {
        let mut setup = self.setup.clone();
        for of_hosts in nics {
            let config = config(of_hosts)?;
            for &host in &of_hosts.hosts {
                let hosts = setup.topology.host_count();
                if host >= hosts {
                    return Err(ExperimentError::NoHost { host, hosts });
                }
                setup.own_nics.insert(HostId(host), config.clone());
            }
        }
        expect_supported_by_ns3(&setup)?;
        expect_connected(&setup)?;
        self.setup = setup;
        Ok(())
    }
}

/// Rejects NICs that cannot send the messages of the workload.
fn expect_connected(setup: &Setup) -> Result<(), ExperimentError> {
    let policies = setup.policies();
    for message in &setup.workload.messages {
        let (src, dst) = (message.src, message.dst);
        let recovery = policies.recovery_of(message.stream);
        let sender = setup.nic_of(src);
        if let Some(mismatch) = sender.mismatch(setup.nic_of(dst), recovery) {
            return Err(ExperimentError::Mismatch { src: src.0, dst: dst.0, mismatch });
        }
        let recovery = recovery.unwrap_or(sender.recovery);
        let most = recovery.longest_message().unwrap_or(Bytes::new(u64::MAX));
        let bytes = message.bytes;
        if bytes > most {
            let (host, recovery) = (src.0, recovery.name());
            return Err(ExperimentError::TooLong { host, recovery, most, bytes });
        }
    }
    Ok(())
}

fn config(nic: &NicSettings) -> Result<NicConfig, ExperimentError> {
    let folder = Path::new("");
    let read = Scenario::nic(&nic.settings, InlineText::STEM, folder);
    let config = read.map_err(|error| NIC.error(folder, &error))?;
    let queue_pairs = with_settings(config.queue_pairs, &nic.queue_pairs)
        .map_err(|error| ExperimentError::Text(error.to_string()))?;
    Ok(NicConfig { queue_pairs, ..config })
}
