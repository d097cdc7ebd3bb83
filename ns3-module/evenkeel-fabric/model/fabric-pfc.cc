// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-pfc.h"

#include "fabric-core.h"

#include <algorithm>
#include <utility>

namespace ns3
{

namespace
{

/// The pool of a link that ends at a host.
constexpr uint32_t NO_POOL = 0xffffffff;

/**
 * @param value a number of bytes
 * @param numerator of a fraction of at most 1
 * @param denominator of that fraction
 * @return that fraction of the value, rounded down
 */
uint64_t
PartOf(uint64_t value, uint64_t numerator, uint64_t denominator)
{
    // Multiply quotient and remainder separately, because value x numerator may overflow.
    const uint64_t whole = value / denominator;
    const uint64_t rest = value % denominator;
    return whole * numerator + rest * numerator / denominator;
}

} // namespace

FabricPfc::FabricPfc(const Rules& rules, std::vector<Ingress> links, std::vector<Pool> pools)
    : m_rules(rules),
      m_links(std::move(links)),
      m_pools(std::move(pools))
{
}

FabricPfc
FabricPfc::FromDescription(const FabricDescription& description)
{
    const FabricGraph& graph = description.graph;
    const bool hasClasses = !description.classes.empty();
    Rules rules;
    rules.resumeOffset = description.settings.pfcResumeOffset;
    rules.classes = hasClasses ? static_cast<uint32_t>(description.classes.size()) : 1;
    rules.repeats = description.settings.pfcPauseTimePs != FABRIC_NEVER;
    std::vector<Ingress> links(2 * graph.links.size() * rules.classes);
    for (uint32_t index = 0; index < links.size(); ++index)
    {
        const uint32_t port = index / rules.classes;
        const FabricLink& link = graph.links[port / 2];
        const FabricEnd end = port % 2 == 0 ? link.b : link.a;
        if (end.isHost)
        {
            continue;
        }
        links[index].pool = end.number;
        links[index].limits = description.ingress[index];
        links[index].isProtected = !hasClasses || description.classes[index % rules.classes].pfc;
    }
    std::vector<Pool> pools(graph.switches.size());
    for (uint32_t number = 0; number < pools.size(); ++number)
    {
        pools[number].size = description.poolSizes[number];
    }
    return FabricPfc(rules, std::move(links), std::move(pools));
}

bool
FabricPfc::Admits(uint32_t link, uint64_t bytes, uint32_t trafficClass) const
{
    const Ingress& ingress = GetIngress(link, trafficClass);
    return bytes + ingress.used <= ingress.limits.reserve ||
           bytes + ingress.inHeadroom <= ingress.limits.headroom ||
           bytes + ingress.GetShared() <= GetThreshold(ingress);
}

FabricPfc::Order
FabricPfc::Add(uint32_t link, uint64_t bytes, uint32_t trafficClass)
{
    Ingress& ingress = m_links[link * m_rules.classes + trafficClass];
    const uint64_t after = ingress.used + bytes;
    if (after <= ingress.limits.reserve)
    {
        ingress.used = after;
    }
    else if (after - ingress.limits.reserve > GetThreshold(ingress))
    {
        ingress.inHeadroom += bytes;
    }
    else
    {
        ingress.used = after;
        if (ingress.pool == NO_POOL)
        {
            return NOTHING;
        }
        m_pools[ingress.pool].used += std::min(bytes, after - ingress.limits.reserve);
    }
    const bool full = ingress.inHeadroom > 0 || ingress.GetShared() >= GetThreshold(ingress);
    // Without expiry, one frame per change of state is enough: the link stays paused until resumed.
    if ((ingress.paused && !m_rules.repeats) || !full || !ingress.isProtected)
    {
        return NOTHING;
    }
    ingress.paused = true;
    return PAUSE;
}

FabricPfc::Order
FabricPfc::Remove(uint32_t link, uint64_t bytes, uint32_t trafficClass)
{
    Ingress& ingress = m_links[link * m_rules.classes + trafficClass];
    const uint64_t fromHeadroom = std::min(ingress.inHeadroom, bytes);
    const uint64_t fromShared = std::min(bytes - fromHeadroom, ingress.GetShared());
    ingress.inHeadroom -= fromHeadroom;
    ingress.used -= bytes - fromHeadroom;
    if (ingress.pool == NO_POOL)
    {
        return NOTHING;
    }
    m_pools[ingress.pool].used -= fromShared;
    const uint64_t shared = ingress.GetShared();
    const bool room = shared == 0 || shared + m_rules.resumeOffset <= GetThreshold(ingress);
    if (!ingress.paused || ingress.inHeadroom > 0 || !room)
    {
        return NOTHING;
    }
    ingress.paused = false;
    return RESUME;
}

const FabricPfc::Ingress&
FabricPfc::GetIngress(uint32_t link, uint32_t trafficClass) const
{
    return m_links[link * m_rules.classes + trafficClass];
}

const FabricPfc::Pool&
FabricPfc::GetPool(uint32_t pool) const
{
    return m_pools[pool];
}

std::ostream&
operator<<(std::ostream& os, FabricPfcOrder order)
{
    switch (order)
    {
    case FabricPfcOrder::NOTHING:
        return os << "nothing";
    case FabricPfcOrder::PAUSE:
        return os << "pause";
    case FabricPfcOrder::RESUME:
        return os << "resume";
    }
    return os << "unknown order " << static_cast<uint32_t>(order);
}

uint64_t
FabricPfc::GetThreshold(const Ingress& ingress) const
{
    if (ingress.pool == NO_POOL)
    {
        return 0;
    }
    const Pool& pool = m_pools[ingress.pool];
    const uint64_t free = pool.size > pool.used ? pool.size - pool.used : 0;
    return PartOf(free, ingress.limits.alphaNumerator, ingress.limits.alphaDenominator);
}

} // namespace ns3
