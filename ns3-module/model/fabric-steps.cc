// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-port.h"
#include "fabric-switch.h"
#include "fabric.h"
#include "rdma-nic.h"

#include <vector>

// The steps of failures: changes of links, of routing, and of what ends of links know.

namespace ns3
{

void
Fabric::ApplyStep(uint64_t nowPs, uint32_t step)
{
    const FabricStep& what = m_core->GetDescription().steps[step];
    if (what.witness == FabricStep::WIRE)
    {
        for (const uint32_t port : {2 * what.link, 2 * what.link + 1})
        {
            if (nowPs > 0)
            {
                // Ports decide late: packets that could start before now start at the old rate.
                m_ports[port]->Settle(nowPs - 1);
            }
            m_ports[port]->ChangeRate(what.rateBps);
        }
        return;
    }
    const std::vector<Ptr<RdmaNic>> nics = FindInformed(what);
    for (const auto& nic : nics)
    {
        if (nowPs > 0)
        {
            // Packets that could start before now are sent first.
            nic->Settle(nowPs - 1);
        }
    }
    m_switching->ApplyStep(step, nowPs);
    for (const auto& each : m_switches)
    {
        each->DiscardRoutes();
    }
    for (const auto& nic : nics)
    {
        nic->HandlePortStatus(nowPs);
    }
}

std::vector<Ptr<RdmaNic>>
Fabric::FindInformed(const FabricStep& step) const
{
    std::vector<Ptr<RdmaNic>> nics;
    const FabricLink& link = m_core->GetGraph().links[step.link];
    for (const FabricEnd& end : {link.a, link.b})
    {
        // A NIC with one port has no other to use instead.
        if (step.witness == FabricStep::ENDS && end.isHost && m_nics[end.number]->GetNPorts() > 1)
        {
            nics.push_back(m_nics[end.number]);
        }
    }
    return nics;
}

} // namespace ns3
