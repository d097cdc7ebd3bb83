// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef IPV6_LOAD_BALANCED_ROUTING_H
#define IPV6_LOAD_BALANCED_ROUTING_H

#include "route-policy.h"

namespace ns3
{

/**
 * @ingroup evenkeel
 *
 * @brief An evenkeel load-balancing policy among equal-cost next hops of IPv6.
 *
 * It is LoadBalancedRouting for IPv6, with the same policies and attributes. Next hops come from
 * static routes or shortest paths, because ns-3's global routing supports only IPv4. Place it above
 * Ipv6StaticRouting in an Ipv6ListRouting (Ipv6LoadBalancedRoutingHelper makes the list).
 *
 * Flows are identified by addresses, next header and flow label, and by the ports of TCP and UDP if
 * their header directly follows the IPv6 header.
 */
class Ipv6LoadBalancedRouting : public Ipv6RoutingProtocol, public RoutePolicy<Ipv6Family>
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    Ipv6LoadBalancedRouting();
    ~Ipv6LoadBalancedRouting() override;

    Ptr<Ipv6Route> RouteOutput(Ptr<Packet> packet,
                               const Ipv6Header& header,
                               Ptr<NetDevice> device,
                               Socket::SocketErrno& error) override;
    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv6Header& header,
                    Ptr<const NetDevice> device,
                    evenkeelinternal::Ipv6RouteInput::Unicast unicast,
                    evenkeelinternal::Ipv6RouteInput::Multicast multicast,
                    evenkeelinternal::Ipv6RouteInput::Local local,
                    evenkeelinternal::Ipv6RouteInput::Error error) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, Ipv6InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, Ipv6InterfaceAddress address) override;
    void NotifyAddRoute(Ipv6Address destination,
                        Ipv6Prefix prefix,
                        Ipv6Address nextHop,
                        uint32_t interface,
                        Ipv6Address source) override;
    void NotifyRemoveRoute(Ipv6Address destination,
                           Ipv6Prefix prefix,
                           Ipv6Address nextHop,
                           uint32_t interface,
                           Ipv6Address source) override;
    void SetIpv6(Ptr<Ipv6> ipv6) override;
    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream,
                           Time::Unit unit = Time::S) const override;

    /**
     * @brief TracedCallback signature for Choice.
     * @param [in] packet the packet, without its IP header; null if this node sends it
     * @param [in] header its IP header
     * @param [in] interface the chosen interface
     * @param [in] candidates number of next hops to choose from
     */
    typedef void (*ChoiceTracedCallback)(Ptr<const Packet> packet,
                                         const Ipv6Header& header,
                                         uint32_t interface,
                                         uint32_t candidates);

  protected:
    void DoInitialize() override;
    void DoDispose() override;
};

} // namespace ns3

#endif /* IPV6_LOAD_BALANCED_ROUTING_H */
