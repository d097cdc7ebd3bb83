// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef SWITCH_HELPER_H
#define SWITCH_HELPER_H

#include "ns3/attribute.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Turns nodes into switches of a fabric, with buffers, ECN, PFC, trimming and a policy.
 */
class SwitchHelper
{
  public:
    SwitchHelper();

    /**
     * @brief Sets an attribute of switches that are made later.
     * @param name of an attribute of FabricSwitch
     * @param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets the load-balancing policy of switches that are made later.
     * @param policy a name that `evenkeel list policies` prints
     * @param parameters as in the attribute PolicyParameters
     */
    void SetPolicy(const std::string& policy, const std::string& parameters = "");
    /**
     * @brief Turns each node into a switch, unless it is one already.
     * @param nodes the nodes
     */
    void Install(const NodeContainer& nodes) const;

  private:
    ObjectFactory m_factory; //!< makes switches
};

} // namespace ns3

#endif /* SWITCH_HELPER_H */
