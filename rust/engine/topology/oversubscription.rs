//! The oversubscription of a fabric: host bandwidth per unit of fabric bandwidth.

use super::{Node, Topology};
use crate::ids::SwitchId;
use crate::topology::capacity::gcd;
use crate::units::Fraction;

impl Topology {
    /// Returns the product, over all tiers, of the largest ratio of downlink to uplink rate.
    ///
    /// The result is at least 1. It is 1 if no switch has uplinks, as in a torus.
    pub fn oversubscription(&self) -> Fraction {
        let tiers = self.switches().iter().map(|it| it.tier).max().unwrap_or(0);
        let product = (0..=tiers).map(|tier| self.largest_ratio(tier)).fold((1, 1), |a, b| {
            let (above, below) = (a.0 * b.0, a.1 * b.1);
            let common = gcd(above, below);
            (above / common, below / common)
        });
        let [above, below] = [product.0, product.1].map(|it| u32::try_from(it).ok());
        above
            .zip(below)
            .and_then(|(above, below)| Fraction::new(above, below))
            .unwrap_or(Fraction::ONE)
    }

    /// Returns the largest ratio among the switches of a tier, reduced; 1 if none exceeds 1.
    fn largest_ratio(&self, tier: u8) -> (u128, u128) {
        let of_tier = (0..).map(SwitchId).zip(self.switches()).filter(|(_, it)| it.tier == tier);
        let ratios =
            of_tier.filter_map(|(id, _)| self.ratio(id, tier)).filter(|(down, up)| down > up);
        let largest = ratios.max_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1))).unwrap_or((1, 1));
        let common = gcd(largest.0, largest.1);
        (largest.0 / common, largest.1 / common)
    }

    /// Returns the total rates of a switch's downlinks and uplinks in bits per second, or `None`
    /// without uplinks.
    fn ratio(&self, switch: SwitchId, tier: u8) -> Option<(u128, u128)> {
        let (mut down, mut up) = (0, 0);
        for &port in self.ports_of(switch) {
            let rate = u128::from(self.link(port.link()).rate.as_bps());
            match self.ends_of(port).1 {
                Node::Host(_) => down += rate,
                Node::Switch(other) => match self.switches()[other.index()].tier.cmp(&tier) {
                    std::cmp::Ordering::Less => down += rate,
                    std::cmp::Ordering::Greater => up += rate,
                    std::cmp::Ordering::Equal => {}
                },
            }
        }
        (up > 0).then_some((down, up))
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::LeafSpine;
    use crate::units::{BitRate, Fraction, Span};

    #[test]
    fn oversubscription_is_set_by_the_leaves_and_at_least_one() {
        let of = |hosts_per_leaf, gbps| {
            let shape = LeafSpine {
                leaves: 2,
                spines: 4,
                hosts_per_leaf,
                host_rate: BitRate::from_gbps(gbps),
                fabric_rate: BitRate::from_gbps(100),
                delay: Span::ZERO,
                parallel_links: 1,
            };
            shape.build().unwrap().oversubscription()
        };
        let fraction = |above, below| Fraction::new(above, below).unwrap();
        assert_eq!(of(4, 100), Fraction::ONE);
        assert_eq!(
            (of(8, 100), of(6, 200), of(2, 100)),
            (fraction(2, 1), fraction(3, 1), Fraction::ONE)
        );
    }
}
