// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_CORE_BRIDGE_H
#define FABRIC_CORE_BRIDGE_H

// Private: nothing that scripts include may hold cxx or Rust.

#include "fabric-core.h"
#include "fabric-verbs-bridge.h"

// First: what is generated holds rust::Error only where a call of C++ may fail.
#include "rust/cxx.h"

#include "evenkeel/rust/bridge/world.rs.h"

namespace ns3
{

class Fabric;

/**
 * @ingroup evenkeel
 * @brief evenkeel's NICs and policies, through the contract of rust/bridge/world.rs.
 */
class FabricCoreBridge : public FabricCore
{
  public:
    /**
     * @param experiment what there is
     * @param core what moves in it, before anything has happened
     */
    FabricCoreBridge(const evenkeel::contract::Experiment& experiment,
                     rust::Box<evenkeel::contract::Core> core);

    /**
     * @param fabric a fabric whose run is over
     * @return what it measured
     */
    static evenkeel::contract::Measured Measure(const Fabric& fabric);
    /**
     * @param packet a packet
     * @return the same for evenkeel
     */
    static evenkeel::contract::WirePacket ToWire(const FabricPacket& packet);
    /// @return what moves in the experiment
    evenkeel::contract::Core& Get();
    /// @return the same, for good: nothing may be asked any more
    rust::Box<evenkeel::contract::Core> Take();

    const FabricGraph& GetGraph() const override;
    const FabricSettings& GetSettings() const override;
    FabricEcn GetEcn(uint32_t port) const override;
    FabricIngress GetIngress(uint32_t port) const override;
    uint64_t GetPoolSize(uint32_t switchNumber) const override;
    std::vector<FabricFault> GetFaults() const override;
    std::vector<FabricStep> GetSteps() const override;
    bool PollTransmit(uint32_t host,
                      uint64_t nowPs,
                      uint64_t& freePs,
                      FabricPacket& packet) override;
    bool PollTransmitControl(uint32_t host, FabricPacket& packet) override;
    bool HasPackets(uint32_t host) override;
    bool HandlePacket(uint32_t host, uint64_t nowPs, const FabricPacket& packet) override;
    bool HandleTimeout(uint32_t host, uint64_t nowPs) override;
    uint64_t NextWake(uint32_t host, uint64_t nowPs, uint64_t freePs) override;
    uint32_t PollTouched() override;
    bool PollNews(FabricNews& news) override;
    bool IsFinished() const override;
    uint32_t Post(uint32_t src,
                  uint32_t dst,
                  uint64_t bytes,
                  uint64_t startPs,
                  uint32_t stream) override;
    FabricVerbs* GetVerbs() override;
    uint32_t Route(uint32_t switchNumber,
                   uint64_t nowPs,
                   FabricPacket& packet,
                   const std::vector<uint64_t>* loads) override;
    uint32_t OnlyPort(uint32_t switchNumber, uint32_t dst) override;
    bool Marks(uint32_t port, uint64_t waitingBytes) override;
    bool Loses(uint32_t port, uint64_t numerator, uint64_t denominator) override;
    void ApplyStep(uint32_t step, uint64_t nowPs) override;
    std::vector<FabricFlow> GetFlows() const override;
    FabricNicCounters GetCounters() const override;
    FabricQpCounts GetQpCounts() const override;

  private:
    rust::Box<evenkeel::contract::Core> m_core; //!< what moves
    FabricVerbsBridge m_verbs;                  //!< queue pairs of scripts
    FabricGraph m_graph;                        //!< hosts, switches and links
    FabricSettings m_settings;                  //!< of switches and links
    std::vector<FabricEcn> m_ecn;               //!< by port
    std::vector<FabricIngress> m_ingress;       //!< by port
    std::vector<uint64_t> m_pools;              //!< by switch
    std::vector<FabricFault> m_faults;          //!< what links do
    std::vector<FabricStep> m_steps;            //!< who learns of it
    uint64_t m_nowPs{0};                        //!< the latest time that it was told
};

} // namespace ns3

#endif /* FABRIC_CORE_BRIDGE_H */
