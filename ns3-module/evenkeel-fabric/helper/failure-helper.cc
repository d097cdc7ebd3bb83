// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "failure-helper.h"

#include "fabric-helper.h"
#include "fabric-or-abort.h"

#include "ns3/fabric-channel.h"
#include "ns3/fabric.h"
#include "ns3/quoted.h"
#include "ns3/refuse.h"

#include <sstream>

namespace ns3
{

namespace
{

/**
 * @param time a time in picoseconds
 * @return the value in a scenario, in quotes; negative times are "never"
 */
std::string
FormatPicoSeconds(int64_t time)
{
    return time < 0 ? "\"never\"" : "\"" + std::to_string(time) + "ps\"";
}

/**
 * @param time a time
 * @return the value in a scenario, in quotes; negative times are "never"
 */
std::string
FormatTime(Time time)
{
    return FormatPicoSeconds(time.GetPicoSeconds());
}

/**
 * @param key "link" or "switch"
 * @param name its name
 * @return a line of a scenario
 */
std::string
FormatTarget(const std::string& key, const std::string& name)
{
    return key + " = " + Quoted(name) + "\n";
}

/**
 * @param key key of the fraction
 * @param numerator of the fraction
 * @param denominator of the fraction
 * @return a line of a scenario
 */
std::string
FormatFraction(const std::string& key, uint32_t numerator, uint32_t denominator)
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
FailureHelper::Describe(const Failure& failure, int64_t atPs) const
{
    std::ostringstream text;
    text << "kind = \"" << failure.kind << "\"\n";
    text << "at = " << FormatPicoSeconds(atPs) << "\n";
    text << "until = " << FormatTime(failure.until) << "\n";
    if (failure.kind != "loss")
    {
        text << "convergence = " << FormatTime(m_convergence) << "\n";
    }
    if (failure.kind == "down")
    {
        text << "detection = " << FormatTime(m_detection) << "\n";
    }
    text << failure.extent;
    return text.str();
}

void
FailureHelper::AddTo(const std::string& call, Ptr<FabricChannel> link, const Failure& failure)
{
    if (Ptr<Fabric> fabric = m_fabric.GetFabric())
    {
        Add(call, FormatTarget("link", fabric->NameOf(call, link)), failure);
        return;
    }
    // Pass the link itself: its name is not known until the fabric is made.
    m_fabric.AddFailure(link, Describe(failure, failure.at.GetPicoSeconds()));
}

void
FailureHelper::Add(const std::string& call, const std::string& target, const Failure& failure)
{
    Ptr<Fabric> fabric = m_fabric.GetFabric();
    const int64_t atPs = fabric ? static_cast<int64_t>(fabric->ExpectAhead(call, failure.at))
                                : failure.at.GetPicoSeconds();
    const std::string section = "[[failure]]\n" + target + Describe(failure, atPs);
    if (!fabric)
    {
        m_fabric.AddSettings(section);
        return;
    }
    fabrichelper::OrAbort(call, [&] { fabric->AddFailures(section); });
}

void
FailureHelper::End(const std::string& call, const std::string& target, Time at)
{
    Ptr<Fabric> fabric = m_fabric.GetFabric();
    EVENKEEL_REFUSE_IF(!fabric,
                       call,
                       "the fabric has not been made: pass the end of the failure, the argument "
                       "'until', or call this after FabricHelper::Finish or a Create call");
    const uint64_t atPs = fabric->ExpectAhead(call, at);
    fabrichelper::OrAbort(call, [&] { fabric->EndFailures(target, atPs); });
}

void
FailureHelper::Down(Ptr<FabricChannel> link, Time at, Time until)
{
    AddTo("FailureHelper::Down", link, {"down", at, until, ""});
}

void
FailureHelper::Down(const std::string& link, Time at, Time until)
{
    Add("FailureHelper::Down", FormatTarget("link", link), {"down", at, until, ""});
}

void
FailureHelper::SwitchDown(const std::string& name, Time at, Time until)
{
    Add("FailureHelper::SwitchDown", FormatTarget("switch", name), {"down", at, until, ""});
}

void
FailureHelper::Degrade(Ptr<FabricChannel> link,
                       uint32_t numerator,
                       uint32_t denominator,
                       Time at,
                       Time until)
{
    AddTo("FailureHelper::Degrade",
          link,
          {"degrade", at, until, FormatFraction("factor", numerator, denominator)});
}

void
FailureHelper::Lose(Ptr<FabricChannel> link,
                    uint32_t numerator,
                    uint32_t denominator,
                    Time at,
                    Time until)
{
    AddTo("FailureHelper::Lose",
          link,
          {"loss", at, until, FormatFraction("rate", numerator, denominator)});
}

void
FailureHelper::Restore(Ptr<FabricChannel> link, Time at)
{
    const std::string call = "FailureHelper::Restore";
    Ptr<Fabric> fabric = m_fabric.GetFabric();
    End(call, fabric ? FormatTarget("link", fabric->NameOf(call, link)) : "", at);
}

void
FailureHelper::Restore(const std::string& link, Time at)
{
    End("FailureHelper::Restore", FormatTarget("link", link), at);
}

void
FailureHelper::RestoreSwitch(const std::string& name, Time at)
{
    End("FailureHelper::RestoreSwitch", FormatTarget("switch", name), at);
}

} // namespace ns3
