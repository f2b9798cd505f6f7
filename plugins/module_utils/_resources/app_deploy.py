# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deploys releases, and rolls back to the previous one.

A digest identifies an image; a tag can move (Applications, rule 4). So images are compared by digest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .._api.errors import HostedError
from .._api.models import App, ScanReport
from .._api.text import first_of, printable, shortened
from .._api.values import ScanStatus, ServiceStatus
from .applications.lookup import resolve_app
from .applications.releases import (
    AppRecords,
    ReleaseOptions,
    await_verdict,
    describe_blocking_flaws,
    pending_scan,
    scan_view,
)
from .applications.rollout import (
    Deployed,
    DeployFailed,
    HealthCheck,
    Rollout,
    carried_out,
    health_steps,
    take_back,
)
from .shared.change import under_way
from .shared.money import Cost, rate_from
from .shared.options import StateDirOptions, check_log_lines
from .shared.plan import Plan, Resource, Step, Task, after_waiting
from .shared.task_errors import Invalid, NoSuchItem

Prepared = Callable[[App, Plan], Plan]
LAST_GOOD = "last_good_digest"
NAMED_TAGS = 10
"""How many tags an error names: the most similar version is not the one that is meant."""
PENDING_REASON = "not in effect"


@dataclass(frozen=True, kw_only=True)
class AppDeployOptions(ReleaseOptions, StateDirOptions):
    rollback: bool = False
    force: bool = False
    log_lines: int = 20
    health_check: HealthCheck | None = None


class AppDeployResource(Resource[AppDeployOptions]):
    result_key = "deployment"

    def plan(self, task: Task[AppDeployOptions]) -> Plan:
        check_log_lines(task.options.log_lines)
        if task.options.health_check is not None:
            task.options.health_check.check()
        return plan_release(task, waits=task.options.wait and not task.check_mode)


APP_DEPLOY = AppDeployResource()


def plan_release(
    task: Task[AppDeployOptions], waits: bool, prepared: Prepared = lambda app, plan: plan
) -> Plan:
    """Plan a deploy of the release if that is needed.

    If it ``waits`` for the verdict, everything is read again after that: another run may have deployed
    meanwhile, or have moved the tag. ``prepared`` puts what is done right before the deploy into its plan.
    """
    tag, app = task.options.tag, resolve_app(task)
    may_be_first = app.status == ServiceStatus.PROVISIONING and app.digest is None
    if app.status in ServiceStatus.ALL and app.status != ServiceStatus.ACTIVE and not may_be_first:
        raise Invalid(
            f"application {app.slug!r} is {app.status}; only one that is {ServiceStatus.ACTIVE} can be "
            "deployed. hosted.services.service with state: started resumes one that is suspended"
        )
    report = check_found(task, app, task.account.release(app.slug, tag) if app.id else None)
    reasons = AppRecords.of(task, app.id).reasons()
    if app.digest == report.digest and not task.options.force:
        settle = carried_out(task, app, str(report.digest)) if reasons else None
        if settle or not reasons:
            return plan_nothing(task, app, report, settle)
    if waits and report.scan_status == ScanStatus.PENDING:
        return after_waiting(
            f"wait for the verdict on release {tag!r} of application {app.slug!r}",
            lambda: await_verdict(task, report),
            lambda judged: plan_release(task, False, prepared),
            until=Plan(result=to_result(task, app, app, report)),
        )
    warn_of_verdict(task, report)
    plan = plan_deployment(task, app, report, reasons)
    # A release that is blocked is probably refused, and what is in service keeps what it has.
    return plan if report.scan_status == ScanStatus.BLOCKED else prepared(app, plan)


def plan_nothing(
    task: Task[AppDeployOptions], app: App, report: ScanReport, settle: Callable[[], None] | None
) -> Plan:
    """Return a plan without a deploy, for a release that is in service, which ``settle`` records."""
    if report.scan_status == ScanStatus.BLOCKED:
        task.warn(
            f"release {task.options.tag!r}, which is in service, is blocked by now: it keeps running, and "
            "unless the platform's team lifts the verdict, the next deploy needs a corrected image"
        )
    managed = {"digest": report.digest}
    result = to_result(task, app, app, report)
    steps = health_steps(task, task.options.health_check, app.slug)
    if settle:
        result["pending_deploy"] = []
        steps.insert(0, Step("remember that the last deploy was carried out", settle, changes=False))
    return Plan(result=result, steps=steps, before=managed, after=managed)


def check_found(task: Task[AppDeployOptions], app: App, report: ScanReport | None) -> ScanReport:
    """Return the scan report of the release to deploy; in check mode, the play may be to declare it."""
    tag, slug = task.options.tag, task.options.slug
    digest = task.options.digest or task.foreseen.get(f"{slug}:{tag}")
    if report is not None and digest in (None, report.digest):
        return report
    tags = sorted(map(repr, task.account.releases(slug) if app.id else ()))
    error: HostedError = NoSuchItem(
        f"release {tag!r} of application {slug!r} is not declared (hosted.services.app_release declares "
        f"one){f'; there are: {first_of(tags, NAMED_TAGS)}' if tags else ''}"
    )
    if report is not None:
        error = Invalid(
            f"release {tag!r} of {slug!r} names {report.digest}, not {digest}: the tag has moved. Declare it "
            "again, or deploy another one",
            digest=report.digest,
        )
    if digest is None:
        raise error
    task.expect_created(error, f"{slug}:{tag}")
    return pending_scan(tag, digest)


