// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-channel.h"

#include "fabric-port.h"

#include "ns3/log.h"
#include "ns3/refuse.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricChannel");

NS_OBJECT_ENSURE_REGISTERED(FabricChannel);

TypeId
FabricChannel::GetTypeId()
{
    static TypeId tid =
        AddTo(TypeId("ns3::FabricChannel")
                  .SetParent<Channel>()
                  .SetGroupName("Evenkeel")
                  .AddConstructor<FabricChannel>(),
              {
                  {"Delay", "500ns", MakeTimeChecker(Time(0)), "The propagation delay."},
                  {"DataRate", "400Gbps", MakeDataRateChecker(), "The rate in each direction."},
              });
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

Time
FabricChannel::GetDelay() const
{
    return Read<TimeValue>("Delay");
}

DataRate
FabricChannel::GetDataRate() const
{
    return Read<DataRateValue>("DataRate");
}

} // namespace ns3
