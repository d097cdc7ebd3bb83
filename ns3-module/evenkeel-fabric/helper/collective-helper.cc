// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "collective-helper.h"

#include "fabric-helper.h"

#include "ns3/quoted.h"
#include "ns3/refuse.h"

namespace ns3
{

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
CollectiveHelper::SetAlgorithm(const std::string& algorithm)
{
    SetOnce("CollectiveHelper::SetAlgorithm", "algorithm", Quoted(algorithm));
}

void
CollectiveHelper::SetClass(const std::string& trafficClass)
{
    SetOnce("CollectiveHelper::SetClass", "class", Quoted(trafficClass));
}

void
CollectiveHelper::SetFile(const std::string& path)
{
    SetOnce("CollectiveHelper::SetFile", "file", Quoted(path));
}

void
CollectiveHelper::Set(const std::string& key, const std::string& value)
{
    SetOnce("CollectiveHelper::Set", key, value);
}

void
CollectiveHelper::SetOnce(const std::string& call, const std::string& key, const std::string& value)
{
    const auto [found, isNew] = m_keys.emplace(key, value);
    if (!isNew)
    {
        EVENKEEL_REFUSE(call,
                        "'" + key + "' is already set to " + found->second +
                            ": use another CollectiveHelper");
    }
}

void
CollectiveHelper::Install(FabricHelper& fabric, const NodeContainer& ranks) const
{
    fabric.ExpectOpen("CollectiveHelper::Install");
    if (fabric.DescribeSections().find("[workload]") != std::string::npos)
    {
        EVENKEEL_REFUSE("CollectiveHelper::Install",
                        "the fabric already has a workload: install one, or use [[job]] "
                        "sections (FabricHelper::AddSettings) for several");
    }
    std::string section = Describe();
    if (ranks.GetN() > 0)
    {
        fabric.SetFirstHosts(ranks);
        section += "ranks = " + std::to_string(ranks.GetN()) + "\n";
    }
    fabric.AddSettings(section);
}

std::string
CollectiveHelper::Describe() const
{
    std::string section = "[workload]\n";
    for (const auto& [key, value] : m_keys)
    {
        section += key + " = " + value + "\n";
    }
    return section;
}

} // namespace ns3
