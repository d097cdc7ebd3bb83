// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

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
 * @brief A small core in C++. Its NICs send at line rate and acknowledge each packet, and its
 * switches use ECMP hashing.
 *
 * Tests compare a fabric with this core to closed forms, and benchmarks use it as the baseline for
 * the cost of calls into Rust. The NICs never retransmit, so a message with a lost packet never
 * completes. Tests set faults, steps, marking and priority flow control.
 */
class PlainFabricCore : public FabricCore
{
  public:
    /// The packet format of its NICs.
    using Transport = PlainFabricHosts::Transport;

    /**
     * @param graph hosts, switches and links
     * @param settings of switches and links
     * @param transport packet format of the NICs
     */
    PlainFabricCore(const FabricGraph& graph,
                    const FabricSettings& settings,
                    const Transport& transport);

    /**
     * @param faults faults of links
     */
    void SetFaults(const std::vector<FabricFault>& faults);
    /**
     * @param steps steps of failures, by time
     */
    void SetSteps(const std::vector<FabricStep>& steps);
    /**
     * @param ecn marking at every port
     */
    void SetEcn(const FabricEcn& ecn);
    /**
     * @param ingress memory that PFC gives to every link
     * @param poolSize shared memory of every switch, in bytes
     */
    void SetPfc(const FabricIngress& ingress, uint64_t poolSize);
    /// Makes switches call Route for every packet, even with a single possible port.
    void DisableOnlyPorts();

  private:
    /**
     * @param graph hosts, switches and links
     * @param settings of switches and links
     * @param hosts the hosts
     * @param switching the switches
     */
    PlainFabricCore(const FabricGraph& graph,
                    const FabricSettings& settings,
                    std::shared_ptr<PlainFabricHosts> hosts,
                    std::shared_ptr<PlainFabricSwitching> switching);

    PlainFabricSwitching& m_plainSwitching; //!< the switches
};

} // namespace ns3

#endif /* PLAIN_FABRIC_CORE_H */
