// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef ROUTE_POLICY_H
#define ROUTE_POLICY_H

#include "ip-family.h"

#include "ns3/attribute-accessor-helper.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"
#include "ns3/type-id.h"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace ns3
{

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

    /**
     * @brief TracedCallback signature for Choice.
     * @param [in] packet the packet, without its IP header; null if this node sends it
     * @param [in] header its IP header
     * @param [in] interface the chosen interface
     * @param [in] candidates number of next hops to choose from
     */
    typedef void (*ChoiceTracedCallback)(Ptr<const Packet> packet,
                                         const Header& header,
                                         uint32_t interface,
                                         uint32_t candidates);

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
     * @return the type with the parent, the attributes and the trace source of this class added
     */
    static TypeId AddAttributes(TypeId tid, const std::string& routes);
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

    /// Next hops and policies; an opaque type, so that this header includes no header of the Rust
    /// library.
    struct State;

    /**
     * @param tid the type
     * @return the type with the attributes of the node added
     */
    static TypeId AddNodeAttributes(TypeId tid);
    /// Makes the policies again at the next packet, because a property of the node changed.
    void RenewPolicies();
    /// Finds the source of next hops again at the next packet.
    void RenewSource();

    /// The type of an attribute. @tparam MEMBER the attribute
    template <auto MEMBER>
    using TypeOf = std::decay_t<decltype(std::declval<RoutePolicy&>().*MEMBER)>;

    /**
     * @brief Sets an attribute and calls a method, as the attribute is not read again before.
     * @tparam MEMBER the attribute
     * @tparam RENEW the method
     * @param value the value of the attribute
     */
    template <auto MEMBER, auto RENEW>
    void Put(TypeOf<MEMBER> value)
    {
        this->*MEMBER = value;
        (this->*RENEW)();
    }

    /// @tparam MEMBER an attribute
    /// @return its value
    template <auto MEMBER>
    TypeOf<MEMBER> Look() const
    {
        return this->*MEMBER;
    }

    /**
     * @tparam V type of an attribute's value
     * @tparam MEMBER the attribute
     * @tparam RENEW the method to call after the attribute was set
     * @return the accessor of the attribute
     */
    template <class V, auto MEMBER, auto RENEW = &RoutePolicy::RenewPolicies>
    static Ptr<const AttributeAccessor> Renewing()
    {
        return MakeAccessorHelper<V>(&RoutePolicy::template Put<MEMBER, RENEW>,
                                     &RoutePolicy::template Look<MEMBER>);
    }

    Ptr<Ip> m_ip;                   //!< the node's IP
    std::string m_policy;           //!< name of the policy
    std::string m_parameters;       //!< parameters of the policy, lines of TOML
    std::string m_dscpPolicies;     //!< policies for ranges of DSCPs
    uint64_t m_seed{0};             //!< 0: drawn from the stream
    uint8_t m_tier{FOUND};          //!< tiers between the node and the hosts, or FOUND
    std::string m_source;           //!< name of the source of next hops
    uint64_t m_portBuffer{0};       //!< buffer per port, in bytes
    Time m_baseRtt;                 //!< longest round-trip time of the idle network
    Time m_refreshInterval;         //!< how often to read the routes again
    int64_t m_stream{-1};           //!< set by AssignStreams; negative if it was not called
    std::unique_ptr<State> m_state; //!< next hops and policies

    /// The policy chose a next hop for a packet.
    TracedCallback<Ptr<const Packet>, const Header&, uint32_t, uint32_t> m_choice;
};

extern template class RoutePolicy<Ipv4Family>;
extern template class RoutePolicy<Ipv6Family>;

} // namespace ns3

#endif /* ROUTE_POLICY_H */
