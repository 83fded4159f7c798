"""A C++ compiler on one large file of templates and functions."""

import subprocess

from truth.program import Program, kept

HEAD = """#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
"""
# One record type with containers of it, and functions over them.
PART = """
namespace n{n} {{
struct Record {{ int id; double w[{a}]; std::string name; std::vector<int> next; }};
struct Less {{ bool operator()(const Record& a, const Record& b) const {{ return a.id * {b} % {c} < b.id * {b} % {c}; }} }};
using Table = std::map<int, std::unique_ptr<Record>>;
using Words = std::unordered_map<std::string, std::vector<Record>>;
double sum(const Words& words, const Table& table) {{
    double total = {d};
    for (const auto& [key, list] : words)
        for (const auto& one : list) {{
            total += std::accumulate(one.w, one.w + {a}, 0.0) * (one.id ^ {b});
            if (auto it = table.find(one.id % {c}); it != table.end())
                for (int k : it->second->next) total += k > {d} ? it->second->w[k % {a}] : one.w[k % {a}] / {b};
        }}
    return total;
}}
void arrange(std::vector<Record>& all, Words& words, Table& table) {{
    std::sort(all.begin(), all.end(), Less());
    std::stable_sort(all.begin(), all.end(), [](auto& a, auto& b) {{ return a.name < b.name; }});
    for (auto& one : all) {{
        words[one.name].push_back(one);
        table[one.id] = std::make_unique<Record>(one);
        std::ostringstream text;
        text << one.name << {b} << one.w[{d} % {a}];
        one.name = text.str();
    }}
    std::function<int(int)> f = [&](int x) {{ return x < {c} ? f(x + {b}) + 1 : int(all.size()); }};
    all.erase(std::remove_if(all.begin(), all.end(), [&](auto& r) {{ return r.id % f(r.id) == {d}; }}), all.end());
    std::variant<int, double, std::string, Record> any = all.empty() ? Record() : all.front();
    std::visit([&](auto& v) {{ if constexpr (sizeof(v) > 64) all.push_back(Record()); }}, any);
}}
}}
"""
PARTS = 14


def write(path, rng):
    """All parts, with other numbers in each."""
    numbers = ({"n": n, "a": rng.randint(2, 9), "b": rng.randint(2, 99), "c": rng.randint(100, 999), "d": rng.randint(1, 50)}
               for n in range(PARTS))
    path.write_text(HEAD + "".join(PART.format(**each) for each in numbers), encoding="ascii")


class Compiler(Program):
    """Trees and tables of a compiler that frees little."""

    name = "compiler"
    about = "cc1plus -O2 of g++ on one file of 14 parts of templates over the standard library"
    packages = ("g++",)
    fill_seconds = 30

    def source(self, place):
        return place.inputs / f"compiler-{place.seed}.cc"

    def prepare(self, place):
        kept(self.source(place), lambda path: write(path, place.random()))

    def command(self, place):
        # The driver would start it by exec; asked for its path, the compiler itself is the program.
        asked = subprocess.run(["g++", "-print-prog-name=cc1plus"], check=True, text=True, stdout=subprocess.PIPE)
        words = [asked.stdout.strip(), "-quiet", "-imultiarch", "x86_64-linux-gnu", "-O2", "-std=gnu++17"]
        return [*words, str(self.source(place)), "-o", "/dev/null"]
