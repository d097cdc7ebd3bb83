// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "next-hop-source.h"

#include "ip-topology.h"

#include "ns3/boolean.h"
#include "ns3/channel.h"
#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("NextHopSource");

namespace
{

/// Entries that a signature may walk per call, on average, to see the last route of a list.
constexpr uint32_t WALK = 64;

/// The cure in messages.
const std::string BELOW =
    "use WithShortestPaths(BELOW), with the helper that the script installs without a policy";

/**
 * @brief Next hops from a protocol with a table of routes.
 * @tparam F IPv4 or IPv6
 * @tparam R the protocol
 */
template <class F, class R>
class TableSource : public NextHopSourceOf<F>
{
  public:
    /// A static route or a route of global routing.
    using Entry = typename F::TableEntry;

    /**
     * @param ip the IP of the node
     */
    explicit TableSource(Ptr<typename F::Ip> ip)
        : m_ip(ip),
          m_routing(F::RoutingHelper::template GetRouting<R>(ip->GetRoutingProtocol()))
    {
    }

    /// @return a hash of the table's length, its first and its last route
    ///
    /// The public way to read a table is GetRoute(i), which walks to the i-th route. The last route
    /// of a long table is therefore read at some calls only, so that a call walks WALK routes on
    /// average.
    uint64_t GetSignature() override
    {
        const uint32_t count = m_routing ? m_routing->GetNRoutes() : 0;
        if (count == 0)
        {
            return 0;
        }
        const uint64_t first = Add(count, HashOf(0));
        m_walked += WALK;
        if (first != m_first || m_walked >= count)
        {
            m_first = first;
            m_last = HashOf(count - 1);
            m_walked = 0;
        }
        return Add(m_first, m_last);
    }

  protected:
    Ptr<typename F::Ip> m_ip; //!< the IP of the node
    Ptr<R> m_routing;         //!< null if the node has none

  private:
    /**
     * @brief Adds a number to a hash (FNV-1a, a word at a time).
     * @param hash the hash so far
     * @param value the number
     * @return the new hash
     */
    static uint64_t Add(uint64_t hash, uint64_t value)
    {
        return (hash ^ value) * 0x100000001b3ULL;
    }

    /**
     * @param index number of a route
     * @return its hash
     */
    uint64_t HashOf(uint32_t index) const
    {
        if constexpr (std::is_same_v<R, Ipv4GlobalRouting>)
        {
            // Global routing replaces all routes when it recomputes them, so addresses in memory
            // reveal that too.
            const Entry* route = m_routing->GetRoute(index);
            return HashOf(*route, reinterpret_cast<uintptr_t>(route));
        }
        else
        {
            return HashOf(m_routing->GetRoute(index), m_routing->GetMetric(index));
        }
    }

    /**
     * @param route a route
     * @param hash a number that belongs to it
     * @return hash of both
     */
    static uint64_t HashOf(const Entry& route, uint64_t hash)
    {
        for (const typename F::Address& address : {route.GetDestNetwork(), route.GetGateway()})
        {
            uint8_t bytes[F::LENGTH];
            address.Serialize(bytes);
            for (uint32_t at = 0; at < F::LENGTH; at += 4)
            {
                hash = Add(hash, evenkeelinternal::BigEndian(bytes + at));
            }
        }
        return Add(hash,
                   static_cast<uint64_t>(F::MaskOf(route).GetPrefixLength()) << 32 |
                       route.GetInterface());
    }

    uint64_t m_first{0};  //!< hash of the length and the first route
    uint64_t m_last{0};   //!< hash of the last route
    uint32_t m_walked{0}; //!< routes that calls could have walked since the last one was read
};

/// Next hops from the routes that Ipv4GlobalRouting computed.
class GlobalSource : public TableSource<Ipv4Family, Ipv4GlobalRouting>
{
  public:
    using TableSource::TableSource;

    std::vector<NextHop> Find(Ipv4Address destination) override
    {
        NS_LOG_FUNCTION(this << destination);
        if (!m_routing)
        {
            return {};
        }
        // A lookup walks the table, so ask for the interfaces on shortest paths before all others.
        std::vector<NextHop> hops;
        if (m_isPlain)
        {
            for (const NextHop& hop :
                 IpTopology::Get().NextHops(m_ip->GetObject<Node>()->GetId(), destination))
            {
                AddHop(destination, destination, hop.interface, hops);
            }
        }
        Ptr<Ipv4Route> route = hops.empty() ? Ask(destination, nullptr) : nullptr;
        if (!route || IsExternal(route->GetDestination()))
        {
            return hops;
        }
        for (uint32_t interface = 1; interface < m_ip->GetNInterfaces(); interface++)
        {
            AddHop(destination, route->GetDestination(), interface, hops);
        }
        return hops;
    }

