"""A clerk at the desks of Benchwright: a scripted agent that works over MCP, and is judged twice.

    desk_clerk.py BENCHWRIGHT DIR

BENCHWRIGHT is the program, DIR a folder that `benchwright build` wrote. The clerk needs the package `mcp` (2 or newer).

For every task in DIR the program begins an episode, and the clerk gets what any agent gets: the instruction and the tools. It knows
nine kinds of request, each in the words of three people. From the words it takes names, addresses and dates; everything else it looks
up with reading tools. It writes down all calls that it is going to make before it makes the first one. If it sees meanwhile that the
request cannot be carried out, it declines, and says what it saw: nothing of that name, no tool for a step, no right to it, a rule that
the records would break, or words that ask for two things at once.

What it leaves is judged by the server, and again by `benchwright grade` in a process of its own. Prints one line a task; ends with 1 if
a task does not pass, two verdicts differ, or a domain or a kind of obstacle has not come up.
"""

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from datetime import datetime, timedelta
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

DOMAINS = {"csm", "itsm", "hr", "teams", "calendar", "email", "drive"}
OBSTACLES = {"policy", "permission", "no_tool", "not_found", "contradiction"}


class Obstacle(Exception):
    """Why a request cannot be carried out."""

    def __init__(self, kind, rule=None, record=None):
        super().__init__(kind)
        self.kind, self.rule, self.record = kind, rule, record


class Desk:
    """What the clerk has before it: the instruction, the tools, and a list of what is to be done."""

    def __init__(self, client, tools, instruction):
        self.client, self.tools = client, tools
        self.request = instruction.split("## Request", 1)[1].strip()
        self.now = moment(re.search(r"It is (\S+Z) \(UTC\)", instruction)[1])
        self.rights = dict(re.findall(r"^- (create|change|delete): (.*)$", instruction, re.M))
        self.plan, self.answers = [], {}

    async def call(self, tool, **arguments):
        """Calls a tool; None if the record is not there."""
        if tool not in self.tools:
            raise Obstacle("no_tool", record=tool)
        told = await self.client.call_tool(tool, arguments)
        answer = json.loads(told.content[0].text)
        if not told.is_error:
            return answer
        if answer["error"]["code"] == "not_found":
            return None
        raise RuntimeError(f"{tool} was refused: {answer['error']['message']}")

    async def rows(self, tool, **filters):
        """All rows that a reading tool finds, page after page."""
        found, page = [], await self.call(tool, **filters)
        while True:
            found += page["rows"]
            if not page["next_cursor"]:
                return found
            page = await self.call(tool, **filters, cursor=page["next_cursor"])

    async def named(self, tool, field, value, **filters):
        """The row whose field is exactly this, of those that a search finds."""
        return pick(await self.rows(tool, **{field: value}, **filters), field, value)

    async def keyed(self, tool, **key):
        """The record with this key, which the request names."""
        found = await self.call(tool, **key)
        if found is None:
            raise Obstacle("not_found", record=str(list(key.values())[-1]))
        return found

    def need_right(self, right, table):
        """Stops where the role may not do this to any row of a table."""
        allowed = self.rights.get(right, "").replace(" (some rows)", "").split(", ")
        if allowed != ["everything"] and table not in allowed:
            raise Obstacle("permission", record=table)

    def intend(self, right, table, tool, **arguments):
        """Writes a call down, if the role has the right to it and there is a tool for it."""
        self.need_right(right, table)
        if tool not in self.tools:
            raise Obstacle("no_tool", record=table)
        self.plan.append((tool, arguments))

    def unless_it_stays(self, state, record):
        """Stops where the request also wants the record to stay in the state that it asks to change."""
        if re.search(rf"\b(?:stay|remain|keep|leave)\b[^.]*\b{state}\b", self.request, re.I):
            raise Obstacle("contradiction", record=record)

    async def carry_out(self):
        for tool, arguments in self.plan:
            if await self.call(tool, **arguments) is None:
                raise RuntimeError(f"{tool} found nothing to work on")
        if self.answers:
            told = [{"name": name, "value": str(value)} for name, value in self.answers.items()]
            await self.call("submit_answer", reply_value=told)


def pick(rows, field, value):
    """The row whose field is exactly this."""
    for row in rows:
        if row[field] == value:
            return row
    raise Obstacle("not_found", record=value)


