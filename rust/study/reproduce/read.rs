//! Parser of a study's file. It uses the reader of scenarios, key by key, so that every error has
//! its line, its key and the expected value.

use super::file::{
    ClaimSection, Expected, QuickSection, RunSection, SeriesSection, StudyFile, TableSection,
    WhySection,
};
use crate::scenario::{ScenarioError, SectionReader, Source};

/// A section of a study.
trait Read: Sized {
    /// Takes the known keys from a reader, which is left with the unknown ones.
    fn read(keys: &mut SectionReader<'_>) -> Result<Self, ScenarioError>;
}

/// Reads a section, and rejects unknown keys.
fn read_section<T: Read>(mut keys: SectionReader<'_>) -> Result<T, ScenarioError> {
    let section = T::read(&mut keys)?;
    keys.finish()?;
    Ok(section)
}

/// Reads the sections of a list, such as `[[run]]`.
fn read_sections<T: Read>(
    keys: &mut SectionReader<'_>,
    name: &'static str,
) -> Result<Vec<T>, ScenarioError> {
    keys.sections(name)?.into_iter().map(read_section).collect()
}

impl StudyFile {
    /// Reads the sections of a text.
    ///
    /// # Errors
    /// Fails if a key is unknown or missing, or if its value has the wrong type.
    pub(super) fn read(source: &Source) -> Result<Self, ScenarioError> {
        let file: Self = read_section(SectionReader::new(source))?;
        if file.run.is_empty() {
            let example = "[[run]] and below it name = \"a\"";
            return Err(SectionReader::new(source).without_default("run", example));
        }
        Ok(file)
    }
}

impl Read for StudyFile {
    fn read(keys: &mut SectionReader<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            title: keys.optional("title")?.unwrap_or_default(),
            work: keys.optional("work")?.unwrap_or_default(),
            about: keys.optional("about")?.unwrap_or_default(),
            learned: keys.optional("learned")?.unwrap_or_default(),
            scenario: keys.table("scenario")?.unwrap_or_default(),
            run: read_sections(keys, "run")?,
            claim: read_sections(keys, "claim")?,
            table: read_sections(keys, "table")?,
            series: read_sections(keys, "series")?,
            why: read_sections(keys, "why")?,
        })
    }
}

impl Read for RunSection {
    fn read(keys: &mut SectionReader<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            name: keys.required("name", "name = \"all-to-all\"")?,
            set: keys.table("set")?.unwrap_or_default(),
            over: keys.table("over")?.unwrap_or_default(),
            zip: keys.table("zip")?.unwrap_or_default(),
            seeds: keys.optional("seeds")?.unwrap_or(1),
            rate: keys.optional("rate")?.unwrap_or_default(),
            quick: read_section(keys.section_or_empty("quick")?)?,
        })
    }
}

impl Read for QuickSection {
    fn read(keys: &mut SectionReader<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            set: keys.table("set")?.unwrap_or_default(),
            over: keys.table("over")?.unwrap_or_default(),
            seeds: keys.optional("seeds")?,
            skip: keys.optional("skip")?.unwrap_or_default(),
        })
    }
}

impl Read for ClaimSection {
    fn read(keys: &mut SectionReader<'_>) -> Result<Self, ScenarioError> {
        let origin = keys.optional("origin")?;
        Ok(Self {
            text: keys.required("text", "text = \"hashing takes longer than spraying\"")?,
            origin: origin
                .ok_or_else(|| keys.without_default("origin", "origin = \"expectation\""))?,
            target: keys.optional("target")?,
            source: keys.optional("source")?.unwrap_or_default(),
            run: keys.required("run", RUN)?,
            metric: keys.required("metric", METRIC)?,
            per: keys.optional("per")?,
            of: keys.table("of")?.unwrap_or_default(),
            against: keys.table("against")?,
            comparison: keys.optional("as")?,
            along: keys.optional("along")?,
            fit: keys.optional("fit")?,
            order: keys.list("order")?,
            slack: keys.optional("slack")?,
            take: keys.optional("take")?,
            seeds: keys.optional("seeds")?.unwrap_or_default(),
            expected: Expected::read(keys)?,
            cells: keys.tables("cells")?.unwrap_or_default(),
            scale: keys.optional("scale")?.unwrap_or_default(),
        })
    }
}

impl Read for Expected {
    fn read(keys: &mut SectionReader<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            published: keys.number_or_text("published")?,
            within: keys.optional("within")?,
            at_least: keys.optional("at_least")?,
            at_most: keys.optional("at_most")?,
            why: keys.optional("why")?,
        })
    }
}

impl Read for TableSection {
    fn read(keys: &mut SectionReader<'_>) -> Result<Self, ScenarioError> {
        Ok(Self {
            title: keys.required("title", TITLE)?,
            run: keys.required("run", RUN)?,
            metric: keys.required("metric", METRIC)?,
            rows: keys.required("rows", "rows = \"policy\"")?,
            columns: keys.optional("columns")?,
            of: keys.table("of")?.unwrap_or_default(),
            seeds: keys.optional("seeds")?.unwrap_or_default(),
        })
    }
}

impl Read for SeriesSection {
    fn read(keys: &mut SectionReader<'_>) -> Result<Self, ScenarioError> {
        let rows: Option<u32> = keys.optional("rows")?;
        Ok(Self {
            title: keys.required("title", TITLE)?,
            run: keys.required("run", RUN)?,
            metric: keys.required("metric", "metric = \"record.path_changes\"")?,
            columns: keys.required("columns", "columns = \"policy\"")?,
            of: keys.table("of")?.unwrap_or_default(),
            rows: rows.map_or(16, |rows| rows as usize),
        })
    }
}

impl Read for WhySection {
    fn read(keys: &mut SectionReader<'_>) -> Result<Self, ScenarioError> {
        let set = keys.table("set")?;
        Ok(Self {
            set: set.ok_or_else(|| keys.without_default("set", SET))?,
            label: keys.optional("label")?.unwrap_or_default(),
        })
    }
}

const SET: &str = "set = { \"switch.ties\" = \"port\" }";
const TITLE: &str = "title = \"Completion time\"";
const RUN: &str = "run = \"all-to-all\"";
const METRIC: &str = "metric = \"cct_us\"";
