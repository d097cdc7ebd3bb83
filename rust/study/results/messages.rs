//! Messages of a run, from the rows of their pieces in `flows.csv`.

use std::collections::BTreeMap;

use super::{ResultsError, Table};

/// A message with all its pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Name of the sender.
    pub src: String,
    /// Name of the receiver.
    pub dst: String,
    /// Bytes of all pieces.
    pub bytes: f64,
    /// Time at which the first piece was posted, in nanoseconds.
    pub start_ns: f64,
    /// Time from `start_ns` until the last piece was acknowledged; `None` if it was not.
    pub fct_ns: Option<f64>,
}

/// Returns the messages of `flows.csv`, in order of their numbers.
pub(super) fn read(flows: &Table) -> Result<Vec<Message>, ResultsError> {
    let columns = ["message", "src", "dst", "bytes", "start_ns", "completed_ns"];
    let [message, src, dst, bytes, start, completed] = flows.indices(columns)?;
    let mut messages: BTreeMap<u64, (Message, Option<f64>)> = BTreeMap::new();
    for row in 0..flows.len() {
        let number = flows.number(row, message)? as u64;
        let (bytes, start) = (flows.number(row, bytes)?, flows.number(row, start)?);
        let ended = flows.optional_number(row, completed)?;
        let entry = messages.entry(number).or_insert_with(|| {
            let (src, dst) = (flows.text(row, src).to_owned(), flows.text(row, dst).to_owned());
            let message = Message { src, dst, bytes: 0.0, start_ns: start, fct_ns: None };
            (message, Some(0.0))
        });
        entry.0.bytes += bytes;
        entry.0.start_ns = entry.0.start_ns.min(start);
        entry.1 = entry.1.zip(ended).map(|(a, b)| a.max(b));
    }
    let whole = |(message, ended): (Message, Option<f64>)| {
        let fct_ns = ended.map(|ended| ended - message.start_ns);
        Message { fct_ns, ..message }
    };
    Ok(messages.into_values().map(whole).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_with_its_last_piece() {
        let text = "message,piece,src,dst,bytes,start_ns,completed_ns\n\
                    0,0,a,b,10,5.0,20.0\n0,1,a,b,30,5.0,25.5\n1,0,b,a,10,7.0,\n";
        let messages = read(&Table::parse("flows.csv", text).unwrap()).unwrap();
        assert_eq!((messages[0].bytes, messages[0].fct_ns), (40.0, Some(20.5)));
        assert_eq!(messages[1].fct_ns, None);
    }
}
