"""A scripted model behind Chat Completions, for checks of the wire: no model is asked, and its names say so.

    python3 scripted_model.py PLANS.jsonl

`scripted-oracle` replays the calls that stand in PLANS for the task whose instruction it is shown, one call a turn, and then says that it
is done; `scripted-idle` says so at once. A line of PLANS is {"instruction": TEXT, "calls": [{"tool": NAME, "arguments": JSON_TEXT}]}.

The first line on stdout is JSON with `base_url`. Answers are whole or streamed, as asked. It listens on loopback only. What it cannot
replay (an instruction that it does not know, a tool that is not offered) is an error of HTTP, so that a check fails where it went wrong.
"""

import argparse
import http.server
import json
import threading
import time

MODELS = ("scripted-oracle", "scripted-idle")
LARGEST = 32 * 2**20  # bytes of a request
MOST = 256  # connections at a time
PATIENCE = 120  # seconds that a connection may say nothing


class Wrong(Exception):
    """What the script has no answer to, with the status that says so."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


def text_of(message):
    """The text of a message, whose content is a text or a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if isinstance(part, dict))


class Script:
    """The calls by the instruction of their task."""

    def __init__(self, lines):
        self.plans = {}
        for line in lines:
            plan = json.loads(line)
            instruction = plan["instruction"].strip()
            if instruction in self.plans:
                raise ValueError("two tasks have one instruction: " + instruction[:80])
            self.plans[instruction] = plan["calls"]

    def calls(self, messages):
        """The calls of the task that the first message of a user is about."""
        shown = next((text_of(message).strip() for message in messages if message.get("role") == "user"), "")
        if shown in self.plans:
            return self.plans[shown]
        # Whoever asks may have written something around the instruction.
        within = [instruction for instruction in self.plans if instruction in shown]
        if not within:
            raise Wrong(400, "no plan for the instruction: " + shown[:80])
        return self.plans[max(within, key=len)]

    def turn(self, asked):
        """The next message, and why it ends."""
        messages = asked.get("messages")
        if not isinstance(messages, list):
            raise Wrong(400, "`messages` is no list")
        if asked.get("model") not in MODELS:
            raise Wrong(404, "the models here are " + " and ".join(MODELS))
        calls = self.calls(messages) if asked["model"] == "scripted-oracle" else []
        made = sum(len(message.get("tool_calls") or []) for message in messages if message.get("role") == "assistant")
        if made >= len(calls):
            return {"role": "assistant", "content": "That is all (scripted)."}, "stop"
        tool, arguments = calls[made]["tool"], calls[made]["arguments"]
        offered = [entry.get("function", {}).get("name") for entry in asked.get("tools") or []]
        if tool not in offered:
            raise Wrong(400, f"the plan's tool {tool} is not among the {len(offered)} offered")
        function = {"name": tool, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
        call = {"id": f"scripted_{made}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def log_message(self, *_):
        pass

    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, why):
        # What was not read of the request would be taken for the next one.
        self.close_connection = True
        error = {"message": why, "type": "invalid_request_error", "code": None, "param": None}
        self.reply(status, json.dumps({"error": error}).encode())

    def do_GET(self):
        if self.path.rstrip("/") != "/v1/models":
            return self.refuse(404, "there is nothing at this path")
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "a script"} for name in MODELS]
        self.reply(200, json.dumps({"object": "list", "data": models}).encode())

    def do_POST(self):
        if self.path.rstrip("/") != "/v1/chat/completions":
            return self.refuse(404, "there is nothing at this path")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST:
            return self.refuse(413, f"a body of at most {LARGEST} bytes, with its length, is taken")
        body = self.rfile.read(int(length))
        try:
            asked = json.loads(body)
            if not isinstance(asked, dict):
                raise Wrong(400, "the body is no object")
            message, ending = self.server.script.turn(asked)
        except Wrong as wrong:
            return self.refuse(wrong.status, str(wrong))
        except ValueError as error:
            return self.refuse(400, f"the body is no JSON: {error}")
        head = {"id": f"scripted-{self.server.number()}", "created": int(time.time()), "model": asked["model"]}
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        if not asked.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": ending, "logprobs": None}
            whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
            return self.reply(200, json.dumps(whole).encode())
        delta = dict(message)
        if "tool_calls" in delta:
            delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(delta["tool_calls"])]
        parts = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}]
        parts.append({"choices": [{"index": 0, "delta": {}, "finish_reason": ending}]})
        if (asked.get("stream_options") or {}).get("include_usage"):
            parts.append({"choices": [], "usage": usage})
        lines = [json.dumps({**head, "object": "chat.completion.chunk", **part}) for part in parts] + ["[DONE]"]
        self.reply(200, "".join(f"data: {line}\n\n" for line in lines).encode(), "text/event-stream")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = MOST

    def __init__(self, script, port):
        super().__init__(("127.0.0.1", port), Handler)
        self.script, self.free = script, threading.BoundedSemaphore(MOST)
        self.count, self.lock = 0, threading.Lock()

    def number(self):
        with self.lock:
            self.count += 1
            return self.count

    def process_request(self, request, client_address):
        # One more than MOST waits until another is done.
        self.free.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def handle_error(self, request, client_address):
        """A client that went away in the middle is no matter."""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("plans", help="the calls of each task, as JSON lines")
    options.add_argument("--port", type=int, default=0)
    options = options.parse_args()
    with open(options.plans, encoding="utf-8") as lines:
        script = Script(line for line in lines if line.strip())
    server = Server(script, options.port)
    told = {"base_url": f"http://127.0.0.1:{server.server_port}/v1", "models": MODELS, "tasks": len(script.plans)}
    print(json.dumps(told), flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
