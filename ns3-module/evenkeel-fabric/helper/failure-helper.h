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
 * @brief Makes links fail: before the fabric is made, or at any time of a run.
 *
 * A link that is down immediately loses every packet on it. The switches at its ends react after
 * the detection time, and routing everywhere after the convergence time. Host ports fail with their
 * links.
 *
 * The calls may also be made during a run (Simulator::Schedule), for failures that begin at
 * Simulator::Now or later. The results are the same as if the failures had been declared before the
 * fabric was made. Restore ends failures. A time in the past, or a link of another fabric, aborts
 * with a message.
 */
class FailureHelper
{
  public:
    /**
     * @param fabric the helper that makes the fabric; it must outlive this helper
     */
    explicit FailureHelper(FabricHelper& fabric);

    /**
     * @brief Sets the time until the switches at the link's ends react to a change.
     * @param detection the time; negative for never
     */
    void SetDetection(Time detection);
    /**
     * @brief Sets the time until routing everywhere reacts to a change.
     * @param convergence the time; negative for never
     */
    void SetConvergence(Time convergence);

    /**
     * @brief Takes a link down.
     * @param link the link
     * @param at when it begins
     * @param until when it ends; negative for never, or until Restore
     */
    void Down(Ptr<FabricChannel> link, Time at, Time until = Time(-1));
    /**
     * @brief Takes a link down, by name.
     * @param link names of its ends, such as leaf0-spine0
     * @param at when it begins
     * @param until when it ends; negative for never, or until Restore
     */
    void Down(const std::string& link, Time at, Time until = Time(-1));
    /**
     * @brief Takes all links of a switch down.
     * @param name name of the switch, such as spine1
     * @param at when it begins
     * @param until when it ends; negative for never, or until Restore
     */
    void SwitchDown(const std::string& name, Time at, Time until = Time(-1));
    /**
     * @brief Reduces the rate of a link to a fraction.
     * @param link the link
     * @param numerator of the fraction
     * @param denominator of the fraction
     * @param at when it begins
     * @param until when it ends; negative for never, or until Restore
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
     * @param until when it ends; negative for never, or until Restore
     */
    void Lose(Ptr<FabricChannel> link,
              uint32_t numerator,
              uint32_t denominator,
              Time at,
              Time until = Time(-1));

    /**
     * @brief Ends all failures of a link of a fabric that has been made. From then on the link is
     * up, has its full rate and loses nothing.
     *
     * The switches at its ends and routing react after the detection and convergence times of each
     * failure. Failures that begin at that time or later are not affected. Aborts with a message if
     * there is no failure to end.
     *
     * @param link the link
     * @param at when they end
     */
    void Restore(Ptr<FabricChannel> link, Time at);
    /**
     * @brief Ends all failures of a link in the same way, by name.
     * @param link names of its ends, such as leaf0-spine0
     * @param at when they end
     */
    void Restore(const std::string& link, Time at);
    /**
     * @brief Ends all failures of a switch's links in the same way; at least one must have failed.
     * @param name name of the switch, such as spine1
     * @param at when they end
     */
    void RestoreSwitch(const std::string& name, Time at);

  private:
    /// The links that fail: one link, or those that a scenario's key names.
    struct Target
    {
        Ptr<FabricChannel> link; //!< the link; null if the key names links
        std::string key;         //!< "link" or "switch"
        std::string name;        //!< value of the key
    };

    /// Keys of a link that is down.
    static constexpr const char* DOWN = "kind = \"down\"\n";

    /**
     * @param call name of the script's call, for messages
     * @param target the links
     * @return their key of a scenario's section [[failure]]; empty for a link without a name yet
     */
    std::string NameOf(const std::string& call, const Target& target) const;
    /**
     * @brief Adds a failure.
     * @param call name of the script's call, for messages
     * @param target the links
     * @param kind keys of a scenario's section [[failure]] for its kind
     * @param at when it begins
     * @param until when it ends
     */
    void Add(const std::string& call,
             const Target& target,
             const std::string& kind,
             Time at,
             Time until);
    /**
     * @brief Ends failures.
     * @param call name of the script's call, for messages
     * @param target the links
     * @param at when they end
     */
    void End(const std::string& call, const Target& target, Time at);

    FabricHelper& m_fabric; //!< the helper that makes the fabric
    Time m_detection;       //!< time until the switches at the ends react
    Time m_convergence;     //!< time until routing reacts
};

} // namespace ns3

#endif /* FAILURE_HELPER_H */
