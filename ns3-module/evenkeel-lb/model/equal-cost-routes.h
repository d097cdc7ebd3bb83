// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EQUAL_COST_ROUTES_H
#define EQUAL_COST_ROUTES_H

#include "next-hop-source.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The equal-cost next hops to a destination.
 * @tparam F IPv4 or IPv6
 */
template <class F>
struct RouteGroupOf
{
    uint32_t edge{0};                           //!< id of the node that represents the edge switch
    std::vector<uint32_t> interfaces;           //!< their outgoing interfaces
    std::vector<Ptr<typename F::Route>> routes; //!< their routes
    uint64_t version{0};                        //!< version of the routes at the last lookup
    std::vector<NextHopOf<F>> hops;             //!< the next hops as looked up
    std::size_t shortest{0};       //!< with fewer than two: number of next hops on shortest paths
    std::vector<uint64_t> rates;   //!< their link rates, in bit/s; 0 if unknown
    std::vector<uint32_t> weights; //!< their weights, by rate; empty if all rates are equal
};

/**
 * @ingroup evenkeel
 * @brief The equal-cost next hops of a node, by destination.
 *
 * The next hops to a destination are looked up for its first packet, and again after the routes
 * change.
 *
 * @tparam F IPv4 or IPv6
 */
template <class F>
class EqualCostRoutesOf
{
  public:
    using Address = typename F::Address; //!< an address
    using Ip = typename F::Ip;           //!< the IP of a node
    using Source = NextHopSourceOf<F>;   //!< source of next hops

    using Group = RouteGroupOf<F>; //!< the next hops to a destination

    /**
     * @param ip the IP of the node
     */
    void SetIp(Ptr<Ip> ip)
    {
        m_ip = ip;
    }

    /**
     * @brief Sets the source of next hops; all of them are looked up again.
     * @param source the source
     */
    void SetSource(std::unique_ptr<Source> source);

    /// @return the source; null unless SetSource was called
    Source* GetSource() const
    {
        return m_source.get();
    }

    /// Forgets the node and all next hops.
    void Clear();
    /// @return false if the node has one link, so that no destination can have several next hops
    bool HasChoice();
    /**
     * @brief Looks up the next hops to a destination, or returns them from the cache.
     * @param destination an address
     * @param interval how often to look up all next hops again, for changes that the signature does
     *        not show; 0 for never
     * @param[out] changed true if they differ from those of an earlier call
     * @return the next hops; empty if the source has no route
     */
    Group& GroupOf(Address destination, Time interval, bool& changed);

    /// @return the groups that GroupOf has returned so far
    const std::map<Address, Group>& GetGroups() const
    {
        return m_groups;
    }

  private:
    /**
     * @brief Increments the version if the source or an interface has changed.
     * @param interval how often to increment it anyway; 0 for never
     */
    void UpdateVersion(Time interval);
    /**
     * @brief Looks up the next hops to a destination.
     * @param destination the address
     * @param group its next hops, replaced if they differ
     * @return true if they differ
     */
    bool LookUp(Address destination, Group& group);

    Ptr<Ip> m_ip;                      //!< the IP of the node
    std::unique_ptr<Source> m_source;  //!< source of next hops
    uint64_t m_signature{0};           //!< signature of the source at the last version
    uint64_t m_interfaceChanges{0};    //!< topology changes at the last version
    uint64_t m_version{1};             //!< version of the routes
    Time m_renewed{0};                 //!< when the version was last incremented
    uint32_t m_interfaces{0};          //!< number of interfaces at the last HasChoice
    bool m_hasChoice{true};            //!< the result of HasChoice
    std::map<Address, Group> m_groups; //!< by destination
};

extern template class EqualCostRoutesOf<Ipv4Family>;
extern template class EqualCostRoutesOf<Ipv6Family>;

/// The next hops of IPv4.
using EqualCostRoutes = EqualCostRoutesOf<Ipv4Family>;

} // namespace ns3

#endif /* EQUAL_COST_ROUTES_H */
