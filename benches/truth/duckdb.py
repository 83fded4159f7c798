"""An analytical database in memory: joins and aggregates over columns."""

import sys

from truth.program import Script

SCRIPT = '''
"""Sales by customer and item; most questions are about the latest months."""
import random
import sys

import duckdb

rng = random.Random(int(sys.argv[1]))
base = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "1GB"})
base.execute("create table item as select i as id, hash(i) % 500 as kind, repeat(chr((65 + i % 26)::int), 30) as name from range(200000) t(i)")
base.execute(f"""create table sale as select i // 9000 as day, hash(i) % 200000 as item, hash(i * 31) % 60000 as customer,
    (hash(i * 17) % 100000) / 100.0 as price, 'note ' || (hash(i * 13) % 1000000) as note from range(6000000) t(i)""")
print("ready", flush=True)
days = base.execute("select max(day) from sale").fetchone()[0]
while True:
    since = days - int(1 + days * rng.random() ** 4)
    base.execute(f"select kind, sum(price) from sale join item on item.id = sale.item where day >= {since} group by kind").fetchall()
    base.execute(f"select customer, count(*), avg(price) from sale where day >= {since} group by customer order by 2 desc limit 9").fetchall()
    if rng.random() < 0.1:
        base.execute(f"select count(*) from sale where note like '%{rng.randrange(1000)}' and day >= {since}").fetchall()
'''


class Duckdb(Script):
    """Compressed columns, scanned in blocks, and hash tables that come and go."""

    name = "duckdb"
    about = "DuckDB 2.0, 6 million sales, joins and aggregates over the latest days, how many by a power of a uniform number"
    file = "sales.py"
    text = SCRIPT
    packages = ("python3",)
    fill_seconds = 60

    def command(self, place):
        return [sys.executable, str(self.script(place)), str(place.seed)]
