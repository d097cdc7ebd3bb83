// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-verbs.h"

#include "fabric-packet.h"

namespace ns3
{

std::ostream&
operator<<(std::ostream& os, FabricOpcode opcode)
{
    return PrintName(os,
                     {"WRITE", "SEND", "READ", "receive", "receive with immediate data"},
                     static_cast<std::size_t>(opcode));
}

std::ostream&
operator<<(std::ostream& os, FabricCompletionStatus status)
{
    return PrintName(os,
                     {"IBV_WC_SUCCESS",
                      "IBV_WC_WR_FLUSH_ERR",
                      "IBV_WC_RETRY_EXC_ERR",
                      "IBV_WC_RNR_RETRY_EXC_ERR",
                      "IBV_WC_REM_INV_REQ_ERR"},
                     static_cast<std::size_t>(status));
}

std::ostream&
operator<<(std::ostream& os, FabricQpState state)
{
    return PrintName(os,
                     {"Reset", "Init", "RTR", "RTS", "SQD", "SQE", "Error"},
                     static_cast<std::size_t>(state));
}

std::ostream&
operator<<(std::ostream& os, const FabricCompletion& completion)
{
    os << "host " << completion.host << " qp " << completion.qp << " " << completion.opcode << " "
       << completion.workId << " " << completion.bytes << "B " << completion.status << " at "
       << completion.atPs / 1000 << " ns";
    if (completion.hasImmediate)
    {
        os << " immediate " << completion.immediate;
    }
    return os;
}

} // namespace ns3
