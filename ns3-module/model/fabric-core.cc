// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-core.h"

#include <utility>

namespace ns3
{

FabricCore::FabricCore(FabricDescription description,
                       std::shared_ptr<FabricHosts> hosts,
                       std::shared_ptr<FabricSwitching> switching)
    : m_description(std::move(description)),
      m_hosts(std::move(hosts)),
      m_switching(std::move(switching))
{
}

const FabricDescription&
FabricCore::GetDescription() const
{
    return m_description;
}

const FabricGraph&
FabricCore::GetGraph() const
{
    return m_description.graph;
}

const FabricSettings&
FabricCore::GetSettings() const
{
    return m_description.settings;
}

const std::shared_ptr<FabricHosts>&
FabricCore::GetHosts() const
{
    return m_hosts;
}

const std::shared_ptr<FabricSwitching>&
FabricCore::GetSwitching() const
{
    return m_switching;
}

std::vector<FabricFlow>
FabricCore::GetFlows() const
{
    return m_hosts->GetFlows();
}

FabricNicCounters
FabricCore::GetCounters() const
{
    return m_hosts->GetCounters();
}

FabricQpCounts
FabricCore::GetQpCounts() const
{
    return m_hosts->GetQpCounts();
}

} // namespace ns3
