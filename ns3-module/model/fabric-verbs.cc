// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-verbs.h"

namespace ns3
{

namespace
{

/**
 * @param opcode of a completion
 * @return its name
 */
const char*
NameOf(FabricCompletion::Opcode opcode)
{
    switch (opcode)
    {
    case FabricCompletion::WRITE:
        return "WRITE";
    case FabricCompletion::SEND:
        return "SEND";
    case FabricCompletion::READ:
        return "READ";
    case FabricCompletion::RECEIVE:
        return "receive";
    case FabricCompletion::RECEIVE_WITH_IMMEDIATE:
        return "receive with immediate data";
    }
    return "?";
}

/**
 * @param status of a completion
 * @return its name
 */
const char*
NameOf(FabricCompletion::Status status)
{
    switch (status)
    {
    case FabricCompletion::SUCCESS:
        return "IBV_WC_SUCCESS";
    case FabricCompletion::WR_FLUSH_ERR:
        return "IBV_WC_WR_FLUSH_ERR";
    case FabricCompletion::RETRY_EXC_ERR:
        return "IBV_WC_RETRY_EXC_ERR";
    case FabricCompletion::RNR_RETRY_EXC_ERR:
        return "IBV_WC_RNR_RETRY_EXC_ERR";
    case FabricCompletion::REM_INV_REQ_ERR:
        return "IBV_WC_REM_INV_REQ_ERR";
    }
    return "?";
}

} // namespace

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
    return os << "?";
}

std::ostream&
operator<<(std::ostream& os, const FabricCompletion& completion)
{
    os << "host " << completion.host << " qp " << completion.qp << " "
       << NameOf(completion.opcode) << " " << completion.workId << " " << completion.bytes << "B "
       << NameOf(completion.status) << " at " << completion.atPs / 1000 << " ns";
    if (completion.hasImmediate)
    {
        os << " immediate " << completion.immediate;
    }
    return os;
}

} // namespace ns3
