//! What a picture is drawn from: lines if x is a number, groups of bars if it is a word.

use serde::Serialize;

/// One line, or the bars of one colour.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// Which of several pictures side by side; empty if there is one.
    pub panel: String,
    /// Whether this was published, else it is ours.
    pub published: bool,
    /// Below the picture.
    pub x_label: String,
    /// Beside the picture.
    pub y_label: String,
    /// Where it is at which x, in the order of the picture.
    pub points: Vec<(At, f64)>,
}

/// A place on the x axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum At {
    /// A number.
    Number(f64),
    /// A word, such as a program's name.
    Word(String),
}

impl Series {
    /// One of ours, without points, in the only picture.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        x_label: impl Into<String>,
        y_label: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            panel: String::new(),
            published: false,
            x_label: x_label.into(),
            y_label: y_label.into(),
            points: Vec::new(),
        }
    }

    /// One that was published.
    #[must_use]
    pub fn published(self) -> Self {
        Self { published: true, ..self }
    }

    /// In this one of several pictures.
    #[must_use]
    pub fn panel(self, panel: impl Into<String>) -> Self {
        Self { panel: panel.into(), ..self }
    }

    /// With one more point.
    #[must_use]
    pub fn point(mut self, x: impl Into<At>, y: f64) -> Self {
        self.points.push((x.into(), y));
        self
    }

    /// With more points.
    #[must_use]
    pub fn points<X: Into<At>>(mut self, points: impl IntoIterator<Item = (X, f64)>) -> Self {
        self.points.extend(points.into_iter().map(|(x, y)| (x.into(), y)));
        self
    }
}

impl From<f64> for At {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for At {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<&str> for At {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl From<String> for At {
    fn from(word: String) -> Self {
        Self::Word(word)
    }
}
