"""A Go program: an index of words, asked for documents, with a concurrent collector."""

import os
import subprocess

from truth.program import Script

SCRIPT = '''
// Documents of words by zipf, an index from each word to its documents, and questions of two words each.
package main

import (
	"math/rand"
	"os"
	"strconv"
)

const (
	documents = 400_000
	words     = 200_000
	length    = 40
)

func main() {
	seed, _ := strconv.ParseInt(os.Args[1], 10, 64)
	rng := rand.New(rand.NewSource(seed))
	zipf := rand.NewZipf(rng, 1.1, 8, words-1)
	draw := func() uint32 { return uint32(zipf.Uint64() * 7919 % words) }
	texts := make([][]uint32, documents)
	index := map[uint32][]uint32{}
	for id := range texts {
		text := make([]uint32, length)
		for at := range text {
			text[at] = draw()
			index[text[at]] = append(index[text[at]], uint32(id))
		}
		texts[id] = text
	}
	found := uint64(0)
	for {
		first, second := draw(), draw()
		// Documents with both words, the rarer one's list first; at most so many.
		list := index[first]
		if len(index[second]) < len(list) {
			second, list = first, index[second]
		}
		if len(list) > 200 {
			start := rng.Intn(len(list) - 200)
			list = list[start : start+200]
		}
		score := map[uint32]int{}
		for _, id := range list {
			for _, word := range texts[id] {
				if word == second {
					score[id]++
				}
			}
		}
		found += uint64(len(score))
	}
}
'''


class Go(Script):
    """Slices of 160 bytes, anywhere, and lists of all lengths."""

    name = "go"
    about = "Go, 400,000 documents of 40 words and an index of them, questions of two words by zipf 1.1"
    file = "index.go"
    text = SCRIPT
    packages = ("golang-go",)
    fill_seconds = 40

    def prepare(self, place):
        super().prepare(place)
        more = {"HOME": str(place.inputs), "GOCACHE": str(place.inputs / "go-cache"), "GO111MODULE": "off"}
        subprocess.run(["go", "build", "-o", place.inputs / "index", self.script(place)], check=True, env=os.environ | more)

    def command(self, place):
        return [str(place.inputs / "index"), str(place.seed)]
