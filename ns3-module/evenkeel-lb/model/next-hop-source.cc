// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "next-hop-source.h"

#include "ip-topology.h"

#include "ns3/node.h"

#include <list>
#include <utility>

namespace ns3
{

namespace
{

/// The type of the tables of Ipv4GlobalRouting.
using RouteList = std::list<Ipv4RoutingTableEntry*>;
/// The type of the table of a static routing: routes with their metrics.
/// @tparam F IPv4 or IPv6
template <class F>
using StaticList = std::list<std::pair<typename F::TableEntry*, uint32_t>>;

// The public way to read a table is GetRoute(i), which walks to the i-th route, so reading all
// routes takes quadratic time. An explicit instantiation may name private members (C++17, 17.7.2
// [temp.explicit]), which lets the functions below read the tables in one pass.

/// @return the routes to hosts
const RouteList& HostRoutesOf(const Ipv4GlobalRouting& routing);
/// @return the routes to networks
const RouteList& NetworkRoutesOf(const Ipv4GlobalRouting& routing);
/// @return the static routes
const StaticList<Ipv4Family>& StaticRoutesOf(const Ipv4StaticRouting& routing);
/// @return the static routes
const StaticList<Ipv6Family>& StaticRoutesOf(const Ipv6StaticRouting& routing);

/**
 * @brief The tables of Ipv4GlobalRouting.
 * @tparam HOSTS the table of hosts
 * @tparam NETWORKS the table of networks
 */
template <RouteList Ipv4GlobalRouting::* HOSTS, RouteList Ipv4GlobalRouting::* NETWORKS>
struct Tables
{
    /// @return the routes to hosts
    friend const RouteList& HostRoutesOf(const Ipv4GlobalRouting& routing)
    {
        return routing.*HOSTS;
    }

    /// @return the routes to networks
    friend const RouteList& NetworkRoutesOf(const Ipv4GlobalRouting& routing)
    {
        return routing.*NETWORKS;
    }
};

template struct Tables<&Ipv4GlobalRouting::m_hostRoutes, &Ipv4GlobalRouting::m_networkRoutes>;

/**
 * @brief The table of a static routing.
 * @tparam F IPv4 or IPv6
 * @tparam ROUTES the table
 */
template <class F, StaticList<F> F::StaticRouting::* ROUTES>
struct StaticTable
{
    /// @return the static routes
    friend const StaticList<F>& StaticRoutesOf(const typename F::StaticRouting& routing)
    {
        return routing.*ROUTES;
    }
};

template struct StaticTable<Ipv4Family, &Ipv4StaticRouting::m_networkRoutes>;
template struct StaticTable<Ipv6Family, &Ipv6StaticRouting::m_networkRoutes>;

/**
 * @brief Adds a number to a hash (FNV-1a, a word at a time).
 * @param hash the hash so far
 * @param value the number
 * @return the new hash
 */
uint64_t
Add(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x100000001b3ULL;
}

/**
 * @brief Adds a route to a hash.
 * @tparam F IPv4 or IPv6
 * @param hash the hash so far
 * @param route the route
 * @return the new hash
 */
template <class F>
uint64_t
AddRoute(uint64_t hash, const typename F::TableEntry& route)
{
    hash = Add(hash, F::Fingerprint(route.GetDestNetwork()));
    hash = Add(hash, F::Fingerprint(route.GetGateway()));
    return Add(hash, static_cast<uint64_t>(F::PrefixLength(route)) << 32 | route.GetInterface());
}

/**
 * @param route a route
 * @return its address as a number
 */
uintptr_t
PointerOf(const void* route)
{
    return reinterpret_cast<uintptr_t>(route);
}

/// Next hops from the routes that Ipv4GlobalRouting computed.
class GlobalSource : public NextHopSource
{
  public:
    /**
     * @param ipv4 the IP of the node
     */
    explicit GlobalSource(Ptr<Ipv4> ipv4)
        : m_routing(Ipv4RoutingHelper::GetRouting<Ipv4GlobalRouting>(ipv4->GetRoutingProtocol()))
    {
    }

    std::vector<NextHop> Find(Ipv4Address destination) override
    {
        std::vector<NextHop> hops;
        if (!m_routing)
        {
            return hops;
        }
        // Ipv4GlobalRouting looks up host routes, then network routes. External routes are never
        // equal-cost.
        for (const Ipv4RoutingTableEntry* route : HostRoutesOf(*m_routing))
        {
            if (route->GetDest() == destination)
            {
                hops.push_back({route->GetInterface(), route->GetGateway()});
            }
        }
        if (!hops.empty())
        {
            return hops;
        }
        for (const Ipv4RoutingTableEntry* route : NetworkRoutesOf(*m_routing))
        {
            if (route->GetDestNetworkMask().IsMatch(destination, route->GetDestNetwork()))
            {
                hops.push_back({route->GetInterface(), route->GetGateway()});
            }
        }
        return hops;
    }

    Signature GetSignature() override
    {
        Signature signature{};
        if (m_routing)
        {
            // Global routing replaces all routes when it recomputes them, so a few addresses
            // identify them.
            std::size_t at = 0;
            for (const RouteList* routes :
                 {&HostRoutesOf(*m_routing), &NetworkRoutesOf(*m_routing)})
            {
                signature[at++] = routes->size();
                signature[at++] = routes->empty() ? 0 : PointerOf(routes->front());
                signature[at++] = routes->empty() ? 0 : PointerOf(routes->back());
            }
        }
        return signature;
    }

