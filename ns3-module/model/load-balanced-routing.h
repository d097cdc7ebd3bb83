// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef LOAD_BALANCED_ROUTING_H
#define LOAD_BALANCED_ROUTING_H

#include "device-queues.h"
#include "equal-cost-routes.h"

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <string>
#include <vector>

/**
 * @defgroup evenkeel Load balancing for AI-training networks
 *
 * Policies of evenkeel for traffic of any kind, and its NICs, switches and fabrics.
 */

namespace ns3
{

/// Details of the module that are not for scripts.
namespace evenkeelinternal
{

/// The parameter types of Ipv4RoutingProtocol::RouteInput, which takes its callbacks by value up to
/// ns-3.38 and by reference later. With them, one override compiles with all versions.
/// @tparam F the type of a pointer to the method
template <class F>
struct RouteInputTypes;

/// The specialization for a pointer to a method.
/// @tparam R result
/// @tparam C class
/// @tparam P packet
/// @tparam H header
/// @tparam D device
/// @tparam U callback for unicast
/// @tparam M callback for multicast
/// @tparam L callback for local delivery
/// @tparam E callback for errors
template <class R, class C, class P, class H, class D, class U, class M, class L, class E>
struct RouteInputTypes<R (C::*)(P, H, D, U, M, L, E)>
{
    using Unicast = U;   //!< callback for unicast
    using Multicast = M; //!< callback for multicast
    using Local = L;     //!< callback for local delivery
    using Error = E;     //!< callback for errors
};

/// The parameter types of the ns-3 that this module is built with.
using RouteInput = RouteInputTypes<decltype(&Ipv4RoutingProtocol::RouteInput)>;

} // namespace evenkeelinternal

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
class LoadBalancedRouting : public Ipv4RoutingProtocol
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    LoadBalancedRouting();
    ~LoadBalancedRouting() override;

    /// Not copyable.
    LoadBalancedRouting(const LoadBalancedRouting&) = delete;
    /// Not copyable. @return *this
    LoadBalancedRouting& operator=(const LoadBalancedRouting&) = delete;

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
     * @brief Fix the random stream that the policy's seed is drawn from.
     * @param stream its number
     * @return number of streams used: one
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * @brief The state that the router keeps for the policy beyond its configuration.
     * @return the size in bits; 0 before the first choice
     */
    uint64_t GetStateBits() const;

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

  private:
    /// The value of Tier for the tier that the topology shows.
    static constexpr uint8_t FOUND = 255;

    /// The policy; an opaque type, so that this header includes no header of the Rust library.
    struct Chooser;

    /**
     * @param tid the type
     * @return the same with the attributes of the policy
     */
    static TypeId AddPolicyAttributes(TypeId tid);
    /**
     * @param tid the type
     * @return the same with the attributes of the node and the trace source
     */
    static TypeId AddNodeAttributes(TypeId tid);
    /**
     * @brief Set the policy, from the next packet on.
     * @param policy its name
     */
    void SetPolicy(std::string policy);
    /// @return the name of the policy
    std::string GetPolicy() const;
    /**
     * @brief Set the parameters of the policy, from the next packet on.
     * @param parameters lines of TOML
     */
    void SetParameters(std::string parameters);
    /// @return the parameters of the policy
    std::string GetParameters() const;

    /// Make the policy, unless it exists; aborts with the reason if it is unsupported.
    void MakeChooser();
    /// @return the seed of the policy
    uint64_t MakeSeed() const;
    /// @return the longest round-trip time of the idle network: the attribute, or what was found
    Time FindBaseRtt() const;
    /**
     * @brief Warns once a simulation if every packet would begin a flowlet.
     * @param group next hops
     */
    void CheckFlowletGap(const EqualCostRoutes::Group& group);
    /// Finds the protocols of the node, when the first packet needs a route.
    void FindProtocols();
    /**
     * @brief The next hops to a destination; notifies the policy of changes.
     * @param destination an address
     * @return the next hops; null if the next protocol routes its packets
     */
    const EqualCostRoutes::Group* FindGroup(Ipv4Address destination);
    /**
     * @brief Fill in the candidates: the next hops whose interface is up.
     * @param group the next hops
     * @return false if no interface is up
     */
    bool FillCandidates(const EqualCostRoutes::Group& group);
    /**
     * @brief Choose a next hop by the policy.
     * @param packet the packet, without its IP header; may be null
     * @param header its IP header
     * @param group the next hops
     * @return the index of the chosen one in the group; the group's size if all are down
     */
    std::size_t Choose(Ptr<const Packet> packet,
                       const Ipv4Header& header,
                       const EqualCostRoutes::Group& group);

    Ptr<Ipv4> m_ipv4;                   //!< the node's IP
    std::string m_policy;               //!< name of the policy
    std::string m_parameters;           //!< parameters of the policy, lines of TOML
    uint64_t m_seed;                    //!< 0: drawn from the stream
    uint8_t m_tier;                     //!< tiers between the node and the hosts, or FOUND
    std::string m_source;               //!< name of the source of next hops
    uint64_t m_portBuffer;              //!< bytes that can wait at one port
    Time m_baseRtt;                     //!< the longest round trip of the idle network
    Time m_refreshInterval;             //!< how often to read the routes again
    int64_t m_stream;                   //!< of AssignStreams; negative if it was not called
    std::unique_ptr<Chooser> m_chooser; //!< the policy; null before it is needed
    EqualCostRoutes m_routes;           //!< next hops
    bool m_routesAll{false};            //!< route packets without a choice, too
    bool m_gapChecked{false};           //!< CheckFlowletGap was called
    DeviceQueues m_queues;              //!< bytes that wait at devices
    std::vector<std::size_t> m_indices; //!< of the candidates in their group
    std::vector<uint32_t> m_candidates; //!< interfaces of the candidates
    std::vector<uint64_t> m_queueBytes; //!< bytes that wait at the candidates
    std::vector<uint32_t> m_weights;    //!< of the candidates; none if all are equal

    /// The policy chose a next hop for a packet.
    TracedCallback<Ptr<const Packet>, const Ipv4Header&, uint32_t, uint32_t> m_choice;
};

} // namespace ns3

#endif /* LOAD_BALANCED_ROUTING_H */
