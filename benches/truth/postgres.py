"""PostgreSQL, whose processes share one large buffer pool and fork for every connection."""

import importlib.util
import pathlib
import pwd
import re
import shutil
import subprocess

from truth.program import Program, Served

SCRIPT = """\
\\set rows 100000 * :scale
\\set key permute(random_zipfian(1, :rows, 1.05), :rows, 7)
\\set change random(1, 10)
select abalance from pgbench_accounts where aid = :key;
\\if :change = 1
update pgbench_accounts set abalance = abalance + :change where aid = :key;
\\endif
"""


def installed():
    """Where the wheel `pgserver` has the server's programs. Debian 12's own (15) forks inside of signal
    handlers, which QEMU 7.2 enters with a misaligned stack: its children crash there."""
    found = importlib.util.find_spec("pgserver")
    if not found:
        raise RuntimeError("there is no pgserver in this Python; scripts/truth.sh installs it")
    return pathlib.Path(found.origin).parent


class Postgres(Program):
    """Shared memory, whose accessed bits only `--clear-shared` clears."""

    name = "postgres"
    about = ("PostgreSQL 16, 400 MB of shared buffers, pgbench -s 25, four connections, zipf 1.05 over scattered "
             "rows, 10 % updates")
    user = "nobody"  # the server refuses to run as root
    server = True
    scale = 25
    record = ("--clear-shared",)

    def data(self, place):
        return place.folder / "data"

    def programs(self, place):
        return place.folder / "pgserver" / "pginstall" / "bin"

    def as_user(self, place, *words, **more):
        """Runs a program of PostgreSQL's natively, as its user."""
        words = [str(self.programs(place) / words[0]), *map(str, words[1:])]
        account = pwd.getpwnam(self.user)
        more = {"check": True, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL} | more
        return subprocess.run(words, user=account.pw_uid, group=account.pw_gid, extra_groups=[], cwd=place.folder, **more)

    def prepare(self, place):
        """A new cluster, filled by a native server."""
        # Its user may be unable to read the environment of Python; programs find libraries beside them.
        for source in installed(), installed().with_name("pgserver.libs"):
            shutil.copytree(source, place.folder / source.name, symlinks=True)
        for path in self.programs(place).iterdir():
            path.chmod(0o755)
        shutil.chown(place.folder, self.user)
        self.as_user(place, "initdb", "-D", self.data(place), "-N", "--auth=trust", "-U", "postgres")
        flags = f"-k {place.folder} -c listen_addresses='' -c fsync=off -c max_wal_size=4GB"
        self.as_user(place, "pg_ctl", "start", "-w", "-D", self.data(place), "-o", flags, stdout=subprocess.DEVNULL)
        self.as_user(place, "pgbench", "-U", "postgres", "-h", place.folder, "-i", "-q", "-s", self.scale, "postgres")
        self.as_user(place, "pg_ctl", "stop", "-w", "-m", "fast", "-D", self.data(place))

    def ask(self, place, question):
        words = ["psql", "-U", "postgres", "-h", place.folder, "-X", "-t", "-c", question, "postgres"]
        return self.as_user(place, *words).stdout

    def command(self, place):
        settings = {"listen_addresses": "", "fsync": "off", "shared_buffers": "400MB", "max_wal_size": "4GB",
                    "autovacuum": "off", "huge_pages": "off", "jit": "off", "unix_socket_directories": place.folder}
        words = [str(self.programs(place) / "postgres"), "-D", str(self.data(place))]
        return words + [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]

    def ready(self, place):
        return self.as_user(place, "pg_isready", "-q", "-h", place.folder, check=False).returncode == 0

    def fill(self, place, seconds):
        """Reads the table into the buffer pool through its index: a scan of the table alone would keep to a
        small ring of buffers."""
        settings = "set enable_seqscan = off; set enable_bitmapscan = off;"
        self.ask(place, settings + " select sum(abalance) from pgbench_accounts where aid > 0")

    def serve(self, place, seconds):
        script = place.folder / "load.sql"
        script.write_text(SCRIPT, encoding="ascii")
        words = ["pgbench", "-U", "postgres", "-h", place.folder, "-n", "-M", "prepared", "-c", 4]
        words += ["-T", round(seconds), "-f", script, "-D", f"scale={self.scale}", f"--random-seed={place.seed}", "postgres"]
        said = self.as_user(place, *words).stdout
        return Served(int(re.search(r"actually processed: (\d+)", said)[1]), float(seconds))
