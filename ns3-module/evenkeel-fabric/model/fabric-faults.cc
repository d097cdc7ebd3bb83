// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-faults.h"

#include <algorithm>

namespace ns3
{

namespace
{

/**
 * @param a an outage
 * @param b another
 * @return true if a has the lower link, or the same link and an earlier start
 */
bool
ComesBefore(const FabricFault& a, const FabricFault& b)
{
    return a.link != b.link ? a.link < b.link : a.fromPs < b.fromPs;
}

} // namespace

FabricFaults::FabricFaults(const std::vector<FabricFault>& faults, FabricSwitching& switching)
    : m_switching(switching)
{
    for (const FabricFault& fault : faults)
    {
        (fault.kind == FabricFault::DOWN ? m_outages : m_lossy).push_back(fault);
    }
    std::stable_sort(m_outages.begin(), m_outages.end(), ComesBefore);
    // Merge overlapping outages of a link, which Loses relies on.
    std::vector<FabricFault> merged;
    for (const FabricFault& fault : m_outages)
    {
        if (!merged.empty() && merged.back().link == fault.link &&
            fault.fromPs <= merged.back().untilPs)
        {
            merged.back().untilPs = std::max(merged.back().untilPs, fault.untilPs);
        }
        else
        {
            merged.push_back(fault);
        }
    }
    m_outages.swap(merged);
    // The faults of a link keep the order of the description, because each makes its own draws.
    std::stable_sort(m_lossy.begin(), m_lossy.end(), [](const auto& a, const auto& b) {
        return a.link < b.link;
    });
}

std::vector<uint32_t>
FabricFaults::GetLinks() const
{
    std::vector<uint32_t> links;
    for (const std::vector<FabricFault>* faults : {&m_outages, &m_lossy})
    {
        for (const FabricFault& fault : *faults)
        {
            links.push_back(fault.link);
        }
    }
    return links;
}

bool
FabricFaults::Loses(uint32_t port, uint64_t startPs, uint64_t endPs)
{
    const uint32_t link = port / 2;
    FabricFault key;
    key.link = link;
    key.fromPs = endPs;
    // Merged outages do not overlap, so only the last one that began before the end of the packet
    // can still cover its start.
    auto after = std::lower_bound(m_outages.begin(), m_outages.end(), key, ComesBefore);
    if (after != m_outages.begin())
    {
        const FabricFault& last = *(after - 1);
        if (last.link == link && last.untilPs > startPs)
        {
            return true;
        }
    }
    bool lost = false;
    auto lossy =
        std::lower_bound(m_lossy.begin(),
                         m_lossy.end(),
                         link,
                         [](const FabricFault& fault, uint32_t of) { return fault.link < of; });
    for (; lossy != m_lossy.end() && lossy->link == link; ++lossy)
    {
        // Every fault draws, even after a loss, so that the number of draws does not depend on
        // their outcomes.
        if (lossy->fromPs <= startPs && startPs < lossy->untilPs)
        {
            lost |= m_switching.Loses(port, lossy->numerator, lossy->denominator);
        }
    }
    return lost;
}

} // namespace ns3
