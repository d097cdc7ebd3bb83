// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "ipv6-load-balanced-routing.h"

#include "ip-topology.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("Ipv6LoadBalancedRouting");

NS_OBJECT_ENSURE_REGISTERED(Ipv6LoadBalancedRouting);

TypeId
Ipv6LoadBalancedRouting::GetTypeId()
{
    static TypeId tid = AddAttributes(TypeId("ns3::Ipv6LoadBalancedRouting")
                                          .SetParent<Ipv6RoutingProtocol>()
                                          .SetGroupName("Evenkeel")
                                          .AddConstructor<Ipv6LoadBalancedRouting>(),
                                      "static",
                                      "ns3::Ipv6LoadBalancedRouting::ChoiceTracedCallback");
    return tid;
}

Ipv6LoadBalancedRouting::Ipv6LoadBalancedRouting()
{
    NS_LOG_FUNCTION(this);
}

Ipv6LoadBalancedRouting::~Ipv6LoadBalancedRouting()
{
    NS_LOG_FUNCTION(this);
}

void
Ipv6LoadBalancedRouting::DoInitialize()
{
    NS_LOG_FUNCTION(this);
    Start();
    Ipv6RoutingProtocol::DoInitialize();
}

void
Ipv6LoadBalancedRouting::DoDispose()
{
    NS_LOG_FUNCTION(this);
    Forget();
    Ipv6RoutingProtocol::DoDispose();
}

void
Ipv6LoadBalancedRouting::NotifyAddRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address)
{
    IpTopologyOf<Ipv6Family>::NoteChange();
}

void
Ipv6LoadBalancedRouting::NotifyRemoveRoute(Ipv6Address,
                                           Ipv6Prefix,
                                           Ipv6Address,
                                           uint32_t,
                                           Ipv6Address)
{
    IpTopologyOf<Ipv6Family>::NoteChange();
}

void
Ipv6LoadBalancedRouting::SetIpv6(Ptr<Ipv6> ipv6)
{
    NS_LOG_FUNCTION(this << ipv6);
    SetIp(ipv6);
    // ns-3 initializes only the protocols that are aggregated to the node.
    Simulator::ScheduleNow(&Object::Initialize, Ptr<Object>(this));
}

void
Ipv6LoadBalancedRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const
{
    Print(stream, unit);
}

void
Ipv6LoadBalancedRouting::NotifyInterfaceUp(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    IpTopologyOf<Ipv6Family>::NoteChange();
}

void
Ipv6LoadBalancedRouting::NotifyInterfaceDown(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    IpTopologyOf<Ipv6Family>::NoteChange();
}

void
Ipv6LoadBalancedRouting::NotifyAddAddress(uint32_t interface, Ipv6InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    IpTopologyOf<Ipv6Family>::NoteChange();
}

void
Ipv6LoadBalancedRouting::NotifyRemoveAddress(uint32_t interface, Ipv6InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    IpTopologyOf<Ipv6Family>::NoteChange();
}

Ptr<Ipv6Route>
Ipv6LoadBalancedRouting::RouteOutput(Ptr<Packet> packet,
                                     const Ipv6Header& header,
                                     Ptr<NetDevice> device,
                                     Socket::SocketErrno& error)
{
    NS_LOG_FUNCTION(this << packet << header << device);
    const Ipv6Address destination = header.GetDestination();
    error = Socket::ERROR_NOROUTETOHOST;
    if (device || destination.IsMulticast() || destination.IsLinkLocal())
    {
        return nullptr;
    }
    // Do not use ports: some transport protocols add them to the packet only later.
    Ptr<Ipv6Route> route = FindRoute(nullptr, header, Ipv6Family::DscpOf(header, packet));
    if (!route)
    {
        return nullptr;
    }
    error = Socket::ERROR_NOTERROR;
    // A copy, because the socket may change its route.
    return Create<Ipv6Route>(*route);
}

bool
Ipv6LoadBalancedRouting::RouteInput(Ptr<const Packet> packet,
                                    const Ipv6Header& header,
                                    Ptr<const NetDevice> device,
                                    evenkeelinternal::Ipv6RouteInput::Unicast unicast,
                                    evenkeelinternal::Ipv6RouteInput::Multicast multicast,
                                    evenkeelinternal::Ipv6RouteInput::Local local,
                                    evenkeelinternal::Ipv6RouteInput::Error error)
{
    NS_LOG_FUNCTION(this << packet << header << device);
    const Ipv6Address destination = header.GetDestination();
    if (destination.IsMulticast() || destination.IsLinkLocal() || !HasChoice())
    {
        return false;
    }
    const uint32_t interface = m_ip->GetInterfaceForDevice(device);
    if (m_ip->GetInterfaceForAddress(destination) >= 0 || !m_ip->IsForwarding(interface))
    {
        // The next protocol handles local delivery and multicast.
        return false;
    }
    Ptr<Ipv6Route> route = FindRoute(packet, header, Ipv6Family::DscpOf(header, nullptr));
    if (!route)
    {
        return false;
    }
    unicast(device, route, packet, header);
    return true;
}

} // namespace ns3
