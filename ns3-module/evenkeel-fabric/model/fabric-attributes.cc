// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-bridge.h"
#include "fabric-channel.h"
#include "fabric-ip.h"
#include "fabric-switch.h"
#include "fabric.h"
#include "rdma-nic.h"

#include "ns3/log.h"
#include "ns3/refuse.h"

#include <algorithm>
#include <iostream>
#include <string>

// Fabric's attributes, which the core reads once, when the fabric is made.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricAttributes");

void
Fabric::CloseAttributes()
{
    Close("Fabric");
    for (std::size_t host = 0; host < m_nics.size(); ++host)
    {
        m_nics[host]->Close("RdmaNic (host " + std::to_string(host) + ")");
    }
    for (std::size_t number = 0; number < m_switches.size(); ++number)
    {
        m_switches[number]->Close("FabricSwitch (switch " + std::to_string(number) + ")");
    }
    for (std::size_t link = 0; link < m_channels.size(); ++link)
    {
        m_channels[link]->Close("FabricChannel (link " + std::to_string(link) + ")");
    }
}

bool
Fabric::HasHeadroomFor(uint32_t wireBytes) const
{
    return m_rust->has_headroom_for(wireBytes);
}

void
Fabric::WarnOfMtu() const
{
    if (!GetSettings().pfc || !m_ip->IsInstalled())
    {
        return;
    }
    uint32_t mtu = 0;
    for (const auto& nic : m_nics)
    {
        for (uint32_t plane = 0; plane < nic->GetNPorts(); ++plane)
        {
            mtu = std::max<uint32_t>(mtu, nic->GetPort(plane)->GetMtu());
        }
    }
    if (!HasHeadroomFor(mtu + FabricIp::ETHERNET))
    {
        NS_LOG_WARN("priority flow control may drop IP packets: its headroom is for packets "
                    "shorter than the Mtu, "
                    << mtu << " B; set Mtu to the length of RDMA's packets less 18 B");
    }
}

std::string
Fabric::DescribeSettings() const
{
    return "gap = " + ReadToml("Gap", "B") + "\nforwarding_delay = " + ReadToml("ForwardingDelay") +
           "\n";
}

void
Fabric::WarnIfIdle() const
{
    if (!m_started || m_counters.hops > 0)
    {
        return;
    }
    uint64_t dropped = 0;
    for (const auto& nic : m_nics)
    {
        dropped += nic->GetForeignDropped();
    }
    std::cerr << "evenkeel: the fabric carried no packet: ";
    if (dropped > 0)
    {
        std::cerr
            << "its NICs dropped " << dropped
            << " packets of protocol stacks, for multicast or for addresses that no host has; "
               "give all hosts addresses of one subnet: "
               "Ipv4AddressHelper::Assign(FabricHelper::GetNics())";
    }
    else
    {
        std::cerr << "no workload was installed (CollectiveHelper::Install), no message was posted "
                     "(RdmaNic::PostMessage), and no application sent through its NICs "
                     "(Ipv4AddressHelper::Assign(FabricHelper::GetNics()))";
    }
    std::cerr << std::endl;
}

} // namespace ns3
