// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_HELPER_H
#define FABRIC_HELPER_H

#include "rdma-nic-helper.h"
#include "switch-helper.h"

#include "ns3/attribute.h"
#include "ns3/fabric-channel.h"
#include "ns3/fabric-core.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/rdma-nic.h"

#include <functional>
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
 * Link by link: SwitchHelper::Install makes nodes switches, Install(a, b) connects two nodes, and
 * Finish makes the fabric. In one call: CreateLeafSpine, CreateTopology, CreateFromScenario.
 * AddSettings adds keys of a scenario that have no attribute.
 *
 * The first helper sets ns-3's time resolution to picoseconds, so it must be made before any other
 * object that keeps a Time; see Fabric::UsePicoseconds. If the fabric is invalid, or a call comes
 * too late to take effect, the program ends with the reason. A helper makes one fabric.
 */
class FabricHelper
{
  public:
    /// Makes the core of a fabric from its graph and the text of its settings.
    typedef std::function<std::unique_ptr<FabricCore>(const FabricGraph&, const std::string&)>
        CoreFactory;

    /// Whether to set ns-3's time resolution.
    enum Resolution
    {
        PICOSECONDS, //!< set it to picoseconds
        UNCHANGED,   //!< leave it
    };

    /// When packets of a traffic class start.
    enum Scheduling
    {
        WEIGHTED, //!< in turns with other weighted classes, in bytes by weight
        STRICT,   //!< before all weighted classes, and before strict classes that are added later
    };

    /// Whether priority flow control (PFC) protects a traffic class, where switches have it.
    enum Protection
    {
        PROTECTED,   //!< it has memory of its own, and is paused
        UNPROTECTED, //!< its packets are dropped that find no room
    };

    /**
     * @param resolution whether to set ns-3's time resolution
     */
    explicit FabricHelper(Resolution resolution = PICOSECONDS);

    // Settings. They apply to objects that are made later.

    /**
     * @brief Sets an attribute of NICs that are made later.
     * @param name of an attribute of RdmaNic
     * @param value its value
     */
    void SetNicAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets an attribute of the NIC of one host, whenever it is made.
     *
     * For fabrics that are made in one call. Link by link, SetNicAttribute between calls of Install
     * and SetAttribute of a NIC do the same.
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
     * @brief Sets the gap after each packet on a wire: preamble and inter-frame gap.
     * @param bytes the gap; 20 by default
     */
    void SetGap(uint32_t bytes);
    /**
     * @brief Sets the forwarding delay of switches: from the last bit in to the first bit out.
     * @param delay the delay; 0 by default
     */
    void SetForwardingDelay(Time delay);
    /**
     * @brief Adds sections of a scenario, such as a workload or failures.
     * @param sections their text
     */
    void AddSettings(const std::string& sections);
    /**
     * @brief Adds a traffic class of data packets, up to seven in all: each has a queue at every
     * output port and every NIC. Its number is that of the classes before it; see FabricCodePoints
     * for its packets on the wire. Workloads, queue pairs and connections are of the first class
     * unless they choose another by its name, and messages of that of their stream; see
     * RdmaNic::PostMessage.
     * @param name its name
     * @param scheduling when its packets start
     * @param weight of a weighted class, its share of the bytes; 1 to 64
     * @param protection whether priority flow control protects it
     */
    void AddClass(const std::string& name,
                  Scheduling scheduling = WEIGHTED,
                  uint32_t weight = 1,
                  Protection protection = PROTECTED);
    /**
     * @brief Adds a failure of a link to a fabric that has not been made; see FailureHelper for one
     * that has been.
     * @param link the link
     * @param keys of a scenario's section [[failure]], without the link
     */
    void AddFailure(Ptr<FabricChannel> link, const std::string& keys);
    /**
     * @brief Gives nodes the lowest host numbers, in their order: the ranks of a collective.
     * @param hosts the nodes
     */
    void SetFirstHosts(const NodeContainer& hosts);
    /**
     * @brief Sets the number of NICs per node of a fabric that is made in one call. Host h is NIC
     * h % nics of node h / nics, such as a GPU of a server in a rail-optimised fabric.
     * @param nics number of NICs of each node; 1 by default
     */
    void SetNicsPerNode(uint32_t nics);
    /**
     * @brief Sets the number of ports of each NIC of a fabric that is made link by link: as many
     * links of a node belong to one NIC, the p-th in plane p. Planes share no switch. A fabric that
     * is made in one call has the ports of its topology.
     * @param ports number of ports, 1 to 32; 1 by default
     */
    void SetPortsPerNic(uint32_t ports);
    /**
     * @brief Replaces evenkeel's core by another.
     * @param factory the function that makes the core
     */
    void SetCoreFactory(CoreFactory factory);
    /**
     * @brief Sets the stream of random draws, besides ns-3's seed and run.
     * @param stream first stream to use
     * @return number of streams used
     */
    int64_t AssignStreams(int64_t stream);

