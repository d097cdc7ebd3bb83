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
 * @brief Gives nodes a load-balancing policy among the equal-cost next hops of global routing.
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
    /// Of the policy that the attribute's default names.
    LoadBalancedRoutingHelper();
    /**
     * @brief Of a policy.
     * @param policy its name
     */
    explicit LoadBalancedRoutingHelper(const std::string& policy);

    LoadBalancedRoutingHelper* Copy() const override;
    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node> node) const override;

    /**
     * @brief Set an attribute of the protocols to be made, see ns3::LoadBalancedRouting.
     * @param name its name
     * @param value its value
     */
    void Set(const std::string& name, const AttributeValue& value);

    /**
     * @brief What InternetStackHelper makes by itself, static and global routing, with the policy
     *        above them.
     * @return the helper of that list
     */
    Ipv4ListRoutingHelper WithGlobalRouting() const;

    /**
     * @brief Fix the random streams of the policies on these nodes.
     * @param nodes the nodes; those without a policy are passed over
     * @param stream the first stream's number
     * @return how many streams were used
     */
    int64_t AssignStreams(NodeContainer nodes, int64_t stream) const;

  private:
    ObjectFactory m_factory; //!< makes the protocols
};

} // namespace ns3

#endif /* LOAD_BALANCED_ROUTING_HELPER_H */
