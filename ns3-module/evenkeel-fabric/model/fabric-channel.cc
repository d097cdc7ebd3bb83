// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-channel.h"

#include "fabric-port.h"
#include "fabric.h"

#include "ns3/log.h"
#include "ns3/noticed-accessor.h"
#include "ns3/refuse.h"

namespace ns3
{

using evenkeelinternal::Noticed;

NS_LOG_COMPONENT_DEFINE("FabricChannel");

NS_OBJECT_ENSURE_REGISTERED(FabricChannel);

TypeId
FabricChannel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricChannel")
                            .SetParent<Channel>()
                            .SetGroupName("Evenkeel")
                            .AddConstructor<FabricChannel>()
                            .AddAttribute("Delay",
                                          "The propagation delay.",
                                          TimeValue(NanoSeconds(500)),
                                          Noticed(&FabricChannel::HandleAttribute,
                                                  MakeTimeAccessor(&FabricChannel::m_delay)),
                                          MakeTimeChecker(Time(0)))
                            .AddAttribute("DataRate",
                                          "The rate in each direction.",
                                          DataRateValue(DataRate("400Gbps")),
                                          Noticed(&FabricChannel::HandleAttribute,
                                                  MakeDataRateAccessor(&FabricChannel::m_rate)),
                                          MakeDataRateChecker());
    return tid;
}

FabricChannel::FabricChannel() = default;
FabricChannel::~FabricChannel() = default;

void
FabricChannel::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_devices = {};
    Channel::DoDispose();
}

void
FabricChannel::Attach(Ptr<FabricPort> device)
{
    NS_LOG_FUNCTION(this << device);
    EVENKEEL_REFUSE_IF(m_devices[1],
                       "FabricChannel::Attach",
                       "a link has two ends, and both are attached already: make another link");
    m_devices[m_devices[0] ? 1 : 0] = device;
    device->SetChannel(this);
}

void
FabricChannel::HandleAttribute()
{
    const Fabric* fabric = m_devices[1] ? m_devices[1]->GetFabric() : nullptr;
    if (fabric)
    {
        fabric->CheckAttributes();
    }
}

std::size_t
FabricChannel::GetNDevices() const
{
    return (m_devices[0] ? 1 : 0) + (m_devices[1] ? 1 : 0);
}

Ptr<NetDevice>
FabricChannel::GetDevice(std::size_t i) const
{
    return m_devices.at(i);
}

} // namespace ns3
