#!/usr/bin/env python3
"""A planner that knows nothing but files: reads its folder, solves, and leaves CSV in `submission/`.

    benchwright new planning/coatings --tier easy --seed 1 --count 3 -o tasks
    benchwright run tasks --agent 'exec:PYTHON scripts/agents/planner.py' --see scripts/agents --see VENV

It needs `ortools` and speaks no protocol. It knows the coatings plant and the venue, at every tier without stages, as somebody knows them who has
read the briefs once: the rules stand below as constraints of CP-SAT, and what a brief says about reading the data is done where it says so.
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


def memo(pattern):
    """What a note says, if one says it."""
    for note in sorted((HERE / "notes").glob("*.md")) if (HERE / "notes").is_dir() else []:
        found = re.search(pattern, note.read_text(encoding="utf-8"))
        if found:
            return found.group(1)
    return None


def newest(rows, *key):
    """Of rows that stand more than once, those of the highest version."""
    found = {}
    for row in rows:
        known = found.get(tuple(row[column] for column in key))
        if known is None or int(row.get("version", 1)) > int(known.get("version", 1)):
            found[tuple(row[column] for column in key)] = row
    return found


def translated():
    """The codes of another system, with ours."""
    return {row["old"]: row["new"] for row in table("data/codes.csv")} if (HERE / "data/codes.csv").exists() else {}


def read_coatings():
    families = {row["family"]: row for row in table("data/families.csv")}
    items = {item: row for (item,), row in newest(table("data/items.csv"), "item_no").items()}
    for row in items.values():
        row["least_batches"] = row["least_batches"] or families[row["family"]]["usual_least_batches"]
    line = json.loads((HERE / "data/line.json").read_text(encoding="utf-8"))
    plant = line["plant"][0]
    plant["tank_space"] = memo(r"the tank has a space of (\d+)") or plant["tank_space"]
    codes = translated()
    demand = {}
    for row in sheet(HERE / "data/demand.xlsx"):
        if row.get("site", "KRN") != "KRN":
            continue
        litres = int(row["qty"]) // {"l": 1, "cl": 100}[row.get("uom") or "l"]
        demand[codes.get(row["item"], row["item"]), int(row["period"])] = litres
    conflicts = [(row["first"], row["then"]) for row in table("data/conflicts.csv")]
    return families, items, line["period"], plant, demand, conflicts


def coatings():
    families, items, periods, plant, demand, conflicts = read_coatings()
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
    solver = best(model, cost)
    plan = [[i, t, solver.value(runs[i, t])] for i, t in runs if solver.value(runs[i, t])]
    extra = [[t, solver.value(over[t])] for t in over if solver.value(over[t])]
    hand_in("runs", ["item", "period", "batches"], plan)
    hand_in("overtime", ["period", "minutes"], extra)


def venue():
    site = json.loads((HERE / "data/site.json").read_text(encoding="utf-8"))
    project, people = site["project"][0], {}
    codes = translated()
    for row in sheet(HERE / "data/people.xlsx"):
        if row.get("site", "HALL") == "HALL":
            people[codes.get(row["activity"], row["activity"]), int(row["mode"]), row["crew"]] = int(row["people"])
    opens = {row["wing"]: row["opens_on"] for row in site["wing"]}
    activities = {row["activity"]: row for row in table("data/activities.csv")}
    modes = {(a, int(mode)): row for (a, mode), row in newest(table("data/modes.csv"), "activity", "mode").items()}
    calendar = table("data/calendar.csv")
    quiet = {int(row["day"]) for row in calendar if row["quiet"] == "yes"}
    visited = {int(row["day"]) for row in calendar if row["authority"] == "yes"}
    budget = memo(r"All modes together may cost ([\d.]+) and no more") or project["budget"]
    deadline, stock, deliveries = project["deadline"], project["crates_in_stock"], site["delivery"]

    def stops(a, mode, start):
        """Whether an activity in a mode cannot begin on a day, by rules that concern it alone."""
        row = activities[a]
        days = range(start, start + int(modes[a, mode]["days"]))
        held = {off["crew"] for off in site["off"] if off["day"] in days and people.get((a, mode, off["crew"]), 0) > 0}
        early = start < int(row["earliest_day"] or opens[row["wing"]])
        return early or days[-1] > deadline or held or row["noisy"] == "yes" and quiet & set(days)

    model = cp_model.CpModel()
    start = {a: model.new_int_var(1, deadline, f"s{a}") for a in activities}
    end = {a: model.new_int_var(1, deadline, f"e{a}") for a in activities}
    chosen, first = {}, {}
    for a, mode in modes:
        chosen[a, mode] = model.new_bool_var(f"m{a}{mode}")
        for day in range(1, deadline + 1):
            if not stops(a, mode, day):
                first[a, mode, day] = begins = model.new_bool_var(f"b{a}{mode}{day}")
                model.add(start[a] == day).only_enforce_if(begins)
                model.add(end[a] == day + int(modes[a, mode]["days"]) - 1).only_enforce_if(begins)
        model.add(sum(begins for key, begins in first.items() if key[:2] == (a, mode)) == chosen[a, mode])
    for a in activities:
        model.add_exactly_one(literal for (of, _), literal in chosen.items() if of == a)
    for row in table("data/links.csv"):
        lag = int(row["lag"]) // {"d": 1, "h": 24}[row.get("uom") or "d"]
        model.add(start[row["second"]] > end[row["first"]] + lag)

    def busy(day, weight):
        """What is under way on a day, each activity by its weight."""
        return sum(
            weight(a, mode) * begins
            for (a, mode, begun), begins in first.items()
            if begun <= day < begun + int(modes[a, mode]["days"])
        )

    for day in range(1, deadline + 1):
        for crew in site["crew"]:
            model.add(busy(day, lambda a, mode: people.get((a, mode, crew["crew"]), 0)) <= crew["people"])
        model.add(busy(day, lambda a, mode: int(activities[a]["crane"] == "yes")) <= 1)
    for delivery in deliveries:
        brought = stock + sum(other["crates"] for other in deliveries if other["day"] < delivery["day"])
        taken = sum(int(activities[a]["panel_crates"]) * begins for (a, _, day), begins in first.items() if day < delivery["day"])
        model.add(taken <= brought)
    model.add(sum(int(row["panel_crates"]) for row in activities.values()) <= stock + sum(each["crates"] for each in deliveries))
    paid = sum(cents(modes[key]["cost"]) * literal for key, literal in chosen.items())
    model.add(paid <= cents(budget))
    last = model.new_int_var_from_domain(cp_model.Domain.from_values(sorted(set(range(1, deadline + 1)) & visited)), "last")
    model.add_max_equality(last, end.values())
    solver = best(model, paid + cents(project["overhead_per_day"]) * last)
    plan = [[a, mode, solver.value(start[a])] for (a, mode), literal in chosen.items() if solver.value(literal)]
    hand_in("works", ["activity", "mode", "start"], plan)


def best(model, cost):
    """Solves a model at the least cost."""
    model.minimize(cost)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = 60
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        sys.exit("there is no plan")
    print(f"{solver.status_name(status)} at {solver.objective_value / 100:.2f}")
    return solver


def hand_in(name, head, rows):
    (HERE / "submission").mkdir(exist_ok=True)
    with open(HERE / "submission" / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


if __name__ == "__main__":
    venue() if (HERE / "forms/works.csv").exists() else coatings()
