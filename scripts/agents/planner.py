#!/usr/bin/env python3
"""A planner that knows nothing but files: reads its folder, solves, and leaves CSV in `submission/`.

    benchwright new planning/coatings --tier easy --seed 1 --count 3 -o tasks
    benchwright run tasks --agent 'exec:PYTHON scripts/agents/planner.py' --see scripts/agents --see VENV

It needs `ortools` and speaks no protocol. It knows the coatings plant, at every tier, as somebody knows it who has read the brief
once: the rules stand below as constraints of CP-SAT, and what the brief says about reading the data is done where it says so.
"""

import csv
import json
import re
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from ortools.sat.python import cp_model

HERE = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".")
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def sheet(path):
    """The first sheet of a workbook as a list of objects."""
    with zipfile.ZipFile(path) as book:
        shared = []
        if "xl/sharedStrings.xml" in book.namelist():
            for entry in ElementTree.fromstring(book.read("xl/sharedStrings.xml")):
                shared.append("".join(text.text or "" for text in entry.iter(MAIN + "t")))
        rows = []
        for row in ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml")).iter(MAIN + "row"):
            cells = {}
            for cell in row.iter(MAIN + "c"):
                value = cell.find(MAIN + "v")
                text = "" if value is None else value.text or ""
                column = re.match("[A-Z]+", cell.get("r")).group()
                cells[column] = shared[int(text)] if cell.get("t") == "s" else text
            rows.append(cells)
    head = rows[0]
    return [{name: row.get(column, "") for column, name in head.items()} for row in rows[1:]]


def table(path):
    with open(HERE / path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def cents(text):
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int((part + "00")[:2])


def read():
    families = {row["family"]: row for row in table("data/families.csv")}
    items = {}
    for row in table("data/items.csv"):
        known = items.get(row["item_no"])
        if known is None or int(row.get("version", 1)) > int(known.get("version", 1)):
            items[row["item_no"]] = row
    for row in items.values():
        row["least_batches"] = row["least_batches"] or families[row["family"]]["usual_least_batches"]
    line = json.loads((HERE / "data/line.json").read_text(encoding="utf-8"))
    plant = line["plant"][0]
    for note in sorted((HERE / "notes").glob("*.md")) if (HERE / "notes").is_dir() else []:
        found = re.search(r"the tank has a space of (\d+)", note.read_text(encoding="utf-8"))
        if found:
            plant["tank_space"] = int(found.group(1))
    codes = {}
    if (HERE / "data/codes.csv").exists():
        codes = {row["old"]: row["new"] for row in table("data/codes.csv")}
    demand = {}
    for row in sheet(HERE / "data/demand.xlsx"):
        if row.get("site", "KRN") != "KRN":
            continue
        litres = int(row["qty"]) // {"l": 1, "cl": 100}[row.get("uom") or "l"]
        demand[codes.get(row["item"], row["item"]), int(row["period"])] = litres
    conflicts = [(row["first"], row["then"]) for row in table("data/conflicts.csv")]
    return families, items, line["period"], plant, demand, conflicts


def solve():
    families, items, periods, plant, demand, conflicts = read()
    times = [row["period"] for row in periods]
    last = max(times)
    model = cp_model.CpModel()
    runs = {(i, t): model.new_int_var(0, 30, f"x{i}{t}") for i in items for t in times}
    used = {key: model.new_bool_var(f"y{key}") for key in runs}
    over = {row["period"]: model.new_int_var(0, row["overtime_limit"], f"o{row['period']}") for row in periods}
    stock = {}
    for i, row in items.items():
        batch, least = int(row["batch_litres"]), int(row["least_batches"])
        for t in times:
            model.add(runs[i, t] >= least * used[i, t])
            model.add(runs[i, t] <= 30 * used[i, t])
            before = stock[i, t - 1] if t > 1 else int(row["opening_litres"])
            stock[i, t] = model.new_int_var(0, 100_000, f"s{i}{t}")
            model.add(stock[i, t] == before + batch * runs[i, t] - demand.get((i, t), 0))
            life = int(row["shelf_periods"])
            if t + life <= last:
                model.add(stock[i, t] <= sum(demand.get((i, u), 0) for u in range(t + 1, t + life + 1)))
        model.add(stock[i, last] >= int(row["closing_litres"]))
    for row in periods:
        t = row["period"]
        busy = sum(
            int(item["minutes_per_litre"]) * int(item["batch_litres"]) * runs[i, t] + int(item["wash_minutes"]) * used[i, t]
            for i, item in items.items()
        )
        model.add(busy <= row["line_minutes"] + over[t])
        if t >= 3:
            model.add(over[t] + over[t - 1] + over[t - 2] <= int(plant["overtime_in_three_periods"]))
        space = sum(int(item["space_per_litre"]) * stock[i, t] for i, item in items.items())
        model.add(space <= int(plant["tank_space"]))
        for name, family in families.items():
            of = [used[i, t] for i, item in items.items() if item["family"] == name]
            model.add(sum(of) <= int(family["colours_per_period"]))
        if t >= 2:
            for first, then in conflicts:
                model.add(used[first, t - 1] + used[then, t] <= 1)
    cost = sum(cents(item["wash_cost"]) * used[i, t] for i, item in items.items() for t in times)
    cost += sum(cents(item["holding_cost"]) * stock[i, t] for i, item in items.items() for t in times)
    cost += cents(plant["overtime_rate"]) * sum(over.values())
    model.minimize(cost)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = 60
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        sys.exit("there is no plan")
    print(f"{solver.status_name(status)} at {solver.objective_value / 100:.2f}")
    plan = [[i, t, solver.value(runs[i, t])] for i, t in runs if solver.value(runs[i, t])]
    extra = [[t, solver.value(over[t])] for t in over if solver.value(over[t])]
    return plan, extra


def hand_in(name, head, rows):
    (HERE / "submission").mkdir(exist_ok=True)
    with open(HERE / "submission" / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


if __name__ == "__main__":
    plan, extra = solve()
    hand_in("runs", ["item", "period", "batches"], plan)
    hand_in("overtime", ["period", "minutes"], extra)
