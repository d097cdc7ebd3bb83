// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-core-bridge.h"

#include "fabric-bridge-records.h"

#include <algorithm>
#include <utility>

namespace ns3
{

namespace contract = evenkeel::contract;

FabricCoreBridge::FabricCoreBridge(rust::Box<contract::Core> core)
    : m_core(std::move(core)),
      m_verbs(*m_core)
{
    m_core->report_all_messages();
}

std::unique_ptr<FabricCore>
FabricCoreBridge::MakeCore(const contract::Experiment& experiment,
                           const std::shared_ptr<FabricCoreBridge>& bridge)
{
    return std::make_unique<FabricCore>(bridgerecords::Describe(experiment, bridge->Get()),
                                        bridge,
                                        bridge);
}

contract::Core&
FabricCoreBridge::Get()
{
    return *m_core;
}

rust::Box<contract::Core>
FabricCoreBridge::Take()
{
    return std::move(m_core);
}

bool
FabricCoreBridge::PollTransmit(uint32_t host,
                               uint64_t nowPs,
                               uint64_t& freePs,
                               FabricPacket& packet)
{
    // While IP is queued, a host is polled at the start of each packet, which may precede other
    // calls.
    m_nowPs = std::max(m_nowPs, nowPs);
    return m_core->poll_transmit(host, nowPs, freePs, packet);
}

bool
FabricCoreBridge::PollTransmitControl(uint32_t host, FabricPacket& packet)
{
    return m_core->poll_transmit_control(host, packet);
}

bool
FabricCoreBridge::PollTransmitOn(uint32_t host,
                                 uint64_t nowPs,
                                 const FabricWires& wires,
                                 uint64_t& startPs,
                                 uint32_t& plane,
                                 FabricPacket& packet)
{
    m_nowPs = std::max(m_nowPs, nowPs);
    const rust::Slice<const uint64_t> free(wires.freePs, wires.count);
    return m_core->poll_transmit_on(host, nowPs, free, wires.paused, startPs, plane, packet);
}

void
FabricCoreBridge::PollAnew(uint32_t host, uint64_t nowPs)
{
    m_core->poll_anew(host, nowPs);
}

bool
FabricCoreBridge::PollTransmitBeside(uint32_t host,
                                     uint64_t nowPs,
                                     const FabricIpClasses& ip,
                                     FabricPacket& packet,
                                     uint32_t& trafficClass)
{
    m_nowPs = std::max(m_nowPs, nowPs);
    return m_core->poll_transmit_beside(host, nowPs, ip.waiting, ip.first, packet, trafficClass);
}

void
FabricCoreBridge::ChargeBeside(uint32_t host, uint32_t trafficClass, uint16_t bytes, bool waits)
{
    m_core->charge_beside(host, trafficClass, bytes, waits);
}

void
FabricCoreBridge::PauseClass(uint32_t host, uint32_t trafficClass, bool paused)
{
    m_core->pause_class(host, trafficClass, paused);
}

bool
FabricCoreBridge::HasPackets(uint32_t host)
{
    return m_core->has_packets(host);
}

bool
FabricCoreBridge::HandlePacket(uint32_t host, uint64_t nowPs, const FabricPacket& packet)
{
    m_nowPs = nowPs;
    return m_core->handle_packet(host, nowPs, packet);
}

bool
FabricCoreBridge::HandleTimeout(uint32_t host, uint64_t nowPs)
{
    m_nowPs = nowPs;
    return m_core->handle_timeout(host, nowPs);
}

uint64_t
FabricCoreBridge::NextWake(uint32_t host, uint64_t nowPs, uint64_t freePs)
{
    return m_core->next_wake(host, nowPs, freePs);
}

uint32_t
FabricCoreBridge::PollTouched()
{
    return m_core->poll_touched();
}

bool
FabricCoreBridge::PollMessageEvent(FabricMessageEvent& event)
{
    return m_core->poll_message_event(event);
}

bool
FabricCoreBridge::IsFinished() const
{
    return m_core->is_finished();
}

uint32_t
FabricCoreBridge::Post(uint32_t src,
                       uint32_t dst,
                       uint64_t bytes,
                       uint64_t startPs,
                       uint32_t stream)
{
    return bridgerecords::OrThrow<std::invalid_argument>(
        [&] { return m_core->post(src, dst, bytes, m_nowPs, std::max(startPs, m_nowPs), stream); });
}

FabricVerbs*
FabricCoreBridge::GetVerbs()
{
    return &m_verbs;
}

std::vector<FabricFlow>
FabricCoreBridge::GetFlows() const
{
    return bridgerecords::ToVector(m_core->flows());
}

FabricNicCounters
FabricCoreBridge::GetCounters() const
{
    return m_core->nic_counters();
}

FabricQpCounts
FabricCoreBridge::GetQpCounts() const
{
    return m_core->qp_counts();
}

uint32_t
FabricCoreBridge::Route(uint32_t switchNumber,
                        uint64_t nowPs,
                        FabricPacket& packet,
                        const std::vector<uint64_t>* loads)
{
    rust::Slice<const uint64_t> slice;
    if (loads)
    {
        slice = rust::Slice<const uint64_t>(loads->data(), loads->size());
    }
    // Policies treat an IP packet as data, because Rust has no kind for IP.
    const FabricPacketKind kind = packet.kind;
    packet.kind = packet.IsIp() ? FabricPacketKind::DATA : kind;
    const uint32_t port = m_core->route(switchNumber, nowPs, packet, slice);
    packet.kind = kind;
    return port;
}

uint32_t
FabricCoreBridge::OnlyPort(uint32_t switchNumber, uint32_t dst)
{
    return m_core->only_port(switchNumber, dst);
}

uint32_t
FabricCoreBridge::GetPlace(uint64_t nowPs, uint32_t port) const
{
    return m_core->place(nowPs, port);
}

bool
FabricCoreBridge::Marks(uint32_t port, uint64_t waitingBytes)
{
    return m_core->marks(port, waitingBytes);
}

uint32_t
FabricCoreBridge::ChooseClass(uint32_t port, uint8_t waiting)
{
    return m_core->choose_class(port, waiting);
}

void
FabricCoreBridge::ChargeClass(uint32_t port, uint32_t trafficClass, uint16_t bytes, bool waits)
{
    m_core->charge_class(port, trafficClass, bytes, waits);
}

bool
FabricCoreBridge::Loses(uint32_t port, uint32_t numerator, uint32_t denominator)
{
    return m_core->loses(port, numerator, denominator);
}

void
FabricCoreBridge::ApplyStep(uint32_t step, uint64_t nowPs)
{
    m_core->apply_step(step, nowPs);
}

FabricFailures
FabricCoreBridge::AddFailures(const std::string& sections, uint32_t applied, uint64_t nowPs)
{
    bridgerecords::OrThrow<std::invalid_argument>(
        [&] { m_core->add_failures(sections, applied, nowPs); });
    return GetFailures();
}

FabricFailures
FabricCoreBridge::EndFailures(const std::string& target,
                              uint64_t atPs,
                              uint32_t applied,
                              uint64_t nowPs)
{
    bridgerecords::OrThrow<std::invalid_argument>(
        [&] { m_core->end_failures(target, atPs, applied, nowPs); });
    return GetFailures();
}

FabricFailures
FabricCoreBridge::GetFailures() const
{
    return {bridgerecords::ToVector(m_core->faults()), bridgerecords::ToVector(m_core->steps())};
}

} // namespace ns3
