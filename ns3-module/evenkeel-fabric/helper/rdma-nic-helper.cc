// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "rdma-nic-helper.h"

#include "ns3/boolean.h"
#include "ns3/fabric-port.h"
#include "ns3/log.h"
#include "ns3/mac48-address.h"
#include "ns3/pcap-file-wrapper.h"
#include "ns3/rdma-nic.h"
#include "ns3/refuse.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaNicHelper");

namespace
{

/// Link type of Ethernet in a capture (the registry of tcpdump.org). A constant here, because ns-3
/// versions have different names for it.
constexpr uint32_t LINKTYPE_ETHERNET = 1;

} // namespace

RdmaNicHelper::RdmaNicHelper()
{
    m_factory.SetTypeId(RdmaNic::GetTypeId());
}

void
RdmaNicHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

NetDeviceContainer
RdmaNicHelper::Install(const NodeContainer& hosts) const
{
    NS_LOG_FUNCTION(this << hosts.GetN());
    NetDeviceContainer devices;
    for (auto node = hosts.Begin(); node != hosts.End(); ++node)
    {
        Ptr<RdmaNic> nic = m_factory.Create<RdmaNic>();
        nic->SetAddress(Mac48Address::Allocate());
        (*node)->AddDevice(nic);
        devices.Add(nic);
    }
    return devices;
}

std::pair<Ptr<RdmaQp>, Ptr<RdmaQp>>
RdmaNicHelper::ConnectQps(Ptr<NetDevice> a, Ptr<NetDevice> b, const std::string& trafficClass)
{
    NS_LOG_FUNCTION(a << b << trafficClass);
    Ptr<RdmaNic> from = DynamicCast<RdmaNic>(a);
    Ptr<RdmaNic> to = DynamicCast<RdmaNic>(b);
    EVENKEEL_REFUSE_IF(!from || !to,
                       "RdmaNicHelper::ConnectQps",
                       "queue pairs connect RDMA NICs: both devices must be an RdmaNic");
    const std::pair<Ptr<RdmaQp>, Ptr<RdmaQp>> ends(from->CreateQp(to, trafficClass),
                                                   to->CreateQp(from, trafficClass));
    RdmaQp::Connect(ends.first, ends.second);
    return ends;
}

void
RdmaNicHelper::EnablePcapInternal(std::string prefix,
                                  Ptr<NetDevice> device,
                                  bool promiscuous,
                                  bool explicitFilename)
{
    NS_LOG_FUNCTION(this << prefix << device << promiscuous << explicitFilename);
    Ptr<FabricPort> port = DynamicCast<FabricPort>(device);
    if (!port)
    {
        NS_LOG_INFO("device " << device << " is not a port of a fabric");
        return;
    }
    PcapHelper files;
    const std::string name =
        explicitFilename ? prefix : files.GetFilenameFromDevice(prefix, device);
    // The time between packets is nanoseconds, so timestamps in microseconds are too coarse.
    Ptr<PcapFileWrapper> file = CreateObject<PcapFileWrapper>();
    file->SetAttribute("NanosecMode", BooleanValue(true));
    file->Open(name, std::ios::out);
    EVENKEEL_REFUSE_IF(file->Fail(),
                       "RdmaNicHelper::EnablePcap",
                       "cannot write the capture " << name);
    file->Init(LINKTYPE_ETHERNET);
    files.HookDefaultSink<FabricPort>(port, "PromiscSniffer", file);
}

} // namespace ns3
