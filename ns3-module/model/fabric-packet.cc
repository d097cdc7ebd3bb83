// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-packet.h"

namespace ns3
{

std::ostream&
operator<<(std::ostream& os, const FabricPacket& packet)
{
    static const char* const KINDS[] = {"data", "ack", "nack", "cnp", "refusal", "pause", "resume"};
    os << KINDS[static_cast<uint8_t>(packet.kind) % 7] << " " << packet.src << ">" << packet.dst
       << " qp " << packet.qp << " psn " << packet.psn;
    if (packet.kind == FabricPacketKind::ACK || packet.kind == FabricPacketKind::NACK)
    {
        os << " ack " << packet.ack;
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
