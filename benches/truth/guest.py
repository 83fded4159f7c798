"""Cuts a recording of an emulated program to the program's own memory: the emulator's code, tables and
libraries lie in the same address space and are no part of what is compared."""

import json

import duckdb

from truth.target import GUEST_END

UNIT = {"2M": 2 << 20, "4K": 4 << 10}
OPTIONAL = {"traffic", "accesses", "leads", "writes", "stall_share"}
# The same of columns that are true, false or nothing.
PERHAPS = {"mapped"}
# Units with heat (a process may end before its first): of address spaces below the bound; of shared memory
# but the plugin's; of files that the exact recording knows. The emulator's own files are known by nothing else.
KEPT = """
create table objects as
select object, bool_or(kind in ('anonymous', 'heap', 'stack')) as space,
  bool_or(kind = 'shared' and name not like '/dev/shm/pagetide-%') as shared,
  bool_or(kind = 'file' and name in {names}) as known
from '{source}/areas-*.parquet' group by object;
create table kept as
select unit, object, index, row_number() over (order by unit) - 1 as number
from '{source}/units-*.parquet' join objects using (object)
where unit in (select unit from '{source}/heat-*.parquet')
  and case when space then index < {bound} else shared or known end
"""
HEAT = """
select epoch, k.number::uinteger as unit, h.* exclude (epoch, unit)
from '{source}/heat-*.parquet' h join kept k using (unit) order by k.number, epoch
"""
UNITS = "select number::uinteger as unit, object, index from kept order by number"
AREAS = "select * from '{source}/areas-*.parquet' where object in (select object from kept)"
EPOCHS = """
select e.* exclude (live_units, new_units, new_areas),
  (select count(*) from heat h where h.epoch = e.epoch)::uinteger as live_units,
  (select count(*) from (select min(epoch) as born from heat group by unit) where born = e.epoch)::uinteger as new_units,
  (select count(*) from areas a where a.since = e.epoch)::uinteger as new_areas
from '{source}/epochs-*.parquet' e order by epoch
"""


def files_of(recording):
    """Names of the files that a recording knows."""
    query = f"select distinct name from '{recording}/areas-*.parquet' where kind = 'file'"
    return [name for (name,) in duckdb.sql(query).fetchall()]


def optional(db, name):
    """The table as a query. DuckDB makes a column required in Parquet if it sees no null in it, and our
    reader wants those optional that may have some: a null that is never there keeps them so."""
    columns = [row[0] for row in db.execute(f"describe {name}").fetchall()]
    marked = [f"nullif({each}, -1) as {each}" for each in columns if each in OPTIONAL]
    marked += [f"nullif({each}::int, -1)::boolean as {each}" for each in columns if each in PERHAPS]
    return f"select * replace ({', '.join(marked)}) from {name}" if marked else f"from {name}"


def cut(source, target, exact=None, began=False):
    """Writes the part of `source` that is the program's own as the recording `target`. `exact` is a
    recording of the same run that names the program's files; `began`: the recorder was there from the start."""
    header = json.loads((source / "recording.json").read_text(encoding="utf-8"))
    if began and header["schema_version"] >= 2:
        header["began_with_target"] = True
    unit = UNIT[header["unit"]]
    names = files_of(exact) if exact else []
    quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in ["", *names])
    words = {"source": source, "bound": GUEST_END // unit, "names": f"({quoted})"}
    target.mkdir(mode=0o700)
    with duckdb.connect() as db:
        db.execute(KEPT.format(**words))
        for name, query in (("heat", HEAT), ("units", UNITS), ("areas", AREAS), ("epochs", EPOCHS)):
            db.execute(f"create table {name} as " + query.format(**words))
            db.execute(f"copy ({optional(db, name)}) to '{target}/{name}-00000.parquet' (format parquet, compression zstd)")
        epochs = db.execute("select count(*) from epochs").fetchone()[0]
    (target / "recording.json").write_text(json.dumps(header) + "\n", encoding="utf-8")
    (target / "end.json").write_text(json.dumps({"epochs": epochs, "spans": 1}) + "\n", encoding="utf-8")
