// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FAILURE_HELPER_H
#define FAILURE_HELPER_H

#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>

namespace ns3
{

class FabricChannel;
class FabricHelper;

/**
 * @ingroup evenkeel
 * @brief Schedules failures of links.
 *
 * A link that is down loses every packet at once. The switches at its ends react after the
 * detection time, and routing everywhere after the convergence time. Failures must be scheduled
 * before FabricHelper::Finish or a Create call.
 */
class FailureHelper
{
  public:
    /**
     * @param fabric the helper that makes the fabric
     */
    explicit FailureHelper(FabricHelper& fabric);

    /**
     * @brief Sets the time from a change to the reaction of the switches at the link's ends.
     * @param detection the time; negative for never
     */
    void SetDetection(Time detection);
    /**
     * @brief Sets the time from a change to the reaction of routing everywhere.
     * @param convergence the time; negative for never
     */
    void SetConvergence(Time convergence);

    /**
     * @brief Takes a link down.
     * @param link the link
     * @param at when it begins
     * @param until when it ends; negative for never
     */
    void Down(Ptr<FabricChannel> link, Time at, Time until = Time(-1));
    /**
     * @brief Takes a link down, by its name.
     * @param link names of its ends, such as leaf0-spine0
     * @param at when it begins
     * @param until when it ends; negative for never
     */
    void Down(const std::string& link, Time at, Time until = Time(-1));
    /**
     * @brief Takes all links of a switch down.
     * @param name name of the switch, such as spine1
     * @param at when it begins
     * @param until when it ends; negative for never
     */
    void SwitchDown(const std::string& name, Time at, Time until = Time(-1));
    /**
     * @brief Reduces the rate of a link to a fraction.
     * @param link the link
     * @param numerator of the fraction
     * @param denominator of the fraction
     * @param at when it begins
     * @param until when it ends; negative for never
     */
    void Degrade(Ptr<FabricChannel> link,
                 uint32_t numerator,
                 uint32_t denominator,
                 Time at,
                 Time until = Time(-1));
    /**
     * @brief Makes a link lose each packet with a probability.
     * @param link the link
     * @param numerator of the probability
     * @param denominator of the probability
     * @param at when it begins
     * @param until when it ends; negative for never
     */
    void Lose(Ptr<FabricChannel> link,
              uint32_t numerator,
              uint32_t denominator,
              Time at,
              Time until = Time(-1));

  private:
    /**
     * @param kind kind of the failure
     * @param at when it begins
     * @param until when it ends
     * @return keys of a scenario's section [[failure]]
     */
    std::string Describe(const std::string& kind, Time at, Time until) const;

    FabricHelper& m_fabric; //!< the helper that makes the fabric
    Time m_detection;       //!< time until the switches at the ends react
    Time m_convergence;     //!< time until routing reacts
};

} // namespace ns3

#endif /* FAILURE_HELPER_H */
