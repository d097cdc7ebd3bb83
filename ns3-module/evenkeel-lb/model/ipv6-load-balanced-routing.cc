// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "ipv6-load-balanced-routing.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(Ipv6LoadBalancedRouting);

TypeId
Ipv6LoadBalancedRouting::GetTypeId()
{
    static TypeId tid = AddAttributes(
        TypeId("ns3::Ipv6LoadBalancedRouting").AddConstructor<Ipv6LoadBalancedRouting>(),
        "static");
    return tid;
}

} // namespace ns3
