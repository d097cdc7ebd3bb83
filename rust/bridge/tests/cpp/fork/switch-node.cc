// SPDX-License-Identifier: GPL-2.0-only

#include "switch-node.h"
// [include]

const uint32_t SwitchNode::pCnt;

SwitchNode::SwitchNode()
    : m_id(3)
{
    for (uint32_t bytes : {0, 0, 0, 0, 5000, 1000, 6000, 4000})
    {
        QbbNetDevice* device = new QbbNetDevice;
        device->queue.bytes = bytes;
        m_devices.push_back(Ptr<NetDevice>{device});
    }
    m_rtTable[9] = {4, 5, 6, 7};
    m_rtTableFailure[9] = {4, 6, 7};
    m_ecmpSeed = m_id;
// [constructor]
}

SwitchNode::~SwitchNode()
{
    for (Ptr<NetDevice> device : m_devices)
    {
        delete device.object;
    }
}

int
SwitchNode::GetOutDev(Ptr<const Packet> p, CustomHeader& ch)
{
    auto& nexthops = m_rtTable[ch.dip];
    union {
        uint8_t u8[4 + 4 + 2 + 2];
        uint32_t u32[3];
    } buf;
    buf.u32[0] = ch.sip;
    buf.u32[1] = ch.dip;
    buf.u32[2] = ch.udp.sport | ((uint32_t)ch.udp.dport << 16);
    (void)p;
    uint32_t idx = EcmpHash(buf.u8, 12, m_ecmpSeed);
// [choice]
    if (nexthops[idx % nexthops.size()] == m_failed)
    {
        auto& nexthopsAfterFailure = m_rtTableFailure[ch.dip];
// [choice after a failure]
        return nexthopsAfterFailure[idx % nexthopsAfterFailure.size()];
    }
    return nexthops[idx % nexthops.size()];
}

uint32_t
SwitchNode::EcmpHash(const uint8_t* key, size_t len, uint32_t seed)
{
    uint32_t h = seed;
    for (size_t i = 0; i < len; i++)
    {
        h = (h ^ key[i]) * 16777619;
    }
    return h >> 8;
}
