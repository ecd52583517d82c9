#!/usr/bin/env python3
"""One fixed program that plays ERP tasks: it reads the instruction and the records, solves one model, and writes the documents.

    benchwright run DIR --agent 'exec:/path/to/venv/bin/python fixed_program.py'

It is an agent like any other: the instruction comes on standard input, tools are called at BENCHWRIGHT_TOOLS_URL. It shows what a
program that was written once for the family can do without understanding anything: sentences that change a rule in a task are not
read. It needs OR-Tools from PyPI, in a Python that the agent's user may start:

    python3 -m venv /opt/fixed && /opt/fixed/bin/pip install ortools
    benchwright run DIR --agent 'exec:/opt/fixed/bin/python '"$PWD"'/scripts/agents/fixed_program.py'
"""

import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections import defaultdict
from datetime import date, timedelta

WORK = 120.0  # deterministic work of one phase


class Stopped(Exception):
    """What it cannot go on from."""


# ------------------------------------------------------------------ tools


def call(tool, **arguments):
    request = urllib.request.Request(
        f"{os.environ['BENCHWRIGHT_TOOLS_URL']}/{tool}",
        json.dumps(arguments).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['BENCHWRIGHT_TOKEN']}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            told = json.load(answer)
    except urllib.error.HTTPError as error:
        raise Stopped(f"{tool}: {error.read().decode()[:400]}") from error
    return told["result"] if isinstance(told, dict) and "result" in told else told


def rows(model, domain, *fields):
    found = []
    while True:
        page = call(f"{model}_search_read", domain=domain, fields=list(fields), order="id", offset=len(found), limit=200)
        found += page
        if len(page) < 200:
            return found


def create(model, values, **more):
    return call(f"{model}_create", vals_list=[values], **more)[0]


def cents(number):
    return round(float(number) * 100)


# ------------------------------------------------------------------ the instruction


