//! Tests of the contract.
