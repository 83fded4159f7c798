#!/usr/bin/env bash
# What exact recordings cost: CPU time of the same work natively, in QEMU alone, counted, and
# counted with a stream; the recorder's own is part of it. Of redis the server alone is counted.
# Usage: exact.sh OUT.csv [REPEATS]   (needs redis-server, redis-benchmark, /usr/bin/time)
source "$(dirname "$0")/../scripts/lib.sh"

out=$(realpath -m "${1:?OUT.csv}") repeats=${2:-3}
pagetide=$PWD/target/release/pagetide
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "program,mode,run,user_s,sys_s,wall_s,stream_bytes" >"$out"

prefix() { # of a command, by mode
    rm -rf "$folder/heat" "$folder/stream"
    case $1 in
    native) words=() ;;
    qemu) words=(qemu-x86_64) ;;
    counted) words=("$pagetide" record -q --exact --dilation 5 -o "$folder/heat" --) ;;
    streamed) words=("$pagetide" record -q --exact --dilation 5 -o "$folder/heat"
        --stream "$folder/stream" --) ;;
    esac
}

row() { # program mode run
    local bytes=
    [ ! -e "$folder/stream" ] || bytes=$(stat -c %s "$folder/stream")
    echo "$1,$2,$3,$(tail -n 1 "$folder/time"),$bytes" | tee -a "$out"
}

timed() { /usr/bin/time -o "$folder/time" -f "%U,%S,%e" "${words[@]}" "$@" >/dev/null 2>"$folder/log"; }

redis() {
    local socket=$folder/socket asks
    asks=(redis-benchmark -s "$socket" -r 300000 -d 512 -c 16 -P 4 -q)
    timed "$(command -v redis-server)" --port 0 --unixsocket "$socket" --save "" --appendonly no &
    until redis-cli -s "$socket" ping >/dev/null 2>&1; do sleep 0.1; done
    "${asks[@]}" -n 300000 -t set >/dev/null
    "${asks[@]}" -n 600000 -t get >/dev/null
    redis-cli -s "$socket" shutdown nosave || true
    wait
}

for run in $(seq "$repeats"); do
    for mode in native qemu counted streamed; do
        prefix "$mode"
        timed "$pagetide" workload graph --scale 19 --algorithm bfs --page-size 4K --seconds 600 --accesses 60000000
        row bfs "$mode" "$run"
        prefix "$mode"
        timed "$pagetide" workload zipf --size 512M --page-size 4K --seconds 600 --accesses 30000000
        row zipf "$mode" "$run"
        prefix "$mode"
        redis
        row redis "$mode" "$run"
    done
done
