// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-verbs.h"

namespace ns3
{

std::ostream&
operator<<(std::ostream& os, FabricOpcode opcode)
{
    switch (opcode)
    {
    case FabricOpcode::WRITE:
        return os << "WRITE";
    case FabricOpcode::SEND:
        return os << "SEND";
    case FabricOpcode::READ:
        return os << "READ";
    case FabricOpcode::RECEIVE:
        return os << "receive";
    case FabricOpcode::RECEIVE_WITH_IMMEDIATE:
        return os << "receive with immediate data";
    }
    return os << "unknown opcode " << static_cast<uint32_t>(opcode);
}

std::ostream&
operator<<(std::ostream& os, FabricCompletionStatus status)
{
    switch (status)
    {
    case FabricCompletionStatus::SUCCESS:
        return os << "IBV_WC_SUCCESS";
    case FabricCompletionStatus::WR_FLUSH_ERR:
        return os << "IBV_WC_WR_FLUSH_ERR";
    case FabricCompletionStatus::RETRY_EXC_ERR:
        return os << "IBV_WC_RETRY_EXC_ERR";
    case FabricCompletionStatus::RNR_RETRY_EXC_ERR:
        return os << "IBV_WC_RNR_RETRY_EXC_ERR";
    case FabricCompletionStatus::REM_INV_REQ_ERR:
        return os << "IBV_WC_REM_INV_REQ_ERR";
    }
    return os << "unknown status " << static_cast<uint32_t>(status);
}

std::ostream&
operator<<(std::ostream& os, FabricQpState state)
{
    switch (state)
    {
    case FabricQpState::RESET:
        return os << "Reset";
    case FabricQpState::INIT:
        return os << "Init";
    case FabricQpState::RTR:
        return os << "RTR";
    case FabricQpState::RTS:
        return os << "RTS";
    case FabricQpState::SQD:
        return os << "SQD";
    case FabricQpState::SQE:
        return os << "SQE";
    case FabricQpState::ERROR:
        return os << "Error";
    }
    return os << "unknown state " << static_cast<uint32_t>(state);
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
