// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric.h"
#include "ns3/noticed-accessor.h"
#include "ns3/policy-parameters.h"
#include "ns3/quoted.h"
#include "rdma-nic.h"

#include "ns3/boolean.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <sstream>

// RdmaNic's attributes and trace sources, and the section of a scenario made from the attributes.

namespace ns3
{

using evenkeelinternal::Noticed;

namespace
{

/// Returns true if a line of parameters sets the key.
bool
NamesKey(const std::string& parameters, const std::string& key)
{
    std::istringstream lines(PolicyParameterLines(parameters));
    std::string line;
    while (std::getline(lines, line))
    {
        const auto begin = line.find_first_not_of(" \t");
        if (begin == std::string::npos || line.compare(begin, key.size(), key) != 0)
        {
            continue;
        }
        const auto next = line.find_first_not_of(" \t", begin + key.size());
        if (next != std::string::npos && (line[next] == '=' || line[next] == '.'))
        {
            return true;
        }
    }
    return false;
}

} // namespace

TypeId
RdmaNic::GetTypeId()
{
    static TypeId tid = AddTraceSources(
        AddQueuePairAttributes(AddTransportAttributes(TypeId("ns3::RdmaNic")
                                                          .SetParent<FabricPort>()
                                                          .SetGroupName("Evenkeel")
                                                          .AddConstructor<RdmaNic>())));
    return tid;
}

TypeId
RdmaNic::AddTransportAttributes(TypeId tid)
{
    return tid
        .AddAttribute("Payload",
                      "Payload of a full packet, in bytes.",
                      UintegerValue(4096),
                      Noticed(&RdmaNic::HandleAttribute, MakeUintegerAccessor(&RdmaNic::m_payload)),
                      MakeUintegerChecker<uint32_t>(1, 65000))
        .AddAttribute("Header",
                      "Headers of a data packet, including the frame check sequence, in bytes.",
                      UintegerValue(62),
                      Noticed(&RdmaNic::HandleAttribute, MakeUintegerAccessor(&RdmaNic::m_header)),
                      MakeUintegerChecker<uint32_t>(0, 500))
        .AddAttribute(
            "AckBytes",
            "Length of an acknowledgement on the wire, in bytes.",
            UintegerValue(64),
            Noticed(&RdmaNic::HandleAttribute, MakeUintegerAccessor(&RdmaNic::m_ackBytes)),
            MakeUintegerChecker<uint32_t>(1, 65000))
        .AddAttribute(
            "AckEvery",
            "Data packets per acknowledgement.",
            UintegerValue(1),
            Noticed(&RdmaNic::HandleAttribute, MakeUintegerAccessor(&RdmaNic::m_ackEvery)),
            MakeUintegerChecker<uint32_t>(1, 32))
        .AddAttribute(
            "AckPriority",
            "Acknowledgements are sent before data on every wire.",
            BooleanValue(true),
            Noticed(&RdmaNic::HandleAttribute, MakeBooleanAccessor(&RdmaNic::m_ackPriority)),
            MakeBooleanChecker())
        .AddAttribute(
            "CongestionControl",
            "The congestion control: line-rate, dcqcn, dcqcn-mlx, dctcp-rate, "
            "dctcp-window, nscc, swift or mswift.",
            StringValue("dcqcn"),
            Noticed(&RdmaNic::HandleAttribute, MakeStringAccessor(&RdmaNic::m_congestionControl)),
            MakeStringChecker())
        .AddAttribute("Recovery",
                      "The loss recovery: auto (the default of the policy), go-back-n, sack, "
                      "per-packet, erasure, mrc, rod or rudi.",
                      StringValue("auto"),
                      Noticed(&RdmaNic::HandleAttribute, MakeStringAccessor(&RdmaNic::m_recovery)),
                      MakeStringChecker())
        .AddAttribute(
            "Parameters",
            "Further keys of a scenario's section [transport], separated by semicolons "
            "or newlines: 'cnp_interval = \"4us\"; parameters = { share = \"1/2\" }'.",
            StringValue(""),
            Noticed(&RdmaNic::HandleAttribute, MakeStringAccessor(&RdmaNic::m_parameters)),
            MakeStringChecker())
        .AddAttribute(
            "RetransmitTimeout",
            "The retransmission timer.",
            TimeValue(MilliSeconds(1)),
            Noticed(&RdmaNic::HandleAttribute, MakeTimeAccessor(&RdmaNic::m_retransmitTimeout)),
            MakeTimeChecker(Time(0)));
}

TypeId
RdmaNic::AddQueuePairAttributes(TypeId tid)
{
    return tid
        .AddAttribute(
            "SendQueue",
            "Work requests that the send queue of a queue pair holds.",
            UintegerValue(1024),
            Noticed(&RdmaNic::HandleAttribute, MakeUintegerAccessor(&RdmaNic::m_sendQueue)),
            MakeUintegerChecker<uint32_t>(1, FABRIC_DEEPEST_QUEUE))
        .AddAttribute(
            "ReceiveQueue",
            "Receives that the receive queue of a queue pair holds.",
            UintegerValue(1024),
            Noticed(&RdmaNic::HandleAttribute, MakeUintegerAccessor(&RdmaNic::m_receiveQueue)),
            MakeUintegerChecker<uint32_t>(1, FABRIC_DEEPEST_QUEUE))
        .AddAttribute("RnrTimer",
                      "Time that a sender waits after an RNR NAK before it retransmits.",
                      TimeValue(MicroSeconds(640)),
                      Noticed(&RdmaNic::HandleAttribute, MakeTimeAccessor(&RdmaNic::m_rnrTimer)),
                      MakeTimeChecker(Time(0)))
        .AddAttribute(
            "RnrRetries",
            "The number of retries of work after consecutive RNR NAKs before it fails; "
            "the largest value means no limit.",
            UintegerValue(FABRIC_WITHOUT_LIMIT),
            Noticed(&RdmaNic::HandleAttribute, MakeUintegerAccessor(&RdmaNic::m_rnrRetries)),
            MakeUintegerChecker<uint32_t>())
        .AddAttribute("Retries",
                      "The number of retries of work after consecutive timeouts before it fails; "
                      "the largest value means no limit. Messages retry without limit.",
                      UintegerValue(FABRIC_WITHOUT_LIMIT),
                      Noticed(&RdmaNic::HandleAttribute, MakeUintegerAccessor(&RdmaNic::m_retries)),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("IpQueueBytes",
                      "IP packets that wait at each port to be sent, as frames in bytes; a packet "
                      "that does not fit is dropped (MacTxDrop). Each packet waits before it "
                      "starts, so a longer frame is always dropped.",
                      UintegerValue(4000000),
                      MakeUintegerAccessor(&RdmaNic::m_ipQueueBytes),
                      MakeUintegerChecker<uint32_t>());
}

TypeId
RdmaNic::AddTraceSources(TypeId tid)
{
    return tid
        .AddTraceSource("Completion",
                        "A work request or a receive of a queue pair of this NIC completed.",
                        MakeTraceSourceAccessor(&RdmaNic::m_completionTrace),
                        "ns3::RdmaQp::CompletionTracedCallback")
        .AddTraceSource("MessageDelivered",
                        "A message is delivered: this receiver has received every byte.",
                        MakeTraceSourceAccessor(&RdmaNic::m_deliveredTrace),
                        "ns3::RdmaNic::MessageTracedCallback")
        .AddTraceSource("MessageCompleted",
                        "A message of this sender completed: it is delivered and acknowledged.",
                        MakeTraceSourceAccessor(&RdmaNic::m_completedTrace),
                        "ns3::RdmaNic::MessageTracedCallback")
        .AddTraceSource("CnpReceived",
                        "A congestion notification packet (CNP) arrived.",
                        MakeTraceSourceAccessor(&RdmaNic::m_cnpTrace),
                        "ns3::FabricPort::PacketTracedCallback");
}

void
RdmaNic::HandleAttribute()
{
    if (m_fabric)
    {
        m_fabric->CheckAttributes();
    }
}

std::string
RdmaNic::DescribeSettings() const
{
    // A preset is the base of what it covers, unless an attribute is set to another value.
    const bool hasPreset = NamesKey(m_parameters, "preset");
    const bool hasTimeout = NamesKey(m_parameters, "ack_timeout");
    std::ostringstream text;
    text << "[transport]\n";
    text << "payload = \"" << m_payload << "B\"\n";
    text << "header = \"" << m_header << "B\"\n";
    text << "ack = \"" << m_ackBytes << "B\"\n";
    text << "ack_every = " << m_ackEvery << "\n";
    text << "ack_priority = " << (m_ackPriority ? "true" : "false") << "\n";
    if (!hasPreset || m_congestionControl != "dcqcn")
    {
        text << "congestion_control = " << Quoted(m_congestionControl) << "\n";
    }
    if (!hasPreset || m_recovery != "auto")
    {
        text << "recovery = " << Quoted(m_recovery) << "\n";
    }
    if (!hasTimeout && (!hasPreset || m_retransmitTimeout != MilliSeconds(1)))
    {
        text << "retransmit_timeout = \"" << m_retransmitTimeout.GetNanoSeconds() << "ns\"\n";
    }
    text << PolicyParameterLines(m_parameters) << "\n";
    return text.str();
}

FabricQpSettings
RdmaNic::DescribeQueuePairs() const
{
    FabricQpSettings settings;
    settings.sendQueue = m_sendQueue;
    settings.receiveQueue = m_receiveQueue;
    settings.rnrTimerPs = static_cast<uint64_t>(m_rnrTimer.GetPicoSeconds());
    settings.rnrRetries = m_rnrRetries;
    settings.retries = m_retries;
    return settings;
}

std::string
RdmaNic::DescribeAttributes() const
{
    const FabricQpSettings pairs = DescribeQueuePairs();
    std::ostringstream text;
    text << DescribeSettings() << pairs.sendQueue << " " << pairs.receiveQueue << " "
         << pairs.rnrTimerPs << " " << pairs.rnrRetries << " " << pairs.retries;
    return text.str();
}

} // namespace ns3
