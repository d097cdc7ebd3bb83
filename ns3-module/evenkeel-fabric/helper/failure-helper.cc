// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "failure-helper.h"

#include "../model/fabric-or-abort.h"
#include "fabric-helper.h"

#include "ns3/fabric-channel.h"
#include "ns3/fabric.h"
#include "ns3/log.h"
#include "ns3/quoted.h"
#include "ns3/refuse.h"

#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FailureHelper");

namespace
{

/**
 * @param key the key of a time
 * @param timePs the time in picoseconds; negative for never
 * @return a line of a scenario
 */
std::string
TimeLine(const std::string& key, int64_t timePs)
{
    return key + " = " + (timePs < 0 ? "\"never\"" : "\"" + std::to_string(timePs) + "ps\"") + "\n";
}

/**
 * @param key the key of a fraction
 * @param numerator of the fraction
 * @param denominator of the fraction
 * @return a line of a scenario
 */
std::string
FractionLine(const std::string& key, uint32_t numerator, uint32_t denominator)
{
    std::ostringstream text;
    text << key << " = \"" << numerator << "/" << denominator << "\"\n";
    return text.str();
}

} // namespace

FailureHelper::FailureHelper(FabricHelper& fabric)
    : m_fabric(fabric),
      m_detection(0),
      m_convergence(MilliSeconds(100))
{
}

void
FailureHelper::SetDetection(Time detection)
{
    m_detection = detection;
}

void
FailureHelper::SetConvergence(Time convergence)
{
    m_convergence = convergence;
}

std::string
FailureHelper::NameOf(const std::string& call, const Target& target) const
{
    const Ptr<Fabric> fabric = m_fabric.GetFabric();
    if (!target.link)
    {
        return target.key + " = " + Quoted(target.name) + "\n";
    }
    // Before the fabric is made, a link has no name; FabricHelper adds it.
    return fabric ? "link = " + Quoted(fabric->NameOf(call, target.link)) + "\n" : "";
}

void
FailureHelper::Add(const std::string& call,
                   const Target& target,
                   const std::string& kind,
                   Time at,
                   Time until)
{
    NS_LOG_FUNCTION(this << call << target.name << kind << at << until);
    const Ptr<Fabric> fabric = m_fabric.GetFabric();
    std::string keys = NameOf(call, target) + kind;
    keys += TimeLine("at",
                     fabric ? static_cast<int64_t>(fabric->ExpectAhead(call, at))
                            : at.GetPicoSeconds());
    keys += TimeLine("until", until.GetPicoSeconds());
    if (kind.find("\"loss\"") == std::string::npos)
    {
        keys += TimeLine("convergence", m_convergence.GetPicoSeconds());
    }
    if (kind == DOWN)
    {
        keys += TimeLine("detection", m_detection.GetPicoSeconds());
    }
    if (!fabric)
    {
        m_fabric.AddFailure(target.link, keys);
        return;
    }
    fabrichelper::OrAbort(call, [&] { fabric->AddFailures("[[failure]]\n" + keys); });
}

void
FailureHelper::End(const std::string& call, const Target& target, Time at)
{
    NS_LOG_FUNCTION(this << call << target.name << at);
    const Ptr<Fabric> fabric = m_fabric.GetFabric();
    EVENKEEL_REFUSE_IF(!fabric,
                       call,
                       "the fabric has not been made: pass the end of the failure, the argument "
                       "'until', or call this after FabricHelper::Finish or a Create call");
    const uint64_t atPs = fabric->ExpectAhead(call, at);
    fabrichelper::OrAbort(call, [&] { fabric->EndFailures(NameOf(call, target), atPs); });
}

void
FailureHelper::Down(Ptr<FabricChannel> link, Time at, Time until)
{
    Add("FailureHelper::Down", {link, "", ""}, DOWN, at, until);
}

void
FailureHelper::Down(const std::string& link, Time at, Time until)
{
    Add("FailureHelper::Down", {nullptr, "link", link}, DOWN, at, until);
}

void
FailureHelper::SwitchDown(const std::string& name, Time at, Time until)
{
    Add("FailureHelper::SwitchDown", {nullptr, "switch", name}, DOWN, at, until);
}

void
FailureHelper::Degrade(Ptr<FabricChannel> link,
                       uint32_t numerator,
                       uint32_t denominator,
                       Time at,
                       Time until)
{
    const std::string kind =
        "kind = \"degrade\"\n" + FractionLine("factor", numerator, denominator);
    Add("FailureHelper::Degrade", {link, "", ""}, kind, at, until);
}

void
FailureHelper::Lose(Ptr<FabricChannel> link,
                    uint32_t numerator,
                    uint32_t denominator,
                    Time at,
                    Time until)
{
    const std::string kind = "kind = \"loss\"\n" + FractionLine("rate", numerator, denominator);
    Add("FailureHelper::Lose", {link, "", ""}, kind, at, until);
}

void
FailureHelper::Restore(Ptr<FabricChannel> link, Time at)
{
    End("FailureHelper::Restore", {link, "", ""}, at);
}

void
FailureHelper::Restore(const std::string& link, Time at)
{
    End("FailureHelper::Restore", {nullptr, "link", link}, at);
}

void
FailureHelper::RestoreSwitch(const std::string& name, Time at)
{
    End("FailureHelper::RestoreSwitch", {nullptr, "switch", name}, at);
}

} // namespace ns3
