// SPDX-License-Identifier: GPL-2.0-only

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
 * @brief Plans failures of links: what fails, when, and who learns of it when.
 *
 * The link itself stops carrying at once; the switches at its ends know after the detection time,
 * routing everywhere after the convergence time. Everything is planned before
 * FabricHelper::Finish, or the Create call that comes to that.
 */
class FailureHelper
{
  public:
    /**
     * @param fabric what builds the fabric
     */
    explicit FailureHelper(FabricHelper& fabric);

    /**
     * @brief Sets how long after each change the switches at a link's ends know.
     * @param detection that time; negative for never
     */
    void SetDetection(Time detection);
    /**
     * @brief Sets how long after each change routing everywhere knows.
     * @param convergence that time; negative for never
     */
    void SetConvergence(Time convergence);

    /**
     * @brief A link carries nothing.
     * @param link the link
     * @param at from when on
     * @param until until when; negative for ever
     */
    void Down(Ptr<FabricChannel> link, Time at, Time until = Time(-1));
    /**
     * @brief A link, by its name.
     * @param link name of its ends, such as leaf0-spine0
     * @param at from when on
     * @param until until when; negative for ever
     */
    void Down(const std::string& link, Time at, Time until = Time(-1));
    /**
     * @brief All links of a switch carry nothing.
     * @param name name of the switch, such as spine1
     * @param at from when on
     * @param until until when; negative for ever
     */
    void SwitchDown(const std::string& name, Time at, Time until = Time(-1));
    /**
     * @brief A link keeps a part of its rate.
     * @param link the link
     * @param numerator of that part
     * @param denominator of that part
     * @param at from when on
     * @param until until when; negative for ever
     */
    void Degrade(Ptr<FabricChannel> link,
                 uint32_t numerator,
                 uint32_t denominator,
                 Time at,
                 Time until = Time(-1));
    /**
     * @brief A link loses each packet with a probability.
     * @param link the link
     * @param numerator of the probability
     * @param denominator of the probability
     * @param at from when on
     * @param until until when; negative for ever
     */
    void Lose(Ptr<FabricChannel> link,
              uint32_t numerator,
              uint32_t denominator,
              Time at,
              Time until = Time(-1));

  private:
    /**
     * @param kind of failure
     * @param at from when on
     * @param until until when
     * @return keys of a scenario's section [[failure]]
     */
    std::string Describe(const std::string& kind, Time at, Time until) const;

    FabricHelper& m_fabric; //!< what builds the fabric
    Time m_detection;       //!< until the ends know
    Time m_convergence;     //!< until routing knows
};

} // namespace ns3

#endif /* FAILURE_HELPER_H */
