// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-channel.h"
#include "fabric-switch.h"
#include "fabric.h"
#include "rdma-nic.h"
#include "refuse.h"

// The attributes of a fabric's parts, which the core reads once, when the fabric is made.

namespace ns3
{

void
Fabric::NoteAttributes()
{
    m_nicAttributes = m_nics.empty() ? "" : m_nics[0]->DescribeAttributes();
    m_switchAttributes = m_switches.empty() ? "" : m_switches[0]->DescribeSettings();
}

void
Fabric::CheckAttributes() const
{
    const char* cure = "the fabric has been made, and this has no effect afterwards: set it before "
                       "FabricHelper::Finish or a Create call";
    for (std::size_t host = 0; host < m_nics.size(); ++host)
    {
        EVENKEEL_REFUSE_IF(m_nics[host]->DescribeAttributes() != m_nicAttributes,
                           "an attribute of RdmaNic (host " << host << ") was changed",
                           cure);
    }
    for (std::size_t number = 0; number < m_switches.size(); ++number)
    {
        EVENKEEL_REFUSE_IF(m_switches[number]->DescribeSettings() != m_switchAttributes,
                           "an attribute of FabricSwitch (switch " << number << ") was changed",
                           cure);
    }
    for (std::size_t link = 0; link < m_channels.size(); ++link)
    {
        const FabricLink& made = m_core->GetGraph().links[link];
        const bool isSame = m_channels[link]->GetDataRate().GetBitRate() == made.rateBps &&
                            m_channels[link]->GetDelay() == PicoSeconds(made.delayPs);
        EVENKEEL_REFUSE_IF(!isSame,
                           "an attribute of FabricChannel (link " << link << ") was changed",
                           cure);
    }
}

} // namespace ns3
