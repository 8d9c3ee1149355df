"""Accuracy against the traces of the real chip must not get worse than what is stated in
emulator/timing/README.md.

usage: goals.py RDNA3 SCORE.PY
Exit status 77 if the scorer is not there."""
import json
import os
import subprocess
import sys
import tempfile

# metric -> limit of the mean over all launches: at least (G, U) or at most
LEAST = {"G": 91.5, "U": 97.0}
MOST = {"T": 1.2, "W": 2.2, "K": 2.2, "L": 3.0}

rdna3, score = sys.argv[1:]
if not os.path.exists(score):
    print("skipped: no", score)
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "score.json")
    done = subprocess.run([sys.executable, score, "--rdna3", rdna3, "--json", out],
                          stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    with open(out) as f:
        launches = json.load(f)["launches"]
failed = 0
for metric, limit in list(LEAST.items()) + list(MOST.items()):
    values = [x[metric] for x in launches if x.get(metric) is not None]
    mean = sum(values) / len(values)
    if mean < limit if metric in LEAST else mean > limit:
        print("%s is %.2f, the limit %.2f" % (metric, mean, limit))
        failed = 1
if any(x.get("error") for x in launches):
    failed = 1
sys.exit(failed)
