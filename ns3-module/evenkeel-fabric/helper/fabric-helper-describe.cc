// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-helper.h"

#include "ns3/names.h"
#include "ns3/quoted.h"
#include "ns3/refuse.h"
#include "ns3/rng-seed-manager.h"

#include <algorithm>
#include <map>
#include <sstream>

// FabricHelper's description of a fabric: its graph and the text of its settings.

namespace ns3
{

FabricGraph
FabricHelper::DescribeGraph() const
{
    FabricGraph graph;
    for (std::size_t host = 0; host < m_nics.size(); ++host)
    {
        graph.hosts.push_back("host" + std::to_string(host));
    }
    for (std::size_t number = 0; number < m_switches.size(); ++number)
    {
        FabricGraph::Switch each;
        each.name = m_switchNames[number];
        if (each.name.empty())
        {
            each.name = Names::FindName(m_switchNodes[number]);
        }
        if (each.name.empty())
        {
            each.name = "switch" + std::to_string(number);
        }
        graph.switches.push_back(each);
    }
    const auto describe = [this](Ptr<NetDevice> device) {
        FabricEnd end;
        if (Ptr<RdmaNic> nic = RdmaNic::Of(device))
        {
            end.isHost = true;
            const auto found = std::find(m_nics.begin(), m_nics.end(), nic);
            end.number = static_cast<uint32_t>(found - m_nics.begin());
            return end;
        }
        Ptr<FabricSwitch> owner = device->GetNode()->GetObject<FabricSwitch>();
        const auto found = std::find(m_switches.begin(), m_switches.end(), owner);
        end.number = static_cast<uint32_t>(found - m_switches.begin());
        return end;
    };
    for (const auto& channel : m_channels)
    {
        FabricLink link;
        link.a = describe(channel->GetDevice(0));
        link.b = describe(channel->GetDevice(1));
        link.rateBps = channel->GetDataRate().GetBitRate();
        link.delayPs = static_cast<uint64_t>(channel->GetDelay().GetPicoSeconds());
        graph.links.push_back(link);
    }
    graph.FillTiers();
    graph.joinedPorts = m_joinedPorts;
    return graph;
}

uint32_t
FabricHelper::IndexOf(Ptr<FabricChannel> channel) const
{
    const auto found = std::find(m_channels.begin(), m_channels.end(), channel);
    EVENKEEL_REFUSE_IF(
        found == m_channels.end(),
        "FabricHelper::AddFailure",
        "the link of a failure is in another fabric: take it from GetChannels of this helper");
    return static_cast<uint32_t>(found - m_channels.begin());
}

const std::string&
FabricHelper::DescribeSections() const
{
    return m_sections;
}

std::string
FabricHelper::DescribeSettings() const
{
    EVENKEEL_REFUSE_IF(m_nics.empty(),
                       "FabricHelper::Finish",
                       "a fabric must have at least one host: call FabricHelper::Install with one");
    return DescribeSettingsWith(*m_nics[0]);
}

std::string
FabricHelper::DescribeSettingsWith(const RdmaNic& nic) const
{
    std::ostringstream text;
    const uint64_t run = RngSeedManager::GetRun() + (static_cast<uint64_t>(m_stream) << 20);
    const uint64_t seed = (static_cast<uint64_t>(RngSeedManager::GetSeed()) - 1) << 40 ^ run;
    text << "schema_version = 1\n";
    // TOML integers are signed 64-bit.
    text << "seed = " << (seed & 0x7fffffffffffffffULL) << "\n\n";
    text << "[topology]\ngap = \"" << m_gapBytes << "B\"\n";
    text << "forwarding_delay = \"" << m_forwardingDelay.GetPicoSeconds() << "ps\"\n\n";
    text << nic.DescribeSettings() << "\n";
    if (!m_switches.empty())
    {
        text << m_switches[0]->DescribeSettings() << "\n";
    }
    for (const auto& each : m_switches)
    {
        EVENKEEL_REFUSE_IF(each->DescribeSettings() != m_switches[0]->DescribeSettings(),
                           "FabricHelper::Finish",
                           "all switches of a fabric must have the same attributes: set them "
                           "before the switches are made");
    }
    text << m_sections << m_classSections;
    const FabricGraph graph = m_failures.empty() ? FabricGraph() : DescribeGraph();
    for (const auto& [channel, keys] : m_failures)
    {
        text << "\n[[failure]]\nlink = " << Quoted(graph.NameOf(IndexOf(channel))) << "\n"
             << keys << "\n";
    }
    return text.str();
}

FabricQpSettings
FabricHelper::DescribeQueuePairs() const
{
    EVENKEEL_REFUSE_IF(m_nics.empty(),
                       "FabricHelper::Finish",
                       "a fabric must have at least one host: call FabricHelper::Install with one");
    return m_nics[0]->DescribeQueuePairs();
}

std::vector<FabricNicSettings>
FabricHelper::DescribeOwnNics() const
{
    std::vector<FabricNicSettings> own;
    std::map<std::string, std::size_t> known;
    for (uint32_t host = 0; host < m_nics.size(); ++host)
    {
        const std::string attributes = m_nics[host]->DescribeAttributes();
        if (attributes == m_nics[0]->DescribeAttributes())
        {
            continue;
        }
        const auto [found, isNew] = known.emplace(attributes, own.size());
        if (isNew)
        {
            FabricNicSettings settings;
            settings.settings = DescribeSettingsWith(*m_nics[host]);
            settings.queuePairs = m_nics[host]->DescribeQueuePairs();
            own.push_back(settings);
        }
        own[found->second].hosts.push_back(host);
    }
    return own;
}

} // namespace ns3
