//! JUnit XML, which continuous integration systems show as test results.
//!
//! Source: the schema of Jenkins' xUnit plugin, `junit-10.xsd`. Elements and attributes are those
//! that Jenkins, GitLab and GitHub Actions read.

use std::fmt::Write as _;

use super::output_file::OutputKind;
use crate::reproduce::{ClaimOutcome, ClaimVerdict, Reproduction};

/// Name of the outermost element, which marks the file.
const NAME: &str = "evenkeel";

/// The output of `--junit`.
pub const JUNIT: OutputKind = OutputKind {
    name: "a JUnit file",
    is_own: |start| {
        let text = String::from_utf8_lossy(start);
        text.contains(&format!("<testsuites name=\"{NAME}\""))
    },
};

/// Test cases of a comparison or a study.
#[derive(Debug, Clone, PartialEq)]
pub struct JunitSuite {
    /// Name of the scenario or study.
    pub name: String,
    /// Wall time of all simulations, seconds.
    pub wall_s: f64,
    /// Test cases in their order.
    pub cases: Vec<JunitCase>,
}

/// A test case.
#[derive(Debug, Clone, PartialEq)]
pub struct JunitCase {
    /// The condition.
    pub name: String,
    /// Whether it holds.
    pub result: JunitResult,
    /// Measured value; empty without one.
    pub output: String,
}

/// Result of a test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JunitResult {
    /// The condition holds.
    Passed,
    /// The condition does not hold, for this reason.
    Failed(String),
    /// The condition was not judged, for this reason.
    Skipped(String),
}

impl JunitSuite {
    /// Returns the claims of a study as test cases.
    pub fn of_study(study: &Reproduction) -> Self {
        let cases = study.claims.iter().map(of_claim).collect();
        Self { name: study.study.clone(), wall_s: study.wall_s, cases }
    }

    fn count(&self, counts: fn(&JunitResult) -> bool) -> usize {
        self.cases.iter().filter(|case| counts(&case.result)).count()
    }
}

fn of_claim(claim: &ClaimOutcome) -> JunitCase {
    let ClaimOutcome { published, ours, error, why, verdict, .. } = claim;
    let values = [("theirs", published), ("ours", ours), ("off", error)];
    let values = values.into_iter().filter(|(_, value)| !value.is_empty());
    let values: Vec<String> = values.map(|(name, value)| format!("{name} {value}")).collect();
    let output = values.join(", ");
    let result = match verdict {
        ClaimVerdict::Holds => JunitResult::Passed,
        ClaimVerdict::NotAtThisScale => JunitResult::Skipped(verdict.description().to_owned()),
        _ if claim.fails_strictly() => {
            JunitResult::Failed(format!("{}: {why} ({output})", verdict.description()))
        }
        _ => JunitResult::Skipped(format!("{}: {why}", verdict.description())),
    };
    JunitCase { name: claim.full_name(), result, output }
}

fn is_failed(result: &JunitResult) -> bool {
    matches!(result, JunitResult::Failed(_))
}

fn is_skipped(result: &JunitResult) -> bool {
    matches!(result, JunitResult::Skipped(_))
}

/// Returns the suites as a JUnit file.
pub fn junit(suites: &[JunitSuite]) -> String {
    let sum = |of: &dyn Fn(&JunitSuite) -> usize| suites.iter().map(of).sum::<usize>();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"{NAME}\" tests=\"{}\" failures=\"{}\" time=\"{:.3}\">\n",
        sum(&|suite| suite.cases.len()),
        sum(&|suite| suite.count(is_failed)),
        suites.iter().map(|suite| suite.wall_s).sum::<f64>()
    );
    suites.iter().for_each(|suite| add(&mut text, suite));
    text + "</testsuites>\n"
}

fn add(text: &mut String, suite: &JunitSuite) {
    let name = escaped(&suite.name);
    writeln!(
        text,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" \
         time=\"{:.3}\">",
        suite.cases.len(),
        suite.count(is_failed),
        suite.count(is_skipped),
        suite.wall_s
    )
    .expect("a text");
    for case in &suite.cases {
        write!(text, "    <testcase classname=\"{name}\" name=\"{}\">", escaped(&case.name))
            .expect("a text");
        match &case.result {
            JunitResult::Passed => {}
            JunitResult::Failed(why) => {
                let why = escaped(why);
                write!(text, "<failure message=\"{why}\">{why}</failure>").expect("a text");
            }
            JunitResult::Skipped(why) => {
                write!(text, "<skipped message=\"{}\"/>", escaped(why)).expect("a text");
            }
        }
        if !case.output.is_empty() {
            write!(text, "<system-out>{}</system-out>", escaped(&case.output)).expect("a text");
        }
        text.push_str("</testcase>\n");
    }
    text.push_str("  </testsuite>\n");
}

/// Escapes a text for attributes and elements. Characters that XML 1.0 cannot hold are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' | '\r' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control < ' ' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn claims_that_do_not_hold_fail_and_those_without_a_criterion_are_skipped() {
        let text = junit(&[JunitSuite::of_study(&sample::reproduction())]);
        let head = "<testsuites name=\"evenkeel\" tests=\"4\" failures=\"1\" time=\"12.500\">";
        assert!(text.contains(head), "{text}");
        assert!(text.contains("failures=\"1\" errors=\"0\" skipped=\"2\""), "{text}");
        let failed = "<failure message=\"does not hold: the switches of the artifact use a dead";
        assert!(text.contains(failed), "{text}");
        let skipped = "name=\"routing helps\"><skipped message=\"not at this scale\"/>";
        assert!(text.contains(skipped), "{text}");
        assert!((JUNIT.is_own)(text.as_bytes()) && !(JUNIT.is_own)(b"<testsuites name=\"a\">"));
    }

    #[test]
    fn texts_are_escaped() {
        let case = JunitCase {
            name: "a.cct_us < 3 & \"b\"\n\u{1b}".to_owned(),
            result: JunitResult::Failed("x > y".to_owned()),
            output: String::new(),
        };
        let suite = JunitSuite { name: "<s>".to_owned(), wall_s: 0.0, cases: vec![case] };
        let text = junit(&[suite]);
        assert!(text.contains("name=\"a.cct_us &lt; 3 &amp; &quot;b&quot; \u{fffd}\""), "{text}");
        assert!(text.contains("<failure message=\"x &gt; y\">x &gt; y</failure>"), "{text}");
        assert!(text.contains("<testsuite name=\"&lt;s&gt;\""), "{text}");
    }
}
