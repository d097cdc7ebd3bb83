// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-channel.h"
#include "fabric-ip.h"
#include "fabric-pool.h"
#include "fabric-port.h"
#include "fabric.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

// FabricPort as a device of its node: attributes, trace sources, and the NetDevice interface.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricPortDevice");

TypeId
FabricPort::GetTypeId()
{
    static TypeId tid = AddOtherTraceSources(AddPacketTraceSources(
        AddAttributes(TypeId("ns3::FabricPort").SetParent<NetDevice>().SetGroupName("Evenkeel"))));
    return tid;
}

TypeId
FabricPort::AddAttributes(TypeId tid)
{
    return tid
        .AddAttribute("Punctual",
                      "Schedule an event for each start of a packet, so that trace sinks "
                      "connected after the start of the simulation are called at the right time. "
                      "Ports with earlier trace sinks always do so.",
                      BooleanValue(false),
                      MakeBooleanAccessor(&FabricPort::m_punctual),
                      MakeBooleanChecker())
        .AddAttribute("Mtu",
                      "The longest IP packet, in bytes: a longer one is fragmented by ns-3's IP "
                      "stack. RDMA packets have the payload size of the NIC. The worst-case "
                      "headroom of priority flow control is for those: no IP packet is dropped if "
                      "Mtu is at most their length less 18 B (4140 B with the defaults).",
                      UintegerValue(9000),
                      MakeUintegerAccessor(&FabricPort::SetMtu, &FabricPort::GetMtu),
                      MakeUintegerChecker<uint16_t>(0, FabricIp::LONGEST));
}

TypeId
FabricPort::AddPacketTraceSources(TypeId tid)
{
    return tid
        .AddTraceSource("PacketSent",
                        "A packet starts on the wire.",
                        MakeTraceSourceAccessor(&FabricPort::m_sentTrace),
                        "ns3::FabricPort::PacketTracedCallback")
        .AddTraceSource("PacketReceived",
                        "A packet arrived over the wire.",
                        MakeTraceSourceAccessor(&FabricPort::m_receivedTrace),
                        "ns3::FabricPort::PacketTracedCallback")
        .AddTraceSource("Enqueue",
                        "A packet joins a queue of this port.",
                        MakeTraceSourceAccessor(&FabricPort::m_enqueueTrace),
                        "ns3::FabricPort::PacketTracedCallback")
        .AddTraceSource("Dequeue",
                        "A packet leaves a queue of this port.",
                        MakeTraceSourceAccessor(&FabricPort::m_dequeueTrace),
                        "ns3::FabricPort::PacketTracedCallback")
        .AddTraceSource("Drop",
                        "A packet is dropped: the buffer has no room, no port leads to the "
                        "destination, or the link failed.",
                        MakeTraceSourceAccessor(&FabricPort::m_dropTrace),
                        "ns3::FabricPort::PacketTracedCallback")
        .AddTraceSource("EcnMark",
                        "A packet is ECN marked.",
                        MakeTraceSourceAccessor(&FabricPort::m_markTrace),
                        "ns3::FabricPort::PacketTracedCallback");
}

TypeId
FabricPort::AddOtherTraceSources(TypeId tid)
{
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
                        "ns3::FabricPort::ClassPauseTracedCallback")
        .AddTraceSource("MacTx",
                        "A packet of the IP stack is accepted: it waits for the wire.",
                        MakeTraceSourceAccessor(&FabricPort::m_macTxTrace),
                        "ns3::Packet::TracedCallback")
        .AddTraceSource("MacTxDrop",
                        "A packet that a protocol stack passed to Send is dropped before the wire: "
                        "the queue is full, no other host has the destination address, it is "
                        "longer than the MTU, or not a unicast IP packet.",
                        MakeTraceSourceAccessor(&FabricPort::m_macTxDropTrace),
                        "ns3::Packet::TracedCallback")
        .AddTraceSource("MacRx",
                        "An IP packet arrived at its host.",
                        MakeTraceSourceAccessor(&FabricPort::m_macRxTrace),
                        "ns3::Packet::TracedCallback")
        .AddTraceSource("IpDrop",
                        "An IP packet is dropped here, for the same reasons as in Drop.",
                        MakeTraceSourceAccessor(&FabricPort::m_ipDropTrace),
                        "ns3::Packet::TracedCallback")
        .AddTraceSource("PromiscSniffer",
                        "The bytes of each packet that starts or arrives here, as RoCEv2 or IP in "
                        "Ethernet without the frame check sequence. They are made only if "
                        "a trace sink is connected.",
                        MakeTraceSourceAccessor(&FabricPort::m_snifferTrace),
                        "ns3::Packet::TracedCallback");
}

void
FabricPort::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
FabricPort::GetIfIndex() const
{
    return m_ifIndex;
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

Address
FabricPort::GetAddress() const
{
    return m_address;
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

uint16_t
FabricPort::GetMtu() const
{
    return m_mtu;
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

bool
FabricPort::IsMulticast() const
{
    return false;
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
FabricPort::IsPointToPoint() const
{
    return false;
}

bool
FabricPort::IsBridge() const
{
    return false;
}

bool
FabricPort::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    return SendFrom(packet, m_address, dest, protocolNumber);
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
        self->PassUp(carried.packet, carried.protocol, carried.source, carried.destination);
    });
    return true;
}

void
FabricPort::PassUp(Ptr<Packet> packet,
                   uint16_t protocol,
                   const Address& source,
                   const Address& destination)
{
    if (!m_fabric)
    {
        return;
    }
    m_macRxTrace(packet);
    if (!m_receivePromisc.IsNull())
    {
        m_receivePromisc(this, packet->Copy(), protocol, source, destination, PACKET_HOST);
    }
    if (!m_receive.IsNull())
    {
        m_receive(this, packet->Copy(), protocol, source);
    }
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

bool
FabricPort::NeedsArp() const
{
    return false;
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

bool
FabricPort::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3
