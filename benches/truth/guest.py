"""Cuts a recording of an emulated program to the program's own memory: the emulator's code, tables and
libraries lie in the same address space and are no part of what is compared."""

import json

import duckdb

from truth.target import GUEST_END

UNIT = {"2M": 2 << 20, "4K": 4 << 10}
# Units with heat (a process may end before its first): of address spaces below the bound; shared memory (the emulator has none); files that are mapped
# below the bound cannot be told from the emulator's own libraries by their units, so they are left out
# unless an exact recording knows them.
KEPT = """
create table kept as
select unit, object, index, row_number() over (order by unit) - 1 as number
from '{source}/units-*.parquet' u
where unit in (select unit from '{source}/heat-*.parquet') and exists (
  select * from '{source}/areas-*.parquet' a
  where a.object = u.object and (a.kind = 'shared' or (a.kind <> 'file' and u.index < {bound})
    or (a.kind = 'file' and (a.name in {names} or u.index < {bound} and u.index >= {least}))))
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


def cut(source, target, exact=None, began=False):
    """Writes the part of `source` that is the program's own as the recording `target`. `exact` is a
    recording of the same run that names the program's files; `began`: the recorder was there from the start."""
    header = json.loads((source / "recording.json").read_text(encoding="utf-8"))
    if began and header["schema_version"] >= 2:
        header["began_with_target"] = True
    unit = UNIT[header["unit"]]
    names = files_of(exact) if exact else []
    quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in ["", *names])
    words = {"source": source, "bound": GUEST_END // unit, "least": (1 << 38) // unit, "names": f"({quoted})"}
    target.mkdir(mode=0o700)
    with duckdb.connect() as db:
        db.execute(KEPT.format(**words))
        for name, query in (("heat", HEAT), ("units", UNITS), ("areas", AREAS), ("epochs", EPOCHS)):
            db.execute(f"create table {name} as " + query.format(**words))
            db.execute(f"copy {name} to '{target}/{name}-00000.parquet' (format parquet, compression zstd)")
        epochs = db.execute("select count(*) from epochs").fetchone()[0]
    (target / "recording.json").write_text(json.dumps(header) + "\n", encoding="utf-8")
    (target / "end.json").write_text(json.dumps({"epochs": epochs, "spans": 1}) + "\n", encoding="utf-8")
