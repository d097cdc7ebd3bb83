// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef LOAD_BALANCED_ROUTING_HELPER_H
#define LOAD_BALANCED_ROUTING_HELPER_H

#include "ns3/ipv4-list-routing-helper.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 *
 * @brief Adds a load-balancing policy to nodes, for the equal-cost next hops of global routing.
 *
 * A script changes in three lines:
 * @code
 *   LoadBalancedRoutingHelper routing("flowlet");
 *   InternetStackHelper internet;
 *   internet.SetRoutingHelper(routing.WithGlobalRouting());
 * @endcode
 */
class LoadBalancedRoutingHelper : public Ipv4RoutingHelper
{
  public:
    /// Makes a helper for the policy that is the attribute's default.
    LoadBalancedRoutingHelper();
    /**
     * @brief Makes a helper for a policy.
     * @param policy its name
     */
    explicit LoadBalancedRoutingHelper(const std::string& policy);

    LoadBalancedRoutingHelper* Copy() const override;
    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node> node) const override;

    /**
     * @brief Sets an attribute of protocols that are made later, see ns3::LoadBalancedRouting.
     * @param name its name
     * @param value its value
     */
    void Set(const std::string& name, const AttributeValue& value);

    /**
     * @brief Adds the policy to static and global routing, which InternetStackHelper installs by
     * default.
     *
     * The policy has the priority -5, between static (0) and global routing (-10), so that the
     * script's static routes still take precedence.
     *
     * @return the helper of a list with these three protocols
     */
    Ipv4ListRoutingHelper WithGlobalRouting() const;
    /**
     * @brief Adds the policy above global routing alone.
     *
     * Use it for scripts that install Ipv4GlobalRoutingHelper without static routing, such as those
     * whose links share a network. Static routing would send all its packets over the first link.
     *
     * @return the helper of a list with these two protocols
     */
    Ipv4ListRoutingHelper WithGlobalRoutingOnly() const;

    /**
     * @brief Adds the policy above static routing, for static routes of equal prefix and metric.
     * @return the helper of a list with these two protocols
     */
    Ipv4ListRoutingHelper WithStaticRouting() const;
    /**
     * @brief Adds the policy above another protocol, among the paths with the fewest links.
     *
     * Use it for scripts with Ipv4NixVectorHelper, whose protocol finds one such path. The other
     * protocol routes packets without such a path.
     *
     * @param below the helper of the other protocol
     * @return the helper of a list with both protocols
     */
    Ipv4ListRoutingHelper WithShortestPaths(const Ipv4RoutingHelper& below) const;

    /**
     * @brief Sets the random streams of the policies on these nodes.
     * @param nodes the nodes; those without a policy are skipped
     * @param stream number of the first stream
     * @return number of streams used
     */
    int64_t AssignStreams(NodeContainer nodes, int64_t stream) const;

  private:
    ObjectFactory m_factory; //!< makes the protocols
};

} // namespace ns3

#endif /* LOAD_BALANCED_ROUTING_HELPER_H */
