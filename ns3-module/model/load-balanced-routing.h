// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef LOAD_BALANCED_ROUTING_H
#define LOAD_BALANCED_ROUTING_H

#include "route-policy.h"

/**
 * @defgroup evenkeel Load balancing for AI-training networks
 *
 * Policies of evenkeel for traffic of any kind, and its NICs, switches and fabrics.
 */

namespace ns3
{

/**
 * @ingroup evenkeel
 *
 * @brief A load-balancing policy of evenkeel among equal-cost next hops.
 *
 * It belongs above Ipv4GlobalRouting in an Ipv4ListRouting (LoadBalancedRoutingHelper makes the
 * list). For a packet with two or more equal-cost next hops in global routing, the policy chooses
 * one; the next protocol of the list routes all other packets. If that protocol is global routing,
 * the packets with one next hop take it from here, because global routing searches its whole table
 * for each packet.
 *
 * Policies have the names that `evenkeel list policies` prints. Policies of switches are available
 * (ecmp, switch-rr, switch-random, jsq, adaptive, drill, ofan, ...), and policies of senders that
 * need no feedback (spray, spray-rr, flowlet): the router acts for the sender and keeps its state
 * by flow. Other policies end the simulation with the reason.
 *
 * The attribute Routes names where next hops come from: global routing, static routes or shortest
 * paths. Those to a destination are looked up for its first packet, and again
 * after a change of routes or interfaces. A node with one link looks up nothing.
 */
class LoadBalancedRouting : public Ipv4RoutingProtocol, public RoutePolicy<Ipv4Family>
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    LoadBalancedRouting();
    ~LoadBalancedRouting() override;

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> packet,
                               const Ipv4Header& header,
                               Ptr<NetDevice> device,
                               Socket::SocketErrno& error) override;
    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> device,
                    evenkeelinternal::RouteInput::Unicast unicast,
                    evenkeelinternal::RouteInput::Multicast multicast,
                    evenkeelinternal::RouteInput::Local local,
                    evenkeelinternal::RouteInput::Error error) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void SetIpv4(Ptr<Ipv4> ipv4) override;
    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream,
                           Time::Unit unit = Time::S) const override;

    /**
     * @brief Signature of the trace source Choice.
     * @param [in] packet the packet, without its IP header; null for one of this node's own
     * @param [in] header its IP header
     * @param [in] interface the chosen interface
     * @param [in] candidates number of next hops to choose from
     */
    typedef void (*ChoiceTracedCallback)(Ptr<const Packet> packet,
                                         const Ipv4Header& header,
                                         uint32_t interface,
                                         uint32_t candidates);

  protected:
    void DoInitialize() override;
    void DoDispose() override;
};

} // namespace ns3

#endif /* LOAD_BALANCED_ROUTING_H */