    void Renew() override
    {
        m_isPlain = IpTopology::Get().IsPlain();
        m_shared.clear();
        for (uint32_t interface = 1; interface < m_ip->GetNInterfaces(); interface++)
        {
            Ptr<Channel> channel = m_ip->GetNetDevice(interface)->GetChannel();
            if (!channel || channel->GetNDevices() > 2)
            {
                m_shared[interface];
            }
        }
        // A lookup tells one gateway per interface, so a node on a shared channel reads its table.
        const uint32_t count = m_routing && !m_shared.empty() ? m_routing->GetNRoutes() : 0;
        for (uint32_t i = 0; i < count; i++)
        {
            const Ipv4RoutingTableEntry* route = m_routing->GetRoute(i);
            const auto found = m_shared.find(route->GetInterface());
            if (found != m_shared.end())
            {
                found->second[route->GetDest()].push_back(route->GetGateway());
            }
        }
    }

    std::string GetFault() const override
    {
        if (!m_routing)
        {
            return "its list of protocols has no Ipv4GlobalRouting: " + BELOW;
        }
        return m_routing->GetNRoutes() > 0
                   ? ""
                   : "Ipv4GlobalRouting has no routes: call "
                     "Ipv4GlobalRoutingHelper::PopulateRoutingTables() before the simulation; with "
                     "static routes alone, use WithStaticRouting(); with another protocol, " +
                         BELOW;
    }

    std::string GetReason() const override
    {
        return "Ipv4GlobalRouting has at most one next hop: recompute the routes, give the links "
               "equal metrics, or " +
               BELOW;
    }

    std::string GetOverruled(Ptr<Ipv4RoutingProtocol> below) const override
    {
        BooleanValue isRandom(false);
        below->GetAttributeFailSafe("RandomEcmpRouting", isRandom);
        return isRandom.Get() ? "RandomEcmpRouting of ns3::Ipv4GlobalRouting: the policy chooses "
                                "among the same next hops; for a random one per packet, use the "
                                "policy switch-random; otherwise set the attribute to false"
                              : "";
    }

  private:
    /**
     * @brief Adds the next hops behind an interface.
     * @param destination an address
     * @param network the destination of its routes: the address itself, or a network
     * @param interface the interface
     * @param hops the next hops
     */
    void AddHop(Ipv4Address destination,
                Ipv4Address network,
                uint32_t interface,
                std::vector<NextHop>& hops)
    {
        Ptr<Ipv4Route> route = Ask(destination, m_ip->GetNetDevice(interface));
        if (!route || route->GetDestination() != network)
        {
            return;
        }
        const auto found = m_shared.find(interface);
        if (found == m_shared.end())
        {
            hops.push_back({interface, route->GetGateway()});
            return;
        }
        for (const Ipv4Address& gateway : found->second[network])
        {
            hops.push_back({interface, gateway});
        }
    }

    /**
     * @param destination an address
     * @param device a device; null for any
     * @return the first route to the address through the device; null without one
     */
    Ptr<Ipv4Route> Ask(Ipv4Address destination, Ptr<NetDevice> device)
    {
        Ipv4Header header;
        header.SetDestination(destination);
        Socket::SocketErrno error;
        return m_routing->RouteOutput(nullptr, header, device, error);
    }

    /**
     * Global routing takes the first of several external routes, whose costs may differ.
     *
     * @param network a destination of routes
     * @return true if some node injects it from outside
     */
    static bool IsExternal(Ipv4Address network)
    {
        for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
        {
            Ptr<InjectingRouter> router = (*node)->GetObject<InjectingRouter>();
            for (uint32_t i = 0; router && i < router->GetNInjectedRoutes(); i++)
            {
                if (router->GetInjectedRoute(i)->GetDestNetwork() == network)
                {
                    return true;
                }
            }
        }
        return false;
    }

