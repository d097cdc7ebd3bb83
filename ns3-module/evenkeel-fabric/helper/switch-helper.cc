// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "switch-helper.h"

#include "ns3/fabric-switch.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/string.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("SwitchHelper");

SwitchHelper::SwitchHelper()
{
    m_factory.SetTypeId(FabricSwitch::GetTypeId());
}

void
SwitchHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

void
SwitchHelper::SetPolicy(const std::string& policy, const std::string& parameters)
{
    NS_LOG_FUNCTION(this << policy << parameters);
    m_factory.Set("Policy", StringValue(policy));
    m_factory.Set("PolicyParameters", StringValue(parameters));
}

void
SwitchHelper::Install(const NodeContainer& nodes) const
{
    NS_LOG_FUNCTION(this << nodes.GetN());
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        if (!(*node)->GetObject<FabricSwitch>())
        {
            (*node)->AggregateObject(m_factory.Create<FabricSwitch>());
        }
    }
}

} // namespace ns3
