"""The programs of the bench, in the order in which they are measured."""

from truth.bwa import Bwa
from truth.cadical import Cadical
from truth.compiler import Compiler
from truth.duckdb import Duckdb
from truth.embedding import Embedding
from truth.go import Go
from truth.java import Java
from truth.liblinear import Liblinear
from truth.lua import Lua
from truth.memcached import Memcached
from truth.node import Node
from truth.ocaml import Ocaml
from truth.octave import Octave
from truth.own import Graph, HotColdHuge, Zipf, ZipfHuge
from truth.perl import Perl
from truth.postgres import Postgres
from truth.povray import Povray
from truth.python import Python
from truth.redis import Latest, Scattered
from truth.rocksdb import Rocksdb
from truth.ruby import Ruby
from truth.sort import Sort
from truth.sqlite import Sqlite
from truth.stockfish import Stockfish
from truth.xz import Xz
from truth.zstd import Zstd

PROGRAMS = [each() for each in (Latest, Scattered, Memcached, Graph, Liblinear, Zstd, Python, Sqlite, Cadical, Compiler,
                                Postgres, Zipf, ZipfHuge, HotColdHuge, Lua, Stockfish, Bwa, Embedding, Duckdb,
                                Java, Go, Node, Sort, Xz, Ruby, Perl, Rocksdb, Octave, Ocaml, Povray)]
