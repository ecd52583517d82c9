#!/usr/bin/env python3
"""A plain HTTP client of Odoo's JSON-2 that reads, plans greedily and orders.

    greedy_buyer.py URL TOKEN < instruction.md

URL is an episode's `json2` address. It knows nothing of what answers there: it confirms the draft orders it finds, and buys what
stock does not cover from the cheapest listed supplier that can deliver in time, one line per supplier and item. It needs only
Python's own library. It is no good planner; it is the same planner everywhere.
"""
import json
import re
import sys
import urllib.error
import urllib.request

BASE, TOKEN = sys.argv[1].rstrip("/"), sys.argv[2]
TAGS = re.compile(r"<[^>]+>")


def call(model, method, **arguments):
    request = urllib.request.Request(
        f"{BASE}/{model}/{method}",
        json.dumps(arguments).encode(),
        {"Content-Type": "application/json", "Authorization": f"bearer {TOKEN}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        said = json.load(error)
        print(f"{model}/{method}: {error.code} {said.get('name')}: {said.get('message', '')[:120]}", file=sys.stderr)
        return None


def rows(model, domain, fields):
    return call(model, "search_read", domain=domain, fields=fields, order="id") or []


def main():
    text = sys.stdin.read()
    confirmed = []
    for order in rows("sale.order", [["state", "=", "draft"]], ["client_order_ref", "commitment_date", "order_line"]):
        if call("sale.order", "action_confirm", ids=[order["id"]]):
            confirmed.append(order)
    # Requests that are only told of: a reference, a customer, a number of units, an item, a day.
    partners = {row["ref"]: row for row in rows("res.partner", [["ref", "!=", False]], ["ref", "name", "comment"])}
    products = {row["default_code"]: row for row in rows("product.product", [["default_code", "!=", False]],
                                                         ["default_code", "list_price", "qty_available", "product_tmpl_id"])}
    needs = {}
    known = {order["client_order_ref"] for order in rows("sale.order", [], ["client_order_ref"])}
    for line in text.splitlines():
        codes = [code for code in products if re.search(rf"\b{re.escape(code)}\b", line)]
        customers = [ref for ref in partners if re.search(rf"\b{re.escape(ref)}\b", line)]
        request = re.search(r"\bREQ-\d+\b", line)
        day = re.search(r"\b20\d\d-\d\d-\d\d\b", line)
        units = re.search(r"\b(\d+)\s+(?:units?|pcs|pieces)\b", line) or re.search(r"\|\s*(\d+)\s*\|", line)
        if not (request and day and units and customers and codes) or request.group() in known:
            continue
        product = products[codes[0]]
        made = call("sale.order", "create", vals_list=[{
            "partner_id": partners[customers[0]]["id"], "client_order_ref": request.group(),
            "commitment_date": f"{day.group()} 12:00:00",
            "order_line": [[0, 0, {"product_id": product["id"], "product_uom_qty": int(units.group(1)),
                                   "price_unit": product["list_price"]}]],
        }])
        if made and call("sale.order", "action_confirm", ids=made):
            known.add(request.group())
    for order in rows("sale.order", [["state", "=", "sale"]], ["name", "commitment_date", "order_line"]):
        for line in call("sale.order.line", "read", ids=order["order_line"],
                         fields=["product_id", "product_uom_qty", "display_type"]) or []:
            if line["product_id"] and not line["display_type"]:
                need = needs.setdefault(line["product_id"][0], {"units": 0, "orders": [], "day": order["commitment_date"]})
                need["units"] += line["product_uom_qty"]
                need["orders"].append(order["name"])
                need["day"] = min(need["day"], order["commitment_date"])
    for product in sorted(products.values(), key=lambda row: row["default_code"]):
        need = needs.get(product["id"])
        short = need["units"] - product["qty_available"] if need else 0
        if short <= 0:
            continue
        offers = rows("product.supplierinfo", [["product_tmpl_id", "=", product["product_tmpl_id"][0]]],
                      ["partner_id", "min_qty", "price", "delay"])
        notes = {row["id"]: TAGS.sub("", row["comment"] or "") for row in partners.values()}
        fits = [offer for offer in offers if offer["min_qty"] <= short and not notes.get(offer["partner_id"][0])]
        for offer in sorted(fits or offers, key=lambda offer: (offer["price"], offer["min_qty"], offer["partner_id"][1]))[:1]:
            made = call("purchase.order", "create", vals_list=[{
                "partner_id": offer["partner_id"][0], "origin": ", ".join(need["orders"]),
                "date_order": need["day"][:10] + " 08:00:00",
                "order_line": [[0, 0, {"product_id": product["id"], "product_qty": max(short, offer["min_qty"]),
                                       "price_unit": offer["price"], "date_planned": need["day"]}]],
            }])
            if made:
                call("purchase.order", "button_confirm", ids=made)
    bought = call("purchase.order", "search_count", domain=[["state", "=", "purchase"]])
    sold = call("sale.order", "search_count", domain=[["state", "=", "sale"]])
    print(json.dumps({"sold": sold, "bought": bought}))


main()
