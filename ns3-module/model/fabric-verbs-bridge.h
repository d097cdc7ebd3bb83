// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_VERBS_BRIDGE_H
#define FABRIC_VERBS_BRIDGE_H

// Private: nothing that scripts include may hold cxx or Rust.

#include "fabric-verbs.h"

// First: what is generated holds rust::Error only where a call of C++ may fail.
#include "rust/cxx.h"

#include "evenkeel/rust/bridge/world.rs.h"

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Verbs of evenkeel's NICs, through the contract of rust/bridge/world.rs.
 */
class FabricVerbsBridge : public FabricVerbs
{
  public:
    /**
     * @param core whose NICs they are; it stays where it is
     */
    explicit FabricVerbsBridge(evenkeel::contract::Core& core);

    uint32_t CreateQp(uint32_t host, uint32_t peer, uint32_t stream) override;
    void SetPeerQp(uint32_t host, uint32_t qp, uint32_t peerQp) override;
    void ModifyQp(uint32_t host, uint32_t qp, FabricQpState state, uint64_t nowPs) override;
    FabricQpState QueryQp(uint32_t host, uint32_t qp) const override;
    void DestroyQp(uint32_t host, uint32_t qp, uint64_t nowPs) override;
    void PostSend(uint32_t host, uint32_t qp, const FabricWork& work, uint64_t nowPs) override;
    void PostReceive(uint32_t host, uint32_t qp, uint64_t workId, uint64_t nowPs) override;
    bool PollCompletion(FabricCompletion& completion) override;

  private:
    evenkeel::contract::Core& m_core; //!< whose NICs they are
};

} // namespace ns3

#endif /* FABRIC_VERBS_BRIDGE_H */
