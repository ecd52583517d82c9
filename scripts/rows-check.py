"""Reads rows that `benchwright export sft` and `export preferences` wrote with datasets, polars and duckdb, holds them to the form of chat
templates, and prints counts.

    python scripts/rows-check.py SFT PAIRS
"""

import json
import os
import sys
from collections import Counter

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import datasets
import duckdb
import polars


def read(folder):
    """The rows, after three libraries have read the same ones."""
    files = os.path.join(folder, "*.parquet")
    rows = datasets.load_dataset("parquet", data_files=files, split="train")
    frame = polars.read_parquet(files)
    table = duckdb.sql(f"select task, len(tools) from '{files}'").fetchall()
    assert len(rows) == len(frame) == len(table), (len(rows), len(frame), len(table))
    assert rows["task"][:] == frame["task"].to_list() == [task for task, _ in table]
    messages = "messages" if "messages" in rows.column_names else "rejected"
    assert frame[messages].list.len().to_list() == [len(said) for said in rows[messages]]
    return rows


def check(said, tools, task):
    """What an agent did: every call is offered and answered, and the last message is words. How many calls."""
    names = {tool["function"]["name"] for tool in tools}
    waiting, calls = [], 0
    for message in said:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0), task
            assert isinstance(message["content"], str), task
            continue
        assert message["role"] == "assistant" and not waiting, task
        for call in message["tool_calls"] or []:
            assert call["type"] == "function" and call["function"]["name"] in names, (task, call)
            assert isinstance(json.loads(call["function"]["arguments"]), dict), (task, call)
            waiting.append(call["id"])
            calls += 1
    assert not waiting and said[-1]["role"] == "assistant" and not said[-1]["tool_calls"], task
    return calls


def main(sft, pairs):
    rows = read(sft)
    calls = []
    for row in rows:
        said = [message for message in row["messages"] if message["role"] != "system"]
        assert said[0]["role"] == "user" and row["canary"] and row["split"] in ("train", "test"), row["task"]
        calls.append(check(said[1:], json.loads(row["tools"]), row["task"]))
    rewards = Counter(row["reward"] for row in rows.remove_columns(["messages", "tools"]))
    print(f"sft: {len(rows)} rows of {len(set(rows['task']))} tasks, {sum(calls)} calls, rewards {dict(rewards)}, "
          f"splits {dict(Counter(rows['split']))}")

    rows = read(pairs)
    for row in rows:
        assert [message["role"] for message in row["prompt"]] == ["user"], row["task"]
        tools = json.loads(row["tools"])
        check(row["chosen"], tools, row["task"])
        check(row["rejected"], tools, row["task"])
        assert row["rule"] and row["chosen"] != row["rejected"], row["task"]
        assert row["chosen_reward"] == 1.0 > row["rejected_reward"], (row["task"], row["rule"])
    per_task = Counter(rows["task"])
    print(f"preferences: {len(rows)} pairs of {len(per_task)} tasks ({min(per_task.values())} to {max(per_task.values())} each), "
          f"{len(set(rows['rule']))} rules, splits {dict(Counter(rows['split']))}")
    print(f"read by datasets {datasets.__version__}, polars {polars.__version__}, duckdb {duckdb.__version__}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
