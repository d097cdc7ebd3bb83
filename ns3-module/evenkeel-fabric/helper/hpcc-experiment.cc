// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "hpcc-experiment.h"

#include "../model/fabric-bridge-records.h"
#include "../model/fabric-core-bridge.h"
#include "hpcc-recorder.h"

#include "ns3/refuse.h"

#include <utility>

namespace ns3
{

namespace contract = evenkeel::contract;

namespace
{

/**
 * @brief Reads an experiment.
 * @param config path of the configuration
 * @param policy overrides that of the configuration, unless it is empty
 * @param rounding of transmission times
 * @return the experiment
 */
rust::Box<contract::Experiment>
ReadExperiment(const std::string& config, const std::string& policy, FabricRounding rounding)
{
    contract::Overrides overrides{};
    overrides.policy = policy;
    return bridgerecords::OrThrow<std::invalid_argument>(
        [&] { return contract::experiment_of_hpcc(config, overrides, rounding); });
}

} // namespace

/// The experiment's objects from the Rust library.
struct HpccExperiment::Impl
{
    rust::Box<contract::Experiment> experiment; //!< the experiment
    std::shared_ptr<FabricCoreBridge> bridge;   //!< its hosts and policies, once it is built
    std::unique_ptr<HpccRecorder> recorder;     //!< records events and samples during the run
};

HpccExperiment::HpccExperiment(const std::string& config,
                               const std::string& policy,
                               FabricRounding rounding)
    : m_impl(new Impl{ReadExperiment(config, policy, rounding), nullptr, nullptr})
{
}

HpccExperiment::~HpccExperiment() = default;

std::string
HpccExperiment::GetPolicy() const
{
    return std::string(m_impl->experiment->policy());
}

std::vector<std::string>
HpccExperiment::GetWarnings() const
{
    std::vector<std::string> warnings;
    for (const rust::String& warning : m_impl->experiment->warnings())
    {
        warnings.push_back(std::string(warning));
    }
    return warnings;
}

Ptr<Fabric>
HpccExperiment::Build(FabricHelper& helper)
{
    EVENKEEL_REFUSE_IF(m_fabric,
                       "HpccExperiment::Build",
                       "an experiment is built only once: make another HpccExperiment");
    const contract::Experiment& experiment = *m_impl->experiment;
    m_impl->bridge = std::make_shared<FabricCoreBridge>(experiment.core());
    m_fabric = helper.CreateFromCore(FabricCoreBridge::MakeCore(experiment, m_impl->bridge));
    m_impl->recorder = bridgerecords::OrThrow<std::runtime_error>([&] {
        return std::make_unique<HpccRecorder>(experiment, m_impl->bridge->Get(), m_fabric);
    });
    return m_fabric;
}

void
HpccExperiment::Write(const std::string& folder)
{
    EVENKEEL_REFUSE_IF(!m_fabric,
                       "HpccExperiment::Write",
                       "the experiment has no results: call Build and run the simulation first");
    contract::Core& core = m_impl->bridge->Get();
    core.record(bridgerecords::Measure(*m_fabric));
    bridgerecords::OrThrow<std::runtime_error>(
        [&] { m_impl->experiment->write_hpcc(core, folder); });
}

} // namespace ns3
