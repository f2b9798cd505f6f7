# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The top of the page: a sentence, five answers, and what to do next."""

from __future__ import annotations

from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.text import counted
from ansible_collections.hosted.services.plugins.plugin_utils._report.markup import (
    DASH,
    MONTHS,
    UNKNOWN,
    Content,
    Element,
    element,
    listed,
    name_of,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.page import Page, section
from ansible_collections.hosted.services.plugins.plugin_utils._report.signs import LEVELS, icon

MOST_NAMES = 4
MOST_SUBJECTS = 12
REST = (
    ("none", "has none", "have none"),
    ("unknown", "could not be read", "could not be read"),
    ("not_offered", "offers no backups", "offer no backups"),
    ("not_created", "service does not exist yet", "services do not exist yet"),
)
"""What is said of services without a fresh backup, for one and for more."""


def month_name(page: Page) -> str:
    """Return the name of the month of the forecast."""
    return MONTHS[int(page.data["money"]["month"][5:7]) - 1]


def lead(page: Page) -> Element:
    """Return the report in a sentence or two."""
    levels = [matter["level"] for matter in page.data["advice"]]
    level, now = ("critical", " now") if "critical" in levels else ("warning", " soon")
    count = levels.count(level)
    need = f"{counted(count, 'thing')} {'needs' if count == 1 else 'need'} attention{now}."
    matters = need if count else "Nothing is urgent."
    parts: list[Content] = [element("strong", matters), " "]
    amount = page.data["answers"]["month"]
    if amount is not None:
        parts.append(f"{month_name(page)} will cost {page.money(amount)} if all stays as it is. ")
    if page.data["unread"]:
        parts += [element("a", "Something could not be read", href="#unread"), "; it is unknown, not zero."]
    return element("p", parts, class_="lead")


def answers(page: Page) -> Element:
    """Return the five answers."""
    found = [costs_most(page), backed_up(page), broken(page), referred_to(page), month(page)]
    return element("dl", [element("div", each) for each in found], class_="cards")


def answer(question: str, short: list[Content], more: list[Content]) -> list[Content]:
    """Return a question, its short answer, and what is to be added to it."""
    rest = element("dd", more) if any(each is not None for each in more) else None
    return [element("dt", question), element("dd", short, class_="answer"), rest]


def costs_most(page: Page) -> list[Content]:
    """Return which service costs most."""
    top = page.data["answers"]["costs_most"]
    if top is None:
        known = page.data["money"]["complete"] and page.data["services"] is not None
        return answer("What costs most?", ["Nothing costs anything" if known else UNKNOWN.capitalize()], [])
    now = f"{page.money(top['monthly'])} a month now" if top["monthly"] else "no longer there"
    days = counted(len(page.data["money"]["days"]), "day")
    spent = f"{page.money(top['amount'])} in {days}; " if top["amount"] else None
    tied: list[Content] = (
        ["; as much as ", *listed(top["tied_names"], MOST_NAMES)] if top["tied_names"] else []
    )
    return answer("What costs most?", [name_of(top["name"])], [spent, now, *tied])


def backed_up(page: Page) -> list[Content]:
    """Return whether every service has a backup that is young enough."""
    found = page.data["answers"]["backed_up"]
    question, of, fresh = "Is everything backed up?", found["of"], found["fresh"]
    if found["unknown"] is None:
        return answer(question, [UNKNOWN.capitalize()], ["The services cannot be read"])
    rest = [f"{found[key]} {one if found[key] == 1 else more}" for key, one, more in REST if found[key]]
    said = "; ".join([f"{fresh} of {of} have one from the last {page.data['backups']['max_age']}", *rest])
    if not of and not found["unknown"]:
        return answer(question, ["Nothing to back up"], ["; ".join(rest)])
    short = "No" if fresh < of else "As far as is known" if found["unknown"] else "Yes"
    return answer(question, [short], [said])


def broken(page: Page) -> list[Content]:
    """Return which services failed or wait."""
    ids = page.data["answers"]["broken_ids"]
    if ids is None:
        return answer("What is broken?", [UNKNOWN.capitalize()], ["The services cannot be read"])
    if not ids:
        return answer("What is broken?", ["Nothing"], ["No service failed or waits for the platform's team"])
    names = listed([page.name(id) for id in ids], MOST_NAMES)
    return answer("What is broken?", names, ["Failed, or waits for the platform's team"])


def referred_to(page: Page) -> list[Content]:
    """Return what most others refer to."""
    question, found = "What do others depend on?", page.data["answers"]["referred_to"]
    if found is None:
        projects = page.data["projects"]
        known = projects is not None and all(each["references"] is not None for each in projects)
        return answer(question, ["Nothing" if known else UNKNOWN.capitalize()], [])
    refer = "refers" if len(found["by_ids"]) == 1 else "refer"
    names = listed([page.name(id) for id in found["by_ids"]], MOST_NAMES)
    more: list[Content] = [*names, f" {refer} to it"]
    if found["others"]:
        others = counted(found["others"], "other service")
        more += ["; ", element("a", f"arrows lead to {others}", href="#projects")]
    return answer(question, [name_of(page.name(found["id"]))], more)


def month(page: Page) -> list[Content]:
    """Return what the month will have cost."""
    found, question = page.data["money"], f"What will {month_name(page)} cost?"
    said = [
        f"{page.money(found['month_to_date'])} so far" if found["month_to_date"] else None,
        f"the platform says {page.money(found['platform_forecast'])}" if found["platform_forecast"] else None,
        "without services of unknown price" if found["unpriced"] else None,
    ]
    amount = page.data["answers"]["month"]
    short = UNKNOWN.capitalize() if amount is None else page.money(amount)
    return answer(question, [short], ["; ".join(filter(None, said))])


# --- What to do next --------------------------------------------------------------------------------


def next_steps(page: Page) -> Element:
    """Return what to do next, the most urgent first."""
    matters = page.data["advice"]
    if not matters:
        return section("next", None, element("p", "Nothing: all is well, as far as is known."))
    items = [matter_of(matter) for matter in matters]
    return section("next", None, element("ol", items, class_="box matters", role="list"))


def matter_of(matter: dict[str, Any]) -> Element:
    """Return one matter with all that it concerns."""
    sign = LEVELS[matter["level"]]
    subjects = matter["subjects"]
    lines = [
        element("li", name_of(each["name"]), element("span", f" {DASH} {each['detail']}", class_="soft"))
        for each in subjects[:MOST_SUBJECTS]
    ]
    more = len(subjects) - MOST_SUBJECTS
    if more > 0:
        lines.append(element("li", f"and {more} more", class_="soft"))
    when = element("span", sign.word, class_="when")
    return element("li", element("h3", icon(sign), element("span", matter["do"]), when), element("ul", lines))
