// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-channel.h"
#include "fabric-port.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/uinteger.h"

// The port as a device of its node: attributes, trace sources, and the methods of NetDevice.

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
                      "Schedule an event for each start of a packet, so that trace sinks that are "
                      "connected after the start of the simulation are called at the right time. "
                      "Ports that have trace sinks by then always do so.",
                      BooleanValue(false),
                      MakeBooleanAccessor(&FabricPort::m_punctual),
                      MakeBooleanChecker())
        .AddAttribute("Mtu",
                      "The MTU that GetMtu returns. NICs make packets by their own payload size.",
                      UintegerValue(9000),
                      MakeUintegerAccessor(&FabricPort::SetMtu, &FabricPort::GetMtu),
                      MakeUintegerChecker<uint16_t>());
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
                        "Priority flow control (PFC) pauses or resumes this port.",
                        MakeTraceSourceAccessor(&FabricPort::m_pauseTrace),
                        "ns3::FabricPort::PauseTracedCallback")
        .AddTraceSource("MacTxDrop",
                        "A packet that another protocol stack passed to Send is dropped: a fabric "
                        "carries only packets of RDMA NICs.",
                        MakeTraceSourceAccessor(&FabricPort::m_foreignTrace),
                        "ns3::Packet::TracedCallback")
        .AddTraceSource("PromiscSniffer",
                        "The bytes of each packet that starts or arrives here, as RoCEv2 in "
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
    return false;
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
    return true;
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
    if (m_foreignDropped == 0)
    {
        NS_LOG_WARN("this port drops the packets of other protocol stacks: a fabric carries only "
                    "packets of RDMA NICs, see RdmaNic::PostMessage and RdmaNic::CreateQp");
    }
    ++m_foreignDropped;
    m_foreignTrace(packet);
    return false;
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
}

void
FabricPort::SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb)
{
    NS_LOG_FUNCTION(this);
}

bool
FabricPort::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3
