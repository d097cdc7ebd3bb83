// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "plain-fabric-core.h"

namespace ns3
{

namespace
{

/**
 * @param graph hosts, switches and links
 * @param settings of switches and links
 * @return a fabric without faults, marking and priority flow control
 */
FabricDescription
Describe(const FabricGraph& graph, const FabricSettings& settings)
{
    FabricDescription description;
    description.graph = graph;
    description.settings = settings;
    description.ecn.resize(2 * graph.links.size());
    description.ingress.resize(2 * graph.links.size());
    description.poolSizes.resize(graph.switches.size());
    return description;
}

} // namespace

PlainFabricCore::PlainFabricCore(const FabricGraph& graph,
                                 const FabricSettings& settings,
                                 const Transport& transport)
    : PlainFabricCore(graph,
                      settings,
                      std::make_shared<PlainFabricHosts>(static_cast<uint32_t>(graph.hosts.size()),
                                                         settings.ackPriority,
                                                         transport),
                      std::make_shared<PlainFabricSwitching>(graph))
{
}

PlainFabricCore::PlainFabricCore(const FabricGraph& graph,
                                 const FabricSettings& settings,
                                 std::shared_ptr<PlainFabricHosts> hosts,
                                 std::shared_ptr<PlainFabricSwitching> switching)
    : FabricCore(Describe(graph, settings), hosts, switching),
      m_plainSwitching(*switching)
{
}

void
PlainFabricCore::SetFaults(const std::vector<FabricFault>& faults)
{
    m_description.faults = faults;
}

void
PlainFabricCore::SetSteps(const std::vector<FabricStep>& steps)
{
    m_description.steps = steps;
}

void
PlainFabricCore::SetEcn(const FabricEcn& ecn)
{
    m_description.ecn.assign(m_description.ecn.size(), ecn);
    m_plainSwitching.SetEcn(ecn);
}

void
PlainFabricCore::SetPfc(const FabricIngress& ingress, uint64_t poolSize)
{
    m_description.ingress.assign(m_description.ingress.size(), ingress);
    m_description.poolSizes.assign(m_description.poolSizes.size(), poolSize);
}

void
PlainFabricCore::DisableOnlyPorts()
{
    m_plainSwitching.DisableOnlyPorts();
}

} // namespace ns3
