// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef ROUTE_POLICY_H
#define ROUTE_POLICY_H

#include "ip-family.h"

#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"
#include "ns3/type-id.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{

class DeviceQueues;
template <class F>
class EqualCostRoutesOf;
template <class F>
struct RouteGroupOf;

/**
 * @ingroup evenkeel
 *
 * @brief The policy of a router, shared by LoadBalancedRouting and Ipv6LoadBalancedRouting.
 *
 * It has the attributes of both. It finds the equal-cost next hops of a packet, and the policy for
 * the packet's DSCP chooses one of those whose interface is up.
 *
 * @tparam F IPv4 or IPv6
 */
template <class F>
class RoutePolicy : public F::RoutingProtocol
{
  public:
    using Address = typename F::Address; //!< an address
    using Header = typename F::Header;   //!< the header of a packet
    using Ip = typename F::Ip;           //!< the IP of a node
    using Route = typename F::Route;     //!< a route
    using Group = RouteGroupOf<F>;       //!< equal-cost next hops

    ~RoutePolicy() override;

    Ptr<Route> RouteOutput(Ptr<Packet> packet,
                           const Header& header,
                           Ptr<NetDevice> device,
                           Socket::SocketErrno& error) override;
    bool RouteInput(Ptr<const Packet> packet,
                    const Header& header,
                    Ptr<const NetDevice> device,
                    typename F::Input::Unicast unicast,
                    typename F::Input::Multicast multicast,
                    typename F::Input::Local local,
                    typename F::Input::Error error) override;

    void NotifyInterfaceUp(uint32_t) override
    {
        NoteChange();
    }

    void NotifyInterfaceDown(uint32_t) override
    {
        NoteChange();
    }

    void NotifyAddAddress(uint32_t, typename F::InterfaceAddress) override
    {
        NoteChange();
    }

    void NotifyRemoveAddress(uint32_t, typename F::InterfaceAddress) override
    {
        NoteChange();
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream,
                           Time::Unit unit = Time::S) const override;

    /**
     * @brief Sets the random stream from which the policy's seed is drawn.
     * @param stream its number
     * @return number of streams used: one
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * @brief Returns the state that the router keeps for its policies, without their configuration.
     * @return the size in bits; 0 before the first choice
     */
    uint64_t GetStateBits() const;

  protected:
    RoutePolicy();

    /**
     * @param tid the type of a protocol
     * @param routes the default of the attribute Routes
     * @param callback name of the signature of the trace source Choice
     * @return the type with the attributes and the trace source of this class added
     */
    static TypeId AddAttributes(TypeId tid, const std::string& routes, const std::string& callback);
    /**
     * @param ip the IP of the node
     */
    void SetIp(Ptr<Ip> ip);
    /// Reports that an interface, an address or a route has changed.
    static void NoteChange();
    void DoInitialize() override;
    void DoDispose() override;

  private:
    /// The value of Tier that stands for the tier in the topology.
    static constexpr uint8_t FOUND = 255;

    /// The policies; an opaque type, so that this header includes no header of the Rust library.
    struct Choosers;

