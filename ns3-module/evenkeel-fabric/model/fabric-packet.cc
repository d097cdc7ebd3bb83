// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-packet.h"

namespace ns3
{

std::ostream&
operator<<(std::ostream& os, FabricPacketKind kind)
{
    switch (kind)
    {
    case FabricPacketKind::DATA:
        return os << "data";
    case FabricPacketKind::ACK:
        return os << "ack";
    case FabricPacketKind::NACK:
        return os << "nack";
    case FabricPacketKind::CNP:
        return os << "cnp";
    case FabricPacketKind::REFUSAL:
        return os << "refusal";
    case FabricPacketKind::PAUSE:
        return os << "pause";
    case FabricPacketKind::RESUME:
        return os << "resume";
    case FabricPacketKind::PROBE:
        return os << "probe";
    case FabricPacketKind::PROBE_REPLY:
        return os << "probe reply";
    case FabricPacketKind::PORT_STATUS:
        return os << "port status";
    case FabricPacketKind::CREDIT:
        return os << "credit";
    case FabricPacketKind::CREDIT_REQUEST:
        return os << "credit request";
    case FabricPacketKind::LINK_CREDIT:
        return os << "link credit";
    case FabricPacketKind::IP:
        return os << "ip";
    }
    return os << "unknown kind " << static_cast<uint32_t>(kind);
}

std::ostream&
operator<<(std::ostream& os, const FabricPacket& packet)
{
    os << packet.kind << " " << packet.src << ">" << packet.dst << " qp " << packet.qp << " psn "
       << packet.psn;
    if (packet.kind == FabricPacketKind::ACK || packet.kind == FabricPacketKind::NACK)
    {
        os << " ack " << packet.ack;
    }
    if ((!packet.IsControl() || packet.IsFlowControl()) && packet.GetTrafficClass() > 0)
    {
        os << " class " << packet.GetTrafficClass();
    }
    os << " " << packet.wireBytes << "B entropy " << packet.entropy;
    if (packet.Has(FabricPacket::MARKED))
    {
        os << " marked";
    }
    if (packet.Has(FabricPacket::LAST))
    {
        os << " last";
    }
    if (packet.Has(FabricPacket::TRIMMED))
    {
        os << " trimmed";
    }
    return os;
}

} // namespace ns3
