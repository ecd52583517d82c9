"""A thousand sessions at once on the wire of NeMo Gym: all begun, then all called, then all judged, each on a connection of its own.

    python3 sessions.py SERVED ROWS.jsonl PLANS.jsonl [--count 1000]

SERVED is a file whose first line is what `benchwright serve --nemo` said first; ROWS are of `benchwright export nemo`, PLANS of `plans.py`.
One session in ten makes every call of its plan and must earn 1; the others make the first call alone and must not. A session that saw
another's work would show here. Every answer must set the cookie again, as NeMo Gym's own agent keeps only that of the last answer. In the
end no episode may live.
"""

import argparse
import asyncio
import json
import resource
import time
import urllib.parse
import urllib.request

WHOLE = 10  # one session in so many makes every call
ABREAST = 200  # connections that are opened, or requests that are under way, at a time
PATIENCE = 120  # seconds for an answer
LARGEST = 64 * 2**20  # bytes of an answer


class Session:
    """One client: its connection, its cookie, its task."""

    def __init__(self, row, calls, is_whole):
        self.row, self.calls, self.is_whole = row, calls, is_whole
        self.cookie = None

    async def open(self, host, port):
        self.host = f"{host}:{port}"
        self.reader, self.writer = await asyncio.open_connection(host, port, limit=2**20)

    async def post(self, path, body):
        """The status and the text of an answer."""
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = [f"POST /{path} HTTP/1.1", f"Host: {self.host}", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        # Other servers' cookies come along with NeMo Gym's own agent.
        head += [f"Cookie: another=1; {self.cookie}"] if self.cookie else []
        self.writer.write("\r\n".join(head + ["", ""]).encode() + body)
        await self.writer.drain()
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(lines[0].split()[1])
        fields = [line.partition(":")[::2] for line in lines[1:] if line]
        named = {name.lower(): value.strip() for name, value in fields}
        if not named.get("content-length", "").isdecimal() or int(named["content-length"]) > LARGEST:
            raise RuntimeError(f"/{path} answered {status} without a length that can be taken")
        text = await self.reader.readexactly(int(named["content-length"]))
        if "set-cookie" in named:
            self.cookie = named["set-cookie"].partition(";")[0]
        elif status == 200:
            raise RuntimeError(f"/{path} did not set the cookie again")
        return status, text.decode()

    async def begin(self):
        status, text = await self.post("seed_session", self.row)
        if status != 200 or not isinstance(json.loads(text), dict):
            raise RuntimeError(f"/seed_session answered {status}: {text[:200]}")

    async def call(self):
        for call in self.calls if self.is_whole else self.calls[:1]:
            arguments = call["arguments"]
            status, text = await self.post(call["tool"], arguments.encode() if isinstance(arguments, str) else arguments)
            if status != 200:
                raise RuntimeError(f"/{call['tool']} answered {status}: {text[:200]}")

    async def judge(self):
        shown = {"id": "resp_0", "created_at": 0, "model": "none", "object": "response", "output": [], "tools": []}
        shown.update({"parallel_tool_calls": False, "tool_choice": "auto", "status": "completed"})
        asked = {**self.row, "response": shown}
        status, text = await self.post("verify", asked)
        if status != 200:
            raise RuntimeError(f"/verify answered {status}: {text[:200]}")
        answer = json.loads(text)
        changed = [key for key in asked if answer.get(key) != asked[key]]
        if changed:
            raise RuntimeError(f"/verify did not give back {', '.join(changed)} as it came")
        self.reward = float(answer["reward"])


def live(served):
    """How many episodes live, as the control address says."""
    asked = urllib.request.Request(served["control"] + "/episodes", headers={"Authorization": "Bearer " + served["token"]})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        return json.load(answer)["count"]


async def each(sessions, step):
    """Takes one step in every session, and says how long all of them took."""
    gate = asyncio.Semaphore(ABREAST)

    async def one(session):
        async with gate:
            await asyncio.wait_for(step(session), PATIENCE)

    begun = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for session in sessions:
            group.create_task(one(session))
    return time.monotonic() - begun


async def run(served, rows, plans, count):
    address = urllib.parse.urlsplit(served["nemo"])
    chosen = [rows[at % len(rows)] for at in range(count)]
    # The turn changes with each round of the rows, so that every task is played whole by somebody.
    whole = [(at + at // len(rows)) % WHOLE == 0 for at in range(count)]
    sessions = [Session(row, plans[row["task"]], is_whole) for row, is_whole in zip(chosen, whole)]
    before = live(served)
    seconds = {"connect": await each(sessions, lambda session: session.open(address.hostname, address.port))}
    seconds["begin"] = await each(sessions, Session.begin)
    distinct, lived = len({session.cookie for session in sessions}), live(served)
    seconds["call"] = await each(sessions, Session.call)
    seconds["judge"] = await each(sessions, Session.judge)
    for session in sessions:
        session.writer.close()
    after = live(served)
    made = sum(len(session.calls) if session.is_whole else 1 for session in sessions)
    # A plan of one call is whole with its first.
    due = [session.is_whole or len(session.calls) == 1 for session in sessions]
    earned = [session.reward == 1.0 for session in sessions]
    told = {
        "sessions": count,
        "cookies": distinct,
        "lived_at_once": lived - before,
        "calls": made,
        "earned_1": sum(earned),
        "due_1": sum(due),
        "live_after": after,
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "seconds_in_all": round(sum(seconds.values()), 2),
    }
    print(json.dumps(told))
    return distinct == count and lived - before == count and earned == due and after == 0


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("served", "rows", "plans"):
        options.add_argument(name)
    options.add_argument("--count", type=int, default=1_000)
    options = options.parse_args()
    # A connection is a file: as many as are needed, where the machine lets us.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = options.count + 64
    if soft < needed:
        if hard != resource.RLIM_INFINITY and hard < needed:
            raise SystemExit(f"{options.count} sessions need {needed} open files, and the limit is {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    lines = lambda path: [json.loads(line) for line in open(path, encoding="utf-8") if line.strip()]
    served = json.loads(open(options.served, encoding="utf-8").readline())
    plans = {plan["task"]: plan["calls"] for plan in lines(options.plans)}
    try:
        is_right = asyncio.run(run(served, lines(options.rows), plans, options.count))
    except ExceptionGroup as failed:
        raise SystemExit(f"a session failed: {failed.exceptions[0]!r}") from None
    if not is_right:
        raise SystemExit("the sessions did not come out as they must")


if __name__ == "__main__":
    main()
