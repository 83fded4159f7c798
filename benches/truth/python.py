"""An interpreter that keeps an index of documents and looks words up in it."""

from truth.program import Script

SCRIPT = '''
"""An inverted index: documents of words drawn by zipf, postings per word, queries and new documents."""
import itertools
import random
import sys

rng = random.Random(int(sys.argv[1]))
words = [f"word{n}" for n in range(60_000)]
sums = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
rng.shuffle(words)
index, documents = {}, {}


def add(number):
    text = rng.choices(words, cum_weights=sums, k=30)
    documents[number] = {"words": text, "length": float(len(text)), "seen": 0}
    for word in set(text):
        index.setdefault(word, []).append(number)


for number in range(170_000):
    add(number)
print("ready", flush=True)
oldest, newest = 0, 170_000
while True:
    for _ in range(20):
        word = rng.choices(words, cum_weights=sums)[0]
        postings = index.get(word, ())
        for number in postings[-40:]:
            document = documents.get(number)
            if document:
                document["seen"] += 1
    for word in set(documents.pop(oldest)["words"]):
        index[word].pop(0) if len(index[word]) < 2000 else None
    oldest += 1
    add(newest)
    newest += 1
'''


class Python(Script):
    """Small objects behind pointers, counted at every touch."""

    name = "python"
    about = "python3, an inverted index of 170,000 documents of 30 words, zipf 1.0, queried and renewed"
    file = "index.py"
    text = SCRIPT
    packages = ("python3",)
    fill_seconds = 60

    def environment(self, place):
        return {"PYTHONHASHSEED": "1"}

    def command(self, place):
        return ["/usr/bin/python3", str(self.script(place)), str(place.seed)]
