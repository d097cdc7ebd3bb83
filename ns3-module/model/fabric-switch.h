// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SWITCH_H
#define FABRIC_SWITCH_H

#include "fabric-core.h"

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
 * @brief A switch of a fabric, aggregated to its node: shared memory, and a load-balancing policy
 * that is asked for every packet.
 *
 * The attributes describe it to FabricHelper::Finish; all switches of a fabric have one setting. In
 * a fabric that was built from a scenario the scenario's values are used and the attributes are
 * not looked at.
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
     * @brief Adds a port; its number is its place.
     * @param port the port
     */
    void AddPort(Ptr<FabricSwitchPort> port);
    /// @return how many ports there are
    uint32_t GetNPorts() const;
    /**
     * @param number which port
     * @return the port
     */
    Ptr<FabricSwitchPort> GetPort(uint32_t number) const;
    /// @return bytes in its memory
    uint64_t GetBufferedBytes() const;
    /// @return the sections [switch] and [policy] of a scenario, as the attributes have them
    std::string DescribeSettings() const;

    // What a fabric does with it; not for scripts.

    /**
     * @brief Joins a fabric.
     * @param fabric whose switch it is
     * @param number which switch
     * @param hosts how many hosts there are
     */
    void Join(Fabric* fabric, uint32_t number, uint32_t hosts);
    /**
     * @brief A packet came in: chooses a port and puts the packet there.
     * @param nowPs the time
     * @param place of the packet
     */
    void Forward(uint64_t nowPs, uint32_t place);
    /**
     * @brief Starts everything whose turn came by now, at every port.
     * @param nowPs the time
     */
    void Settle(uint64_t nowPs);
    /// Forgets what it knew of routing.
    void ForgetRoutes();

    /**
     * @param bytes that joined a queue
     */
    void Take(uint64_t bytes)
    {
        m_buffered += bytes;
    }

    /**
     * @param bytes that left a queue
     */
    void Release(uint64_t bytes)
    {
        m_buffered -= bytes;
    }

  protected:
    void DoDispose() override;

  private:
    /**
     * @param nowPs the time
     * @param packet a packet
     * @return the number of the port that it leaves by, or FABRIC_NO_PORT
     */
    uint32_t Choose(uint64_t nowPs, FabricPacket& packet);

    Fabric* m_fabric{nullptr};                   //!< whose switch it is
    uint32_t m_number{0};                        //!< which switch
    uint64_t m_buffered{0};                      //!< bytes in its memory
    std::vector<Ptr<FabricSwitchPort>> m_ports;  //!< by number
    std::vector<uint32_t> m_only;                //!< by host: the only port there, if known
    std::vector<uint64_t> m_loads;               //!< room for what a policy looks at

    uint64_t m_bufferBytes{0};    //!< memory
    bool m_sharedBuffer{true};    //!< one pool; or so much a port
    uint64_t m_ecnKmin{0};        //!< marking starts above
    uint64_t m_ecnKmax{0};        //!< marking is certain above
    double m_ecnPmax{0};          //!< probability just below m_ecnKmax
    bool m_ecn{true};             //!< marking at all
    bool m_ecnAtDequeue{false};   //!< when marking looks
    bool m_pfc{false};            //!< flow control
    bool m_trim{false};           //!< trimming
    std::string m_policy;         //!< name of the load-balancing policy
    std::string m_parameters;     //!< its parameters
};

} // namespace ns3

#endif /* FABRIC_SWITCH_H */
