//! The receiver's part in the window: penalty and restore.
//!
//! Source: the state of congestion control in each SACK of MRC (OCP 1.0, 2026), which is that of
//! NSCC in Ultra Ethernet 1.0, by public notes on both. On the first penalty the window is saved
//! and cut to the bytes in flight; each acknowledgement with penalty p takes p/128 of the bytes
//! that it is the first to acknowledge, down to one packet; increases wait; the restore flag
//! brings the saved window back. So p = 64 in each acknowledgement of a round trip halves it.
//!
//! \[inferred\]: bytes in flight are those before the acknowledgement that has the penalty; an
//! increase that has to wait is not made up for; an acknowledgement that has both restores.

use super::Nscc;
use crate::nic::congestion::AckSample;

impl Nscc {
    /// Does what the receiver asks for in an acknowledgement of `acked` bytes.
    pub(super) fn heed(&mut self, sample: AckSample, acked: u64) {
        let asked = sample.receiver;
        if asked.restore {
            if let Some(saved) = self.state.saved.take() {
                self.window = saved;
                self.limit();
            }
            return;
        }
        if asked.penalty == 0 {
            return;
        }
        if self.state.saved.is_none() {
            self.state.saved = Some(self.window);
            (self.state.pending, self.state.received) = (0.0, 0);
            self.window = self.window.min(sample.in_flight.saturating_add(acked) as f64);
        }
        self.window -= f64::from(asked.penalty.min(127)) * acked as f64 / 128.0;
        self.limit();
    }
}
