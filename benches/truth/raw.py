"""What a recording's tables say by themselves, without our replay: the memory for a share of the misses,
units ranked ideally or by what was sampled."""

import collections
import json

import duckdb

PAGE = 4096
SHARE = 29 / 30  # of the misses: what keeps a slowdown of 150 % below 5 %
HEAT = """
select h.epoch, h.unit, e.length_s, h.pages, h.rate, {traffic}, {leads}
from '{name}/heat-*.parquet' h join '{name}/epochs-*.parquet' e using (epoch)
where h.epoch >= {skip}
"""
NAMES = """
select u.unit, u.index, a.kind, a.name, a.pid
from '{name}/units-*.parquet' u
join (select object, first(kind) as kind, first(name) as name, first(pid) as pid,
        bool_and(kind = 'file') as file, bool_or(kind = 'shared') as shared
      from '{name}/areas-*.parquet' group by object) a using (object)
"""


class Tables:
    """Per unit: resident pages, and sums over the epochs in two halves."""

    def __init__(self, name, skip=0):
        columns = {row[0] for row in duckdb.sql(f"describe select * from '{name}/heat-*.parquet'").fetchall()}
        has = "traffic" in columns
        words = {"traffic": "coalesce(h.traffic, h.rate)" if has else "h.rate", "leads": "h.leads" if has else "null"}
        rows = duckdb.sql(HEAT.format(name=name, skip=skip, **words)).fetchall()
        epochs = sorted({row[0] for row in rows})
        self.epochs = len(epochs)
        middle = epochs[len(epochs) // 2] if epochs else 0
        self.pages = collections.defaultdict(int)
        # By half: what to rank by, what to charge, and leads.
        self.rate, self.traffic, self.leads = ([collections.Counter(), collections.Counter()] for _ in range(3))
        for epoch, unit, length, pages, rate, traffic, leads in rows:
            half = int(epoch >= middle)
            self.pages[unit] = max(self.pages[unit], pages)
            self.rate[half][unit] += rate * length
            self.traffic[half][unit] += traffic * length
            self.leads[half][unit] += (leads or 0) * length
        self.name = name

    def places(self):
        """What each unit is, in words that another recording of the same run shares."""
        found = {}
        for unit, index, kind, name, pid in duckdb.sql(NAMES.format(name=self.name)).fetchall():
            # An index of an address space is an address; those of files and shared memory are small.
            owner = pid if index * (2 << 20) > 1 << 37 or index > 1 << 20 else (kind, name)
            found[unit] = (owner, index)
        return found


def total(halves):
    return halves[0] + halves[1]


def need(rank, charge, pages, share=SHARE):
    """Bytes of the units with the highest rank per page that get this share of what is charged."""
    order = sorted(pages, key=lambda unit: -rank[unit] / max(pages[unit], 1))
    goal, got, size = share * sum(charge.values()), 0.0, 0
    if goal <= 0:
        return None
    for unit in order:
        got += charge[unit]
        size += pages[unit] * PAGE
        if got >= goal:
            break
    return size


def exact(tables):
    """Needs by lines and by leads, each ranked by itself."""
    lines, leads = total(tables.traffic), total(tables.leads)
    return {
        "lines": need(lines, lines, tables.pages),
        "leads": need(leads, leads, tables.pages),
        "misses": sum(lines.values()),
    }


def sampled(tables):
    """Needs by what was sampled: charged as ranked, by rate and charged by traffic, and halves crossed."""
    rate, traffic = total(tables.rate), total(tables.traffic)
    ahead = need(tables.rate[0], tables.traffic[1], tables.pages)
    back = need(tables.rate[1], tables.traffic[0], tables.pages)
    return {
        "self": need(traffic, traffic, tables.pages),
        "by_rate": need(rate, traffic, tables.pages),
        "halves": ahead,
        "crossed": (ahead + back) // 2 if ahead and back else None,
        "misses": sum(traffic.values()),
    }


def ordered(tables, truth):
    """The memory that the sampled order needs, charged with the exact misses: how good the order is."""
    rate, places = total(tables.rate), tables.places()
    known = {places[unit]: rate[unit] / max(tables.pages[unit], 1) for unit in tables.pages if unit in places}
    where = truth.places()
    rank = {unit: known.get(where.get(unit), 0.0) * truth.pages[unit] for unit in truth.pages}
    return need(collections.Counter(rank), total(truth.traffic), truth.pages)


def skip_of(plan):
    """Epochs that the plan left out as warm-up."""
    return plan["warm_up"]["epochs"] if plan else 0


def answers(exact_name, exact_plan, sampled_name, sampled_plan):
    """All of it for one run; without an exact recording, the sampled part."""
    tables = Tables(sampled_name, skip_of(sampled_plan))
    found = {"sampled": sampled(tables)}
    if exact_name:
        truth = Tables(exact_name, skip_of(exact_plan))
        found |= {"exact": exact(truth), "order": ordered(tables, truth)}
    return found


def show(found):
    """One line of JSON with sizes in MiB."""
    def mib(key, value):
        if isinstance(value, dict):
            return {k: mib(k, v) for k, v in value.items()}
        return value if value is None or key == "misses" else round(value / 2**20, 1)
    return json.dumps(mib("", found))
