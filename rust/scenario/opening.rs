//! Opens scenarios from files and streams.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::environment::{Environment, reject_rails};
use super::file::{Fabric, ScenarioFile};
use super::input::error::ScenarioError;
use super::input::located::Key;
use super::input::overrides::Overrides;
use super::input::source::Source;
use super::rails::RailScenario;
use super::resolved::{Scenario, WrittenFile};
use crate::text_file::{MAX_DESCRIPTION_BYTES, read_description, text_of};

/// The text of a scenario. It is read only once, because a file may change and a pipe is empty the
/// second time.
#[derive(Debug, Clone)]
pub struct ScenarioText {
    text: String,
    path: PathBuf,
}

impl ScenarioText {
    /// Takes a text that was read already, as if it were the file `path`.
    pub fn new(text: String, path: PathBuf) -> Self {
        Self { text, path }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is too long.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        Ok(Self { text: read(path)?, path: path.to_owned() })
    }

    /// Reads standard input or another stream, called `name` in errors. Paths in it are relative to
    /// the working directory.
    ///
    /// # Errors
    /// As [`ScenarioText::read`].
    pub fn from_reader(from: impl Read, name: &str) -> Result<Self, ScenarioError> {
        let text = text_of(from, MAX_DESCRIPTION_BYTES);
        let text = text.map_err(|reason| ScenarioError::unreadable(name.to_owned(), reason))?;
        Ok(Self { text, path: PathBuf::from(format!("{name}.toml")) })
    }

    /// True if the text has `[[rail]]` sections; resolve it by [`Self::with_rails`] then.
    pub fn has_rails(&self) -> bool {
        RailScenario::is_in_text(&self.text)
    }

    /// True if the text has `[[run]]` sections, so it is a study.
    pub fn is_study(&self) -> bool {
        toml::de::DeTable::parse(&self.text).is_ok_and(|it| it.get_ref().contains_key("run"))
    }

    /// Returns the text and the path of its file.
    pub fn into_parts(self) -> (String, PathBuf) {
        (self.text, self.path)
    }

    /// Resolves the text.
    ///
    /// # Errors
    /// Fails if the text, a file that it names, or an override is invalid.
    pub fn scenario(self, overrides: &Overrides) -> Result<Scenario, ScenarioError> {
        Scenario::resolve(self.text, &self.path, overrides, None)
    }

    /// Resolves a scenario with rails.
    ///
    /// # Errors
    /// Fails if the text or an override is invalid.
    pub fn with_rails(self, overrides: &Overrides) -> Result<RailScenario, ScenarioError> {
        RailScenario::parse(self.text, &self.path, overrides)
    }

    /// Resolves the text for a program that sends the messages itself.
    ///
    /// Its `[workload]` and `[[job]]` are checked as far as the file allows and then ignored with a
    /// warning.
    ///
    /// # Errors
    /// As [`Self::scenario`].
    pub fn without_messages(self, overrides: &Overrides) -> Result<Scenario, ScenarioError> {
        let Self { text, path } = self;
        let source = Source::read(text, path.display().to_string())?;
        let source = source.with(&overrides.settings)?;
        reject_rails(&source)?;
        let mut file = ScenarioFile::read(&source, Fabric::Described)?;
        (file.workload, file.job) = (None, Vec::new());
        let sections = ["workload", "job"].into_iter();
        let unused = sections.filter(|name| source.has(&Key::ROOT.child(name)));
        let unused = unused.map(|name| {
            let file = path.display();
            format!("{file}: [{name}] is not used: another program sends the messages")
        });
        let unused: Vec<String> = unused.collect();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let origin = Arc::new(WrittenFile { source, file, folder });
        let mut file = origin.file.clone();
        file.apply(overrides);
        let environment = Environment::new(None, overrides);
        let mut scenario = Scenario::resolve_file(&path, origin, file, environment)?;
        scenario.warnings.extend(unused);
        Ok(scenario)
    }
}

impl Scenario {
    /// Reads and resolves a scenario file.
    ///
    /// # Errors
    /// Fails if the file, a file that it names, or an override is invalid.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, ScenarioError> {
        ScenarioText::read(path)?.scenario(overrides)
    }

    /// Reads and resolves a scenario from standard input or another stream, called `name` in
    /// errors. Its paths are relative to the working directory.
    ///
    /// # Errors
    /// As [`Scenario::load`], and if the stream cannot be read or is too long.
    pub fn from_reader(
        from: impl Read,
        name: &str,
        overrides: &Overrides,
    ) -> Result<Self, ScenarioError> {
        ScenarioText::from_reader(from, name)?.scenario(overrides)
    }

    /// Reads a scenario for a program that sends the messages itself, as
    /// [`ScenarioText::without_messages`] does.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn load_without_messages(
        path: &Path,
        overrides: &Overrides,
    ) -> Result<Self, ScenarioError> {
        ScenarioText::read(path)?.without_messages(overrides)
    }
}

/// Reads the text of a file.
fn read(path: &Path) -> Result<String, ScenarioError> {
    let file = path.display().to_string();
    read_description(path).map_err(|reason| ScenarioError::unreadable(file, reason))
}
