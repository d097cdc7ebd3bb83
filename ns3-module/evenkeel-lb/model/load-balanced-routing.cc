// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "load-balanced-routing.h"

#include "ip-topology.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("LoadBalancedRouting");

NS_OBJECT_ENSURE_REGISTERED(LoadBalancedRouting);

TypeId
LoadBalancedRouting::GetTypeId()
{
    static TypeId tid = AddAttributes(TypeId("ns3::LoadBalancedRouting")
                                          .SetParent<Ipv4RoutingProtocol>()
                                          .SetGroupName("Evenkeel")
                                          .AddConstructor<LoadBalancedRouting>(),
                                      "global",
                                      "ns3::LoadBalancedRouting::ChoiceTracedCallback");
    return tid;
}

LoadBalancedRouting::LoadBalancedRouting()
{
    NS_LOG_FUNCTION(this);
}

LoadBalancedRouting::~LoadBalancedRouting()
{
    NS_LOG_FUNCTION(this);
}

void
LoadBalancedRouting::DoInitialize()
{
    NS_LOG_FUNCTION(this);
    Start();
    Ipv4RoutingProtocol::DoInitialize();
}

void
LoadBalancedRouting::DoDispose()
{
    NS_LOG_FUNCTION(this);
    Forget();
    Ipv4RoutingProtocol::DoDispose();
}

void
LoadBalancedRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    NS_LOG_FUNCTION(this << ipv4);
    SetIp(ipv4);
    // ns-3 initializes only the protocols that are aggregated to the node.
    Simulator::ScheduleNow(&Object::Initialize, Ptr<Object>(this));
}

void
LoadBalancedRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const
{
    Print(stream, unit);
}

void
LoadBalancedRouting::NotifyInterfaceUp(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    IpTopology::NoteChange();
}

void
LoadBalancedRouting::NotifyInterfaceDown(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    IpTopology::NoteChange();
}

void
LoadBalancedRouting::NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    IpTopology::NoteChange();
}

void
LoadBalancedRouting::NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    IpTopology::NoteChange();
}

Ptr<Ipv4Route>
LoadBalancedRouting::RouteOutput(Ptr<Packet> packet,
                                 const Ipv4Header& header,
                                 Ptr<NetDevice> device,
                                 Socket::SocketErrno& error)
{
    NS_LOG_FUNCTION(this << packet << header << device);
    const Ipv4Address destination = header.GetDestination();
    error = Socket::ERROR_NOROUTETOHOST;
    if (device || destination.IsMulticast() || destination.IsBroadcast())
    {
        return nullptr;
    }
    // Do not use ports: some transport protocols add them to the packet only later.
    Ptr<Ipv4Route> route = FindRoute(nullptr, header, Ipv4Family::DscpOf(header, packet));
    if (!route)
    {
        return nullptr;
    }
    error = Socket::ERROR_NOTERROR;
    // A copy, because the socket may change its route.
    return Create<Ipv4Route>(*route);
}

bool
LoadBalancedRouting::RouteInput(Ptr<const Packet> packet,
                                const Ipv4Header& header,
                                Ptr<const NetDevice> device,
                                evenkeelinternal::RouteInput::Unicast unicast,
                                evenkeelinternal::RouteInput::Multicast multicast,
                                evenkeelinternal::RouteInput::Local local,
                                evenkeelinternal::RouteInput::Error error)
{
    NS_LOG_FUNCTION(this << packet << header << device);
    const Ipv4Address destination = header.GetDestination();
    if (destination.IsMulticast() || destination.IsBroadcast() || !HasChoice())
    {
        return false;
    }
    const uint32_t interface = m_ip->GetInterfaceForDevice(device);
    if (m_ip->IsDestinationAddress(destination, interface) || !m_ip->IsForwarding(interface))
    {
        // Ipv4ListRouting does local delivery; the next protocol handles the rest.
        return false;
    }
    Ptr<Ipv4Route> route = FindRoute(packet, header, Ipv4Family::DscpOf(header, nullptr));
    if (!route)
    {
        return false;
    }
    unicast(route, packet, header);
    return true;
}

} // namespace ns3
