// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef ROUTE_POLICY_HELPER_H
#define ROUTE_POLICY_HELPER_H

#include "ns3/node-container.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/route-policy.h"
#include "ns3/string.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The base of LoadBalancedRoutingHelper and Ipv6LoadBalancedRoutingHelper.
 * @tparam F IPv4 or IPv6
 * @tparam H the derived class
 */
template <class F, class H>
class RoutePolicyHelper : public F::RoutingHelper
{
  public:
    typename F::RoutingHelper* Copy() const override
    {
        return new H(static_cast<const H&>(*this));
    }

    Ptr<typename F::RoutingProtocol> Create(Ptr<Node> node) const override
    {
        auto policy = m_factory.Create<typename F::RoutingProtocol>();
        if (!m_below)
        {
            return policy;
        }
        // The policy joins the list of the script: ns-3's IPv6 list in another list calls a null
        // callback if it has no route.
        auto below = m_below->Create(node);
        auto list = DynamicCast<typename F::ListRouting>(below);
        int16_t priority = 0;
        if (!list)
        {
            list = CreateObject<typename F::ListRouting>();
            list->AddRoutingProtocol(below, priority);
        }
        else if (list->GetNRoutingProtocols() > 0)
        {
            list->GetRoutingProtocol(0, priority);
        }
        list->AddRoutingProtocol(policy, std::min(priority + 10, INT16_MAX));
        return list;
    }

    /**
     * @brief Sets an attribute of protocols that are made later, see ns3::LoadBalancedRouting.
     * @param name its name
     * @param value its value
     */
    void Set(const std::string& name, const AttributeValue& value)
    {
        m_factory.Set(name, value);
    }

    /**
     * @brief Sets the random streams of the policies on these nodes.
     * @param nodes the nodes; those without a policy are skipped
     * @param stream number of the first stream
     * @return number of streams used
     */
    int64_t AssignStreams(NodeContainer nodes, int64_t stream) const
    {
        int64_t next = stream;
        for (auto node = nodes.Begin(); node != nodes.End(); ++node)
        {
            auto ip = (*node)->template GetObject<typename F::Ip>();
            auto routing =
                ip ? F::RoutingHelper::template GetRouting<RoutePolicy<F>>(ip->GetRoutingProtocol())
                   : nullptr;
            next += routing ? routing->AssignStreams(next) : 0;
        }
        return next - stream;
    }

    /**
     * @brief Adds the policy above other protocols, among the paths with the fewest links.
     *
     * Use it for scripts with Ipv4NixVectorHelper, whose protocol finds one such path, or with
     * RipNgHelper, whose protocol keeps one route to each network. The other protocols route
     * packets to destinations to which no node has several such paths.
     *
     * @param below the helper that the script passes to InternetStackHelper without a policy
     * @return the helper of a list with the protocols of `below` and the policy
     */
    H WithShortestPaths(const typename F::RoutingHelper& below) const
    {
        return Above("shortest-paths", below);
    }

  protected:
    /**
     * @param type the type of the protocol with the policy
     */
    explicit RoutePolicyHelper(TypeId type)
    {
        m_factory.SetTypeId(type);
    }

    /**
     * @brief Adds the policy above other protocols, instead of making it alone.
     * @param routes the attribute Routes
     * @param below the helper of another protocol, or of a list
     * @return the helper of a list
     */
    H Above(const std::string& routes, const typename F::RoutingHelper& below) const
    {
        H helper(static_cast<const H&>(*this));
        helper.Set("Routes", StringValue(routes));
        helper.m_below.reset(below.Copy());
        return helper;
    }

  private:
    ObjectFactory m_factory;                                  //!< makes the policies
    std::shared_ptr<const typename F::RoutingHelper> m_below; //!< makes the protocols below
};

} // namespace ns3

#endif /* ROUTE_POLICY_HELPER_H */
