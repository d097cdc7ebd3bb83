// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_CHANNEL_H
#define FABRIC_CHANNEL_H

#include "core-attributes.h"

#include "ns3/channel.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <array>

namespace ns3
{

class FabricPort;

/**
 * @ingroup evenkeel
 * @brief A full-duplex link of a fabric, between two FabricPort devices.
 */
class FabricChannel : public Channel, public CoreAttributes
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    FabricChannel();
    ~FabricChannel() override;

    /**
     * @brief Attaches a device. The first one becomes port 2l of link l, the second port 2l + 1.
     * @param device the device
     */
    void Attach(Ptr<FabricPort> device);

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

    /// @return the propagation delay
    Time GetDelay() const;

    /// @return the rate in each direction
    DataRate GetDataRate() const;

  protected:
    void DoDispose() override;

  private:
    std::array<Ptr<FabricPort>, 2> m_devices; //!< the two ends
};

} // namespace ns3

#endif /* FABRIC_CHANNEL_H */
