// SPDX-License-Identifier: GPL-2.0-only

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
 * Three lines of a script change:
 * @code
 *   LoadBalancedRoutingHelper routing("flowlet");
 *   InternetStackHelper internet;
 *   internet.SetRoutingHelper(routing.WithGlobalRouting());
 * @endcode
 */
class LoadBalancedRoutingHelper : public Ipv4RoutingHelper
{
  public:
    /// Makes a helper for the default policy of the attribute.
    LoadBalancedRoutingHelper();
    /**
     * @brief Makes a helper for a policy.
     * @param policy its name
     */
    explicit LoadBalancedRoutingHelper(const std::string& policy);

    LoadBalancedRoutingHelper* Copy() const override;
    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node> node) const override;

    /**
     * @brief Set an attribute of the protocols that are made later, see ns3::LoadBalancedRouting.
     * @param name its name
     * @param value its value
     */
    void Set(const std::string& name, const AttributeValue& value);

    /**
     * @brief Adds the policy above static and global routing, which InternetStackHelper installs by
     *        default.
     * @return the helper of the list of these three protocols
     */
    Ipv4ListRoutingHelper WithGlobalRouting() const;

    /**
     * @brief Fix the random streams of the policies on these nodes.
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
