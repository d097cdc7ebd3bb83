// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "collective-helper.h"

#include "../model/toml-of.h"
#include "fabric-helper.h"

#include "ns3/log.h"
#include "ns3/refuse.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CollectiveHelper");

CollectiveHelper::CollectiveHelper(const std::string& kind)
{
    SetOnce("CollectiveHelper::CollectiveHelper", "kind", Quoted(kind));
}

void
CollectiveHelper::SetBytes(uint64_t bytes)
{
    SetOnce("CollectiveHelper::SetBytes", "bytes", "\"" + std::to_string(bytes) + "B\"");
}

void
CollectiveHelper::SetClass(const std::string& trafficClass)
{
    SetOnce("CollectiveHelper::SetClass", "class", Quoted(trafficClass));
}

void
CollectiveHelper::Set(const std::string& key, const AttributeValue& value)
{
    SetOnce("CollectiveHelper::Set", key, TomlOf("CollectiveHelper::Set: " + key, value));
}

void
CollectiveHelper::SetOnce(const std::string& call, const std::string& key, const std::string& value)
{
    NS_LOG_FUNCTION(this << call << key << value);
    const auto [found, isNew] = m_keys.emplace(key, value);
    EVENKEEL_REFUSE_IF(!isNew,
                       call,
                       "'" + key + "' is already set to " + found->second +
                           ": use another CollectiveHelper");
}

void
CollectiveHelper::Install(FabricHelper& fabric, const NodeContainer& ranks) const
{
    NS_LOG_FUNCTION(this << ranks.GetN());
    std::string keys;
    for (const auto& [key, value] : m_keys)
    {
        keys += key + " = " + value + "\n";
    }
    fabric.AddWorkload(keys, ranks);
}

} // namespace ns3
