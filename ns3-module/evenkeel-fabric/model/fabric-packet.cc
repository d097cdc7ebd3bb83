// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-packet.h"

namespace ns3
{

std::ostream&
PrintName(std::ostream& os, std::initializer_list<const char*> names, std::size_t value)
{
    return value < names.size() ? os << names.begin()[value] : os << "unknown value " << value;
}

std::ostream&
operator<<(std::ostream& os, FabricPacketKind kind)
{
    return PrintName(os,
                     {"data",
                      "ack",
                      "nack",
                      "cnp",
                      "refusal",
                      "pause",
                      "resume",
                      "probe",
                      "probe reply",
                      "port status",
                      "credit",
                      "credit request",
                      "link credit",
                      "ip"},
                     static_cast<std::size_t>(kind));
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
