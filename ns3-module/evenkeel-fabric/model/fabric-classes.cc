// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-classes.h"

#include "fabric-pool.h"
#include "fabric-port.h"
#include "fabric.h"

// Fabric's methods for traffic classes, and those that walk through queues.

namespace ns3
{

namespace
{

/**
 * @param pool packets
 * @param list a list of some of them
 * @return number of data packets in the list
 */
uint64_t
CountDataIn(const FabricPool& pool, const FabricPool::List& list)
{
    uint64_t count = 0;
    for (uint32_t slot = list.head; slot != FabricPool::NONE; slot = pool.Get(slot).next)
    {
        count += pool.Get(slot).packet.IsData() ? 1 : 0;
    }
    return count;
}

} // namespace

uint64_t
Fabric::GetDataDroppedOf(uint32_t trafficClass) const
{
    return trafficClass < FABRIC_MOST_CLASSES ? m_droppedOf[trafficClass] : 0;
}

std::optional<uint32_t>
FabricClass::Find(const std::vector<FabricClass>& classes, const std::string& name)
{
    if (name.empty())
    {
        return 0;
    }
    for (uint32_t trafficClass = 0; trafficClass < classes.size(); ++trafficClass)
    {
        if (classes[trafficClass].name == name)
        {
            return trafficClass;
        }
    }
    return std::nullopt;
}

std::string
FabricClass::Explain(const std::vector<FabricClass>& classes, const std::string& name)
{
    std::string names;
    for (const FabricClass& each : classes)
    {
        names += (names.empty() ? "'" : ", '") + each.name + "'";
    }
    return "there is no traffic class '" + name + "': " +
           (names.empty() ? "call FabricHelper::AddClass before the fabric is made"
                          : "the fabric has " + names);
}

void
Fabric::RecordPause(uint64_t nowPs, uint32_t port, FabricPfcOrder order, uint32_t trafficClass)
{
    m_pauses.push_back(Pause{nowPs, port, trafficClass, order});
}

uint64_t
Fabric::CountDataInFlight() const
{
    uint64_t count = 0;
    for (const FabricPort* port : m_ports)
    {
        count += CountDataIn(*m_pool, port->m_wire);
        for (const FabricPool::List& queue : port->m_queues)
        {
            count += CountDataIn(*m_pool, queue);
        }
    }
    return count;
}

} // namespace ns3
