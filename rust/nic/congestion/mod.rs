//! Congestion control: one file each, chosen by name.

pub mod dcqcn;
pub mod dcqcn_mlx;
pub mod dctcp_rate;

use serde::Serialize;

/// A congestion control and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionControl {
    /// Always line rate.
    LineRate,
    /// DCQCN in its authors' form, with congestion notification packets.
    Dcqcn(dcqcn::Config),
    /// DCQCN as ConnectX NICs do it, driven by flags in acknowledgements.
    DcqcnMlx(dcqcn_mlx::Config),
    /// DCTCP by rate.
    DctcpRate(dctcp_rate::Config),
}
