// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_HELPER_H
#define FABRIC_HELPER_H

#include "rdma-nic-helper.h"

#include "ns3/attribute.h"
#include "ns3/event-id.h"
#include "ns3/fabric-channel.h"
#include "ns3/fabric-core.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/rdma-nic.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Builds fabrics: link by link, in one call, or from files.
 *
 * Link by link: InstallSwitches turns nodes into switches, Install(a, b) connects two nodes,
 * and Finish makes the fabric. Without Finish, the start of the simulation makes it, or the
 * destructor of the helper if it comes first. In one call: CreateLeafSpine, CreateTopology,
 * CreateFromScenario.
 *
 * An invalid fabric, or a call that comes too late to take effect, aborts with a message. A helper
 * makes one fabric.
 */
class FabricHelper
{
  public:
    /// Order in which the packets of traffic classes start.
    enum Scheduling
    {
        WEIGHTED, //!< shares the bytes with other weighted classes, by weight
        STRICT,   //!< before all weighted classes, and before strict classes that are added later
    };

    /// Whether priority flow control (PFC) protects a traffic class, if switches have it.
    enum Protection
    {
        PROTECTED,   //!< it has reserved memory and is paused
        UNPROTECTED, //!< its packets are dropped if there is no room
    };

    FabricHelper();
    ~FabricHelper();
    FabricHelper(const FabricHelper&) = delete;
    FabricHelper& operator=(const FabricHelper&) = delete;

    // Settings, which apply to objects that are made later.

