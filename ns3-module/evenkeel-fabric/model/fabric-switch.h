// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_SWITCH_H
#define FABRIC_SWITCH_H

#include "core-attributes.h"
#include "fabric-packet.h"

#include "ns3/object.h"
#include "ns3/ptr.h"

#include <string>
#include <vector>

namespace ns3
{

class Fabric;
class FabricSwitchPort;

/**
 * @ingroup evenkeel
 * @brief A switch of a fabric, aggregated to its node. It has a buffer, and a load-balancing policy
 * that chooses the output port of every packet.
 *
 * FabricHelper::Finish reads the attributes, which must have the same values at all switches of a
 * fabric. A fabric that is made from a scenario ignores them and uses the values of the scenario.
 */
class FabricSwitch : public Object, public CoreAttributes
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    FabricSwitch();
    ~FabricSwitch() override;

    /**
     * @brief Adds a port. Ports are numbered from 0 in the order in which they are added.
     * @param port the port
     */
    void AddPort(Ptr<FabricSwitchPort> port);
    /// @return number of ports
    uint32_t GetNPorts() const;
    /**
     * @param number number of the port
     * @return the port
     */
    Ptr<FabricSwitchPort> GetPort(uint32_t number) const;
    /// @return the attributes as sections [switch] and [policy] of a scenario
    std::string DescribeSettings() const;

    // For the fabric; not for scripts.

    /**
     * @brief Joins a fabric.
     * @param fabric the fabric
     * @param number number of the switch
     * @param hosts number of hosts of the fabric
     */
    void Join(Fabric* fabric, uint32_t number, uint32_t hosts);
    /**
     * @brief Forwards a packet that arrived: chooses its output port and enqueues it there.
     * @param nowPs the time
     * @param slot slot of the packet
     */
    void Forward(uint64_t nowPs, uint32_t slot);
    /**
     * @brief Starts every packet that is due by now, at every port.
     * @param nowPs the time
     */
    void Settle(uint64_t nowPs);
    /// Invalidates the cached ports towards hosts, after a routing change.
    void DiscardRoutes();

  protected:
    void DoDispose() override;

  private:
    /**
     * @param nowPs the time
     * @param packet a packet
     * @return number of its output port, or FABRIC_NO_PORT
     */
    uint32_t Choose(uint64_t nowPs, FabricPacket& packet);

    Fabric* m_fabric{nullptr};                  //!< the fabric
    uint32_t m_number{0};                       //!< number of the switch
    std::vector<Ptr<FabricSwitchPort>> m_ports; //!< by number
    std::vector<uint32_t> m_onlyPort;           //!< by host: the only port towards it, if known
    std::vector<uint64_t> m_loads;              //!< queue lengths for the policy
};

} // namespace ns3

#endif /* FABRIC_SWITCH_H */
