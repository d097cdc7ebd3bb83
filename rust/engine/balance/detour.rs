//! Routes that are not minimal: what a policy may know of them.

/// A route as the first switch of a packet sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteLoad {
    /// Links between switches; at least 1.
    pub links: u32,
    /// Bytes that wait at its first port, with the packet in transmission; at the least loaded if
    /// several are alike. 0 for policies without `USES_QUEUE_LENGTHS`.
    pub queue_bytes: u64,
}

impl RouteLoad {
    /// The product of both, which UGAL compares.
    pub const fn cost(self) -> u64 {
        self.queue_bytes.saturating_mul(self.links as u64)
    }
}

/// The routes of a packet at the switch of its sender.
pub trait DetourView {
    /// The number of switches with hosts in other groups, by which the packet may go; at least 1.
    fn candidates(&self) -> u32;

    /// The minimal route.
    fn minimal(&self) -> RouteLoad;

    /// The route by a candidate.
    fn by(&self, candidate: u32) -> RouteLoad;
}

#[cfg(test)]
pub(in crate::balance) mod test_view {
    use super::*;

    /// Routes by their links and queues.
    pub(in crate::balance) struct Routes {
        pub(in crate::balance) minimal: (u32, u64),
        pub(in crate::balance) by: Vec<(u32, u64)>,
    }

    fn load((links, queue_bytes): (u32, u64)) -> RouteLoad {
        RouteLoad { links, queue_bytes }
    }

    impl DetourView for Routes {
        fn candidates(&self) -> u32 {
            self.by.len() as u32
        }

        fn minimal(&self) -> RouteLoad {
            load(self.minimal)
        }

        fn by(&self, candidate: u32) -> RouteLoad {
            load(self.by[candidate as usize])
        }
    }
}
