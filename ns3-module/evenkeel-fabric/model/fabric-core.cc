// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-core.h"

#include "ns3/refuse.h"

#include <stdexcept>
#include <utility>

namespace ns3
{

bool
FabricHosts::PollTransmitOn(uint32_t host,
                            uint64_t nowPs,
                            const FabricWires& wires,
                            uint64_t& startPs,
                            uint32_t& plane,
                            FabricPacket& packet)
{
    EVENKEEL_REFUSE("FabricHosts::PollTransmitOn",
                    "the hosts of this core have one port, but host "
                        << host << " has " << wires.count
                        << " links: use a core with evenkeel's NICs");
    return false;
}

void
FabricHosts::PollAnew(uint32_t host, uint64_t nowPs)
{
}

bool
FabricHosts::PollTransmitBeside(uint32_t host,
                                uint64_t nowPs,
                                const FabricIpClasses& ip,
                                FabricPacket& packet,
                                uint32_t& trafficClass)
{
    EVENKEEL_REFUSE("FabricHosts::PollTransmitBeside",
                    "the hosts of this core have no traffic classes: use a core with evenkeel's "
                    "NICs");
    return false;
}

void
FabricHosts::ChargeBeside(uint32_t host, uint32_t trafficClass, uint16_t bytes, bool waits)
{
}

void
FabricHosts::PauseClass(uint32_t host, uint32_t trafficClass, bool paused)
{
    EVENKEEL_REFUSE("FabricHosts::PauseClass",
                    "the hosts of this core have no traffic classes: use a core with evenkeel's "
                    "NICs");
}

// A fixed order by port. evenkeel's core draws the order, so that no sender is always first.
uint32_t
FabricSwitching::GetPlace(uint64_t /* nowPs */, uint32_t port) const
{
    return port;
}

uint32_t
FabricSwitching::ChooseClass(uint32_t port, uint8_t waiting)
{
    uint32_t first = 0;
    while (first + 1 < FABRIC_MOST_CLASSES && !(waiting & FabricClassQueues::BitOf(first)))
    {
        ++first;
    }
    return first;
}

void
FabricSwitching::ChargeClass(uint32_t port, uint32_t trafficClass, uint16_t bytes, bool waits)
{
}

FabricFailures
FabricSwitching::AddFailures(const std::string&, uint32_t, uint64_t)
{
    throw std::invalid_argument("the switches of this core do not support added failures: "
                                "use a core with evenkeel's switches");
}

FabricFailures
FabricSwitching::EndFailures(const std::string&, uint64_t, uint32_t, uint64_t)
{
    throw std::invalid_argument("the switches of this core do not support ending failures: "
                                "use a core with evenkeel's switches");
}

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