def warn_of_verdict(task: Task[AppDeployOptions], report: ScanReport) -> None:
    """Warn of a missing verdict, or one that forbids the deploy, unless the platform's team has lifted it."""
    tag = task.options.tag
    if report.scan_status == ScanStatus.FAILED:
        task.warn(f"the analysis of release {tag!r} did not complete; it is deployed without a verdict")
    if report.scan_status == ScanStatus.BLOCKED and task.check_mode:
        task.warn(
            f"release {tag!r} of application {task.options.slug!r} is blocked: "
            f"{describe_blocking_flaws(report)}. A deploy is refused, unless its team has lifted the verdict"
        )


def plan_deployment(
    task: Task[AppDeployOptions], app: App, report: ScanReport, reasons: Sequence[str]
) -> Plan:
    """Plan a deploy. ``reasons`` say why an image in service must be deployed again."""
    options, digest, before = task.options, str(report.digest), app.digest
    # A real run uses application routes only.
    price = monthly_price(task, app) if task.check_mode and app.id else None
    monthly = {} if price is None else {"monthly": price}
    expected = App.model_construct(**{**vars(app), "scan_status": report.scan_status})
    result = to_result(task, app, expected, report)
    result["app"]["digest"] = digest
    summary = f"deploy release {options.tag!r} ({digest}) of application {app.slug!r}"
    if before == digest:
        forced = "its environment changes" if task.composition.part else "force is set"
        summary += f" again: {'; '.join(reasons) or forced}"
    elif before:
        summary += f" in place of {before}"
    again = {PENDING_REASON: list(reasons)} if reasons and before == digest else {}
    deployed = Deployed(digest, AppRecords.of(task, app.id).last_good(before), options.rollback, before)

    def reread() -> dict[str, Any]:
        now = task.account.release(app.slug, options.tag) or report
        found = to_result(task, app, task.account.app(app.slug), now)
        # By now, the records are those after the deploy.
        return {**found, "previous_digest": deployed.before, LAST_GOOD: deployed.previous}

    undecided = report.scan_status == ScanStatus.PENDING
    return Plan(
        result=result,
        steps=[
            Step(summary, lambda: deploy(task, app, deployed, undecided)),
            *health_steps(task, options.health_check, app.slug, deployed),
        ],
        reread=reread,
        before={"digest": before, **again, **monthly} if before else {},
        after={"digest": digest, "tag": options.tag, "verdict": report.scan_status, **monthly},
        cost=None if price is None else Cost(price, price, service=app.slug, service_id=app.id),
    )


def monthly_price(task: Task[AppDeployOptions], app: App) -> Decimal | None:
    """Return the monthly price of the application; ``None`` if it is not shown, which prevents no deploy."""
    try:
        project = task.account.page_of_app(app)
    except HostedError:
        return None
    rates = [each.monthly_millicents for each in (project.resources if project else ()) if each.id == app.id]
    return rate_from(rates[0]) if rates else None


def deploy(task: Task[AppDeployOptions], app: App, deployed: Deployed, undecided: bool) -> None:
    """Deploy; if the release does not start, roll back and raise an error with all that is known."""
    digest, records = deployed.digest, AppRecords.of(task, app.id)
    try:
        Rollout(task, task.options.tag, deployed, undecided).run()
    except HostedError as error:
        doubted, other = records.unconfirmed(), None
        if isinstance(error, DeployFailed):
            other = None if error.now in (digest, deployed.previous, deployed.before) else error.now
            explain_failure(task, app, error, deployed, other)
        # Else it never began, and another one is still the last that failed, or a third one is in service.
        if other is None and doubted in (None, digest):
            records.record_failure(digest)
        raise


def explain_failure(
    task: Task[AppDeployOptions], app: App, error: DeployFailed, failed: Deployed, other: str | None
) -> None:
    """Roll back if that is wanted, and put all that is known of a failed deploy into its error.

    Nothing is rolled back over another deploy that the platform is at, or ``other``, what somebody else has
    put in service meanwhile.
    """
    busy = error.may_be_busy and under_way(task.account, str(app.id))
    lines, reason = list[str](), error.message
    try:
        lines = task.client.app_logs(app.slug)[-task.options.log_lines :]
    except HostedError as unread:
        task.warn(f"the log of application {app.slug!r} cannot be read: {unread.message}")
    outcome, rollback = "", dict[str, Any]()
    if other or not busy:
        outcome, rollback = take_back(task, failed, other, runs=not error.restarted)
    known = {"reason": reason, "logs": lines, "changed": error.touched or task.effects.writes > 0}
    error.details = {**error.details, **known, **rollback}
    sentences = [
        f"the deploy of release {task.options.tag!r} of application {app.slug!r} failed: {reason}",
        outcome or describe_service(error, failed),
        *([f"The log ends with: {' | '.join(lines[-3:])}"] if lines else []),
    ]
    told = ". ".join(sentence.rstrip(".") for sentence in sentences)
    error.reworded(shortened(printable(told)))  # the log's lines may hold anything


def describe_service(error: DeployFailed, failed: Deployed) -> str:
    now, before, digest = error.now, failed.before, failed.digest
    again = "The next run deploys it again, or another version"
    if not error.began or (before is not None and now == before != digest):
        if not error.restarted:
            return f"{now or 'Nothing'} is in service{', as before' if now == before else ''}"
        return f"{before} is shown as in service, as before, but it {error.restarted}. {again}"
    kept = "The platform keeps it" if now == digest else "It may be"
    return f"{kept} in service although it does not run. {again}"


def to_result(task: Task[AppDeployOptions], before: App, now: App, report: ScanReport) -> dict[str, Any]:
    records = AppRecords.of(task, before.id)
    return {
        "slug": now.slug,
        "tag": task.options.tag,
        "digest": report.digest,
        "previous_digest": before.digest,
        LAST_GOOD: records.last_good(before.digest),
        "pending_deploy": [] if task.check_mode else sorted(records.outstanding()),
        "scan": scan_view(report),
        "app": now.as_dict(),
    }
