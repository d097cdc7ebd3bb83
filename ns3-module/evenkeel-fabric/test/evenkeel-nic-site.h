// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_NIC_SITE_H
#define EVENKEEL_NIC_SITE_H

#include "ns3/fabric-helper.h"
#include "ns3/fabric.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

/// Attributes of a NIC, by name.
using Attributes = std::map<std::string, std::string>;

/// The sending and the receiving host of a message.
using Way = std::pair<uint32_t, uint32_t>;

/**
 * @ingroup evenkeel-tests
 * @brief A leaf with hosts. Some hosts have different NICs.
 */
class NicSite
{
  public:
    /// @param hosts their number
    explicit NicSite(uint32_t hosts)
        : m_hosts(hosts)
    {
        m_helper.SetChannelAttribute("DataRate", StringValue("100Gbps"));
        m_helper.SetSwitchAttribute("EcnKmin", UintegerValue(20000));
        m_helper.SetSwitchAttribute("EcnKmax", UintegerValue(80000));
    }

    ~NicSite()
    {
        Simulator::Destroy();
    }

    /**
     * @brief Sets attributes of all NICs.
     * @param attributes the attributes
     */
    void SetAll(const Attributes& attributes)
    {
        for (const auto& [name, value] : attributes)
        {
            m_helper.SetNicAttribute(name, StringValue(value));
        }
    }

    /**
     * @brief Sets attributes of the NIC of one host.
     * @param host its number
     * @param attributes the attributes
     */
    void SetOf(uint32_t host, const Attributes& attributes)
    {
        for (const auto& [name, value] : attributes)
        {
            m_helper.SetNicAttributeOf(host, name, StringValue(value));
        }
    }

    /// Makes the fabric.
    void Make()
    {
        m_fabric = m_helper.CreateLeafSpine(1, 1, m_hosts);
        for (uint32_t host = 0; host < m_hosts; ++host)
        {
            m_cnps.push_back(0);
            m_fabric->GetNic(host)->TraceConnectWithoutContext(
                "CnpReceived",
                Callback<void, const FabricPacket&, Time>(
                    [this, host](const FabricPacket&, Time) { ++m_cnps[host]; }));
        }
    }

    /**
     * @brief Sends messages and runs.
     * @param ways their hosts
     * @param bytes payload of each
     * @return completion times, by way
     */
    std::map<Way, uint64_t> Run(const std::vector<Way>& ways, uint64_t bytes)
    {
        if (!m_fabric)
        {
            Make();
        }
        for (const Way& way : ways)
        {
            m_fabric->GetNic(way.first)->PostMessage(m_fabric->GetNic(way.second), bytes);
        }
        Simulator::Run();
        std::map<Way, uint64_t> times;
        for (const FabricFlow& flow : m_fabric->GetCore().GetFlows())
        {
            times[Way(flow.src, flow.dst)] = flow.completedPs;
        }
        return times;
    }

    FabricHelper m_helper;        //!< makes the fabric
    Ptr<Fabric> m_fabric;         //!< the fabric
    std::vector<uint32_t> m_cnps; //!< CNPs that arrived, by host

  private:
    uint32_t m_hosts; //!< number of hosts
};

} // namespace tests
} // namespace ns3

#endif /* EVENKEEL_NIC_SITE_H */
