//! What a policy told of its decisions at one capacity, in columns, ready to be drawn.

use crate::Told;
use pagetide_policy::FigureInfo;
use pagetide_types::Bytes;
use serde::Serialize;

/// Most decisions whose figures are kept; of more, every n-th is.
const MOST: usize = 512;

/// What a policy told of its decisions at one capacity.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decisions {
    /// The fast memory that it had.
    pub fast_bytes: Bytes,
    /// What it chose, and every change of that; empty if it chooses nothing.
    pub choices: Vec<Choice>,
    /// Epochs of the recording at whose end it decided; thinned out evenly if there are many.
    pub epochs: Vec<usize>,
    /// Its figures in these epochs.
    pub figures: Vec<Figure>,
}

/// What a policy follows from the end of an epoch on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Position in the recording.
    pub epoch: usize,
    /// Its name.
    pub choice: String,
}

/// One figure over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// One value for every entry of [`Decisions::epochs`].
    pub values: Vec<f64>,
}

impl Decisions {
    /// Those with the fast memory nearest to `fast`; none if nothing was told.
    pub(crate) fn near(told: &[Told], infos: &[FigureInfo], fast: Bytes) -> Option<Self> {
        let told = told.iter().min_by_key(|told| told.capacity.0.abs_diff(fast.0))?;
        let mut choices: Vec<Choice> = Vec::new();
        for (epoch, one) in &told.decisions {
            if let Some(choice) =
                one.choice.filter(|now| choices.last().is_none_or(|last| last.choice != *now))
            {
                choices.push(Choice { epoch: *epoch, choice: choice.to_owned() });
            }
        }
        let kept = || told.decisions.iter().step_by(told.decisions.len().div_ceil(MOST).max(1));
        let figure = |(i, info): (usize, &FigureInfo)| Figure {
            name: info.name.to_owned(),
            about: info.summary.to_owned(),
            values: kept().map(|(_, one)| one.figures.get(i).copied().unwrap_or(0.0)).collect(),
        };
        Some(Self {
            fast_bytes: told.capacity,
            choices,
            epochs: kept().map(|(epoch, _)| *epoch).collect(),
            figures: infos.iter().enumerate().map(figure).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_policy::Observation;

    #[test]
    fn the_nearest_capacity_is_taken_and_changes_of_choice_are_all_kept() {
        let names = ["lru", "lfu"];
        let one = |epoch: usize| {
            let choice = Some(names[epoch / 3 % 2]);
            (epoch, Observation { choice, figures: vec![epoch as f64] })
        };
        let told = [8u16, 64].map(|mib| Told {
            capacity: Bytes::mib(mib.into()),
            decisions: (0..usize::from(mib) * 100).map(one).collect(),
        });
        let infos = [FigureInfo { name: "number", summary: "the number of the epoch" }];
        let few = Decisions::near(&told[..1], &infos, Bytes::gib(1)).unwrap();
        assert_eq!(few.fast_bytes, Bytes::mib(8));
        let found = Decisions::near(&told, &infos, Bytes::mib(40)).unwrap();
        assert_eq!((found.fast_bytes, found.choices.len()), (Bytes::mib(64), 2134));
        assert_eq!(found.choices[2], Choice { epoch: 6, choice: "lru".into() });
        // 6400 decisions: every 13th.
        assert_eq!((found.epochs.len(), found.epochs[2]), (493, 26));
        assert_eq!((found.figures[0].name.as_str(), found.figures[0].values[2]), ("number", 26.0));
        assert_eq!(Decisions::near(&[], &infos, Bytes(0)), None);
    }
}
