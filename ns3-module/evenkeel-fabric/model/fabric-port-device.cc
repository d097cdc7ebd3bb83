// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-channel.h"
#include "fabric-ip.h"
#include "fabric-pool.h"
#include "fabric-port.h"
#include "fabric.h"
#include "rdma-nic.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <initializer_list>
#include <tuple>

// FabricPort as a device of its node: attributes, trace sources, and the NetDevice interface.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricPortDevice");

TypeId
FabricPort::GetTypeId()
{
    static TypeId tid = AddTraceSources(
        TypeId("ns3::FabricPort")
            .SetParent<NetDevice>()
            .SetGroupName("Evenkeel")
            .AddConstructor<FabricPort>()
            .AddAttribute("Punctual",
                          "Schedule an event for each start of a packet, so that trace sinks "
                          "connected after the start of the simulation are called at the right "
                          "time. Ports with earlier trace sinks always do so.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricPort::m_punctual),
                          MakeBooleanChecker())
            .AddAttribute("Mtu",
                          "The longest IP packet, in bytes: a longer one is fragmented by ns-3's "
                          "IP stack. RDMA packets have the payload size of the NIC. The worst-case "
                          "headroom of priority flow control is for those: no IP packet is dropped "
                          "if Mtu is at most their length less 18 B (4140 B with the defaults).",
                          UintegerValue(9000),
                          MakeUintegerAccessor(&FabricPort::SetMtu, &FabricPort::GetMtu),
                          MakeUintegerChecker<uint16_t>(0, FabricIp::LONGEST)));
    return tid;
}

TypeId
FabricPort::AddTraceSources(TypeId tid)
{
    using Source = std::tuple<const char*, const char*, Ptr<const TraceSourceAccessor>>;
    const auto of = [](auto trace) { return MakeTraceSourceAccessor(trace); };
    for (const auto& [name, help, source] : std::initializer_list<Source>{
             {"PacketSent", "A packet starts on the wire.", of(&FabricPort::m_sentTrace)},
             {"PacketReceived",
              "A packet arrived over the wire.",
              of(&FabricPort::m_receivedTrace)},
             {"Enqueue", "A packet joins a queue of this port.", of(&FabricPort::m_enqueueTrace)},
             {"Dequeue", "A packet leaves a queue of this port.", of(&FabricPort::m_dequeueTrace)},
             {"Drop",
              "A packet is dropped: the buffer has no room, no port leads to the destination, or "
              "the link failed.",
              of(&FabricPort::m_dropTrace)},
             {"EcnMark", "A packet is ECN marked.", of(&FabricPort::m_markTrace)}})
    {
        tid = tid.AddTraceSource(name, help, source, "ns3::FabricPort::PacketTracedCallback");
    }
    for (const auto& [name, help, source] : std::initializer_list<Source>{
             {"MacTx",
              "A packet of the IP stack is accepted: it waits for the wire.",
              of(&FabricPort::m_macTxTrace)},
             {"MacTxDrop",
              "A packet that a protocol stack passed to Send is dropped before the wire: the queue "
              "is full, no other host has the destination address, it is longer than the MTU, or "
              "not a unicast IP packet.",
              of(&FabricPort::m_macTxDropTrace)},
             {"MacRx", "An IP packet arrived at its host.", of(&FabricPort::m_macRxTrace)},
             {"IpDrop",
              "An IP packet is dropped here, for the same reasons as in Drop.",
              of(&FabricPort::m_ipDropTrace)},
             {"PromiscSniffer",
              "The bytes of each packet that starts or arrives here, as RoCEv2 or IP in Ethernet "
              "without the frame check sequence. They are made only if a trace sink is connected.",
              of(&FabricPort::m_snifferTrace)}})
    {
        tid = tid.AddTraceSource(name, help, source, "ns3::Packet::TracedCallback");
    }
    return tid
        .AddTraceSource("Pause",
                        "Priority flow control (PFC) pauses or resumes this port: with traffic "
                        "classes, the first of them or the last.",
                        MakeTraceSourceAccessor(&FabricPort::m_pauseTrace),
                        "ns3::FabricPort::PauseTracedCallback")
        .AddTraceSource("ClassPause",
                        "Priority flow control (PFC) pauses or resumes a traffic class of this "
                        "port; class 0 if data has one queue.",
                        MakeTraceSourceAccessor(&FabricPort::m_classPauseTrace),
                        "ns3::FabricPort::ClassPauseTracedCallback");
}

Ptr<Channel>
FabricPort::GetChannel() const
{
    return m_channel;
}

void
FabricPort::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

bool
FabricPort::SetMtu(const uint16_t mtu)
{
    if (mtu > FabricIp::LONGEST)
    {
        return false;
    }
    m_mtu = mtu;
    return true;
}

bool
FabricPort::IsLinkUp() const
{
    return m_channel && m_channel->GetNDevices() == 2;
}

void
FabricPort::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChangeCallbacks.ConnectWithoutContext(callback);
}

bool
FabricPort::IsBroadcast() const
{
    // The hosts of a fabric are neighbours in one subnet. A broadcast device makes global routing
    // treat the link as one to a subnet instead of one to a router at its other end.
    return true;
}

Address
FabricPort::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

Address
FabricPort::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
FabricPort::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
FabricPort::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    // A host's port has no NIC before AddPort and after the end of the simulation.
    return m_nic ? m_nic->SendIpBy(m_nic->PlaneOf(*this), packet, protocolNumber)
                 : SendFrom(packet, m_address, dest, protocolNumber);
}

bool
FabricPort::SendFrom(Ptr<Packet> packet,
                     const Address& source,
                     const Address& dest,
                     uint16_t protocolNumber)
{
    NS_LOG_FUNCTION(this << packet << source << dest << protocolNumber);
    return DropUnsent(packet);
}

bool
FabricPort::DropUnsent(Ptr<const Packet> packet)
{
    NS_LOG_LOGIC("port " << m_id << " drops a packet of " << packet->GetSize() << " bytes");
    ++m_foreignDropped;
    m_macTxDropTrace(packet);
    return false;
}

bool
FabricPort::ReceiveIp(uint32_t slot)
{
    if (!m_pool->Get(slot).packet.IsIp())
    {
        return false;
    }
    const FabricIp::Carried carried = m_fabric->GetIp().Deliver(m_pool->Remove(slot));
    // Deliver in a separate event of the node, as other devices do: the stack may then post, send
    // or stop the simulation.
    Ptr<FabricPort> self(this);
    Simulator::ScheduleWithContext(m_node->GetId(), Time(0), [self, carried] {
        if (!self->m_fabric)
        {
            return;
        }
        const auto& [packet, protocol, source, destination] = carried;
        self->m_macRxTrace(packet);
        if (!self->m_receivePromisc.IsNull())
        {
            self->m_receivePromisc(self,
                                   packet->Copy(),
                                   protocol,
                                   source,
                                   destination,
                                   PACKET_HOST);
        }
        if (!self->m_receive.IsNull())
        {
            self->m_receive(self, packet->Copy(), protocol, source);
        }
    });
    return true;
}

Ptr<Node>
FabricPort::GetNode() const
{
    return m_node;
}

void
FabricPort::SetNode(Ptr<Node> node)
{
    m_node = node;
}

void
FabricPort::SetReceiveCallback(NetDevice::ReceiveCallback cb)
{
    NS_LOG_FUNCTION(this);
    m_receive = cb;
}

void
FabricPort::SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb)
{
    NS_LOG_FUNCTION(this);
    m_receivePromisc = cb;
}

} // namespace ns3
