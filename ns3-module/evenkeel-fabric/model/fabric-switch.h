// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_SWITCH_H
#define FABRIC_SWITCH_H

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
class FabricSwitch : public Object
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
    /// Aborts with a message if the fabric has already been made: it reads the attributes only
    /// once.
    void HandleAttribute();
    /**
     * @param tid the type
     * @return the type with the attributes of buffers and marking added
     */
    static TypeId AddQueueAttributes(TypeId tid);
    /**
     * @param tid the type
     * @return the type with the attributes of PFC, trimming and the policy added
     */
    static TypeId AddPolicyAttributes(TypeId tid);
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

    uint64_t m_bufferBytes{0};  //!< size of the buffer
    bool m_sharedBuffer{true};  //!< one buffer per switch, or one per port
    uint64_t m_ecnKmin{0};      //!< marking starts above this
    uint64_t m_ecnKmax{0};      //!< certain marking above this
    double m_ecnPmax{0};        //!< probability just below m_ecnKmax
    bool m_ecn{true};           //!< true to mark
    bool m_ecnAtDequeue{false}; //!< mark at dequeue, not at enqueue
    bool m_pfc{false};          //!< priority flow control (PFC)
    bool m_trim{false};         //!< trimming
    std::string m_policy;       //!< name of the load-balancing policy
    std::string m_parameters;   //!< its parameters
};

} // namespace ns3

#endif /* FABRIC_SWITCH_H */
