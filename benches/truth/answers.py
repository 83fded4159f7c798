"""What plans of the recordings of one program say, side by side."""

import json
import subprocess

from truth import raw


# Accessed bits cannot tell what a prefetcher fetches: exact counts are charged alike.
LINES = ["--charge", "lines"]


def plan(pagetide, recording, options):
    """The plan as an object; None with the reason printed if there is none."""
    words = [pagetide, "plan", "--json", recording, *options]
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout) if done.stdout else None


def recommended(plan):
    """(fast bytes, low end, high end, policy): None where the plan has none."""
    answer = (plan or {}).get("recommendation")
    if not answer:
        return None, None, None, None
    size = answer["fast_bytes"]
    interval = answer.get("interval") or {}
    low = interval.get("low") or answer.get("fast_bytes_low")
    high = interval.get("high")
    return size, low, high, answer["policy"]


def at(plan, policy, size):
    """The points of a policy without fast memory and with so much of it; none where the plan has no curve of it, or none so small."""
    curve = next((each["points"] for each in plan["policies"] if each["policy"] == policy), [])
    fitting = [point for point in curve if point["fast_bytes"] <= size]
    return (curve[0], fitting[-1]) if fitting else None


def hits(plan, policy, size):
    """The share of the traffic that a policy serves from so much fast memory."""
    found = at(plan, policy, size)
    return found and found[1]["hit_ratio"]


def waited(plan, policy, size):
    """Of what the program waits for without fast memory, the share that is left with so much of it: moves, which depend on the
    length of the epochs, left out."""
    found = at(plan, policy, size)
    if not found or not found[0]["slowdown"]["high"]:
        return None
    none, point = found
    price = plan["machine"]["migration"]
    page, micros = (2 << 20, price["page_2m_us"]) if plan["recording"]["huge_share"] > 0.5 else (4096, price["page_4k_us"])
    moved = point["promoted_bytes_per_s"] + point["demoted_bytes_per_s"]
    return (point["slowdown"]["high"] - moved / page * micros * 1e-6) / none["slowdown"]["high"]


# Where the curves are held against each other: shares of the memory that is truly needed.
CURVE = (0.25, 0.5, 0.75, 1.0)


def curves(plans):
    """What the policy `rate` gets of sizes between: by what was sampled, and by the exact counts, whose misses all wait (lines), or
    those that no prefetcher can have fetched (leads). Nothing where one of the plans is not of that policy."""
    need = recommended(plans["exact"])[0]
    if not need or not all(plans[name] and at(plans[name], "rate", 0) for name in ("exact", "sampled", "leads")):
        return []
    found = []
    for part in CURVE:
        size = int(part * need)
        line = {"fast_bytes": size, "hits": hits(plans["sampled"], "rate", size), "true_hits": hits(plans["exact"], "rate", size)}
        line |= {"waits": waited(plans["sampled"], "rate", size), "true_waits": waited(plans["leads"], "rate", size)}
        found.append(line)
    return found


def short(plan):
    """A plan without curves and pictures: what explains the answer."""
    if not plan:
        return None
    keys = ("policy", "fast_bytes", "knee_bytes", "at_recommended")
    recording = {key: value for key, value in plan["recording"].items() if key not in ("name", "target")}
    answer = dict(plan["recommendation"] or {})
    answer.pop("sentence", None)
    kept = {key: plan.get(key) for key in ("warm_up", "why_not", "hot_set")}
    policies = [{key: policy.get(key) for key in keys} for policy in plan["policies"]]
    return kept | {"recommendation": answer, "recording": recording, "policies": policies}


def share(part, whole):
    return round(part / whole, 4) if part and whole else None


def row(truth, sampled, found):
    """One row of the table of plans `truth` (None without exact counts) and `sampled`."""
    size, low, high, policy = recommended(sampled)
    need, _, _, true_policy = recommended(truth)
    line = {"footprint_bytes": (truth or sampled or {}).get("recording", {}).get("footprint_bytes")}
    line |= {"true_bytes": need, "true_policy": true_policy, "sampled_bytes": size, "policy": policy}
    line |= {"low": low, "high": high, "ratio": share(size, need)}
    line["why_not"] = (sampled or {}).get("why_not") or (truth or {}).get("why_not") or ""
    line["contains"] = (low or size) <= need <= (high or size) if size and need else None
    line["true_hits"] = round(hits(truth, policy, size) or 0, 4) if truth and size else None
    exact = found.get("exact", {})
    line |= {f"raw_{key}": exact.get(key) for key in ("lines", "leads")}
    line |= {f"raw_{key}": value for key, value in found["sampled"].items() if key != "misses"}
    line |= {"raw_order": found.get("order"), "true_misses": exact.get("misses")}
    line["sampled_misses"] = found["sampled"]["misses"]
    return line
