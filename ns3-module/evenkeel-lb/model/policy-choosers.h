// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef POLICY_CHOOSERS_H
#define POLICY_CHOOSERS_H

#include "dscp-policies.h"
#include "evenkeel.h"
#include "ip-family.h"
#include "policy-parameters.h"
#include "refuse.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/rng-stream.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @tparam F IPv4 or IPv6
 * @param packet a packet without its IP header; null if its ports must not be used
 * @param header its IP header
 * @param edge the node that represents the edge switch of its destination
 * @return the packet as a policy sees it
 */
template <class F>
evenkeel::Arrival
ArrivalOf(Ptr<const Packet> packet, const typename F::Header& header, uint32_t edge)
{
    evenkeel::Arrival arrival;
    arrival.nowPs = Simulator::Now().GetPicoSeconds();
    arrival.bytes = (packet ? packet->GetSize() : 0) + header.GetSerializedSize();
    arrival.edge = edge;
    // IP routing has no pods, so the edge switch stands for the pod.
    arrival.pod = edge;
    arrival.label = F::Hash(header);
    const uint8_t protocol = F::ProtocolOf(header);
    uint8_t start[13];
    if (packet && evenkeelinternal::HasPorts(protocol) && packet->CopyData(start, 13) >= 4)
    {
        arrival.label = evenkeelinternal::Mix(arrival.label, evenkeelinternal::BigEndian(start));
        // A TCP segment carries no data if its length equals its header length, in 32-bit words.
        arrival.control = protocol == evenkeelinternal::TCP && packet->GetSize() >= 13 &&
                          packet->GetSize() == (start[12] >> 4) * 4U;
    }
    return arrival;
}

/**
 * @param stream the random stream that the script assigned; negative if it assigned none
 * @param node id of the node
 * @return a seed for policies, from ns-3's seed and run
 */
inline uint64_t
DrawSeed(int64_t stream, uint32_t node)
{
    // RandomVariableStream would take the next automatic stream and thereby change the numbers of
    // all variables that the script makes later. Automatic streams start at 0 and assigned ones at
    // 2^63, so those between are free.
    RngStream random(RngSeedManager::GetSeed(),
                     stream < 0 ? (1ULL << 62) + node : (1ULL << 63) + stream,
                     RngSeedManager::GetRun());
    const double draws = 4294967296.0;
    const auto high = static_cast<uint64_t>(random.RandU01() * draws);
    return high << 32 | static_cast<uint64_t>(random.RandU01() * draws);
}

/**
 * @ingroup evenkeel
 * @brief The policies of a router: one for all packets, and those of DSCPs.
 */
struct PolicyChoosers
{
    /**
     * @brief Makes the policies. Aborts with a message if one is unsupported.
     * @param call the routing protocol
     * @param general the policy for all packets, as for DSCPs from 0 to 63
     * @param dscpPolicies the attribute DscpPolicies
     * @param facts the properties of the node
     */
    PolicyChoosers(const std::string& call,
                   const DscpPolicy& general,
                   const std::string& dscpPolicies,
                   const evenkeel::Switch& facts)
    {
        std::vector<DscpPolicy> entries;
        const std::string reason = ReadDscpPolicies(dscpPolicies, entries);
        EVENKEEL_REFUSE_IF(!reason.empty(), call, reason);
        entries.insert(entries.begin(), general);
        for (const DscpPolicy& each : entries)
        {
            std::string fault;
            try
            {
                policies.emplace_back(each.policy, PolicyParameterLines(each.parameters), facts);
            }
            catch (const std::invalid_argument& error)
            {
                fault = (policies.empty() ? "" : "DscpPolicies: ") + std::string(error.what());
            }
            // Outside of the exception handler: std::terminate would print the exception again.
            EVENKEEL_REFUSE_IF(!fault.empty(), call, fault);
            std::fill(ofDscp.begin() + each.first,
                      ofDscp.begin() + each.last + 1,
                      static_cast<uint8_t>(policies.size() - 1));
        }
    }

    std::vector<evenkeel::SwitchChooser> policies; //!< the one for all packets comes first
    std::array<uint8_t, 64> ofDscp{};              //!< index of the policy, by DSCP
};

} // namespace ns3

#endif /* POLICY_CHOOSERS_H */