def moment(text):
    return datetime.fromisoformat(text)


def told_moment(day, hour):
    """20 February 2026, 09:00, as people write it."""
    return datetime.strptime(f"{day} {hour} +0000", "%d %B %Y %H:%M %z")


def stamp(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def numbered(rows):
    return {row["id"]: row for row in rows}


# What each kind of request needs.


async def set_cases_to_pending(desk, account, name, title):
    account = await desk.named("find_account", "name", account)
    people = await desk.rows("find_user", name=name)
    person = next(p for p in people if (p["name"], p["title"]) == (name, title))
    cases = await desk.rows("search_cases", account=account["id"], assigned_to=person["id"], state="in_progress")
    for notice in await desk.rows("list_service_notices"):
        if notice["read_only"] and moment(notice["starts_at"]) <= desk.now <= moment(notice["ends_at"]):
            raise Obstacle("policy", rule="no-writes-when-frozen", record=notice["title"])
    kinds = numbered(await desk.rows("find_sla_definitions"))
    for case in cases:
        desk.unless_it_stays("in progress", case["number"])
        desk.intend("change", "customer_case", "update_case", id=case["id"], state="pending")
        for clock in await desk.rows("find_case_slas", case=case["id"], stage="running"):
            if kinds[clock["sla"]]["pause_on_pending"]:
                desk.intend("change", "case_sla", "update_case_sla_details", id=clock["id"], stage="paused")


async def wait_for_the_vendor(desk, org, item):
    desk.need_right("change", "incident")  # whoever has none sees other companies not at all
    org = pick(await desk.rows("list_organizations"), "name", org)
    item = await desk.named("find_configuration_items", "name", item, org=org["id"])
    model = numbered(await desk.rows("list_ci_models"))[item["model"]]
    vendor = numbered(await desk.rows("find_vendors"))[model["vendor"]]
    kinds = numbered(await desk.rows("find_sla_definitions"))
    for incident in await desk.rows("list_incidents", ci=item["id"]):
        if incident["status"] not in ("new", "in_progress"):
            continue
        if re.search(r"reason[^.]*wait for the caller", desk.request):
            raise Obstacle("contradiction", record=incident["number"])
        desk.intend("change", "incident", "update_incident", id=incident["id"], status="on_hold", hold_reason="awaiting_vendor")
        for clock in await desk.rows("find_incident_slas", incident=incident["id"], stage="in_progress"):
            if kinds[clock["sla"]]["pause_on_hold"]:
                desk.intend("change", "incident_sla", "update_incident_sla_details", id=clock["id"], stage="paused")
        if "support" in desk.request:
            about = f"{incident['number']}: {item['name']}"
            desk.intend("create", "notification", "send_notification", email=vendor["support_email"], incident=incident["id"],
                        type="other", subject=about, body=f"{about} drops out, please look into it.")


async def send_out_for_signature(desk, paper, place):
    paper = await desk.named("list_document_templates", "name", paper)
    place = await desk.named("find_department_by_name", "name", place)
    for document in await desk.rows("list_employee_documents", template=paper["id"], state="draft"):
        profile = await desk.keyed("get_hr_profile", id=document["profile"])
        if profile["department"] == place["id"]:
            desk.unless_it_stays("draft", document["title"])
            desk.intend("change", "employee_document", "update_employee_document", id=document["id"], state="awaiting_signature")


async def put_a_tab_into_general(desk, app, label, user):
    user = await desk.keyed("get_user", user_principal_name=user)
    app = await desk.named("list_teams_apps", "display_name", app)
    if app["blocked"]:
        raise Obstacle("policy", rule="tab-app-installed", record=app["display_name"])
    for owned in await desk.rows("list_joined_teams", user=user["id"], role="owner"):
        general = await desk.keyed("get_primary_channel", team=owned["team"])
        if not await desk.rows("list_installed_apps", team=owned["team"], app=app["id"]):
            desk.intend("create", "installed_app", "install_app", app=app["id"], team=owned["team"])
        desk.intend("create", "channel_tab", "add_tabs_to_channels", channel=general["id"], app=app["id"], display_name=label)


async def renew_watches(desk, user, event, title):
    user = await desk.keyed("get_user_by_email", email=user)
    entries = await desk.rows("get_calendar_list", user=user["id"])
    calendars = [await desk.keyed("get_calendar", id=entry["calendar"]) for entry in entries]
    calendar = pick(calendars, "summary", title)
    event = await desk.named("list_events", "summary", event, calendar=calendar["id"])
    until = moment(event["end"])
    if "confirmed" in desk.request and event["status"] != "confirmed":
        until = moment(event["start"]) - timedelta(days=7)
    if until > desk.now + timedelta(days=60):
        raise Obstacle("policy", rule="watch-at-most-60-days", record=event["summary"])
    for old in await desk.rows("list_watch_channels", user=user["id"], kind="events", active=True):
        if moment(old["expires_on"]) <= desk.now + timedelta(days=7):
            desk.unless_it_stays("active", old["channel"])
            desk.intend("change", "watch_channel", "stop_channel", channel=old["channel"])
            desk.intend("create", "watch_channel", "watch_events", user=user["id"], calendar=old["calendar"],
                        channel=old["channel"] + "-b", address=old["address"], expires_on=stamp(until))
    entry = pick(entries, "calendar", calendar["id"])
    if "hidden" in desk.request and entry["hidden"]:
        desk.intend("change", "calendar_list_entry", "update_calendar_in_list", id=entry["id"], hidden=False)


async def give_drafts_a_sender(desk, box, project, alias):
    box = await desk.keyed("get_profile", email=box)
    sender = await desk.keyed("get_send_as_alias", user=box["id"], send_as_email=alias)
    if sender["verification"] == "pending":
        sender = (await desk.rows("list_send_as_aliases", user=box["id"], is_default=True))[0]
    for draft in await desk.rows("list_drafts", user=box["id"], subject=project):
        if draft["importance"] == "high":
            desk.unless_it_stays("empty", draft["subject"])
            desk.intend("change", "draft", "update_draft", id=draft["id"], send_as=sender["id"])


async def take_files_out_of_the_trash(desk, owner, culprit, day, hour):
    since = told_moment(day, hour)
    owner = await desk.named("find_user", "email", owner)
    culprit = await desk.named("find_user", "email", culprit)
    for file in await desk.rows("list_files", owner=owner["id"], trashed=True):
        if file["last_modified_by"] != culprit["id"] or moment(file["trashed_on"]) < since:
            continue
        if file["parent"] and (await desk.keyed("get_file", id=file["parent"]))["trashed"]:
            raise Obstacle("policy", rule="parent-is-folder", record=file["name"])
        desk.intend("change", "file", "untrash_file", id=file["id"])


async def make_room(desk, owner, limit):
    owner = await desk.named("find_user", "email", owner)
    held = await desk.rows("list_legal_holds", custodian=owner["id"], state="active")
    total = 0
    for file in await desk.rows("list_files", owner=owner["id"], starred=False, trashed=False, size_bytes_from=int(limit)):
        if file["mime_type"] not in ("video", "archive") or await desk.rows("list_permissions", file=file["id"]):
            continue
        if held:
            raise Obstacle("policy", rule="hold-blocks-removal", record=held[0]["matter"])
        desk.intend("change", "file", "trash_file", id=file["id"])
        total += file["size_bytes"]
    if wanted := re.search(r"Answer with `submit_answer`, under the name `(\w+)`", desk.request):
        desk.answers[wanted[1]] = total


async def cover_for_a_colleague(desk, away, group, standin, name, day, hour):
    leaving = told_moment(day, hour)
    colleague = await desk.keyed("csm_get_user_by_email", email=standin)
    if not colleague["active"] or colleague["role"] not in ("agent", "manager"):
        raise Obstacle("policy", rule="csm/assignee-can-work", record=standin)
    absent = await desk.keyed("csm_get_user_by_email", email=away)
    group = await desk.named("csm_find_user_group", "name", group)
    cases = await desk.rows("search_cases", assigned_to=absent["id"], assignment_group=group["id"], state="in_progress")
    if not await desk.rows("check_user_membership", group=group["id"], user=colleague["id"]):
        desk.intend("create", "csm.group_member", "csm_add_new_group_member", group=group["id"], user=colleague["id"])
    for case in cases:
        desk.unless_it_stays("assigned to me", case["number"])
        desk.intend("change", "csm.customer_case", "update_case", id=case["id"], assigned_to=colleague["id"])
    box = await desk.keyed("get_profile", email=away)
    desk.intend("change", "email.vacation_settings", "update_vacation_settings", user=box["id"], enabled=True,
                starts_at=stamp(leaving), ends_at=stamp(leaving + timedelta(days=7)),
                body=f"I am away. Please turn to {name}, {standin}.")


# How people say it. The names of the groups are what the functions above take.

MAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
DAY, HOUR = r"(?P<day>\d+ \w+ \d{4})", r"(?P<hour>\d\d:\d\d) UTC"
WAYS = [
    (set_cases_to_pending, [
        r"stuck with (?P<account>.+?), they owe me.*\. (?P<name>[^.,]+), (?P<title>[^,\n]+)",
        r"^(?P<account>.+?), cases assigned to (?P<name>[^(]+) \((?P<title>.+?)\), state in progress",
        r"answer of (?P<account>.+?) on several matters.*Kind regards, (?P<name>[^,]+), (?P<title>.+?) \(not my namesake"]),
    (wait_for_the_vendor, [
        r"^(?P<item>\S+) at (?P<org>.+?) is a case for its vendor",
        r"^(?P<org>[^\n]+), (?P<item>\S+)\n(?:1\. )?Incidents on this item",
        r"makers of (?P<item>\S+) \((?P<org>.+?)\) have to move"]),
    (send_out_for_signature, [
        r"yearly round for the (?P<paper>.+?): in (?P<place>.+?), all documents",
        rf"^(?P<paper>[^\n]+?), (?P<place>[^\n]+)\. By {MAIL}\n(?:1\. )?Documents of that template",
        r"In (?P<place>[^.]+?) we have the (?P<paper>.+?) round"]),
    (put_a_tab_into_general, [
        rf"new app, (?P<app>.+?)\. In every team.* call it (?P<label>.+?)\. .*, (?P<user>{MAIL})",
        rf"^App: (?P<app>.+?)\. Name of the tab: (?P<label>[^\n]+)\n.*in which (?P<user>{MAIL}), that is me",
        rf"please: (?P<label>.+?) as a tab showing (?P<app>.+?), in General.*That is (?P<user>{MAIL})"]),
    (renew_watches, [
        rf'the meeting "(?P<event>.+?)" on my calendar (?P<title>[^.,]+)[.,] .*Watches that.*, (?P<user>{MAIL})',
        rf"^Watches of (?P<user>{MAIL})\n.*the event (?P<event>.+?) in my calendar (?P<title>.+?) is over",
        rf'here, (?P<user>{MAIL})\. .*Look at "(?P<event>.+?)" on my calendar (?P<title>.+?): ']),
    (give_drafts_a_sender, [
        rf"drafts in (?P<box>{MAIL}) that have (?P<project>.+?) in the subject.*the alias (?P<alias>{MAIL}) is verified",
        rf"^Mailbox (?P<box>{MAIL}), drafts with (?P<project>.+?) in the subject.*Look at the alias (?P<alias>{MAIL})",
        rf"my drafts on (?P<project>.+?) in (?P<box>{MAIL}) ready.*Sender is (?P<alias>{MAIL})"]),
    (take_files_out_of_the_trash, [
        rf"\((?P<culprit>{MAIL})\) cleaned up in my files \((?P<owner>{MAIL})\).*went there on {DAY} at {HOUR}",
        rf"^Files of (?P<owner>{MAIL}), thrown away by (?P<culprit>{MAIL}).*trashed from {DAY} {HOUR}",
        rf"It was [^,]+, (?P<culprit>{MAIL}), who.*my files, (?P<owner>{MAIL}).*since {DAY}, {HOUR}"]),
    (make_room, [
        rf"storage is nearly full \((?P<owner>{MAIL})\).*a video or an archive of (?P<limit>\d+) bytes or more",
        rf"^Owner: (?P<owner>{MAIL})\n.*videos and archives, from (?P<limit>\d+) bytes up",
        rf"I am [^,]+, (?P<owner>{MAIL})\. My drive.*have (?P<limit>\d+) bytes or above"]),
    (cover_for_a_colleague, [
        rf"in progress in (?P<group>.+?) goes to (?P<name>.+?) \((?P<standin>{MAIL})\).*"
        rf"my mailbox, (?P<away>{MAIL}), from {DAY}, {HOUR}",
        rf"^Holiday cover for [^,]+, (?P<away>{MAIL})\n.*begins {DAY} at {HOUR}.*cases of (?P<group>.+?) in progress.*"
        rf"assign them to (?P<name>.+?), (?P<standin>{MAIL})",
        rf"my absence (?P<name>.+?) \((?P<standin>{MAIL})\) will.*my cases in (?P<group>.+?) that are in progress.*"
        rf"mailbox \((?P<away>{MAIL})\).*from {DAY}, {HOUR}"]),
]


async def work(url, token, instruction):
    """Does what the instruction asks for, or declines it. Tells what was done."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=120)
    async with http, Client(streamable_http_client(url, http_client=http)) as client:
        tools, cursor = set(), None
        while True:
            page = await (client.list_tools(cursor=cursor) if cursor else client.list_tools())
            tools |= {tool.name for tool in page.tools}
            cursor = page.next_cursor
            if not cursor:
                break
        desk = Desk(client, tools, instruction)
        meant = [(way, found) for way, voices in WAYS for voice in voices if (found := re.search(voice, desk.request, re.S))]
        if len(meant) != 1:
            raise RuntimeError(f"{len(meant)} kinds of request fit: {desk.request}")
        way, found = meant[0]
        try:
            await way(desk, **found.groupdict())
            if not desk.plan:
                raise Obstacle("not_found")
        except Obstacle as why:
            told = {"kind": why.kind, "rule": why.rule, "record": why.record}
            await desk.call("decline_request", **{key: value for key, value in told.items() if value})
            return "declined", why.kind, f"declined, {why.kind}: {why.rule or why.record or 'nothing to do'}"
        await desk.carry_out()
        writes = "1 write" if len(desk.plan) == 1 else f"{len(desk.plan)} writes"
        if desk.answers:
            return "answered", way.__name__, f"{way.__name__}, {writes} and an answer"
        return "done", way.__name__, f"{way.__name__}, {writes}"


def ask(base, token, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Authorization": f"Bearer {token}"}, method=method)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def main(program, folder):
    seen, wrong, scratch = set(), 0, tempfile.TemporaryDirectory()
    # Loopback only, at a port that is free.
    server = subprocess.Popen([program, "serve", folder, "--grade"], stdout=subprocess.PIPE, text=True)
    try:
        told = json.loads(server.stdout.readline())
        base, control = told["control"], told["token"]
        for task in sorted(path.name for path in Path(folder, "open").iterdir()):
            episode = ask(base, control, "POST", "/episodes", {"task": task})
            here = f"/episodes/{episode['id']}"
            try:
                outcome, what, text = asyncio.run(work(episode["urls"]["mcp"], episode["token"], episode["instruction"]))
            except Exception as fault:  # the others are still tried
                while isinstance(fault, ExceptionGroup):
                    fault = fault.exceptions[0]
                outcome, what, text = "failed", "", f"gave up: {fault!r}"
            calls = ask(base, control, "GET", here)["calls_used"]
            snapshot = Path(scratch.name, f"{task}.json")
            snapshot.write_text(json.dumps(ask(base, control, "GET", here + "/snapshot")))
            served = ask(base, control, "POST", here + "/grade", {})
            ask(base, control, "DELETE", here)
            graded = subprocess.run([program, "grade", str(Path(folder, "open", task)), str(snapshot), "--json"],
                                    capture_output=True, text=True)
            graded = json.loads(graded.stdout) if graded.stdout else {"ending": graded.stderr.strip()}
            good = served == graded and served["ending"] == "pass"
            wrong += not good
            if good:
                domain = task.rpartition("-")[0]
                seen.add(what if outcome == "declined" else domain if outcome == "done" else outcome)
            print(f"{task:22} {text:62} {calls:3} calls  server {served['ending']}  grade {graded['ending']}"
                  + ("" if served == graded else "  the two verdicts differ"), flush=True)
    finally:
        server.terminate()
        server.wait()
        scratch.cleanup()
    missing = sorted((DOMAINS | OBSTACLES | {"answered"}) - seen)
    if not any("-" in domain for domain in seen):
        missing.append("a joined world")
    print("nothing is missing" if not missing else f"not shown: {', '.join(missing)}")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