    // Link by link.

    /**
     * @brief Connects two nodes. A node that is not a switch is a host; Install adds a NIC to it
     * unless it has one without a link, or one with fewer links than ports (SetPortsPerNic).
     * @param a first node
     * @param b second node
     * @return the devices at both ends
     */
    NetDeviceContainer Install(Ptr<Node> a, Ptr<Node> b);
    /**
     * @brief Connects each of several nodes to one other.
     * @param nodes the nodes
     * @param to the other node, such as a switch
     * @return the devices at the nodes
     */
    NetDeviceContainer Install(const NodeContainer& nodes, Ptr<Node> to);
    /**
     * @brief Makes a fabric of everything that was connected.
     * @return the fabric
     */
    Ptr<Fabric> Finish();

    // In one call.

    /**
     * @brief Makes a leaf-spine with the links that SetChannelAttribute describes.
     * @param leaves switches with hosts
     * @param spines switches that every leaf is wired to
     * @param hostsPerLeaf hosts of each leaf
     * @return the fabric
     */
    Ptr<Fabric> CreateLeafSpine(uint32_t leaves, uint32_t spines, uint32_t hostsPerLeaf);
    /**
     * @brief Makes a fat-tree of three tiers with the links that SetChannelAttribute describes.
     * @param k ports of each switch, an even number
     * @return the fabric
     */
    Ptr<Fabric> CreateFatTree(uint32_t k);
    /**
     * @brief Makes a fabric of any kind that evenkeel has.
     * @param topology the text of a scenario's section [topology], without its heading
     * @param folder the folder to which paths in it are relative
     * @return the fabric
     */
    Ptr<Fabric> CreateTopology(const std::string& topology, const std::string& folder = ".");
    /**
     * @brief Makes a fabric from a topology file.
     * @param path of the file
     * @param format "hpcc" or "htsim"
     * @return the fabric
     */
    Ptr<Fabric> CreateFromTopologyFile(const std::string& path, const std::string& format = "hpcc");
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
    /// @return the node of each host, by number of the host: once for each of its NICs
    NodeContainer GetHosts() const;
    /// @return nodes that are switches, by number
    NodeContainer GetSwitches() const;
    /// @return NICs, by number of host; Ipv4AddressHelper::Assign gives them addresses for IP
    NetDeviceContainer GetNics() const;
    /// @return links, by number
    const std::vector<Ptr<FabricChannel>>& GetChannels() const;
    /**
     * @brief Ends the program with the reason if the fabric has been made: what is set afterwards
     * has no effect.
     * @param call the call that sets it, such as "FabricHelper::SetPolicy"
     */
    void ExpectOpen(const std::string& call) const;

    /// @return the sections that AddSettings added
    const std::string& DescribeSections() const;
    /// @return the text of the settings that Finish passes to evenkeel
    std::string DescribeSettings() const;
    /// @return the settings of queue pairs that Finish passes to evenkeel
    FabricQpSettings DescribeQueuePairs() const;
    /// @return the NICs that differ from that of host 0, as Finish passes them to evenkeel
    std::vector<FabricNicSettings> DescribeOwnNics() const;
    /// @return the graph that Finish passes to evenkeel
    FabricGraph DescribeGraph() const;