    uint64_t GetDigest() override
    {
        uint64_t digest = 0;
        if (m_routing)
        {
            for (const RouteList* routes :
                 {&HostRoutesOf(*m_routing), &NetworkRoutesOf(*m_routing)})
            {
                for (const Ipv4RoutingTableEntry* route : *routes)
                {
                    digest = AddRoute<Ipv4Family>(digest, *route);
                }
                digest = Add(digest, routes->size());
            }
        }
        return digest;
    }

  private:
    Ptr<Ipv4GlobalRouting> m_routing; //!< null if the node has none
};

/// Next hops from static routes with gateways: longest prefix first, then lowest metric.
/// @tparam F IPv4 or IPv6
template <class F>
class StaticSource : public NextHopSourceOf<F>
{
  public:
    /// A next hop.
    using Hop = NextHopOf<F>;

    /**
     * @param ip the IP of the node
     */
    explicit StaticSource(Ptr<typename F::Ip> ip)
        : m_routing(F::RoutingHelper::template GetRouting<typename F::StaticRouting>(
              ip->GetRoutingProtocol()))
    {
    }

    std::vector<Hop> Find(typename F::Address destination) override
    {
        std::vector<Hop> hops;
        if (!m_routing)
        {
            return hops;
        }
        uint32_t longest = 0;
        uint32_t lowest = 0;
        for (const auto& [route, metric] : StaticRoutesOf(*m_routing))
        {
            if (!F::Matches(*route, destination))
            {
                continue;
            }
            const uint32_t length = F::PrefixLength(*route);
            const bool isBetter =
                hops.empty() || length > longest || (length == longest && metric < lowest);
            if (!isBetter && (length != longest || metric != lowest))
            {
                continue;
            }
            if (isBetter)
            {
                hops.clear();
                longest = length;
                lowest = metric;
            }
            hops.push_back({route->GetInterface(), route->GetGateway()});
        }
        return WithoutLinks(std::move(hops));
    }

    typename NextHopSourceOf<F>::Signature GetSignature() override
    {
        typename NextHopSourceOf<F>::Signature signature{};
        if (m_routing && !StaticRoutesOf(*m_routing).empty())
        {
            const StaticList<F>& routes = StaticRoutesOf(*m_routing);
            const auto& [route, metric] = routes.back();
            // A route that replaces the last one may have the same address in memory.
            signature = {routes.size(),
                         PointerOf(routes.front().first),
                         PointerOf(route),
                         AddRoute<F>(metric, *route)};
        }
        return signature;
    }

    uint64_t GetDigest() override
    {
        uint64_t digest = 0;
        if (m_routing)
        {
            for (const auto& [route, metric] : StaticRoutesOf(*m_routing))
            {
                digest = Add(AddRoute<F>(digest, *route), metric);
            }
        }
        return digest;
    }

  private:
    /**
     * @brief Discards next hops that are not equivalent: several routes without gateways are links
     * that share a prefix, and only one of them has the destination.
     * @param hops next hops
     * @return the next hops; empty if there are several and one has no gateway
     */
    static std::vector<Hop> WithoutLinks(std::vector<Hop> hops)
    {
        for (const Hop& hop : hops)
        {
            if (hops.size() > 1 && hop.gateway == F::Address::GetAny())
            {
                return {};
            }
        }
        return hops;
    }

    Ptr<typename F::StaticRouting> m_routing; //!< null if the node has none
};

/// Next hops on shortest paths over all links, as in Ipv4NixVectorRouting.
/// @tparam F IPv4 or IPv6
template <class F>
class ShortestPathSource : public NextHopSourceOf<F>
{
  public:
    /**
     * @param ip the IP of the node
     */
    explicit ShortestPathSource(Ptr<typename F::Ip> ip)
        : m_node(ip->template GetObject<Node>()->GetId())
    {
    }

    std::vector<NextHopOf<F>> Find(typename F::Address destination) override
    {
        return IpTopologyOf<F>::Get().NextHops(m_node, destination);
    }

    typename NextHopSourceOf<F>::Signature GetSignature() override
    {
        // Only interfaces and addresses change paths, and IpTopologyOf::NoteChange reports those.
        return {};
    }

    uint64_t GetDigest() override
    {
        return 0;
    }

  private:
    uint32_t m_node; //!< id of the node
};

/**
 * @brief Makes a source that both families support.
 * @tparam F IPv4 or IPv6
 * @param name "static" or "shortest-paths"
 * @param ip the IP of the node
 * @return the source; null if the name is unknown
 */
template <class F>
std::unique_ptr<NextHopSourceOf<F>>
MakeCommon(const std::string& name, Ptr<typename F::Ip> ip)
{
    if (name == "static")
    {
        return std::make_unique<StaticSource<F>>(ip);
    }
    if (name == "shortest-paths")
    {
        return std::make_unique<ShortestPathSource<F>>(ip);
    }
    return nullptr;
}

} // namespace

template <>
std::unique_ptr<NextHopSource>
NextHopSourceOf<Ipv4Family>::Make(const std::string& name, Ptr<Ipv4> ip)
{
    if (name == "global")
    {
        return std::make_unique<GlobalSource>(ip);
    }
    return MakeCommon<Ipv4Family>(name, ip);
}

template <>
std::unique_ptr<NextHopSourceOf<Ipv6Family>>
NextHopSourceOf<Ipv6Family>::Make(const std::string& name, Ptr<Ipv6> ip)
{
    // ns-3's global routing for IPv6, available from 3.47 on, is not supported yet.
    return MakeCommon<Ipv6Family>(name, ip);
}

} // namespace ns3
