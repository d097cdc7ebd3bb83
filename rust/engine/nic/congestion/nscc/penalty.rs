//! The receiver's influence on the window: penalty and restore.
//!
//! Source: the congestion-control state in each SACK of MRC (OCP 1.0, 2026), which is that of NSCC
//! in Ultra Ethernet 1.0, by public notes on both. The first penalty saves the window and cuts it
//! to the bytes in flight. Each acknowledgement with penalty p takes off p/128 of the bytes that it
//! is the first to cover, down to one packet. Increases are suspended. The restore flag brings back
//! the saved window. So p = 64 in every acknowledgement of a round trip halves the window.
//!
//! \[inferred\]: bytes in flight are those before the acknowledgement with the penalty. Suspended
//! increases are not made up for. An acknowledgement with both flags restores.

use super::Nscc;
use crate::nic::congestion::AckSample;

impl Nscc {
    /// Applies the receiver's request in an acknowledgement of `acked` bytes.
    pub(super) fn apply_receiver_request(&mut self, sample: AckSample, acked: u64) {
        let request = sample.receiver;
        // Without a saved window there is nothing to restore: the flag may be repeated.
        if request.restore {
            if let Some(saved) = self.state.saved.take() {
                self.window = saved;
                self.limit();
            }
            return;
        }
        if request.penalty == 0 {
            return;
        }
        if self.state.saved.is_none() {
            self.state.saved = Some(self.window);
            // Pending increases belong to the window before the penalty.
            (self.state.pending, self.state.received) = (0.0, 0);
            self.window = self.window.min(sample.in_flight.saturating_add(acked) as f64);
        }
        // The field has 7 bits: a larger value is not valid.
        self.window -= f64::from(request.penalty.min(127)) * acked as f64 / 128.0;
        self.limit();
    }
}
