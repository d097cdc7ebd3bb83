// SPDX-License-Identifier: GPL-2.0-only

#ifndef PLAIN_FABRIC_CORE_H
#define PLAIN_FABRIC_CORE_H

#include "fabric-core.h"
#include "plain-fabric-hosts.h"
#include "plain-fabric-switching.h"

#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief A core of a few lines of C++: NICs that send at line rate and answer each packet, switches
 * that hash.
 *
 * Tests compare a fabric around it with closed forms, and it is the baseline of measurements of
 * what the calls into Rust cost. Nothing is retransmitted: it is of no use where a fabric may lose
 * packets. Tests set faults, steps, marking and priority flow control.
 */
class PlainFabricCore : public FabricCore
{
  public:
    /// What its NICs send.
    using Transport = PlainFabricHosts::Transport;

    /**
     * @param graph hosts, switches and links
     * @param settings of switches and links
     * @param transport what NICs send
     */
    PlainFabricCore(const FabricGraph& graph,
                    const FabricSettings& settings,
                    const Transport& transport);

    /**
     * @param faults what links do
     */
    void SetFaults(const std::vector<FabricFault>& faults);
    /**
     * @param steps who learns of failures, by time
     */
    void SetSteps(const std::vector<FabricStep>& steps);
    /**
     * @param ecn marking at every port
     */
    void SetEcn(const FabricEcn& ecn);
    /**
     * @param ingress what PFC keeps for every link
     * @param poolSize memory of every switch beyond that, in bytes
     */
    void SetPfc(const FabricIngress& ingress, uint64_t poolSize);
    /// Has switches ask for the port of every packet, even where there is only one.
    void DisableOnlyPorts();

  private:
    /**
     * @param graph hosts, switches and links
     * @param settings of switches and links
     * @param hosts what NICs do
     * @param switching what switches choose
     */
    PlainFabricCore(const FabricGraph& graph,
                    const FabricSettings& settings,
                    std::shared_ptr<PlainFabricHosts> hosts,
                    std::shared_ptr<PlainFabricSwitching> switching);

    PlainFabricSwitching& m_plainSwitching; //!< what switches choose
};

} // namespace ns3

#endif /* PLAIN_FABRIC_CORE_H */
