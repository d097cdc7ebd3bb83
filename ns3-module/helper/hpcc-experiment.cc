// SPDX-License-Identifier: GPL-2.0-only

#include "hpcc-experiment.h"

#include "../model/fabric-core-bridge.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/fabric-port.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

namespace ns3
{

namespace contract = evenkeel::contract;

namespace
{

/// How often the family's monitor looks at queues, in ns (third.cc, qlen_mon_interval).
constexpr uint64_t LOOK_EVERY_NS = 100;
/// How often it writes down what it saw, in ns (third.cc, qlen_dump_interval).
constexpr uint64_t DUMP_EVERY_NS = 100000000;

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
};

HpccExperiment::HpccExperiment(const std::string& config,
                               const std::string& policy,
                               FabricRounding rounding)
    : m_impl(new Impl{Open(config, policy, rounding)})
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
    const contract::HpccFacts facts = experiment.hpcc();
    if (facts.queues_from_ns >= facts.queues_until_ns)
    {
        return m_fabric;
    }
    std::map<uint32_t, uint32_t> links;
    const FabricGraph& graph = m_fabric->GetCore().GetGraph();
    for (uint32_t port = 0; port < m_fabric->GetNPorts(); ++port)
    {
        const FabricLink& link = graph.links[port / 2];
        const FabricEnd& from = port % 2 == 0 ? link.a : link.b;
        if (from.isHost)
        {
            continue;
        }
        Watched watched;
        watched.node = facts.switches[from.number];
        watched.interface = ++links[from.number];
        watched.port = port;
        m_watched.push_back(watched);
        // Only then is what waits known at every moment.
        m_fabric->GetPort(port).SetAttribute("Punctual", BooleanValue(true));
    }
    std::stable_sort(m_watched.begin(), m_watched.end(), [](const auto& a, const auto& b) {
        return a.node < b.node;
    });
    m_queuesUntilNs = facts.queues_until_ns;
    Simulator::Schedule(NanoSeconds(facts.queues_from_ns), &HpccExperiment::LookAtQueues, this);
    return m_fabric;
}

void
HpccExperiment::LookAtQueues()
{
    for (Watched& watched : m_watched)
    {
        const uint32_t kilobytes = m_fabric->GetPort(watched.port).GetWaitingBytes() / 1000;
        if (watched.counts.size() <= kilobytes)
        {
            watched.counts.resize(kilobytes + 1);
        }
        ++watched.counts[kilobytes];
    }
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    if (now % DUMP_EVERY_NS == 0)
    {
        DumpQueues();
    }
    if (now < m_queuesUntilNs)
    {
        Simulator::Schedule(NanoSeconds(LOOK_EVERY_NS), &HpccExperiment::LookAtQueues, this);
    }
}

void
HpccExperiment::DumpQueues()
{
    m_queues += "time: " + std::to_string(Simulator::Now().GetNanoSeconds()) + "\n";
    for (const Watched& watched : m_watched)
    {
        m_queues += std::to_string(watched.node) + " " + std::to_string(watched.interface);
        for (const uint32_t count : watched.counts)
        {
            m_queues += " " + std::to_string(count);
        }
        m_queues += "\n";
    }
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
    if (m_watched.empty())
    {
        return;
    }
    // The family writes at whole multiples of its interval alone, of which there may be none.
    DumpQueues();
    std::ofstream file(folder + "/qlen.txt");
    file << m_queues;
    if (!file.flush())
    {
        throw std::runtime_error(folder + "/qlen.txt cannot be written");
    }
}

} // namespace ns3