    /**
     * @brief Sets an attribute of NICs that are made later.
     * @param name of an attribute of RdmaNic
     * @param value its value
     */
    void SetNicAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets an attribute of one host's NIC, which may be made later.
     *
     * Use it for fabrics that are made in one call. For fabrics made link by link, SetNicAttribute
     * between calls of Install, or SetAttribute of a NIC, does the same.
     *
     * @param host number of the host
     * @param name of an attribute of RdmaNic
     * @param value its value
     */
    void SetNicAttributeOf(uint32_t host, const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets an attribute of switches that are made later.
     * @param name of an attribute of FabricSwitch
     * @param value its value
     */
    void SetSwitchAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets an attribute of links that are made later.
     * @param name of an attribute of FabricChannel
     * @param value its value
     */
    void SetChannelAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets an attribute of the fabric.
     * @param name of an attribute of Fabric
     * @param value its value
     */
    void SetFabricAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets the load-balancing policy of switches that are made later.
     * @param policy a name that `evenkeel list policies` prints
     * @param parameters as in FabricSwitch's attribute PolicyParameters
     */
    void SetPolicy(const std::string& policy, const std::string& parameters = "");
    /**
     * @brief Adds a traffic class of data packets. A fabric has up to seven, each with a queue at
     * every output port and every NIC.
     *
     * Classes are numbered in the order in which they are added; see FabricCodePoints for their
     * packets on the wire. Workloads and queue pairs belong to the first class unless
     * they name another. Messages belong to the class of their stream; see RdmaNic::PostMessage.
     *
     * @param name its name
     * @param scheduling order in which its packets start
     * @param weight share of the bytes of a weighted class; 1 to 64
     * @param protection whether priority flow control protects it
     */
    void AddClass(const std::string& name,
                  Scheduling scheduling = WEIGHTED,
                  uint32_t weight = 1,
                  Protection protection = PROTECTED);
    /**
     * @brief Sets the number of NICs per node of a fabric that is made in one call. Host h is NIC h
     * % nics of node h / nics, such as a GPU of a server in a rail-optimised fabric.
     * @param nics number of NICs per node; 1 by default
     */
    void SetNicsPerNode(uint32_t nics);
    /**
     * @brief Sets the number of ports per NIC of a fabric that is made link by link.
     *
     * That number of consecutive links of a node belongs to one NIC, the p-th link in plane p.
     * Planes share no switch. A fabric that is made in one call has the ports of its topology.
     *
     * @param ports number of ports, 1 to 32; 1 by default
     */
    void SetPortsPerNic(uint32_t ports);
    /**
     * @brief Sets the stream of random draws, in addition to ns-3's seed and run.
     * @param stream first stream to use
     * @return number of streams used
     */
    int64_t AssignStreams(int64_t stream);

    // Link by link.

    /**
     * @brief Turns each node into a switch, unless it is one already.
     * @param nodes the nodes
     */
    void InstallSwitches(const NodeContainer& nodes);
    /**
     * @brief Connects two nodes. A node that is not a switch is a host. Install adds a NIC to a
     * host unless it has one with a free port (see SetPortsPerNic).
     * @param a first node
     * @param b second node
     * @return the devices at both ends
     */
    NetDeviceContainer Install(Ptr<Node> a, Ptr<Node> b);
    /**
     * @brief Connects each of several nodes to another node.
     * @param nodes the nodes
     * @param to the other node, such as a switch
     * @return the devices at the nodes
     */
    NetDeviceContainer Install(const NodeContainer& nodes, Ptr<Node> to);
    /**
     * @brief Makes a fabric from everything that was connected.
     * @return the fabric
     */
    Ptr<Fabric> Finish();

    // In one call.

    /**
     * @brief Makes a leaf-spine with the link properties of SetChannelAttribute.
     * @param leaves number of switches with hosts
     * @param spines number of switches that connect to every leaf
     * @param hostsPerLeaf number of hosts per leaf
     * @return the fabric
     */
    Ptr<Fabric> CreateLeafSpine(uint32_t leaves, uint32_t spines, uint32_t hostsPerLeaf);

    /**
     * @brief Makes a fabric with any of evenkeel's topologies, such as
     * CreateTopology("multi-plane", "planes", UintegerValue(2)).
     * @tparam Args the types of the keys and values
     * @param kind value of the key `kind` of a scenario's section [topology]
     * @param args further keys of that section, each with its value; a size is a StringValue
     * @return the fabric
     */
    template <class... Args>
    Ptr<Fabric> CreateTopology(const std::string& kind, const Args&... args)
    {
        std::string keys;
        AddKeys(keys, args...);
        return BuildTopology(kind, keys, "FabricHelper::CreateTopology");
    }

    /**
     * @brief Makes a fabric from a scenario, with its workload, failures and seed.
     * @param path of the file
     * @return the fabric
     */
    Ptr<Fabric> CreateFromScenario(const std::string& path);
    /**
     * @brief Makes a fabric from a core.
     * @param core the core
     * @return the fabric
     */
    Ptr<Fabric> CreateFromCore(std::unique_ptr<FabricCore> core);

    // Results.

    /// @return the fabric; null before it is made
    Ptr<Fabric> GetFabric() const;
    /// @return the node of each host, by host number; a node with several NICs is repeated
    NodeContainer GetHosts() const;
    /// @return the nodes of the switches, by switch number
    NodeContainer GetSwitches() const;
    /// @return the NICs, by host number; Ipv4AddressHelper::Assign gives them IP addresses
    NetDeviceContainer GetNics() const;
    /// @return the links, by number
    const std::vector<Ptr<FabricChannel>>& GetChannels() const;

  private:
    friend class CollectiveHelper;
    friend class FailureHelper;

    /// An attribute of the NIC of one host.
    struct OwnAttribute
    {
        uint32_t host;             //!< number of the host
        std::string name;          //!< of the attribute
        Ptr<AttributeValue> value; //!< its value
    };

    /**
     * @brief Aborts with a message if the fabric has been made, because later settings have no
     * effect.
     * @param call the call that sets it, such as "FabricHelper::SetPolicy"
     */
    void ExpectOpen(const std::string& call) const;
    /**
     * @brief Does the same before a call that needs a fabric. From then on, the start of the
     * simulation makes the fabric if the script has not.
     * @param call the call
     */
    void Change(const std::string& call);
    /**
     * @brief Adds a workload.
     * @param keys its keys in a scenario
     * @param ranks hosts, by rank; empty for all
     */
    void AddWorkload(const std::string& keys, const NodeContainer& ranks);
    /**
     * @brief Adds a failure.
     * @param link the link; null if the keys name one
     * @param keys of a scenario's section [[failure]]
     */
    void AddFailure(Ptr<FabricChannel> link, const std::string& keys);
    /**
     * @brief Appends a key of a scenario.
     * @param keys the keys to append to
     * @param name the key
     * @param value its value
     */
    static void AddKey(std::string& keys, const std::string& name, const AttributeValue& value);

    /**
     * @brief Appends keys of a scenario.
     * @tparam Args the types of further keys and values
     * @param keys the keys to append to
     * @param name the first key
     * @param value its value
     * @param args further keys and values
     */
    template <class... Args>
    static void AddKeys(std::string& keys,
                        const std::string& name,
                        const AttributeValue& value,
                        const Args&... args)
    {
        AddKey(keys, name, value);
        AddKeys(keys, args...);
    }

    /// Ends the list of keys.
    static void AddKeys(std::string&)
    {
    }

    /**
     * @brief Finds or makes the port for a node's next link.
     * @param node the node
     * @return the port
     */
    Ptr<FabricPort> MakePort(Ptr<Node> node);
    /**
     * @brief Makes the nodes and links of a graph.
     * @param graph the graph
     * @param call name of the script's call, for messages
     */
    void Build(const FabricGraph& graph, const std::string& call);
    /// Sets the attributes of SetNicAttributeOf.
    void SetOwnAttributes();
    /// @return the graph of the fabric
    FabricGraph DescribeGraph() const;
    /// @return the workloads, as sections of a scenario
    std::string DescribeWorkloads() const;
    /**
     * @param nic the NIC of a host
     * @param graph the graph of the fabric
     * @param fabric the fabric
     * @return a scenario with this NIC's attributes and without links
     */
    std::string DescribeSettings(const RdmaNic& nic,
                                 const FabricGraph& graph,
                                 Ptr<Fabric> fabric) const;
    /**
     * @param graph the graph of the fabric
     * @param fabric the fabric
     * @return the NICs that differ from host 0's
     */
    std::vector<FabricNicSettings> DescribeOwnNics(const FabricGraph& graph,
                                                   Ptr<Fabric> fabric) const;
    /**
     * @brief Makes a fabric from everything that was connected.
     * @param call name of the script's call, for messages
     * @return the fabric
     */
    Ptr<Fabric> FinishFor(const std::string& call);
    /**
     * @brief Aborts with a message if something was added that has no effect on a ready-made
     * fabric.
     * @param call the call that makes the fabric
     */
    void ExpectBare(const std::string& call) const;
    /**
     * @brief Makes a fabric with any of evenkeel's topologies.
     * @param kind value of the key `kind` of [topology]
     * @param keys its other keys
     * @param call name of the script's call, for messages
     * @return the fabric
     */
    Ptr<Fabric> BuildTopology(const std::string& kind,
                              const std::string& keys,
                              const std::string& call);
    /**
     * @param fabric the fabric
     * @param core the core of the fabric
     * @param call name of the script's call, for messages
     * @return the assembled fabric
     */
    Ptr<Fabric> Assemble(Ptr<Fabric> fabric,
                         std::unique_ptr<FabricCore> core,
                         const std::string& call);
    RdmaNicHelper m_nicHelper;                  //!< makes NICs
    ObjectFactory m_switchFactory;              //!< makes switches
    ObjectFactory m_channelFactory;             //!< makes links
    ObjectFactory m_fabricFactory;              //!< makes the fabric
    std::vector<Ptr<RdmaNic>> m_nics;           //!< by number of host
    std::vector<Ptr<FabricSwitch>> m_switches;  //!< by number
    std::vector<std::string> m_switchNames;     //!< by number; empty for a default name
    std::vector<Ptr<FabricChannel>> m_channels; //!< by number of link
    std::vector<OwnAttribute> m_ownAttributes;  //!< see SetNicAttributeOf
    std::string m_classes;                      //!< see AddClass
    std::vector<std::pair<std::string, NodeContainer>> m_workloads;     //!< see AddWorkload
    std::vector<std::pair<Ptr<FabricChannel>, std::string>> m_failures; //!< see AddFailure
    uint32_t m_nicsPerNode{1};                                          //!< see SetNicsPerNode
    uint32_t m_portsPerNic{1};                                          //!< see SetPortsPerNic
    bool m_joinedPorts{false}; //!< ports of a host belong to one fabric
    int64_t m_stream{0};       //!< see AssignStreams
    EventId m_start;           //!< makes the fabric at the start, after a change
    std::string m_madeBy;      //!< name of the call that made the fabric; empty before
    Ptr<Fabric> m_fabric;      //!< the fabric; null before it is made
};

} // namespace ns3

#endif /* FABRIC_HELPER_H */
