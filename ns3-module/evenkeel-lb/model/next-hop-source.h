// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef NEXT_HOP_SOURCE_H
#define NEXT_HOP_SOURCE_H

#include "ip-family.h"

#include "ns3/global-router-interface.h"
#include "ns3/ptr.h"

// ns-3.47 renamed this header. The new name comes first, because an older ns-3 may be installed
// system-wide.
#if __has_include("ns3/global-routing.h")
#include "ns3/global-routing.h"
#else
#include "ns3/ipv4-global-routing.h"
#endif

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/// The object of a node with the routes that it injects into global routing.
#if __has_include("ns3/global-routing.h")
using InjectingRouter = GlobalRouter<Ipv4Manager>;
#else
using InjectingRouter = GlobalRouter;
#endif

/**
 * @ingroup evenkeel
 * @brief A next hop of a node towards a destination.
 * @tparam F IPv4 or IPv6
 */
template <class F>
struct NextHopOf
{
    uint32_t interface;          //!< interface to it
    typename F::Address gateway; //!< its address; 0.0.0.0 or :: if the destination is adjacent

    /**
     * @param other another next hop
     * @return true if they are equal
     */
    bool operator==(const NextHopOf& other) const
    {
        return interface == other.interface && gateway == other.gateway;
    }
};

/**
 * @ingroup evenkeel
 * @brief A source of equal-cost next hops for a node.
 * @tparam F IPv4 or IPv6
 */
template <class F>
class NextHopSourceOf
{
  public:
    /// A next hop.
    using Hop = NextHopOf<F>;
    virtual ~NextHopSourceOf() = default;

    /**
     * @param destination an address
     * @return the equal-cost next hops to it; empty without a route
     */
    virtual std::vector<Hop> Find(typename F::Address destination) = 0;

    /// @return a number that changes with almost every change of the routes, other than changes of
    ///         interfaces and addresses; cheap to obtain
    virtual uint64_t GetSignature()
    {
        return 0;
    }

    /// Reads what Find needs; called before the first Find and after each change.
    virtual void Renew()
    {
    }

    /// @return why no packet can have a choice of next hops, and the cure; empty if one may
    virtual std::string GetFault() const
    {
        return "";
    }

    /// @return why the source has fewer next hops than there are shortest paths, and the cure
    virtual std::string GetReason() const
    {
        return "";
    }

    /**
     * @brief Tells what a policy with this source takes from a protocol below it.
     * @param below the protocol
     * @return what has no effect, why, and the cure; empty if the protocol has all its effects
     */
    virtual std::string GetOverruled(Ptr<typename F::RoutingProtocol> below) const
    {
        return "";
    }

    /**
     * @brief Makes the source of a node.
     * @param name "static", "shortest-paths", or, with IPv4, "global"
     * @param ip the IP of the node
     * @return the source; null if the name is unknown
     */
    static std::unique_ptr<NextHopSourceOf> Make(const std::string& name, Ptr<typename F::Ip> ip);
};

/// The sources of IPv4.
using NextHopSource = NextHopSourceOf<Ipv4Family>;
/// The next hops of IPv4.
using NextHop = NextHopOf<Ipv4Family>;

} // namespace ns3

#endif /* NEXT_HOP_SOURCE_H */
