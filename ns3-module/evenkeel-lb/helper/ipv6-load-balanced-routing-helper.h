// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef IPV6_LOAD_BALANCED_ROUTING_HELPER_H
#define IPV6_LOAD_BALANCED_ROUTING_HELPER_H

#include "ns3/ipv6-list-routing-helper.h"
#include "ns3/ipv6-routing-helper.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 *
 * @brief Adds a load-balancing policy to nodes, for equal-cost next hops of IPv6.
 *
 * A script changes in three lines:
 * @code
 *   Ipv6LoadBalancedRoutingHelper routing("flowlet");
 *   InternetStackHelper internet;
 *   internet.SetRoutingHelper(routing.WithStaticRouting());
 * @endcode
 */
class Ipv6LoadBalancedRoutingHelper : public Ipv6RoutingHelper
{
  public:
    /// Makes a helper for the policy that is the attribute's default.
    Ipv6LoadBalancedRoutingHelper();
    /**
     * @brief Makes a helper for a policy.
     * @param policy its name
     */
    explicit Ipv6LoadBalancedRoutingHelper(const std::string& policy);

    Ipv6LoadBalancedRoutingHelper* Copy() const override;
    Ptr<Ipv6RoutingProtocol> Create(Ptr<Node> node) const override;

    /**
     * @brief Sets an attribute of protocols that are made later, see ns3::Ipv6LoadBalancedRouting.
     * @param name its name
     * @param value its value
     */
    void Set(const std::string& name, const AttributeValue& value);

    /**
     * @brief Adds the policy to static routing, which InternetStackHelper installs by default, for
     * static routes of equal prefix and metric.
     * @return the helper of a list with both protocols
     */
    Ipv6ListRoutingHelper WithStaticRouting() const;
    /**
     * @brief Adds the policy above another protocol, among the paths with the fewest links.
     *
     * Use it for scripts with RipNgHelper, whose protocol keeps one route to each network. The
     * other protocol routes packets without such a path.
     *
     * @param below the helper of the other protocol
     * @return the helper of a list with both protocols
     */
    Ipv6ListRoutingHelper WithShortestPaths(const Ipv6RoutingHelper& below) const;

    /**
     * @brief Sets the random streams of the policies on these nodes.
     * @param nodes the nodes; those without a policy are skipped
     * @param stream number of the first stream
     * @return number of streams used
     */
    int64_t AssignStreams(NodeContainer nodes, int64_t stream) const;

  private:
    /**
     * @param routes the attribute Routes
     * @param below the helper of the protocol below
     * @return the helper of a list with both protocols
     */
    Ipv6ListRoutingHelper Above(const std::string& routes, const Ipv6RoutingHelper& below) const;

    ObjectFactory m_factory; //!< makes the protocols
};

} // namespace ns3

#endif /* IPV6_LOAD_BALANCED_ROUTING_HELPER_H */
