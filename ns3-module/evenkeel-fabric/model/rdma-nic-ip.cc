// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-bridge.h"
#include "fabric-calendar.h"
#include "fabric-channel.h"
#include "fabric-ip.h"
#include "fabric-pool.h"
#include "fabric.h"
#include "rdma-nic.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/refuse.h"

#include <algorithm>
#include <iostream>
#include <vector>

// RdmaNic's methods for packets of ns-3's IP stack, which share its wires with RDMA.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaNicIp");

bool
RdmaNic::SendIpBy(uint32_t plane, Ptr<Packet> packet, uint16_t protocol)
{
    FabricPort& port = PortIn(plane);
    EVENKEEL_REFUSE_IF(!m_fabric && port.GetChannel(),
                       "RdmaNic::Send",
                       "the fabric of this NIC has not been made, so it carries no packets: "
                       "call FabricHelper::Finish before Simulator::Run");
    // There is no fabric without a link, or after the end of the simulation.
    if (!m_fabric && GetNode() && !m_hasWarned)
    {
        m_hasWarned = true;
        std::cerr << "evenkeel: the RdmaNic of node " << GetNode()->GetId()
                  << " has no link, so it drops every packet: connect the node to a switch with "
                     "FabricHelper::Install"
                  << std::endl;
    }
    const bool isOver = !m_fabric || (m_fabric->HasStarted() && !m_fabric->GetCalendar().IsOpen());
    FabricPacket header;
    if (isOver || packet->GetSize() > port.GetMtu() ||
        !m_fabric->GetIp().Take(m_host, plane, packet, protocol, header))
    {
        return port.DropUnsent(packet);
    }
    port.m_macTxTrace(packet);
    m_entering.push_back(EnteringIp{plane, header});
    // The packet is enqueued later at this time, in the defined order of the NIC's events.
    ScheduleWakeAt(m_fabric->GetCalendar().Now());
    return true;
}

void
RdmaNic::Enqueue(uint64_t nowPs, const std::vector<EnteringIp>& entering)
{
    for (const EnteringIp& each : entering)
    {
        FabricPort& port = PortIn(each.plane);
        if (static_cast<uint64_t>(port.GetWaitingBytes()) + each.packet.wireBytes > m_ipQueueBytes)
        {
            NS_LOG_LOGIC("the IP queue of port " << port.m_id << " is full");
            port.DropUnsent(m_fabric->GetIp().Drop(each.packet).packet);
            continue;
        }
        // If the wire has been idle, the packet starts now.
        port.m_free = std::max(port.m_free, nowPs);
        port.PushQueue(m_pool->Insert(each.packet));
        if (!port.m_enqueueTrace.IsEmpty())
        {
            port.m_enqueueTrace(each.packet, PicoSeconds(nowPs));
        }
    }
}

void
RdmaNic::StartIp(FabricPort& port, uint32_t slot)
{
    if (!port.m_dequeueTrace.IsEmpty())
    {
        port.m_dequeueTrace(m_pool->Get(slot).packet, PicoSeconds(port.m_free));
    }
    port.m_ipFirst &=
        static_cast<uint8_t>(~FabricPort::BitOf(m_pool->Get(slot).packet.GetTrafficClass()));
    port.Transmit(slot, port.m_free);
}

void
RdmaNic::SendBesideIp()
{
    evenkeel::contract::Core& core = m_fabric->GetRust();
    FabricPacket packet;
    if (m_classes == 0)
    {
        uint64_t start = m_free;
        const bool ackPriority = m_fabric->GetSettings().ackPriority;
        const bool sends = m_ipFirst ? ackPriority && core.poll_transmit_control(m_host, packet)
                                     : core.poll_transmit(m_host, m_free, start, packet);
        if (sends)
        {
            Inject(*this, start, packet);
            return;
        }
        StartIp(*this, PopQueue());
        return;
    }
    uint32_t trafficClass = 0;
    if (core.poll_transmit_beside(m_host, m_free, GetReady(), m_ipFirst, packet, trafficClass))
    {
        Inject(*this, m_free, packet);
        return;
    }
    const uint32_t slot = PopClass(trafficClass);
    core.charge_beside(m_host,
                       trafficClass,
                       m_pool->Get(slot).packet.wireBytes,
                       (m_waiting & BitOf(trafficClass)) != 0);
    StartIp(*this, slot);
}

FabricPort*
RdmaNic::FindPortForIp(uint64_t nowPs)
{
    FabricPort* first = nullptr;
    for (uint32_t plane = 0; plane < GetNPorts(); ++plane)
    {
        FabricPort& port = PortIn(plane);
        if (port.HasWaiting() && port.m_free <= nowPs && (!first || port.m_free < first->m_free))
        {
            first = &port;
        }
    }
    return first;
}

bool
RdmaNic::HasPacketsFor(const FabricPort& port) const
{
    return port.GetWaitingBytes() > 0 || m_fabric->GetRust().has_packets(m_host);
}

} // namespace ns3
