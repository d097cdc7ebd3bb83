// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_VERBS_BRIDGE_H
#define FABRIC_VERBS_BRIDGE_H

// Private: public headers must not include headers of cxx or of the Rust library.

#include "fabric-verbs.h"

// rust/cxx.h comes first: the generated header declares rust::Error only if a call into C++ can
// fail.
#include "evenkeel-bridge/world/contract.rs.h"
#include "rust/cxx.h"

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Verbs of evenkeel's NICs, called through rust/bridge/world/contract.rs.
 */
class FabricVerbsBridge : public FabricVerbs
{
  public:
    /**
     * @param core the hosts with the NICs; must outlive this object
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
    evenkeel::contract::Core& m_core; //!< the hosts of the NICs
};

} // namespace ns3

#endif /* FABRIC_VERBS_BRIDGE_H */