    bool m_isPlain{false}; //!< see IpTopologyOf::IsPlain
    /// Gateways by destination, for each interface on a shared channel.
    std::map<uint32_t, std::map<Ipv4Address, std::vector<Ipv4Address>>> m_shared;
};

/// Next hops from static routes with gateways: longest prefix first, then lowest metric.
/// @tparam F IPv4 or IPv6
template <class F>
class StaticSource : public TableSource<F, typename F::StaticRouting>
{
  public:
    using TableSource<F, typename F::StaticRouting>::TableSource;

    std::vector<NextHopOf<F>> Find(typename F::Address destination) override
    {
        NS_LOG_FUNCTION(this << destination);
        std::vector<NextHopOf<F>> hops;
        std::pair<int64_t, int64_t> best(-1, 0);
        for (const auto& [route, metric] : m_routes)
        {
            const std::pair<int64_t, int64_t> rank(F::MaskOf(route).GetPrefixLength(),
                                                   -int64_t{metric});
            if (rank < best || !F::MaskOf(route).IsMatch(destination, route.GetDestNetwork()))
            {
                continue;
            }
            if (rank > best)
            {
                hops.clear();
                best = rank;
            }
            hops.push_back({route.GetInterface(), route.GetGateway()});
        }
        // Several routes without gateways are links that share a prefix, and only one of them has
        // the destination.
        const bool isShared =
            hops.size() > 1 && std::any_of(hops.begin(), hops.end(), [](const auto& hop) {
                return hop.gateway == F::Address::GetAny();
            });
        return isShared ? std::vector<NextHopOf<F>>() : hops;
    }

    void Renew() override
    {
        m_routes.clear();
        for (uint32_t i = 0; this->m_routing && i < this->m_routing->GetNRoutes(); i++)
        {
            m_routes.emplace_back(this->m_routing->GetRoute(i), this->m_routing->GetMetric(i));
        }
    }

    std::string GetReason() const override
    {
        return "the static routes have at most one next hop: add routes of equal prefix and metric "
               "with gateways, or " +
               BELOW;
    }

  private:
    std::vector<std::pair<typename F::TableEntry, uint32_t>> m_routes; //!< routes and metrics
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
        NS_LOG_FUNCTION(this << destination);
        // The protocol below routes packets that have no choice at any node. It gets none that have
        // had one: nix-vector routing does not forward packets that it has not sent.
        return IpTopologyOf<F>::Get().NextHops(m_node, destination, true);
    }

    std::string GetFault() const override
    {
        const uint32_t interface = IpTopologyOf<F>::Get().BridgedInterface(m_node);
        return interface == 0 ? ""
                              : "its interface " + std::to_string(interface) +
                                    " leads to devices without IP, such as the ports of a bridge, "
                                    "which shortest paths do not cross";
    }

    std::string GetOverruled(Ptr<typename F::RoutingProtocol> below) const override
    {
        // Nix-vector routing finds such paths too, and static routes are exceptions of the script.
        const std::string name = below->GetInstanceTypeId().GetName();
        auto global = DynamicCast<Ipv4GlobalRouting>(below);
        if (name.find("NixVectorRouting") != name.npos || (global && global->GetNRoutes() == 0) ||
            DynamicCast<typename F::StaticRouting>(below) ||
            DynamicCast<typename F::ListRouting>(below))
        {
            return "";
        }
        return name +
               ": the policy chooses among the paths with the fewest links and ignores metrics; to "
               "keep the routes of the protocol, install it without the policy; to balance by "
               "metric, use " +
               (std::is_same_v<F, Ipv4Family> ? "Ipv4::SetMetric and WithGlobalRouting()"
                                              : "WithStaticRouting() and one route per next hop");
    }

  private:
    uint32_t m_node; //!< id of the node
};

} // namespace

template <class F>
std::unique_ptr<NextHopSourceOf<F>>
NextHopSourceOf<F>::Make(const std::string& name, Ptr<typename F::Ip> ip)
{
    if (name == "static")
    {
        return std::make_unique<StaticSource<F>>(ip);
    }
    if (name == "shortest-paths")
    {
        return std::make_unique<ShortestPathSource<F>>(ip);
    }
    // ns-3's global routing for IPv6, available from 3.47 on, is not supported yet.
    if constexpr (std::is_same_v<F, Ipv4Family>)
    {
        if (name == "global")
        {
            return std::make_unique<GlobalSource>(ip);
        }
    }
    return nullptr;
}

template class NextHopSourceOf<Ipv4Family>;
template class NextHopSourceOf<Ipv6Family>;

} // namespace ns3
