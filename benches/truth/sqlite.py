"""A database in memory: lookups by key and through an index, and updates."""

from truth.program import Program, kept

SCRIPT = """\
pragma journal_mode = off;
create table item (id integer primary key, owner integer, name text, body text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 600000)
insert into item select i, (i * 7919) % 60007, 'item ' || ((i * 2654435761) % 600000), hex(zeroblob(120)) from n;
create index by_owner on item (owner);
create index by_name on item (name);
{rounds}"""
# Keys by a power of a uniform number, so that few are asked for often; multiplied by an odd number, so
# that they lie anywhere.
ROUND = """\
with recursive r(i, x) as (select 1, {seed} union all
  select i + 1, (x * 1103515245 + 12345) & 2147483647 from r where i < 20000)
select sum(length(body)) from r join item on item.id =
  1 + (cast(600000 * pow(x / 2147483648.0, 4) as integer) * 7919) % 600000;
select count(*), sum(length(a.name)) from item a where owner in
  (with recursive r(i, x) as (select 1, {seed} union all
     select i + 1, (x * 1103515245 + 12345) & 2147483647 from r where i < 300)
   select cast(60007 * pow(x / 2147483648.0, 3) as integer) from r);
update item set name = 'name ' || (id + {seed}) where owner = {seed} % 60007;
"""


class Sqlite(Program):
    """B-trees in pages of 4 KiB."""

    name = "sqlite"
    about = "sqlite3 in memory, 600,000 rows with two indexes, skewed lookups by key and by index"
    packages = ("sqlite3",)
    fill_seconds = 45

    def script(self, place):
        return place.inputs / f"sqlite-{place.seed}.sql"

    def prepare(self, place):
        def write(path):
            rng = place.random()
            rounds = "".join(ROUND.format(seed=rng.randrange(1, 2**31)) for _ in range(5000))
            path.write_text(SCRIPT.format(rounds=rounds), encoding="ascii")

        kept(self.script(place), write)

    def command(self, place):
        return ["sqlite3", "-batch", ":memory:", f".read {self.script(place)}"]
