//! Dialogues of one rank, and of all ranks in a toy world.

mod dialogue;
mod schedules;
mod toy;
