// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef ROUTE_POLICY_HELPER_H
#define ROUTE_POLICY_HELPER_H

#include "ns3/ip-family.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"

#include <memory>
#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The base of LoadBalancedRoutingHelper and Ipv6LoadBalancedRoutingHelper.
 * @tparam F IPv4 or IPv6
 */
template <class F>
class RoutePolicyHelper : public F::RoutingHelper
{
  public:
    Ptr<typename F::RoutingProtocol> Create(Ptr<Node> node) const override;

    /**
     * @brief Sets an attribute of protocols that are made later, see ns3::LoadBalancedRouting.
     * @param name its name
     * @param value its value
     */
    void Set(const std::string& name, const AttributeValue& value);

    /**
     * @brief Sets the random streams of the policies on these nodes.
     * @param nodes the nodes; those without a policy are skipped
     * @param stream number of the first stream
     * @return number of streams used
     */
    int64_t AssignStreams(NodeContainer nodes, int64_t stream) const;

  protected:
    /**
     * @param type the type of the protocol with the policy
     */
    explicit RoutePolicyHelper(TypeId type);

    /**
     * @brief Adds the policy above other protocols, instead of making it alone.
     * @tparam H the type of the helper
     * @param helper of the policy
     * @param routes the attribute Routes
     * @param below the helper of another protocol, or of a list
     * @return the helper of a list
     */
    template <class H>
    static H Above(H helper, const std::string& routes, const typename F::RoutingHelper& below)
    {
        helper.Set("Routes", StringValue(routes));
        helper.m_below.reset(below.Copy());
        return helper;
    }

  private:
    ObjectFactory m_factory;                                  //!< makes the policies
    std::shared_ptr<const typename F::RoutingHelper> m_below; //!< makes the protocols below
};

extern template class RoutePolicyHelper<Ipv4Family>;
extern template class RoutePolicyHelper<Ipv6Family>;

} // namespace ns3

#endif /* ROUTE_POLICY_HELPER_H */
