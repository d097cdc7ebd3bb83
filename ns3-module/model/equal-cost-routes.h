// SPDX-License-Identifier: GPL-2.0-only

#ifndef EQUAL_COST_ROUTES_H
#define EQUAL_COST_ROUTES_H

#include "ns3/ipv4-address.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The equal-cost next hops of a node's global routing, by destination.
 */
class EqualCostRoutes
{
  public:
    /// The equal-cost next hops to a destination.
    struct Group
    {
        uint32_t edge{0};                    //!< id of the node that represents the edge switch
        std::vector<uint32_t> interfaces;    //!< of the next hops
        std::vector<Ptr<Ipv4Route>> routes;  //!< of the next hops
    };

    /**
     * @param ipv4 the IP of the node
     */
    void SetIpv4(Ptr<Ipv4> ipv4);
    /// Makes the next call of Refresh read the routes again.
    void Invalidate();
    /// Discards all routes and the node.
    void Clear();
    /**
     * @brief Reads the table of global routing, if it may have changed or an interval has passed.
     * @param interval how often to read an apparently unchanged table; 0 for never
     * @return true if the routes changed
     */
    bool Refresh(Time interval);
    /**
     * @param destination an address
     * @return the next hops to it, as Ipv4GlobalRouting looks them up
     */
    Group& GroupOf(Ipv4Address destination);
    /// @return the groups that GroupOf has returned so far
    const std::map<Ipv4Address, Group>& GetGroups() const;

  private:
    /// An entry of global routing.
    struct Entry
    {
        bool isHost;             //!< true for a route to a host, false for one to a network
        Ipv4Address destination; //!< host or network
        Ipv4Mask mask;           //!< of the network
        Ipv4Address gateway;     //!< next hop
        uint32_t interface;      //!< interface to it

        /**
         * @param other another entry
         * @return true if they are equal
         */
        bool operator==(const Entry& other) const;
    };

    /**
     * @param destination an address
     * @return the entries that lead there: of hosts if there are any, else of networks
     */
    std::vector<const Entry*> FindEntries(Ipv4Address destination) const;
    /// Fills in the edge switch of every address.
    void FillEdges();
    /**
     * @param destination the address of a host
     * @return the id of the adjacent node, which represents its edge switch
     */
    uint32_t EdgeOf(Ipv4Address destination);

    Ptr<Ipv4> m_ipv4;                        //!< the IP of the node
    bool m_stale{true};                      //!< the table may have changed
    Time m_readAgain;                        //!< when to read the table again
    std::vector<Entry> m_entries;            //!< the table as it was read
    std::map<Ipv4Address, Group> m_groups;   //!< by destination
    std::map<Ipv4Address, uint32_t> m_edges; //!< by address of a host
};

} // namespace ns3

#endif /* EQUAL_COST_ROUTES_H */