    /**
     * @param tid the type
     * @return the type with the attributes of the policy added
     */
    static TypeId AddPolicyAttributes(TypeId tid);
    /**
     * @param tid the type
     * @return the type with the attributes of the node added
     */
    static TypeId AddNodeAttributes(TypeId tid);
    /// @return false if the node has one link, so that no packet has a choice
    bool HasChoice();
    /**
     * @brief Finds the route of a packet.
     * @param packet the packet, without its IP header; null if its ports must not be used
     * @param header its IP header
     * @param dscp its DSCP
     * @return the route; null if the next protocol routes it
     */
    Ptr<Route> FindRoute(Ptr<const Packet> packet, const Header& header, uint8_t dscp);
    /// Aborts with a message if one of the policies is unknown or unsupported.
    void CheckPolicies() const;
    /// Makes the policies unless they exist.
    void MakeChoosers();
    /// Prepares a warning if another protocol is above the policy, or its source has no routes.
    void CheckPlace();
    /**
     * @brief Warns once per simulation if static routing sends the packets of several links to one.
     * @param routing static routing above the policy
     */
    void CheckNetworks(Ptr<typename F::StaticRouting> routing);
    /// Makes the policies again at the next packet, because a property of the node changed.
    void RenewPolicies();
    /// Finds the source of next hops again at the next packet.
    void RenewSource();
    /// @return the seed of the policies
    uint64_t MakeSeed() const;
    /// @return the longest round-trip time of the idle network: the attribute, or a computed value
    Time FindBaseRtt() const;
    /**
     * @brief Warns once per simulation if every packet would start a flowlet.
     * @param group next hops
     */
    void CheckFlowletGap(const Group& group);
    /// Finds the protocols of the node when the first packet needs a route.
    void FindProtocols();
    /**
     * @brief Warns once per simulation if no packet has a choice, although there are several paths.
     * @param destination of a packet
     * @param group its next hops
     */
    void CheckChoice(Address destination, const Group& group);
    /**
     * @brief Finds the next hops to a destination and notifies the policies of changes.
     * @param destination an address
     * @param isOwn true if the node itself sends the packet
     * @return the next hops; null if the next protocol routes its packets
     */
    const Group* FindGroup(Address destination, bool isOwn);
    /**
     * @brief Fills in the candidates: the next hops whose interface is up.
     * @param group the next hops
     * @param weighs true if the policy uses weights
     * @param looks true if the policy looks at queues
     * @return false if no interface is up
     */
    bool FillCandidates(const Group& group, bool weighs, bool looks);
    /**
     * @brief Chooses a next hop by the policy.
     * @param packet the packet, without its IP header; may be null
     * @param header its IP header
     * @param dscp its DSCP
     * @param group the next hops
     * @return the index of the chosen one in the group; the group's size if all are down
     */
    std::size_t Choose(Ptr<const Packet> packet,
                       const Header& header,
                       uint8_t dscp,
                       const Group& group);

    Ptr<Ip> m_ip;                         //!< the node's IP
    std::string m_policy;                 //!< name of the policy
    std::string m_parameters;             //!< parameters of the policy, lines of TOML
    std::string m_dscpPolicies;           //!< policies for ranges of DSCPs
    uint64_t m_seed;                      //!< 0: drawn from the stream
    uint8_t m_tier;                       //!< tiers between the node and the hosts, or FOUND
    std::string m_source;                 //!< name of the source of next hops
    uint64_t m_portBuffer;                //!< buffer per port, in bytes
    Time m_baseRtt;                       //!< longest round-trip time of the idle network
    Time m_refreshInterval;               //!< how often to read the routes again
    int64_t m_stream;                     //!< set by AssignStreams; negative if it was not called
    std::unique_ptr<Choosers> m_choosers; //!< the policies; null until needed
    std::unique_ptr<EqualCostRoutesOf<F>> m_routes; //!< next hops
    bool m_routesAll{false};                        //!< also route packets without a choice
    bool m_forwardsAll{false};              //!< also route forwarded packets without a choice
    bool m_gapChecked{false};               //!< CheckFlowletGap was called
    std::unique_ptr<DeviceQueues> m_queues; //!< queued bytes at devices
    std::vector<std::size_t> m_indices;     //!< index of each candidate in its group
    std::vector<uint32_t> m_candidates;     //!< interfaces of the candidates
    std::vector<uint64_t> m_queueBytes;     //!< queued bytes at the candidates
    std::vector<uint32_t> m_weights;        //!< weights of the candidates; empty if all are equal

    /// The policy chose a next hop for a packet.
    TracedCallback<Ptr<const Packet>, const Header&, uint32_t, uint32_t> m_choice;
};

extern template class RoutePolicy<Ipv4Family>;
extern template class RoutePolicy<Ipv6Family>;

} // namespace ns3

#endif /* ROUTE_POLICY_H */
