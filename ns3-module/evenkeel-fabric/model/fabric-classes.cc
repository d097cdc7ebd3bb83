// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-classes.h"

namespace ns3
{

std::optional<uint32_t>
FabricClass::Find(const std::vector<FabricClass>& classes, const std::string& name)
{
    if (name.empty())
    {
        return 0;
    }
    for (uint32_t trafficClass = 0; trafficClass < classes.size(); ++trafficClass)
    {
        if (classes[trafficClass].name == name)
        {
            return trafficClass;
        }
    }
    return std::nullopt;
}

std::string
FabricClass::Explain(const std::vector<FabricClass>& classes, const std::string& name)
{
    std::string names;
    for (const FabricClass& each : classes)
    {
        names += (names.empty() ? "'" : ", '") + each.name + "'";
    }
    return "there is no traffic class '" + name + "': " +
           (names.empty() ? "call FabricHelper::AddClass before the fabric is made"
                          : "the fabric has " + names);
}

} // namespace ns3
