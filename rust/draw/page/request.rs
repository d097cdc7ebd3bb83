//! The file of a page: `evenkeel report`.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{PageText, is_page, page, shell_words};
use crate::plot::{self, Request};
use crate::report::{OutputError, OutputKind, write_output};
use crate::results::{Results, ResultsError};

/// Kind of file that a page may replace.
const PAGE: OutputKind = OutputKind { name: "a page", is_own: is_page };

/// A page of results that is to be written.
#[derive(Debug, Clone)]
pub struct PageRequest<'a> {
    /// Folders of results, or tables of studies.
    pub results: &'a [PathBuf],
    /// The file of the page. Only an earlier page is replaced.
    pub out: &'a Path,
    /// The question that the results answer; generated from the results if `None`.
    pub question: Option<&'a str>,
    /// The metric of the answer and of the charts.
    pub metric: &'a str,
    /// A temporary folder with results, and the name that commands of the page show instead.
    pub temporary: Option<(&'a Path, &'a str)>,
}

/// A page that was written.
#[derive(Debug, Clone)]
pub struct WrittenPage {
    /// Size of the file.
    pub bytes: usize,
    /// Reasons why figures were left out.
    pub notes: Vec<String>,
}

/// Reason why a page is not written.
#[derive(Debug, Error)]
pub enum PageError {
    /// Results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The file cannot be written.
    #[error("--out {0}")]
    NotWritten(#[from] OutputError),
}

impl PageRequest<'_> {
    /// Reads the results and writes their page.
    ///
    /// # Errors
    /// Fails if results are missing or invalid, or if the file cannot be written.
    pub fn write(&self) -> Result<WrittenPage, PageError> {
        let results = self.results.iter().map(|path| Results::open(path));
        let results = results.collect::<Result<Vec<_>, _>>()?;
        let request = Request { metric: self.metric.to_owned(), ..Request::default() };
        let (figures, notes) = plot::figures(&results, &request)?;
        let text = PageText {
            question: self.question.map(str::to_owned),
            command: self.command(),
            reproduce: None,
            metric: Some(self.metric.to_owned()),
        };
        let mut html = page(&results, &figures, &text)?;
        if let Some((folder, shown)) = self.temporary {
            html = html.replace(&folder.display().to_string(), shown);
        }
        write_output(self.out, &PAGE, html.as_bytes())?;
        Ok(WrittenPage { bytes: html.len(), notes })
    }

    /// Returns the command that writes the same page.
    fn command(&self) -> String {
        let mut words = vec!["evenkeel".to_owned(), "report".to_owned()];
        words.extend(self.results.iter().map(|path| path.display().to_string()));
        words.extend(["--out".to_owned(), self.out.display().to_string()]);
        if let Some(question) = self.question {
            words.extend(["--question".to_owned(), question.to_owned()]);
        }
        if self.metric != "cct_ns" {
            words.extend(["--metric".to_owned(), self.metric.to_owned()]);
        }
        shell_words(&words)
    }
}
