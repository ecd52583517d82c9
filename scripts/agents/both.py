#!/usr/bin/env python3
"""Runs an agent on the embedded ERP and on Odoo through the gateway, and keeps the two terminal snapshots.

    both.py BENCHWRIGHT DIR TASK OUT [AGENT]

BENCHWRIGHT is the program, DIR a folder that `benchwright build` wrote, OUT the folder of the snapshots. Prints a line per engine
and ends with the exit code of `benchwright odoo compare`.
"""
import json
import os
import subprocess
import sys
import time
import urllib.request

program, folder, task, out = sys.argv[1:5]
agent = sys.argv[5] if len(sys.argv) > 5 else os.path.join(os.path.dirname(__file__), "greedy_buyer.py")
os.makedirs(out, exist_ok=True)


def ask(base, token, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Authorization": f"Bearer {token}"}, method=method)
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


server = subprocess.Popen([program, "serve", folder, "--grade", "--odoo"], stdout=subprocess.PIPE, text=True)
try:
    told = json.loads(server.stdout.readline())
    base, control = told["control"], told["token"]
    for engine in ("embedded", "odoo"):
        begun = time.monotonic()
        episode = ask(base, control, "POST", "/episodes", {"task": task, "engine": engine})
        ready = time.monotonic()
        done = subprocess.run([sys.executable, agent, episode["urls"]["json2"], episode["token"]],
                              input=episode["instruction"], capture_output=True, text=True, check=True)
        here = f"/episodes/{episode['id']}"
        snapshot = ask(base, control, "GET", here + "/snapshot")
        verdict = ask(base, control, "POST", here + "/grade", {})
        calls = ask(base, control, "GET", here)["calls_used"]
        with open(os.path.join(out, f"{engine}.json"), "w") as file:
            json.dump(snapshot, file, separators=(",", ":"))
        ask(base, control, "DELETE", here)
        failed = sorted({check["rule"] for check in verdict["checks"] if check["status"] == "fail"})
        print(json.dumps({"engine": engine, "agent": json.loads(done.stdout), "calls": calls, "reward": verdict["reward"],
                          "failed": failed, "reset_s": round(ready - begun, 2), "agent_s": round(time.monotonic() - ready, 2)}))
        sys.stderr.write(done.stderr)
finally:
    server.terminate()
    server.wait()
compared = subprocess.run([program, "odoo", "compare", os.path.join(folder, "open", task),
                           os.path.join(out, "embedded.json"), os.path.join(out, "odoo.json")])
sys.exit(compared.returncode)
