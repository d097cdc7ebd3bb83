//! Congestion controls: trajectories of each alone, and what they do to a bottleneck in the fabric.

mod bottleneck;
mod trajectory;

use evenkeel::nic::congestion::{
    CongestionControl, Presets, dcqcn, dcqcn_mlx, dctcp_rate, dctcp_window, line_rate, nscc, swift,
};

/// A control by the name and the preset that a scenario would give.
fn control(name: &str, preset: &str) -> CongestionControl {
    match name {
        "line-rate" => CongestionControl::LineRate(line_rate::Config::default()),
        "dcqcn" => CongestionControl::Dcqcn(config::<dcqcn::Config>(preset)),
        "dcqcn-mlx" => CongestionControl::DcqcnMlx(config::<dcqcn_mlx::Config>(preset)),
        "dctcp-rate" => CongestionControl::DctcpRate(config::<dctcp_rate::Config>(preset)),
        "dctcp-window" => CongestionControl::DctcpWindow(dctcp_window::Config::default()),
        "nscc" => CongestionControl::Nscc(config::<nscc::Config>(preset)),
        "swift" => CongestionControl::Swift(swift::Config::default()),
        _ => panic!("no control is called {name}"),
    }
}

fn config<C: Presets>(preset: &str) -> C {
    let found = C::PRESETS.iter().find(|it| it.name == preset).expect("a preset of that name");
    (found.config)()
}
