"""The sections of a scenario, a class each.

Written by rust/python/tests/sections.py from the keys of the format: do not change it by hand.
docs/scenario.md has the same keys. A default of None depends on other keys.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

from ._section import Section


class Topology(Section):
    """``[topology]``."""

    KEYS = {
        'kind': (('', 'leaf-spine', 'The family of the fabric.'),),
        'gap': (('', '20B', 'Preamble and inter-frame gap of each packet on every link.'),),
        'forwarding_delay': (('', '0ps', "The time from the arrival of a packet's last bit until it can leave, in each switch."),),
        'leaves': (('leaf-spine', 16, 'Leaf switches.'),),
        'spines': (('leaf-spine', 16, 'Spine switches.'), ('rail-optimized', 8, 'Spine switches.')),
        'hosts_per_leaf': (('leaf-spine', 16, 'Hosts at each leaf.'),),
        'host_rate': (('leaf-spine', '400Gbps', "Rate of a host's link."), ('fat-tree', '400Gbps', "Rate of a host's link."), ('rail-optimized', '400Gbps', "Rate of a host's link.")),
        'fabric_rate': (('leaf-spine', '400Gbps', 'Rate of links between switches.'), ('fat-tree', '400Gbps', 'Rate of links between switches.'), ('rail-optimized', '400Gbps', 'Rate of links between switches.')),
        'delay': (('leaf-spine', '500ns', 'One-way propagation delay of each link.'), ('fat-tree', '500ns', 'One-way propagation delay of each link.'), ('rail-optimized', '500ns', 'One-way propagation delay of each link.')),
        'parallel_links': (('leaf-spine', 1, 'Links between two neighbouring switches.'), ('fat-tree', 1, 'Links between two neighbouring switches.'), ('rail-optimized', 1, 'Links between two neighbouring switches.')),
        'k': (('fat-tree', 8, 'Ports of a switch, an even number.'),),
        'tiers': (('fat-tree', 3, 'Tiers of switches, 2 or 3.'),),
        'oversubscription': (('fat-tree', '1/1', "The hosts' capacity divided by the uplinks' capacity at an edge switch."),),
        'rails': (('rail-optimized', 8, 'GPUs of a server, each connected to a leaf of its own.'),),
        'servers': (('rail-optimized', 8, 'Servers whose GPUs share leaves.'),),
        'units': (('rail-optimized', 4, 'Groups of such servers.'),),
        'path': (('file', None, "The file, relative to the scenario's file."),),
        'format': (('file', 'hpcc', 'Its format.'),),
    }

    def __init__(
        self,
        *,
        kind: Optional[str] = None,
        gap: Optional[str] = None,
        forwarding_delay: Optional[str] = None,
        leaves: Optional[int] = None,
        spines: Optional[int] = None,
        hosts_per_leaf: Optional[int] = None,
        host_rate: Optional[str] = None,
        fabric_rate: Optional[str] = None,
        delay: Optional[str] = None,
        parallel_links: Optional[int] = None,
        k: Optional[int] = None,
        tiers: Optional[int] = None,
        oversubscription: Optional[str] = None,
        rails: Optional[int] = None,
        servers: Optional[int] = None,
        units: Optional[int] = None,
        path: Optional[str] = None,
        format: Optional[str] = None,
    ) -> None:
        super().__init__(
            kind=kind,
            gap=gap,
            forwarding_delay=forwarding_delay,
            leaves=leaves,
            spines=spines,
            hosts_per_leaf=hosts_per_leaf,
            host_rate=host_rate,
            fabric_rate=fabric_rate,
            delay=delay,
            parallel_links=parallel_links,
            k=k,
            tiers=tiers,
            oversubscription=oversubscription,
            rails=rails,
            servers=servers,
            units=units,
            path=path,
            format=format,
        )


class Switch(Section):
    """``[switch]``."""

    KEYS = {
        'buffer': (('', None, 'Packet memory shared by all ports.'),),
        'port_buffer': (('', None, 'Packet memory of each port, in place of buffer.'),),
        'ecn': (('', None, 'Marking: a step, or a ramp of kmin, kmax and pmax.'),),
        'pfc': (('', False, 'Priority flow control (PFC).'),),
        'trim': (('', False, 'Trimming of packets in place of dropping them.'),),
    }

    def __init__(
        self,
        *,
        buffer: Optional[str] = None,
        port_buffer: Optional[str] = None,
        ecn: Optional[Mapping[str, Any]] = None,
        pfc: Optional[Union[str, bool, Mapping[str, Any]]] = None,
        trim: Optional[Union[str, bool, Mapping[str, Any]]] = None,
    ) -> None:
        super().__init__(
            buffer=buffer,
            port_buffer=port_buffer,
            ecn=ecn,
            pfc=pfc,
            trim=trim,
        )


class Transport(Section):
    """``[transport]``."""

    KEYS = {
        'payload': (('', '4096B', 'Payload of a full packet.'),),
        'header': (('', '62B', 'Headers of a data packet on the wire.'),),
        'ack': (('', '64B', 'An acknowledgement on the wire.'),),
        'ack_every': (('', 1, 'Data packets for each acknowledgement.'),),
        'ack_bytes': (('', None, 'Bytes of data packets on the wire for each acknowledgement, if ack_every is not reached before.'),),
        'ack_time': (('', None, 'The maximum time after an arrival until it is acknowledged, if neither is reached before.'),),
        'ack_marked': (('', 'wait', 'Whether a packet with an ECN mark is acknowledged at once or with others.'),),
        'ack_range': (('', 'cumulative', 'What an acknowledgement speaks of: with cumulative, of all packets before the first that is missing; with packet (recovery per-packet, ack_every = 1), of one packet, so that a lost acknowledgement costs a timeout; with last-64 (recovery per-packet), also of all arrivals among the last 64 PSNs (Ultra Ethernet), so that it costs nothing.'),),
        'ack_entropies': (('', 'last', 'The packets whose entropy values are in an acknowledgement.'),),
        'ack_priority': (('', True, 'Whether acknowledgements have priority over data.'),),
        'congestion_control': (('', 'dcqcn', 'The congestion control.'),),
        'parameters': (('', None, 'Parameters of the congestion control. preset names a set of them where a control has several, the first of which is the default; explicit keys override the preset.'),),
        'recovery': (('', 'auto', 'The loss recovery; auto selects the one for which the policy is designed.'),),
        'recovery_parameters': (('', None, 'Parameters of the loss recovery; omitted ones have its defaults.'),),
        'delivery': (('', 'auto', "The order in which messages of a queue pair are delivered; auto is the recovery's default."),),
        'retransmit_timeout': (('', '1ms', 'The time for which a sender waits for an acknowledgement.'),),
        'nack_interval': (('', '500us', 'The time after which a receiver repeats a NACK (value of the HPCC simulator).'),),
        'cnp_interval': (('', '50us', 'The shortest time between two CNPs of a queue pair (Zhu et al., SIGCOMM 2015).'),),
        'qp_cache': (('', None, 'The cache of queue pair contexts in each NIC.'),),
    }

    def __init__(
        self,
        *,
        payload: Optional[str] = None,
        header: Optional[str] = None,
        ack: Optional[str] = None,
        ack_every: Optional[int] = None,
        ack_bytes: Optional[str] = None,
        ack_time: Optional[str] = None,
        ack_marked: Optional[str] = None,
        ack_range: Optional[str] = None,
        ack_entropies: Optional[str] = None,
        ack_priority: Optional[bool] = None,
        congestion_control: Optional[str] = None,
        parameters: Optional[Mapping[str, Any]] = None,
        recovery: Optional[str] = None,
        recovery_parameters: Optional[Mapping[str, Any]] = None,
        delivery: Optional[str] = None,
        retransmit_timeout: Optional[str] = None,
        nack_interval: Optional[str] = None,
        cnp_interval: Optional[str] = None,
        qp_cache: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(
            payload=payload,
            header=header,
            ack=ack,
            ack_every=ack_every,
            ack_bytes=ack_bytes,
            ack_time=ack_time,
            ack_marked=ack_marked,
            ack_range=ack_range,
            ack_entropies=ack_entropies,
            ack_priority=ack_priority,
            congestion_control=congestion_control,
            parameters=parameters,
            recovery=recovery,
            recovery_parameters=recovery_parameters,
            delivery=delivery,
            retransmit_timeout=retransmit_timeout,
            nack_interval=nack_interval,
            cnp_interval=cnp_interval,
            qp_cache=qp_cache,
        )


class Policy(Section):
    """``[policy]``."""

    KEYS = {
        'name': (('', 'ethereal', 'The policy (evenkeel list policies); other keys are its parameters.'),),
    }

    def __init__(
        self,
        *,
        name: Optional[str] = None,
        **parameters: Any,
    ) -> None:
        super().__init__(
            name=name,
            **parameters,
        )


class Workload(Section):
    """``[workload]``."""

    KEYS = {
        'kind': (('', 'all-to-all', "A collective's name (evenkeel list collectives), or another workload's (list workloads)."), ('', 'all-reduce', 'The collective: all-reduce alone.')),
        'hosts': (('', None, 'The hosts that take part, rank by rank: "0..16", "0,4,8", "0..64/8". Not for flows, whose file names hosts.'),),
        'start': (('', None, 'The start, or the time from the completion of the job after to the start.'),),
        'bytes': (('<collective>', None, 'Payload of each rank.'), ('permutation', '16MB', 'Payload of each flow.'), ('shift', '16MB', 'Payload of each flow.'), ('incast', '16MB', 'Payload of each flow.'), ('', '16MB', "The length of each rank's vector, in whole elements of 8 B. Several sizes are taken in turn.")),
        'algorithm': (('<collective>', None, 'The algorithm, if the kind does not name it.'),),
        'ranks': (('<collective>', None, 'The number of hosts: the first ones of hosts.'), ('chakra', None, 'The number of hosts: the first ones of hosts.'), ('training', None, 'The number of hosts: the first ones of hosts.')),
        'channels': (('<collective>', 1, 'Channels among which the vector is divided, each with queue pairs of its own.'), ('training', 1, 'Channels among which each operation is divided, each with queue pairs of its own.')),
        'chunks': (('<collective>', 1, 'Chunks of each channel that follow each other.'),),
        'group': (('<collective>', None, 'Hierarchical collectives: the number of neighbouring ranks in a machine.'), ('training', None, 'Hierarchical algorithms: the number of neighbouring ranks in a machine.')),
        'gap': (('<collective>', '0ps', 'The time for which a rank computes between a message that it receives and the one that depends on it.'),),
        'step_after': (('<collective>', 'delivery', 'When a rank that waits for a message goes on: when it has all of the message, or when the sender has the last acknowledgement.'), ('chakra', 'delivery', 'When a rank that waits for a message goes on: when it has all of the message, or when the sender has the last acknowledgement.'), ('training', 'delivery', 'When a rank that waits for a message goes on: when it has all of the message, or when the sender has the last acknowledgement.')),
        'start_jitter': (('<collective>', '0ps', 'The most by which the start of each message is delayed, drawn by the seed.'), ('permutation', '0ps', 'The most by which the start of each message is delayed, drawn by the seed.'), ('shift', '0ps', 'The most by which the start of each message is delayed, drawn by the seed.'), ('incast', '0ps', 'The most by which the start of each message is delayed, drawn by the seed.')),
        'streaming': (('<collective>', None, 'Whether messages are generated during the run, as ranks reach them: for rings and pipelines; auto does so for more than 4,194,304 messages.'), ('chakra', 'auto', 'Whether traces are read during the run; auto does so if they are 1 GiB or more.')),
        'shift': (('shift', 1, 'Host i sends to host i + shift.'),),
        'fan_in': (('incast', 8, 'How many hosts send to one.'),),
        'file': (('flows', None, "The flow file, relative to the scenario's file."), ('chakra', None, "The prefix of the traces' names before .RANK.et (or .RANK.et.gz), or one file that every rank replays; relative to the scenario's file."), ('goal', None, "The schedule, relative to the scenario's file."), ('connection-matrix', None, "The connection matrix, relative to the scenario's file."), ('simccl', None, "The flow file, relative to the scenario's file.")),
        'algorithms': (('chakra', None, 'The algorithm of each operation: { all-reduce = "ring" }.'), ('training', None, 'The algorithm of each operation: { all-reduce = "ring" }.')),
        'dependencies': (('chakra', 'all', 'The dependencies that are followed.'),),
        'compute': (('chakra', 'serial', 'Whether computations of a host run one at a time.'), ('goal', 'serial', 'Whether computations of a host run one at a time.')),
        'dimensions': (('chakra', None, 'Sizes of the dimensions that involved_dim selects from; the first one varies fastest from rank to rank.'),),
        'window': (('chakra', None, 'Traces that are read during the run: nodes of each rank in memory.'), ('', 2, 'Chunks in flight on a rail at a time.')),
        'layout': (('goal', None, 'What a rank is: a node, whose host rank x NICs + nic is one of its NICs (version 1), or a GPU, host rank (version 2).'),),
        'start_unit': (('connection-matrix', 'us', 'The unit of start in the file, in which the programs of htsim differ: microseconds, as in uet-htsim, or picoseconds, as in htsim_ndp, in csg-htsim and from gen_*.py.'),),
        'collective': (('simccl', None, 'The collective of the file, by its name there.'),),
        'model': (('training', 'gpt-1.3b', 'The model: its name, or a table of its dimensions.'),),
        'layers': (('training', None, 'The number of layers that are simulated, without embedding and output.'),),
        'sequence': (('training', None, 'Tokens of a sequence.'),),
        'microbatch': (('training', 1, 'Sequences of a microbatch.'),),
        'microbatches': (('training', None, 'Microbatches of an iteration, in each pipeline.'),),
        'iterations': (('training', 1, 'Iterations.'),),
        'tensor': (('training', 1, "Hosts that share each layer's matrices."),),
        'pipeline': (('training', 1, 'Stages of the pipeline.'),),
        'data': (('training', None, 'Replicas of the model.'),),
        'expert': (('training', 1, 'Replicas among which experts are spread.'),),
        'sharding': (('training', 'none', "The state that is divided among replicas: nothing, the optimizer's state (ZeRO stage 1), or everything (ZeRO stage 3, FSDP)."),),
        'tensor_traffic': (('training', 'all-reduce', 'The exchange among hosts that share matrices: sums of activations, or parts of sequences.'),),
        'bucket': (('training', None, 'The size from which on gradients are sent. Not with sharding = "full".'),),
        'parameter_bytes': (('training', '2B', 'A parameter on the wire.'),),
        'gradient_bytes': (('training', '2B', 'A gradient on the wire.'),),
        'activation_bytes': (('training', '2B', 'An activation on the wire.'),),
        'flops': (('training', '400Tflops', 'The rate at which a host computes [inferred].'),),
        'operations': (('', 20, 'The number of consecutive operations.'),),
    }

    def __init__(
        self,
        *,
        kind: Optional[str] = None,
        hosts: Optional[str] = None,
        start: Optional[str] = None,
        bytes: Optional[Union[str, Sequence[Any]]] = None,
        algorithm: Optional[str] = None,
        ranks: Optional[int] = None,
        channels: Optional[int] = None,
        chunks: Optional[int] = None,
        group: Optional[int] = None,
        gap: Optional[str] = None,
        step_after: Optional[str] = None,
        start_jitter: Optional[str] = None,
        streaming: Optional[Union[str, bool]] = None,
        shift: Optional[int] = None,
        fan_in: Optional[int] = None,
        file: Optional[str] = None,
        algorithms: Optional[Mapping[str, Any]] = None,
        dependencies: Optional[str] = None,
        compute: Optional[str] = None,
        dimensions: Optional[Sequence[int]] = None,
        window: Optional[int] = None,
        layout: Optional[str] = None,
        start_unit: Optional[str] = None,
        collective: Optional[str] = None,
        model: Optional[Union[str, Mapping[str, Any], Sequence[Any]]] = None,
        layers: Optional[int] = None,
        sequence: Optional[int] = None,
        microbatch: Optional[int] = None,
        microbatches: Optional[int] = None,
        iterations: Optional[int] = None,
        tensor: Optional[int] = None,
        pipeline: Optional[int] = None,
        data: Optional[int] = None,
        expert: Optional[int] = None,
        sharding: Optional[str] = None,
        tensor_traffic: Optional[str] = None,
        bucket: Optional[str] = None,
        parameter_bytes: Optional[str] = None,
        gradient_bytes: Optional[str] = None,
        activation_bytes: Optional[str] = None,
        flops: Optional[str] = None,
        operations: Optional[int] = None,
    ) -> None:
        super().__init__(
            kind=kind,
            hosts=hosts,
            start=start,
            bytes=bytes,
            algorithm=algorithm,
            ranks=ranks,
            channels=channels,
            chunks=chunks,
            group=group,
            gap=gap,
            step_after=step_after,
            start_jitter=start_jitter,
            streaming=streaming,
            shift=shift,
            fan_in=fan_in,
            file=file,
            algorithms=algorithms,
            dependencies=dependencies,
            compute=compute,
            dimensions=dimensions,
            window=window,
            layout=layout,
            start_unit=start_unit,
            collective=collective,
            model=model,
            layers=layers,
            sequence=sequence,
            microbatch=microbatch,
            microbatches=microbatches,
            iterations=iterations,
            tensor=tensor,
            pipeline=pipeline,
            data=data,
            expert=expert,
            sharding=sharding,
            tensor_traffic=tensor_traffic,
            bucket=bucket,
            parameter_bytes=parameter_bytes,
            gradient_bytes=gradient_bytes,
            activation_bytes=activation_bytes,
            flops=flops,
            operations=operations,
        )


class Job(Section):
    """``[[job]]``."""

    KEYS = {
        'kind': (('', 'all-to-all', "A collective's name (evenkeel list collectives), or another workload's (list workloads)."),),
        'hosts': (('', None, 'The hosts that take part, rank by rank: "0..16", "0,4,8", "0..64/8". Not for flows, whose file names hosts.'),),
        'start': (('', None, 'The start, or the time from the completion of the job after to the start.'),),
        'name': (('', None, 'The name of the job in reports and in after.'),),
        'after': (('', None, 'The name of another job, after whose completion this one starts.'),),
        'policy': (('', None, 'The policy of the job: a name as in [policy], or a table of a name and its parameters, { name = "reps", buffer = 8 }. Switches hash the packets of policies that hash; a fabric has at most one policy that does not, such as adaptive or ethereal. Its loss recovery is that of the policy, unless [transport] names one.'),),
        'bytes': (('<collective>', None, 'Payload of each rank.'), ('permutation', '16MB', 'Payload of each flow.'), ('shift', '16MB', 'Payload of each flow.'), ('incast', '16MB', 'Payload of each flow.')),
        'algorithm': (('<collective>', None, 'The algorithm, if the kind does not name it.'),),
        'ranks': (('<collective>', None, 'The number of hosts: the first ones of hosts.'), ('chakra', None, 'The number of hosts: the first ones of hosts.'), ('training', None, 'The number of hosts: the first ones of hosts.')),
        'channels': (('<collective>', 1, 'Channels among which the vector is divided, each with queue pairs of its own.'), ('training', 1, 'Channels among which each operation is divided, each with queue pairs of its own.')),
        'chunks': (('<collective>', 1, 'Chunks of each channel that follow each other.'),),
        'group': (('<collective>', None, 'Hierarchical collectives: the number of neighbouring ranks in a machine.'), ('training', None, 'Hierarchical algorithms: the number of neighbouring ranks in a machine.')),
        'gap': (('<collective>', '0ps', 'The time for which a rank computes between a message that it receives and the one that depends on it.'),),
        'step_after': (('<collective>', 'delivery', 'When a rank that waits for a message goes on: when it has all of the message, or when the sender has the last acknowledgement.'), ('chakra', 'delivery', 'When a rank that waits for a message goes on: when it has all of the message, or when the sender has the last acknowledgement.'), ('training', 'delivery', 'When a rank that waits for a message goes on: when it has all of the message, or when the sender has the last acknowledgement.')),
        'start_jitter': (('<collective>', '0ps', 'The most by which the start of each message is delayed, drawn by the seed.'), ('permutation', '0ps', 'The most by which the start of each message is delayed, drawn by the seed.'), ('shift', '0ps', 'The most by which the start of each message is delayed, drawn by the seed.'), ('incast', '0ps', 'The most by which the start of each message is delayed, drawn by the seed.')),
        'streaming': (('<collective>', None, 'Whether messages are generated during the run, as ranks reach them: for rings and pipelines; auto does so for more than 4,194,304 messages.'), ('chakra', 'auto', 'Whether traces are read during the run; auto does so if they are 1 GiB or more.')),
        'shift': (('shift', 1, 'Host i sends to host i + shift.'),),
        'fan_in': (('incast', 8, 'How many hosts send to one.'),),
        'file': (('flows', None, "The flow file, relative to the scenario's file."), ('chakra', None, "The prefix of the traces' names before .RANK.et (or .RANK.et.gz), or one file that every rank replays; relative to the scenario's file."), ('goal', None, "The schedule, relative to the scenario's file."), ('connection-matrix', None, "The connection matrix, relative to the scenario's file."), ('simccl', None, "The flow file, relative to the scenario's file.")),
        'algorithms': (('chakra', None, 'The algorithm of each operation: { all-reduce = "ring" }.'), ('training', None, 'The algorithm of each operation: { all-reduce = "ring" }.')),
        'dependencies': (('chakra', 'all', 'The dependencies that are followed.'),),
        'compute': (('chakra', 'serial', 'Whether computations of a host run one at a time.'), ('goal', 'serial', 'Whether computations of a host run one at a time.')),
        'dimensions': (('chakra', None, 'Sizes of the dimensions that involved_dim selects from; the first one varies fastest from rank to rank.'),),
        'window': (('chakra', None, 'Traces that are read during the run: nodes of each rank in memory.'),),
        'layout': (('goal', None, 'What a rank is: a node, whose host rank x NICs + nic is one of its NICs (version 1), or a GPU, host rank (version 2).'),),
        'start_unit': (('connection-matrix', 'us', 'The unit of start in the file, in which the programs of htsim differ: microseconds, as in uet-htsim, or picoseconds, as in htsim_ndp, in csg-htsim and from gen_*.py.'),),
        'collective': (('simccl', None, 'The collective of the file, by its name there.'),),
        'model': (('training', 'gpt-1.3b', 'The model: its name, or a table of its dimensions.'),),
        'layers': (('training', None, 'The number of layers that are simulated, without embedding and output.'),),
        'sequence': (('training', None, 'Tokens of a sequence.'),),
        'microbatch': (('training', 1, 'Sequences of a microbatch.'),),
        'microbatches': (('training', None, 'Microbatches of an iteration, in each pipeline.'),),
        'iterations': (('training', 1, 'Iterations.'),),
        'tensor': (('training', 1, "Hosts that share each layer's matrices."),),
        'pipeline': (('training', 1, 'Stages of the pipeline.'),),
        'data': (('training', None, 'Replicas of the model.'),),
        'expert': (('training', 1, 'Replicas among which experts are spread.'),),
        'sharding': (('training', 'none', "The state that is divided among replicas: nothing, the optimizer's state (ZeRO stage 1), or everything (ZeRO stage 3, FSDP)."),),
        'tensor_traffic': (('training', 'all-reduce', 'The exchange among hosts that share matrices: sums of activations, or parts of sequences.'),),
        'bucket': (('training', None, 'The size from which on gradients are sent. Not with sharding = "full".'),),
        'parameter_bytes': (('training', '2B', 'A parameter on the wire.'),),
        'gradient_bytes': (('training', '2B', 'A gradient on the wire.'),),
        'activation_bytes': (('training', '2B', 'An activation on the wire.'),),
        'flops': (('training', '400Tflops', 'The rate at which a host computes [inferred].'),),
    }

    def __init__(
        self,
        *,
        kind: Optional[str] = None,
        hosts: Optional[str] = None,
        start: Optional[str] = None,
        name: Optional[str] = None,
        after: Optional[str] = None,
        policy: Optional[Union[str, Mapping[str, Any]]] = None,
        bytes: Optional[str] = None,
        algorithm: Optional[str] = None,
        ranks: Optional[int] = None,
        channels: Optional[int] = None,
        chunks: Optional[int] = None,
        group: Optional[int] = None,
        gap: Optional[str] = None,
        step_after: Optional[str] = None,
        start_jitter: Optional[str] = None,
        streaming: Optional[Union[str, bool]] = None,
        shift: Optional[int] = None,
        fan_in: Optional[int] = None,
        file: Optional[str] = None,
        algorithms: Optional[Mapping[str, Any]] = None,
        dependencies: Optional[str] = None,
        compute: Optional[str] = None,
        dimensions: Optional[Sequence[int]] = None,
        window: Optional[int] = None,
        layout: Optional[str] = None,
        start_unit: Optional[str] = None,
        collective: Optional[str] = None,
        model: Optional[Union[str, Mapping[str, Any], Sequence[Any]]] = None,
        layers: Optional[int] = None,
        sequence: Optional[int] = None,
        microbatch: Optional[int] = None,
        microbatches: Optional[int] = None,
        iterations: Optional[int] = None,
        tensor: Optional[int] = None,
        pipeline: Optional[int] = None,
        data: Optional[int] = None,
        expert: Optional[int] = None,
        sharding: Optional[str] = None,
        tensor_traffic: Optional[str] = None,
        bucket: Optional[str] = None,
        parameter_bytes: Optional[str] = None,
        gradient_bytes: Optional[str] = None,
        activation_bytes: Optional[str] = None,
        flops: Optional[str] = None,
    ) -> None:
        super().__init__(
            kind=kind,
            hosts=hosts,
            start=start,
            name=name,
            after=after,
            policy=policy,
            bytes=bytes,
            algorithm=algorithm,
            ranks=ranks,
            channels=channels,
            chunks=chunks,
            group=group,
            gap=gap,
            step_after=step_after,
            start_jitter=start_jitter,
            streaming=streaming,
            shift=shift,
            fan_in=fan_in,
            file=file,
            algorithms=algorithms,
            dependencies=dependencies,
            compute=compute,
            dimensions=dimensions,
            window=window,
            layout=layout,
            start_unit=start_unit,
            collective=collective,
            model=model,
            layers=layers,
            sequence=sequence,
            microbatch=microbatch,
            microbatches=microbatches,
            iterations=iterations,
            tensor=tensor,
            pipeline=pipeline,
            data=data,
            expert=expert,
            sharding=sharding,
            tensor_traffic=tensor_traffic,
            bucket=bucket,
            parameter_bytes=parameter_bytes,
            gradient_bytes=gradient_bytes,
            activation_bytes=activation_bytes,
            flops=flops,
        )


class Failure(Section):
    """``[[failure]]``."""

    KEYS = {
        'link': (('', None, 'The link that fails, by the names of its ends: "leaf0-spine0".'),),
        'from': (('', None, 'The end of link whose packets it affects, in one direction; whoever detects the failure, and routing, avoid the link in both.'),),
        'switch': (('', None, 'The switch all of whose links fail.'),),
        'probability': (('', None, 'The probability with which each link between switches fails, drawn independently.'),),
        'kind': (('', 'down', 'The kind of failure.'), ('', 'link', 'The kind of failure.')),
        'factor': (('', None, 'degrade: the share of the rate that is left.'),),
        'rate': (('', None, 'loss: the share of packets that is lost.'),),
        'down_for': (('', None, 'flap: the time for which it is down each time.'),),
        'up_for': (('', None, 'flap: the time for which it is up in between.'),),
        'at': (('', '1us', 'When the failure starts.'), ('', '0ps', 'When it starts.')),
        'until': (('', 'never', 'When the failure ends.'), ('', 'never', 'When it ends.')),
        'detection': (('', '0ps', "The time after each change at which the switches at the link's ends detect it."),),
        'convergence': (('', '100ms', 'The time after each change at which routing converges (G).'),),
        'rail': (('', None, "The rail's name."),),
        'host': (('', None, 'The host of the link. Not for switch.'),),
        'left': (('', None, 'crawl: the share of the rate that is left.'),),
    }

    def __init__(
        self,
        *,
        link: Optional[str] = None,
        switch: Optional[str] = None,
        probability: Optional[str] = None,
        kind: Optional[str] = None,
        factor: Optional[str] = None,
        rate: Optional[str] = None,
        down_for: Optional[str] = None,
        up_for: Optional[str] = None,
        at: Optional[str] = None,
        until: Optional[str] = None,
        detection: Optional[str] = None,
        convergence: Optional[str] = None,
        rail: Optional[str] = None,
        host: Optional[int] = None,
        left: Optional[str] = None,
        **parameters: Any,
    ) -> None:
        super().__init__(
            link=link,
            switch=switch,
            probability=probability,
            kind=kind,
            factor=factor,
            rate=rate,
            down_for=down_for,
            up_for=up_for,
            at=at,
            until=until,
            detection=detection,
            convergence=convergence,
            rail=rail,
            host=host,
            left=left,
            **parameters,
        )


class Record(Section):
    """``[record]``."""

    KEYS = {
        'name': (('', None, 'What tells it from others: part of the names of its files (ports-NAME.csv) and of metrics. Letters, digits, - and _.'),),
        'on': (('', 'interval', 'Whether rows are written at the end of each interval, or when a value changes. Windows and rates of queue pairs are looked at once an interval in both cases.'),),
        'every': (('', '10us', 'The length of an interval.'),),
        'ports': (('', 'all', 'Ports whose queues and transmissions are recorded, both directions of each link: links by the names of their ends, separated by commas ("leaf0-spine0, leaf0-spine1"), "all" or "none".'),),
        'queue_pairs': (('', 'all', 'Hosts whose queue pairs are recorded as they send: "0..4", "all" or "none".'),),
        'paths': (('', 'all', 'Hosts of whose packets the entropy values and paths are recorded: "0..4", "all" or "none".'),),
        'pauses': (('', 'all', 'Ports whose pauses by priority flow control are recorded, as ports; without switch.pfc nothing is paused, and "all" is "none".'),),
    }

    def __init__(
        self,
        *,
        name: Optional[str] = None,
        on: Optional[str] = None,
        every: Optional[str] = None,
        ports: Optional[str] = None,
        queue_pairs: Optional[str] = None,
        paths: Optional[str] = None,
        pauses: Optional[str] = None,
    ) -> None:
        super().__init__(
            name=name,
            on=on,
            every=every,
            ports=ports,
            queue_pairs=queue_pairs,
            paths=paths,
            pauses=pauses,
        )


class Hosts(Section):
    """``[hosts]``."""

    KEYS = {
        'count': (('', 6, "The number of hosts; the default is that of Nezha's first cluster."),),
        'add_rate': (('', '80Gbps', "The rate at which a host's processor adds one vector to another [inferred]: two streams are read and one is written at a core's share of a memory channel."),),
    }

    def __init__(
        self,
        *,
        count: Optional[int] = None,
        add_rate: Optional[str] = None,
    ) -> None:
        super().__init__(
            count=count,
            add_rate=add_rate,
        )


class Rail(Section):
    """``[[rail]]``."""

    KEYS = {
        'kind': (('', 'tcp', 'How the rail reduces.'),),
        'name': (('', None, 'The name in results and failures.'),),
        'rate': (('tcp', '10Gbps', 'Rate of its links.'), ('rdma', '100Gbps', 'Rate of its links.'), ('in-network', '100Gbps', 'Rate of its links.')),
        'delay': (('tcp', '500ns', 'One-way propagation delay of its links.'), ('rdma', '500ns', 'One-way propagation delay of its links.'), ('in-network', '500ns', 'One-way propagation delay of its links.')),
        'header': (('tcp', '70B', 'Headers of a packet on the wire: IP, TCP with timestamps, Ethernet.'), ('rdma', '62B', 'Headers of a packet on the wire.'), ('in-network', '64B', 'Headers of a segment on the wire.')),
        'payload': (('tcp', '8948B', 'Payload of a full packet: 9000 B of IP.'), ('rdma', '4096B', 'Payload of a full packet.')),
        'buffer': (('tcp', '16MB', 'Packet memory of the switch.'), ('rdma', '16MB', 'Packet memory of the switch.')),
        'send_message': (('tcp', '6us', "The processor's time for each message sent: a system call [inferred]."), ('rdma', '1us', "The processor's time for each message sent: a doorbell [inferred].")),
        'receive_message': (('tcp', '12us', "The processor's time for each message received: a wake-up [inferred]."), ('rdma', '1us', "The processor's time for each message received: a poll [inferred].")),
        'send_rate': (('tcp', '89Gbps', 'The rate at which a dedicated processor sends (Cai et al., SIGCOMM 2021).'),),
        'receive_rate': (('tcp', '42Gbps', 'The rate at which a dedicated processor receives (Cai et al., SIGCOMM 2021).'),),
        'links': (('tcp', 1, 'Links of each host. With several links, each message is one ordered stream over all of them, as with MPTCP.'),),
        'checksum_rate': (('tcp', None, 'Several links: the rate at which a dedicated processor computes checksums [inferred]: one pass over memory. No adapter computes those of MPTCP (RFC 8684, section 3.3.1).'),),
        'slice': (('tcp', '65536B', "The bytes that the processor handles at a time: Linux's GSO_MAX_SIZE."), ('rdma', '1048576B', 'The bytes that the processor handles at a time.')),
        'retransmit_timeout': (('tcp', '200ms', "The time for which a sender waits for an acknowledgement: Linux's TCP_RTO_MIN."), ('rdma', '1ms', 'The time for which a sender waits for an acknowledgement.')),
        'radix': (('in-network', 8, 'Children of a switch.'),),
        'segment': (('in-network', '4096B', 'Payload of a segment.'),),
        'slots': (('in-network', 64, 'The segments that a switch holds at a time.'),),
        'switch_latency': (('in-network', '300ns', "The time from the last child's segment to the sum."),),
        'chunk_overhead': (('in-network', '2us', "The processor's time for each chunk."),),
    }

    def __init__(
        self,
        *,
        kind: Optional[str] = None,
        name: Optional[str] = None,
        rate: Optional[str] = None,
        delay: Optional[str] = None,
        header: Optional[str] = None,
        payload: Optional[str] = None,
        buffer: Optional[str] = None,
        send_message: Optional[str] = None,
        receive_message: Optional[str] = None,
        send_rate: Optional[str] = None,
        receive_rate: Optional[str] = None,
        links: Optional[int] = None,
        checksum_rate: Optional[str] = None,
        slice: Optional[str] = None,
        retransmit_timeout: Optional[str] = None,
        radix: Optional[int] = None,
        segment: Optional[str] = None,
        slots: Optional[int] = None,
        switch_latency: Optional[str] = None,
        chunk_overhead: Optional[str] = None,
    ) -> None:
        super().__init__(
            kind=kind,
            name=name,
            rate=rate,
            delay=delay,
            header=header,
            payload=payload,
            buffer=buffer,
            send_message=send_message,
            receive_message=receive_message,
            send_rate=send_rate,
            receive_rate=receive_rate,
            links=links,
            checksum_rate=checksum_rate,
            slice=slice,
            retransmit_timeout=retransmit_timeout,
            radix=radix,
            segment=segment,
            slots=slots,
            switch_latency=switch_latency,
            chunk_overhead=chunk_overhead,
        )


class Handler(Section):
    """``[handler]``."""

    KEYS = {
        'chunk': (('', '1048576B', 'The longest chunk, a multiple of the element; ranks agree on chunks and repeat them after a failure.'),),
        'heartbeat': (('', '50ms', 'The period of the heartbeats from each rank to the next one, on each rail.'),),
        'misses': (('', 2, 'Heartbeats missed in a row after which a rail is down, at least 1.'),),
        'grace': (('', '5ms', 'The tolerated delay of a heartbeat.'),),
        'stall_factor': (('', 3, 'The multiple of the expected time without a completion after which a rail is suspected.'),),
        'stall_least': (('', '20ms', 'The shortest time after which a rail is suspected.'),),
        'confirm': (('', '20ms', 'The time within which a suspected rail must answer or make progress.'),),
        'retry': (('', '10ms', 'The time after which a rank publishes its report again if others have not answered.'),),
        'probe': (('', '1s', 'The period with which a rail that is down is probed.'),),
        'good_probes': (('', 3, 'Rounds of probes in a row that all ranks answered after which a rail is up, at least 1.'),),
    }

    def __init__(
        self,
        *,
        chunk: Optional[str] = None,
        heartbeat: Optional[str] = None,
        misses: Optional[int] = None,
        grace: Optional[str] = None,
        stall_factor: Optional[int] = None,
        stall_least: Optional[str] = None,
        confirm: Optional[str] = None,
        retry: Optional[str] = None,
        probe: Optional[str] = None,
        good_probes: Optional[int] = None,
    ) -> None:
        super().__init__(
            chunk=chunk,
            heartbeat=heartbeat,
            misses=misses,
            grace=grace,
            stall_factor=stall_factor,
            stall_least=stall_least,
            confirm=confirm,
            retry=retry,
            probe=probe,
            good_probes=good_probes,
        )
