# Reads the recording given as argument with every library that can be imported; prints per
# library its name, the number of rows and the sums of the heat's integer and boolean columns, of its rates,
# of the units' index, the number of epochs with a stall share, and the areas' commands.
import glob
import sys

recording = sys.argv[1]
integers = ["epoch", "unit"]
integers += ["sampled", "accessed", "huge"]
integers += ["pages", "watched", "touched", "node"]


def show(library, rows, sums, rate, index, stalls, commands):
    sums = " ".join(str(int(value)) for value in sums)
    print(library, rows, sums, f"{rate:.1f}", int(index), stalls, ",".join(commands))


def duckdb_():
    import duckdb

    def all_of(table, what):
        return duckdb.sql(f"select {what} from '{recording}/{table}-*.parquet'").fetchall()

    sums = ", ".join(f"sum({name}::bigint)" for name in integers)
    rows, *sums, rate = all_of("heat", f"count(*), {sums}, sum(rate::double)")[0]
    index = all_of("units", "sum(index)")[0][0]
    stalls = all_of("epochs", "count(stall_share)")[0][0]
    commands = [command for (command,) in all_of("areas", "command")]
    show("duckdb", rows, sums, rate, index, stalls, commands)


def polars_():
    import polars

    def all_of(table):
        return polars.read_parquet(f"{recording}/{table}-*.parquet")

    heat = all_of("heat")
    sums = [heat[name].cast(polars.Int64).sum() for name in integers]
    rate = heat["rate"].cast(polars.Float64).sum()
    stalls = all_of("epochs")["stall_share"].count()
    commands = all_of("areas")["command"].to_list()
    show("polars", len(heat), sums, rate, all_of("units")["index"].sum(), stalls, commands)


def pandas_():
    import pandas
    import pyarrow  # noqa: F401 (pandas needs it)

    def all_of(table):
        files = sorted(glob.glob(f"{recording}/{table}-*.parquet"))
        return pandas.concat([pandas.read_parquet(file) for file in files])

    heat = all_of("heat")
    sums = [heat[name].astype("int64").sum() for name in integers]
    rate = heat["rate"].astype("float64").sum()
    stalls = all_of("epochs")["stall_share"].count()
    commands = all_of("areas")["command"].tolist()
    show("pandas", len(heat), sums, rate, all_of("units")["index"].sum(), stalls, commands)


for read in duckdb_, polars_, pandas_:
    try:
        read()
    except ImportError:
        pass
