#!/usr/bin/env python3
"""Takes a picture of Odoo's web client with a real browser.

    screenshot.py ODOO_FOLDER DATABASE PATH OUT.png      such as  target/odoo slot1 /odoo/purchase shot.png

Logs in as the administrator over HTTP, hands the browser the session by a page on the same host (cookies know no ports), and lets
Debian's chromium render the page.
"""
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.request

folder, database, path, out = sys.argv[1:5]
with open(os.path.join(folder, "odoo.json")) as file:
    site = json.load(file)
login = {"jsonrpc": "2.0", "method": "call", "params": {"db": database, "login": "admin", "password": site["admin_key"]}}
request = urllib.request.Request(site["url"] + "/web/session/authenticate", json.dumps(login).encode(),
                                 {"Content-Type": "application/json"})
with urllib.request.urlopen(request, timeout=300) as answer:
    cookies = [part for part in answer.headers.get_all("Set-Cookie") or [] if part.startswith("session_id=")]
    said = json.load(answer)
if "error" in said or not cookies:
    sys.exit(f"no login: {json.dumps(said)[:300]}")
session = cookies[0].split(";")[0]


class Door(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(302)
        self.send_header("Set-Cookie", f"{session}; Path=/")
        self.send_header("Location", site["url"] + path)
        self.end_headers()

    def log_message(self, *_):
        pass


door = http.server.HTTPServer(("127.0.0.1", 0), Door)
threading.Thread(target=door.serve_forever, daemon=True).start()
# The first visit makes Odoo build its scripts and styles; the second one is the picture.
for name, budget in ((tempfile.mktemp(suffix=".png"), 60000), (os.path.abspath(out), 30000)):
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                        "--window-size=1440,900", f"--virtual-time-budget={budget}", f"--screenshot={name}",
                        f"http://127.0.0.1:{door.server_port}/"], check=True, timeout=400, capture_output=True)
print(out)
