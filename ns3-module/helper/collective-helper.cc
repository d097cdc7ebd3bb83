// SPDX-License-Identifier: GPL-2.0-only

#include "collective-helper.h"

#include "fabric-helper.h"

namespace ns3
{

CollectiveHelper::CollectiveHelper(const std::string& kind)
{
    Set("kind", "\"" + kind + "\"");
}

void
CollectiveHelper::SetBytes(uint64_t bytes)
{
    Set("bytes", "\"" + std::to_string(bytes) + "B\"");
}

void
CollectiveHelper::SetAlgorithm(const std::string& algorithm)
{
    Set("algorithm", "\"" + algorithm + "\"");
}

void
CollectiveHelper::SetFile(const std::string& path)
{
    Set("file", "'" + path + "'");
}

void
CollectiveHelper::Set(const std::string& key, const std::string& value)
{
    m_keys += key + " = " + value + "\n";
}

void
CollectiveHelper::Install(FabricHelper& fabric, const NodeContainer& ranks) const
{
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
    return "[workload]\n" + m_keys;
}

} // namespace ns3
