// SPDX-License-Identifier: GPL-2.0-only

#include "hpcc-experiment.h"

#include "../model/fabric-core-bridge.h"
#include "hpcc-recorder.h"

#include "ns3/abort.h"

#include <stdexcept>
#include <utility>

namespace ns3
{

namespace contract = evenkeel::contract;

namespace
{

/**
 * @brief Opens an experiment.
 * @param config path of the configuration
 * @param policy in place of its own, unless it is empty
 * @param rounding of transmission times
 * @return the experiment
 */
rust::Box<contract::Experiment>
Open(const std::string& config, const std::string& policy, FabricRounding rounding)
{
    contract::InPlace inPlace;
    inPlace.policy = policy;
    inPlace.has_seed = false;
    inPlace.seed = 0;
    try
    {
        return contract::experiment_of_hpcc(config,
                                            inPlace,
                                            rounding == FabricRounding::TRUNCATE_NS);
    }
    catch (const rust::Error& error)
    {
        throw std::invalid_argument(error.what());
    }
}

} // namespace

struct HpccExperiment::Impl
{
    rust::Box<contract::Experiment> experiment; //!< what there is
    FabricCoreBridge* core{nullptr};            //!< what moves, owned by the fabric
    std::unique_ptr<HpccRecorder> recorder;     //!< what is written as it goes on
};

HpccExperiment::HpccExperiment(const std::string& config,
                               const std::string& policy,
                               FabricRounding rounding)
    : m_impl(new Impl{Open(config, policy, rounding), nullptr, nullptr})
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
    NS_ABORT_MSG_IF(m_fabric, "an experiment is built once");
    const contract::Experiment& experiment = *m_impl->experiment;
    auto core = std::make_unique<FabricCoreBridge>(experiment, experiment.core());
    m_impl->core = core.get();
    m_fabric = helper.CreateFromCore(std::move(core));
    try
    {
        m_impl->recorder =
            std::make_unique<HpccRecorder>(experiment, m_impl->core->Get(), m_fabric);
    }
    catch (const rust::Error& error)
    {
        throw std::runtime_error(error.what());
    }
    return m_fabric;
}

void
HpccExperiment::Write(const std::string& folder)
{
    NS_ABORT_MSG_UNLESS(m_fabric, "an experiment that was not built has no results");
    contract::Core& core = m_impl->core->Get();
    core.record(FabricCoreBridge::Measure(*m_fabric));
    try
    {
        m_impl->experiment->write_hpcc(core, folder);
    }
    catch (const rust::Error& error)
    {
        throw std::runtime_error(error.what());
    }
}

} // namespace ns3
