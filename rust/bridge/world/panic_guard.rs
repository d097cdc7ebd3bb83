//! The contract's calls that can fail, as C++ makes them: a panic in one becomes its error.

use super::classes::StreamError;
use super::contract::{Graph, NicSettings, Overrides};
use super::core::{Core, PostError};
use super::enumerations::FabricQpState;
use super::experiment::{self, Experiment, ExperimentError};
use super::records::{FabricQpSettings, FabricWork};
use super::verbs::WorkError;
use crate::panic_guard::{Failure, catch_panic};

type Made = Result<Box<Experiment>, Failure<ExperimentError>>;
type Worked<T> = Result<T, Failure<WorkError>>;

pub(super) fn experiment_of_scenario(path: &str, overrides: &Overrides) -> Made {
    catch_panic(|| experiment::experiment_of_scenario(path, overrides))
}

pub(super) fn experiment_of_text(text: &str, folder: &str, overrides: &Overrides) -> Made {
    catch_panic(|| experiment::experiment_of_text(text, folder, overrides))
}

pub(super) fn experiment_on_graph(
    graph: &Graph,
    text: &str,
    folder: &str,
    overrides: &Overrides,
) -> Made {
    catch_panic(|| experiment::experiment_on_graph(graph, text, folder, overrides))
}

pub(super) fn graph_of(section: &str, folder: &str) -> Result<Graph, Failure<ExperimentError>> {
    catch_panic(|| experiment::graph_of(section, folder))
}

pub(super) fn link_names(graph: &Graph) -> Result<Vec<String>, Failure<ExperimentError>> {
    catch_panic(|| super::graph::link_names(graph))
}

impl Experiment {
    pub(super) fn try_set_queue_pairs(&mut self, settings: &FabricQpSettings) -> Worked<()> {
        catch_panic(|| self.set_queue_pairs(settings))
    }

    pub(super) fn try_set_host_nics(
        &mut self,
        nics: &[NicSettings],
    ) -> Result<(), Failure<ExperimentError>> {
        catch_panic(|| self.set_host_nics(nics))
    }
}

impl Core {
    pub(super) fn try_add_failures(
        &mut self,
        sections: &str,
        applied: u32,
        now_ps: u64,
    ) -> Result<(), Failure<ExperimentError>> {
        catch_panic(|| self.add_failures(sections, applied, now_ps))
    }

    pub(super) fn try_end_failures(
        &mut self,
        target: &str,
        at_ps: u64,
        applied: u32,
        now_ps: u64,
    ) -> Result<(), Failure<ExperimentError>> {
        catch_panic(|| self.end_failures(target, at_ps, applied, now_ps))
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "one call of the contract, all of it plain numbers"
    )]
    pub(super) fn try_post(
        &mut self,
        src: u32,
        dst: u32,
        bytes: u64,
        now_ps: u64,
        start_ps: u64,
        stream: u32,
    ) -> Result<u32, Failure<PostError>> {
        catch_panic(|| self.post(src, dst, bytes, now_ps, start_ps, stream))
    }

    pub(super) fn try_stream_in(
        &self,
        name: &str,
        stream: u32,
        of_qp: bool,
    ) -> Result<u32, Failure<StreamError>> {
        catch_panic(|| self.stream_in(name, stream, of_qp))
    }

    pub(super) fn try_create_qp(&mut self, host: u32, peer: u32, stream: u32) -> Worked<u32> {
        catch_panic(|| self.create_qp(host, peer, stream))
    }

    pub(super) fn try_set_peer_qp(&mut self, host: u32, qp: u32, peer: u32) -> Worked<()> {
        catch_panic(|| self.set_peer_qp(host, qp, peer))
    }

    pub(super) fn try_modify_qp(
        &mut self,
        host: u32,
        qp: u32,
        state: FabricQpState,
        now_ps: u64,
    ) -> Worked<()> {
        catch_panic(|| self.modify_qp(host, qp, state, now_ps))
    }

    pub(super) fn try_query_qp(&self, host: u32, qp: u32) -> Worked<FabricQpState> {
        catch_panic(|| self.query_qp(host, qp))
    }

    pub(super) fn try_destroy_qp(&mut self, host: u32, qp: u32, now_ps: u64) -> Worked<()> {
        catch_panic(|| self.destroy_qp(host, qp, now_ps))
    }

    pub(super) fn try_post_send(
        &mut self,
        host: u32,
        qp: u32,
        work: &FabricWork,
        now_ps: u64,
    ) -> Worked<()> {
        catch_panic(|| self.post_send(host, qp, work, now_ps))
    }

    pub(super) fn try_post_receive(
        &mut self,
        host: u32,
        qp: u32,
        id: u64,
        now_ps: u64,
    ) -> Worked<()> {
        catch_panic(|| self.post_receive(host, qp, id, now_ps))
    }
}