  private:
    /// An attribute of the NIC of one host.
    struct OwnAttribute
    {
        uint32_t host;             //!< number of the host
        std::string name;          //!< of the attribute
        Ptr<AttributeValue> value; //!< its value
    };

    /**
     * @brief Makes or finds the port of a node for its next link.
     * @param node the node
     * @return the port
     */
    Ptr<FabricPort> MakePort(Ptr<Node> node);
    /**
     * @brief Makes the nodes and links of a graph.
     * @param graph the graph
     * @param call the call of the script
     */
    void Build(const FabricGraph& graph, const std::string& call);
    /// Moves the hosts of SetFirstHosts to the front.
    void OrderHosts();
    /// Sets the attributes of SetNicAttributeOf.
    void SetOwnAttributes();
    /**
     * @param nic the NIC of a host
     * @return the text of the settings, with those of this NIC
     */
    std::string DescribeSettingsWith(const RdmaNic& nic) const;
    /**
     * @brief Makes a fabric of everything that was connected.
     * @param call the call of the script
     * @return the fabric
     */
    Ptr<Fabric> FinishFor(const std::string& call);
    /**
     * @brief Ends the program with the reason if what was added has no effect on a whole fabric.
     * @param call the call that makes the fabric
     */
    void ExpectBare(const std::string& call) const;
    /**
     * @brief Makes a fabric of any kind.
     * @param topology the section
     * @param folder the folder of paths in it
     * @param call the call of the script
     * @return the fabric
     */
    Ptr<Fabric> BuildTopology(const std::string& topology,
                              const std::string& folder,
                              const std::string& call);
    /**
     * @param core the core of the fabric
     * @param call the call of the script
     * @return the assembled fabric
     */
    Ptr<Fabric> Assemble(std::unique_ptr<FabricCore> core, const std::string& call);
    /**
     * @param channel a link
     * @return its number
     */
    uint32_t IndexOf(Ptr<FabricChannel> channel) const;
    /// @return a link with the rate and the delay that SetChannelAttribute describes
    FabricLink DescribeLink() const;

    RdmaNicHelper m_nicHelper;                  //!< makes NICs
    SwitchHelper m_switchHelper;                //!< makes switches
    ObjectFactory m_channelFactory;             //!< makes links
    ObjectFactory m_fabricFactory;              //!< makes the fabric
    CoreFactory m_coreFactory;                  //!< makes the core; null for evenkeel's
    std::vector<Ptr<RdmaNic>> m_nics;           //!< by number of host
    std::vector<Ptr<Node>> m_switchNodes;       //!< by number
    std::vector<Ptr<FabricSwitch>> m_switches;  //!< by number
    std::vector<std::string> m_switchNames;     //!< by number; empty to use a default
    std::vector<Ptr<FabricChannel>> m_channels; //!< by number of link
    NodeContainer m_firstHosts;                 //!< hosts with the lowest numbers
    std::vector<OwnAttribute> m_ownAttributes;  //!< of SetNicAttributeOf
    std::string m_sections;                     //!< of AddSettings
    std::vector<FabricClass> m_classes;         //!< of AddClass
    std::string m_classSections;                //!< of AddClass, as sections of a scenario
    std::vector<std::pair<Ptr<FabricChannel>, std::string>> m_failures; //!< of AddFailure
    uint32_t m_gapBytes{20};                                            //!< gap after each packet
    uint32_t m_nicsPerNode{1};                                          //!< of SetNicsPerNode
    uint32_t m_portsPerNic{1};                                          //!< of SetPortsPerNic
    bool m_joinedPorts{false}; //!< whether the ports of hosts are those of one fabric
    Time m_forwardingDelay;    //!< of switches
    int64_t m_stream{0};       //!< of AssignStreams
    std::string m_madeBy;      //!< the call that made the fabric; empty before
    Ptr<Fabric> m_fabric;      //!< the fabric; null before
};

} // namespace ns3

#endif /* FABRIC_HELPER_H */
