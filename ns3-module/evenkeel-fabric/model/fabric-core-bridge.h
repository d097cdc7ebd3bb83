// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_CORE_BRIDGE_H
#define FABRIC_CORE_BRIDGE_H

// Private: public headers must not include headers of cxx or of the Rust library.

#include "fabric-core.h"
#include "fabric-verbs-bridge.h"

// rust/cxx.h comes first: the generated header declares rust::Error only if a call into C++ can
// fail.
#include "evenkeel-bridge/world/contract.rs.h"
#include "rust/cxx.h"

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief evenkeel's NICs and policies, called through rust/bridge/world/contract.rs.
 */
class FabricCoreBridge : public FabricHosts, public FabricSwitching
{
  public:
    /**
     * @param core the hosts and policies of an experiment at its start
     */
    explicit FabricCoreBridge(rust::Box<evenkeel::contract::Core> core);

    /**
     * @brief Makes the core of a fabric.
     * @param experiment the experiment
     * @param bridge its hosts and policies
     * @return the core
     */
    static std::unique_ptr<FabricCore> MakeCore(const evenkeel::contract::Experiment& experiment,
                                                const std::shared_ptr<FabricCoreBridge>& bridge);
    /// @return the hosts and policies in Rust
    evenkeel::contract::Core& Get();
    /// @return the hosts and policies, moved out of this object, which must not be used afterwards
    rust::Box<evenkeel::contract::Core> Take();

    // Inherited from FabricHosts.
    bool PollTransmit(uint32_t host,
                      uint64_t nowPs,
                      uint64_t& freePs,
                      FabricPacket& packet) override;
    bool PollTransmitControl(uint32_t host, FabricPacket& packet) override;
    bool PollTransmitOn(uint32_t host,
                        uint64_t nowPs,
                        const FabricWires& wires,
                        uint64_t& startPs,
                        uint32_t& plane,
                        FabricPacket& packet) override;
    void PollAnew(uint32_t host, uint64_t nowPs) override;
    bool PollTransmitBeside(uint32_t host,
                            uint64_t nowPs,
                            const FabricIpClasses& ip,
                            FabricPacket& packet,
                            uint32_t& trafficClass) override;
    void ChargeBeside(uint32_t host, uint32_t trafficClass, uint16_t bytes, bool waits) override;
    void PauseClass(uint32_t host, uint32_t trafficClass, bool paused) override;
    bool HasPackets(uint32_t host) override;
    bool HandlePacket(uint32_t host, uint64_t nowPs, const FabricPacket& packet) override;
    bool HandleTimeout(uint32_t host, uint64_t nowPs) override;
    uint64_t NextWake(uint32_t host, uint64_t nowPs, uint64_t freePs) override;
    uint32_t PollTouched() override;
    bool PollMessageEvent(FabricMessageEvent& event) override;
    bool IsFinished() const override;
    uint32_t Post(uint32_t src,
                  uint32_t dst,
                  uint64_t bytes,
                  uint64_t startPs,
                  uint32_t stream) override;
    FabricVerbs* GetVerbs() override;
    std::vector<FabricFlow> GetFlows() const override;
    FabricNicCounters GetCounters() const override;
    FabricQpCounts GetQpCounts() const override;

    // Inherited from FabricSwitching.
    uint32_t Route(uint32_t switchNumber,
                   uint64_t nowPs,
                   FabricPacket& packet,
                   const std::vector<uint64_t>* loads) override;
    uint32_t OnlyPort(uint32_t switchNumber, uint32_t dst) override;
    uint32_t GetPlace(uint64_t nowPs, uint32_t port) const override;
    bool Marks(uint32_t port, uint64_t waitingBytes) override;
    uint32_t ChooseClass(uint32_t port, uint8_t waiting) override;
    void ChargeClass(uint32_t port, uint32_t trafficClass, uint16_t bytes, bool waits) override;
    bool Loses(uint32_t port, uint32_t numerator, uint32_t denominator) override;
    void ApplyStep(uint32_t step, uint64_t nowPs) override;
    FabricFailures AddFailures(const std::string& sections,
                               uint32_t applied,
                               uint64_t nowPs) override;
    FabricFailures EndFailures(const std::string& target,
                               uint64_t atPs,
                               uint32_t applied,
                               uint64_t nowPs) override;

  private:
    /// @return all failures
    FabricFailures GetFailures() const;

    rust::Box<evenkeel::contract::Core> m_core; //!< hosts and policies in Rust
    FabricVerbsBridge m_verbs;                  //!< queue pairs of scripts
    uint64_t m_nowPs{0};                        //!< time of the latest call
};

} // namespace ns3

#endif /* FABRIC_CORE_BRIDGE_H */