class Brief:
    """What the text says, by its tables and a few phrases."""

    def __init__(self, text):
        self.text = text
        self.today = date.fromisoformat(re.search(r"\d{4}-\d\d-\d\d", text.split("\n## ")[0]).group())
        self.listed, self.on_record = {}, {}
        head = []
        for line in text.split("\n"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
            if cells and cells[0] == "Reference":
                head = cells
            elif cells and re.fullmatch(r"REQ-\d+", cells[0]):
                self.request(dict(zip(head, cells)))
            elif re.fullmatch(r"REQ-\d+(, REQ-\d+)*", line.strip()):
                self.on_record.update(dict.fromkeys(line.strip().split(", ")))
        self.window = self.numbers(
            r"at least (\d+) and at most (\d+) units|units lie between (\d+) and (\d+)|units in all \| (\d+) and (\d+) \|"
        )
        later = re.search(r"needed-by date \| (\S+) \| later|needed by (\S+) or later|beyond the bound of (\d{4}-\d\d-\d\d)", text)
        self.notice = later and self.day(next(group for group in later.groups() if group))
        self.money_test = re.search(r"limit (is at least its|lies beyond the bound of its|\|) list value", text) is not None
        share = re.search(r"may not exceed ([\d.]+) percent of", text)
        self.share = share and round(float(share.group(1)) * 100)
        budget = re.search(r"budget for this plan[^$]*?\$([\d,.]*\d)|\$([\d,.]*\d)[^$]*budget for this plan", text)
        self.budget = budget and self.money(budget.group(1) or budget.group(2))
        term = self.numbers(r"payment terms are (\d+) days")
        self.term = term[0] if term else (0 if "payment terms are immediate" in text else None)
        step = re.search(r"worth \$([\d,.]*\d) or more is billed", text)
        self.deposit_from = step and self.money(step.group(1))
        fixed = re.search(r"eposit is \$([\d,.]*\d) per order", text)
        self.deposit = fixed and self.money(fixed.group(1))
        self.percent = self.numbers(r"eposit is (\d+) percent")
        self.never_bought = self.codes("never bought")
        self.broken = self.codes("can no longer happen") | self.codes("may not be used again")
        self.closes = "planning.closed_weekdays" in text
        goals = {
            "any plan that keeps every rule": "any",
            "lowest new spending": "spend",
            "fewest suppliers": "vendors",
            "fewest work-centre minutes": "minutes",
            "smallest change to the existing plan": "change",
        }
        self.goal = next((goal for words, goal in goals.items() if words in text), None)

    @staticmethod
    def money(text):
        return cents(text.replace(",", ""))

    def numbers(self, pattern):
        found = re.search(pattern, self.text)
        return found and tuple(int(group) for group in found.groups() if group)

    def codes(self, words):
        sentences = [one for one in re.split(r"\. |\n", self.text) if words in one]
        return {code for one in sentences for code in re.findall(r"\(([A-Z0-9]+-[A-Z0-9]+)\)", one)}

    def request(self, row):
        limit = row.get("Pre-tax limit", row.get("Limit", "none"))
        limit = None if limit == "none" else self.money(limit.strip("$"))
        if "Units" not in row:
            self.on_record[row["Reference"]] = limit
            return
        due = (date.fromisoformat(row["Needed by"]) - self.today).days
        known = self.listed.setdefault(
            row["Reference"], {"customer": row["Customer ref"], "lines": {}, "due": due, "limit": limit}
        )
        known["lines"][row["Item"]] = int(row["Units"])

    def noon(self, day):
        return f"{self.today + timedelta(days=day)} 12:00:00"

    def day(self, instant):
        return (date.fromisoformat(instant[:10]) - self.today).days


# ------------------------------------------------------------------ the records


class Shop:
    """Requests, items, offers, centres and the plan that stood."""

    def __init__(self, brief):
        self.brief = brief
        self.requests = {}
        for reference, told in brief.listed.items():
            partner = rows("res_partner", [["ref", "=", told["customer"]]], "ref")[0]
            self.requests[reference] = {**told, "place": "listed", "partner": partner["id"]}
        for reference, limit in brief.on_record.items():
            order = rows(
                "sale_order", [["client_order_ref", "=", reference]], "name", "partner_id", "state", "commitment_date"
            )[0]
            lines = rows("sale_order_line", [["order_id", "=", order["id"]]], "product_id", "product_uom_qty")
            codes = {
                row["id"]: row["default_code"]
                for row in rows("product_product", [["id", "in", [line["product_id"][0] for line in lines]]], "default_code")
            }
            self.requests[reference] = {
                "place": order["state"],
                "id": order["id"],
                "name": order["name"],
                "due": brief.day(order["commitment_date"]),
                "lines": {codes[line["product_id"][0]]: int(line["product_uom_qty"]) for line in lines},
                "limit": limit,
            }
        self.goods()
        self.centres()
        self.offers()
        self.calendar()
        for request in self.requests.values():
            request["value"] = sum(units * self.items[code]["list"] for code, units in request["lines"].items())
            request["taken"] = self.takes(request)
        self.taken = {reference: request for reference, request in self.requests.items() if request["taken"]}
        self.last = max(request["due"] for request in self.taken.values())
        self.before()

    def takes(self, request):
        brief, units = self.brief, sum(request["lines"].values())
        if brief.window and not brief.window[0] <= units <= brief.window[1]:
            return False
        if brief.notice is not None and request["due"] < brief.notice:
            return False
        return not (brief.money_test and request["limit"] is not None and request["limit"] < request["value"])

    def goods(self):
        self.items, self.code = {}, {}
        fields = ("default_code", "list_price", "qty_available", "bom_ids")
        sold = sorted({code for request in self.requests.values() for code in request["lines"]})
        found = rows("product_product", [["default_code", "in", sold]], *fields)
        while found:
            parts = set()
            for row in found:
                item = {
                    "id": row["id"],
                    "sold": row["default_code"] in sold,
                    "stock": int(row["qty_available"]),
                    "list": cents(row["list_price"]),
                    "parts": {},
                }
                if row["bom_ids"]:
                    bom = rows("mrp_bom", [["id", "=", row["bom_ids"][0]]], "produce_delay")[0]
                    operation = rows("mrp_routing_workcenter", [["bom_id", "=", bom["id"]]], "workcenter_id")[0]
                    item.update(bom=bom["id"], days=int(bom["produce_delay"]), usual=operation["workcenter_id"][0])
                    for line in rows("mrp_bom_line", [["bom_id", "=", bom["id"]]], "product_id", "product_qty"):
                        item["parts"][line["product_id"][0]] = int(line["product_qty"])
                parts |= set(item["parts"])
                self.items[row["default_code"]] = item
                self.code[row["id"]] = row["default_code"]
            fresh = sorted(parts - set(self.code))
            found = rows("product_product", [["id", "in", fresh]], *fields) if fresh else []
        for item in self.items.values():
            item["parts"] = {self.code[part]: units for part, units in item["parts"].items()}

    def centres(self):
        self.ways, self.pools, self.centre = [], [], {}
        if not any("bom" in item for item in self.items.values()):
            return
        for row in rows("mrp_workcenter", [], "code", "costs_hour", "note"):
            note, code = row["note"] or "", row["code"]
            approved = [
                (item, int(minutes))
                for item, minutes in re.findall(r"Approved for ([A-Z0-9-]+): (\d+) minutes", note)
                if item in self.items
            ]
            if not approved:
                continue
            self.centre[code] = row["id"]
            down = re.search(r"Down from (\S+) to (\d{4}-\d\d-\d\d)", note)
            closed = range(self.brief.day(down.group(1)), self.brief.day(down.group(2)) + 1) if down else ()
            for item, minutes in approved:
                cost = round(minutes * float(row["costs_hour"]) * 100 / 60)
                if code not in self.brief.broken and "Out of service" not in note:
                    self.ways.append({"item": item, "centre": code, "minutes": minutes, "cost": cost, "down": closed})
            for total in re.findall(r"Total: at most (\d+)", note):
                self.pools.append(({code}, int(total), False))
            for daily in re.findall(r"Per start day: at most (\d+)", note):
                self.pools.append(({code}, int(daily), True))
            for centres, minutes in re.findall(r"Group [^(]+\(([^)]*)\): at most (\d+)", note):
                pool = (set(centres.split(", ")), int(minutes), False)
                if pool not in self.pools:
                    self.pools.append(pool)

    def offers(self):
        lists = defaultdict(list)
        ids = [item["id"] for item in self.items.values()]
        for line in rows(
            "product_supplierinfo",
            [["product_tmpl_id", "in", ids]],
            "partner_id",
            "product_tmpl_id",
            "min_qty",
            "price",
            "delay",
        ):
            lists[line["partner_id"][0], self.code[line["product_tmpl_id"][0]]].append(line)
        suppliers = {
            row["id"]: row for row in rows("res_partner", [["id", "in", sorted({key[0] for key in lists})]], "ref", "comment")
        }
        self.sellers = []
        for (partner, item), lines in lists.items():
            supplier = suppliers[partner]
            if item in self.brief.never_bought or supplier["ref"] in self.brief.broken:
                continue
            most = re.search(rf"Item {re.escape(item)}: at most (\d+) units", supplier["comment"] or "")
            self.sellers.append(
                {
                    "supplier": partner,
                    "item": item,
                    "days": int(lines[0]["delay"]),
                    "most": int(most.group(1)) if most else None,
                    "steps": sorted((int(line["min_qty"]), cents(line["price"])) for line in lines),
                }
            )

    def calendar(self):
        self.closed = set()
        if self.brief.closes:
            names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
            value = {
                row["key"]: row["value"] or ""
                for row in rows("ir_config_parameter", [["key", "like", "planning.closed"]], "key", "value")
            }
            for day in range(120):
                when = self.brief.today + timedelta(days=day)
                if names[when.weekday()] in value["planning.closed_weekdays"] or str(when) in value["planning.closed_dates"]:
                    self.closed.add(day)

    def open_from(self, day):
        while day in self.closed:
            day += 1
        return day

    def before(self):
        """Documents that stood: key, kind, record, where, units."""
        self.stood = []
        if self.brief.goal != "change":
            return
        ids = [item["id"] for item in self.items.values()]
        for line in rows(
            "purchase_order_line",
            [["product_id", "in", ids], ["order_id.state", "=", "purchase"]],
            "order_id",
            "product_id",
            "product_qty",
            "partner_id",
        ):
            self.stood.append(
                {
                    "kind": "buy",
                    "id": line["order_id"][0],
                    "line": line["id"],
                    "at": line["partner_id"][0],
                    "item": self.code[line["product_id"][0]],
                    "units": int(line["product_qty"]),
                }
            )
        of = {record: code for code, record in self.centre.items()}
        for build in rows(
            "mrp_production",
            [["product_id", "in", ids], ["state", "=", "confirmed"]],
            "name",
            "product_id",
            "product_qty",
            "date_start",
        ):
            work = rows("mrp_workorder", [["production_id", "=", build["id"]]], "workcenter_id")[0]
            self.stood.append(
                {
                    "kind": "build",
                    "id": build["id"],
                    "name": build["name"],
                    "start": self.brief.day(build["date_start"]),
                    "at": of.get(work["workcenter_id"][0]),
                    "item": self.code[build["product_id"][0]],
                    "units": int(build["product_qty"]),
                }
            )
        self.standing = {
            row["id"]: row
            for row in rows("purchase_order", [["id", "in", [one["id"] for one in self.stood if one["kind"] == "buy"]]], "name")
        }

    def owed(self, item, day):
        return sum(request["lines"].get(item, 0) for request in self.taken.values() if request["due"] <= day)


# ------------------------------------------------------------------ the plan


def plan(shop):
    """The best purchases and builds."""
    from ortools.sat.python import cp_model

    model, brief = cp_model.CpModel(), shop.brief
    need = {item: shop.owed(item, shop.last) for item in shop.items}
    for _ in shop.items:
        need = {
            item: shop.owed(item, shop.last)
            + sum(above["parts"].get(item, 0) * need[code] for code, above in shop.items.items())
            for item in shop.items
        }
    old = defaultdict(int)
    for one in shop.stood:
        old[one["kind"], one["at"], one["item"]] += one["units"]
    spend, buys, builds = [], [], []
    for offer in shop.sellers:
        units, used = [], []
        last = max(need[offer["item"]], offer["steps"][-1][0], old["buy", offer["supplier"], offer["item"]])
        most = last if offer["most"] is None else min(last, offer["most"])
        for at, (least, price) in enumerate(offer["steps"]):
            high = min(most, offer["steps"][at + 1][0] - 1) if at + 1 < len(offer["steps"]) else most
            if high >= least:
                here = model.new_bool_var("")
                count = model.new_int_var(0, high, "")
                model.add(count >= least * here)
                model.add(count <= high * here)
                units.append(count)
                used.append(here)
                spend.append(price * count)
        model.add(sum(used) <= 1)
        buys.append((offer, sum(units), sum(used)))
    for way in shop.ways:
        item = shop.items[way["item"]]
        for start in range(shop.last - item["days"] + 1):
            done = shop.open_from(start + item["days"])
            if start in way["down"] or start in shop.closed or done > shop.last:
                continue
            most = min(
                [max(need[way["item"]], old["build", way["centre"], way["item"]])]
                + [minutes // way["minutes"] for centres, minutes, _ in shop.pools if way["centre"] in centres]
            )
            count = model.new_int_var(0, most, "")
            spend.append(way["cost"] * count)
            builds.append((way, start, done, count))
    for code, item in shop.items.items():
        for day in range(shop.last + 1):
            there = [count for offer, count, _ in buys if offer["item"] == code and shop.open_from(offer["days"]) <= day]
            there += [count for way, _, done, count in builds if way["item"] == code and done <= day]
            taken = [shop.items[way["item"]]["parts"].get(code, 0) * count for way, start, _, count in builds if start <= day]
            model.add(item["stock"] + sum(there) - sum(taken) >= shop.owed(code, day))
    for centres, minutes, daily in shop.pools:
        of = [(start, way["minutes"] * count) for way, start, _, count in builds if way["centre"] in centres]
        for day in sorted({start for start, _ in of}) if daily else [None]:
            model.add(sum(term for start, term in of if day in (None, start)) <= minutes)
    cost = sum(spend)
    if brief.share is not None:
        open_value = sum(
            max(0, shop.owed(code, shop.last) - item["stock"]) * item["list"]
            for code, item in shop.items.items()
            if item["sold"]
        )
        model.add(cost <= open_value * brief.share // 10000)
    if brief.budget is not None:
        model.add(cost <= brief.budget)
    goals = [cost]
    if brief.goal == "vendors":
        asked = {offer["supplier"]: model.new_bool_var("") for offer, _, _ in buys}
        for offer, _, used in buys:
            model.add(used <= asked[offer["supplier"]])
        goals.insert(0, sum(asked.values()))
    elif brief.goal == "minutes":
        goals.insert(0, sum(way["minutes"] * count for way, _, _, count in builds))
    elif brief.goal == "change":
        now = defaultdict(list)
        for offer, count, _ in buys:
            now["buy", offer["supplier"], offer["item"]].append(count)
        for way, _, _, count in builds:
            now["build", way["centre"], way["item"]].append(count)
        sizes = []
        for key in sorted({*now, *old}, key=str):
            if shop.items[key[2]]["sold"]:
                size = model.new_int_var(0, 10**6, "")
                model.add(size >= sum(now[key]) - old[key])
                model.add(size >= old[key] - sum(now[key]))
                sizes.append(size)
        goals.insert(0, sum(sizes))
    # Among equals the fewest builds, because each is a document.
    many = []
    for _, _, _, count in builds:
        here = model.new_bool_var("")
        model.add(count == 0).only_enforce_if(here.negated())
        many.append(here)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = WORK
    for goal in goals + [sum(many)]:
        model.minimize(goal)
        status = solver.solve(model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            if goal is goals[0]:
                raise Stopped(f"no plan: {solver.status_name(status)}")
            break
        model.add(goal <= round(solver.objective_value))
        found = (
            [(offer, solver.value(count)) for offer, count, _ in buys],
            [(way, start, done, solver.value(count)) for way, start, done, count in builds],
        )
    bought = [
        {
            **offer,
            "units": count,
            "comes": shop.open_from(offer["days"]),
            "price": [price for least, price in offer["steps"] if least <= count][-1],
        }
        for offer, count in found[0]
        if count
    ]
    built = [{**way, "start": start, "done": done, "units": count} for way, start, done, count in found[1] if count]
    return bought, built


def pegs(shop, bought, built):
    """Which documents each purchase and build is for: the earliest supply goes to the earliest need."""
    served = defaultdict(list)
    for code, item in shop.items.items():
        supplies = [(buy["comes"], "buy", at, buy["units"]) for at, buy in enumerate(bought) if buy["item"] == code]
        supplies += [(build["done"], "build", at, build["units"]) for at, build in enumerate(built) if build["item"] == code]
        needs = [[request["due"], 0, reference, request["lines"].get(code, 0)] for reference, request in shop.taken.items()]
        needs += [
            [build["start"], 1, at, shop.items[build["item"]]["parts"].get(code, 0) * build["units"]]
            for at, build in enumerate(built)
        ]
        needs, left = sorted((need for need in needs if need[3]), key=lambda need: need[:2]), item["stock"]
        for need in needs:
            given = min(left, need[3])
            need[3] -= given
            left -= given
        for _, kind, at, units in sorted(supplies):
            for need in needs:
                given = min(units, need[3])
                if given:
                    need[3] -= given
                    units -= given
                    served[kind, at].append(("order" if need[1] == 0 else "build", need[2]))
    return served


# ------------------------------------------------------------------ the documents


def write(shop, bought, built):
    brief, names = shop.brief, {}
    served = pegs(shop, bought, built)
    term = None
    if brief.term is not None:
        wanted = "Immediate Payment" if brief.term == 0 else f"{brief.term} Days"
        term = next(row["id"] for row in rows("account_payment_term", [], "name") if row["name"] == wanted)
    kept = match(shop, bought, built)
    for one in shop.stood:
        if id(one) not in {id(other) for other in kept.values()}:
            call("purchase_order_button_cancel" if one["kind"] == "buy" else "mrp_production_action_cancel", ids=[one["id"]])
    for reference, request in shop.requests.items():
        names["order", reference] = enter(shop, reference, request, term)
    for at in sorted(range(len(built)), key=lambda at: -depth(shop, built[at]["item"])):
        origin = ", ".join(names[key] for key in served["build", at])
        names["build", at] = make(shop, built[at], origin, kept.get(("build", at)))
    for at, buy in enumerate(bought):
        purchase(shop, buy, ", ".join(names[key] for key in served["buy", at]), kept.get(("buy", at)))
    if term is not None:
        for request in shop.taken.values():
            bill(shop, request)


def match(shop, bought, built):
    """The documents that stood and still serve, by the row that they serve; those of the same size first."""
    kept, free = {}, [one for one in shop.stood]
    wanted = [(("buy", at), buy["supplier"], buy) for at, buy in enumerate(bought)]
    wanted += [(("build", at), build["centre"], build) for at, build in enumerate(built)]
    for alike in (
        lambda one, row: (one["units"], one.get("start")) == (row["units"], row.get("start")),
        lambda one, row: one["units"] == row["units"],
        lambda one, row: True,
    ):
        for key, where, row in wanted:
            fits = [
                one
                for one in free
                if key not in kept and (one["kind"], one["at"], one["item"]) == (key[0], where, row["item"]) and alike(one, row)
            ]
            if fits:
                kept[key] = fits[0]
                free = [one for one in free if one is not fits[0]]
    return kept


def depth(shop, code):
    return 1 + max((depth(shop, part) for part in shop.items[code]["parts"]), default=0)


def enter(shop, reference, request, term):
    brief = shop.brief
    if request["place"] == "sale":
        return request["name"]
    if request["place"] == "draft":
        if request["taken"]:
            if term is not None:
                call("sale_order_write", ids=[request["id"]], vals={"payment_term_id": term})
            call("sale_order_action_confirm", ids=[request["id"]])
        else:
            call("sale_order_action_cancel", ids=[request["id"]])
        return request["name"]
    if not request["taken"]:
        return None
    lines = [
        [0, 0, {"product_id": shop.items[code]["id"], "product_uom_qty": units, "price_unit": shop.items[code]["list"] / 100}]
        for code, units in request["lines"].items()
    ]
    values = {
        "partner_id": request["partner"],
        "client_order_ref": reference,
        "commitment_date": brief.noon(request["due"]),
        "order_line": lines,
    }
    if term is not None:
        values["payment_term_id"] = term
    request["id"] = create("sale_order", values)
    call("sale_order_action_confirm", ids=[request["id"]])
    request["name"] = rows("sale_order", [["id", "=", request["id"]]], "name")[0]["name"]
    return request["name"]


def make(shop, build, origin, old):
    brief = shop.brief
    dates = {"date_start": brief.noon(build["start"]), "date_deadline": brief.noon(build["done"])}
    if old:
        changes = {"origin": origin}
        if old["units"] != build["units"]:
            changes["product_qty"] = build["units"]
            # What a confirmed build takes and makes does not follow its units.
            parts = shop.items[build["item"]]["parts"]
            for field, listed in (("raw_material_production_id", "move_raw_ids"), ("production_id", "move_finished_ids")):
                changes[listed] = [
                    [1, move["id"], {"product_uom_qty": build["units"] * parts.get(shop.code[move["product_id"][0]], 1)}]
                    for move in rows("stock_move", [[field, "=", old["id"]]], "product_id")
                ]
        if old["start"] != build["start"]:
            changes.update(dates)
        call("mrp_production_write", ids=[old["id"]], vals=changes)
        return old["name"]
    item = shop.items[build["item"]]
    made = create(
        "mrp_production",
        {"product_id": item["id"], "product_qty": build["units"], "bom_id": item["bom"], "origin": origin, **dates},
    )
    call("mrp_production_action_confirm", ids=[made])
    if item["usual"] != shop.centre[build["centre"]]:
        work = rows("mrp_workorder", [["production_id", "=", made]], "workcenter_id")[0]["id"]
        call("mrp_workorder_write", ids=[work], vals={"workcenter_id": shop.centre[build["centre"]]})
    stands = rows("mrp_production", [["id", "=", made]], "name", "date_start", "date_deadline")[0]
    if any(stands[field] != value for field, value in dates.items()):
        call("mrp_production_write", ids=[made], vals=dates)
    return stands["name"]


def purchase(shop, buy, origin, old):
    brief = shop.brief
    if old:
        call("purchase_order_write", ids=[old["id"]], vals={"origin": origin})
        if old["units"] != buy["units"]:
            call(
                "purchase_order_line_write",
                ids=[old["line"]],
                vals={"product_qty": buy["units"], "price_unit": buy["price"] / 100},
            )
        return
    line = {
        "product_id": shop.items[buy["item"]]["id"],
        "product_qty": buy["units"],
        "price_unit": buy["price"] / 100,
        "date_planned": brief.noon(buy["comes"]),
    }
    made = create(
        "purchase_order",
        {"partner_id": buy["supplier"], "date_order": brief.noon(0), "origin": origin, "order_line": [[0, 0, line]]},
    )
    call("purchase_order_button_confirm", ids=[made])


def bill(shop, request):
    brief, context = shop.brief, {"active_model": "sale.order", "active_ids": [request["id"]], "active_id": request["id"]}
    steps = [{"advance_payment_method": "delivered"}]
    if brief.deposit_from is not None and request["value"] >= brief.deposit_from:
        share = (
            {"advance_payment_method": "percentage", "amount": brief.percent[0]}
            if brief.percent
            else {"advance_payment_method": "fixed", "fixed_amount": brief.deposit / 100}
        )
        steps.insert(0, share)
    for step in steps:
        wizard = create("sale_advance_payment_inv", step, context=context)
        call("sale_advance_payment_inv_create_invoices", ids=[wizard], context=context)
        drafts = rows("account_move", [["invoice_origin", "=", request["name"]], ["state", "=", "draft"]], "name")
        call("account_move_action_post", ids=[row["id"] for row in drafts])


def main():
    if "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__)
        return
    shop = Shop(Brief(sys.stdin.read()))
    bought, built = plan(shop)
    write(shop, bought, built)
    print(json.dumps({"bought": len(bought), "built": len(built)}))


if __name__ == "__main__":
    try:
        main()
    except Stopped as why:
        sys.exit(f"stopped: {why}")
