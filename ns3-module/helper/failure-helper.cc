// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "failure-helper.h"

#include "fabric-helper.h"

#include "ns3/fabric-channel.h"

#include <sstream>

namespace ns3
{

namespace
{

/**
 * @param time a time
 * @return the value in a scenario, in quotes; negative times are "never"
 */
std::string
FormatTime(Time time)
{
    if (time.IsStrictlyNegative())
    {
        return "\"never\"";
    }
    return "\"" + std::to_string(time.GetPicoSeconds()) + "ps\"";
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
FailureHelper::Describe(const std::string& kind, Time at, Time until) const
{
    std::ostringstream text;
    text << "kind = \"" << kind << "\"\n";
    text << "at = " << FormatTime(at) << "\n";
    text << "until = " << FormatTime(until) << "\n";
    if (kind != "loss")
    {
        text << "convergence = " << FormatTime(m_convergence) << "\n";
    }
    if (kind == "down")
    {
        text << "detection = " << FormatTime(m_detection) << "\n";
    }
    return text.str();
}

void
FailureHelper::Down(Ptr<FabricChannel> link, Time at, Time until)
{
    m_fabric.ExpectOpen("FailureHelper::Down");
    m_fabric.AddFailure(link, Describe("down", at, until));
}

void
FailureHelper::Down(const std::string& link, Time at, Time until)
{
    m_fabric.ExpectOpen("FailureHelper::Down");
    m_fabric.AddSettings("[[failure]]\nlink = \"" + link + "\"\n" + Describe("down", at, until));
}

void
FailureHelper::SwitchDown(const std::string& name, Time at, Time until)
{
    m_fabric.ExpectOpen("FailureHelper::SwitchDown");
    m_fabric.AddSettings("[[failure]]\nswitch = \"" + name + "\"\n" + Describe("down", at, until));
}

void
FailureHelper::Degrade(Ptr<FabricChannel> link,
                       uint32_t numerator,
                       uint32_t denominator,
                       Time at,
                       Time until)
{
    m_fabric.ExpectOpen("FailureHelper::Degrade");
    m_fabric.AddFailure(link,
                        Describe("degrade", at, until) +
                            FormatFraction("factor", numerator, denominator));
}

void
FailureHelper::Lose(Ptr<FabricChannel> link,
                    uint32_t numerator,
                    uint32_t denominator,
                    Time at,
                    Time until)
{
    m_fabric.ExpectOpen("FailureHelper::Lose");
    m_fabric.AddFailure(link,
                        Describe("loss", at, until) +
                            FormatFraction("rate", numerator, denominator));
}

} // namespace ns3
