//! The outcome of a sweep as columns: a row for each point and tenant.

use super::Plan;
use super::vary::word;
use crate::scenario::{Outcome, TenantOutcome};
use toml::Value;

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name; of what varied, the path of its keys.
    pub name: String,
    /// A value for each row.
    pub cells: Cells,
}

/// Values of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Numbers; none where there is none.
    Numbers(Vec<Option<f64>>),
    /// Truth values.
    Truths(Vec<bool>),
    /// Texts.
    Texts(Vec<String>),
}

impl Cells {
    /// Values as the kind that all of them have; texts, if there is none.
    pub(crate) fn of(values: &[&Value]) -> Self {
        cells(values)
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Whole(all) => all.len(),
            Self::Numbers(all) => all.len(),
            Self::Truths(all) => all.len(),
            Self::Texts(all) => all.len(),
        }
    }
}

/// Outcomes of a plan's points, in their order.
#[must_use]
pub fn columns(plan: &Plan, outcomes: &[Outcome]) -> Vec<Column> {
    let rows: Vec<Row<'_>> = plan
        .points
        .iter()
        .zip(outcomes)
        .flat_map(|(point, outcome)| {
            outcome.tenants.iter().map(|tenant| Row { values: &point.values, outcome, tenant })
        })
        .collect();
    let mut all: Vec<Column> = (0..plan.keys.len())
        .map(|key| {
            let values: Vec<&Value> = rows.iter().map(|row| &row.values[key]).collect();
            Column { name: plan.keys[key].clone(), cells: cells(&values) }
        })
        .collect();
    all.extend(of_outcomes(&rows));
    all
}

struct Row<'a> {
    values: &'a [Value],
    outcome: &'a Outcome,
    tenant: &'a TenantOutcome,
}

fn of_outcomes(rows: &[Row<'_>]) -> Vec<Column> {
    let tiers = rows.iter().map(|row| row.outcome.busy.len()).max().unwrap_or(0);
    let column = |name: &str, cells: Cells| Column { name: name.to_owned(), cells };
    let texts = |of: for<'a> fn(&Row<'a>) -> &'a str| {
        Cells::Texts(rows.iter().map(|row| of(row).to_owned()).collect())
    };
    let whole = |of: fn(&Row<'_>) -> u64| {
        Cells::Whole(rows.iter().map(|row| i64::try_from(of(row)).unwrap_or(i64::MAX)).collect())
    };
    let numbers =
        |of: &dyn Fn(&Row<'_>) -> Option<f64>| Cells::Numbers(rows.iter().map(of).collect());
    let mut all = vec![
        column("system", texts(|row| &row.outcome.system)),
        column("tenant", texts(|row| &row.tenant.name)),
        column("counted_s", numbers(&|row| Some(row.outcome.seconds))),
        column("accesses", whole(|row| row.tenant.accesses)),
        column("accesses_per_s", numbers(&|row| Some(row.tenant.accesses_per_s))),
        column("ns_per_access", numbers(&|row| row.tenant.ns_per_access)),
        column("fast_share", numbers(&|row| Some(row.tenant.fast_share))),
        column("promoted_bytes", whole(|row| row.tenant.promoted)),
        column("demoted_bytes", whole(|row| row.tenant.demoted)),
        column("ended_s", numbers(&|row| row.tenant.ended_s)),
        column("kernel_cores", numbers(&|row| Some(row.outcome.kernel_cores))),
        column("stolen_cores", numbers(&|row| Some(row.outcome.stolen_cores))),
    ];
    for tier in 0..tiers {
        let busy = numbers(&|row| row.outcome.busy.get(tier).copied());
        all.push(column(&format!("tier_{tier}_busy_share"), busy));
    }
    all
}

/// Values as the kind that all of them have; texts, if there is none.
fn cells(values: &[&Value]) -> Cells {
    let number = |value: &Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
    let all = |values: Vec<Option<f64>>| values.iter().all(Option::is_some).then_some(values);
    if let Some(whole) = values.iter().map(|value| value.as_integer()).collect() {
        return Cells::Whole(whole);
    }
    if let Some(numbers) = all(values.iter().map(|value| number(value)).collect()) {
        return Cells::Numbers(numbers);
    }
    if let Some(truths) = values.iter().map(|value| value.as_bool()).collect() {
        return Cells::Truths(truths);
    }
    Cells::Texts(values.iter().map(|value| word(value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_kind_that_all_of_its_values_have() {
        let of = |values: &[Value]| cells(&values.iter().collect::<Vec<_>>());
        let (one, half) = (Value::Integer(1), Value::Float(0.5));
        let (yes, text) = (Value::Boolean(true), Value::String("1G".into()));
        assert_eq!(of(&[one.clone(), one.clone()]), Cells::Whole(vec![1, 1]));
        assert_eq!(of(&[one.clone(), half]), Cells::Numbers(vec![Some(1.0), Some(0.5)]));
        assert_eq!(of(&[yes.clone(), yes]), Cells::Truths(vec![true, true]));
        assert_eq!(of(&[one, text]), Cells::Texts(vec!["1".into(), "1G".into()]));
    }
}
