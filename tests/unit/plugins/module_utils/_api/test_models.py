# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every shape of the specification's chapter on resources, from examples written after its tables."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m

T = "2026-11-01T10:00:00.000Z"
DIMENSIONS = {"cpuCores": 2, "ramGb": 4, "storageGb": 20}
SUMMARY = {
    "id": "svc_1",
    "name": "survival",
    "family": "GAME",
    "status": "ACTIVE",
    "canPower": True,
    "address": "192.0.2.1:25565",
    "product": {"slug": "minecraft", "name": "Minecraft", "shortName": "MC"},
    "runtime": {"id": "rt_1", "slug": "paper", "name": "Paper"},
    "host": {"id": "nd_1", "label": "Node 1", "locationLabel": "Paris"},
    "dimensions": DIMENSIONS,
    "monthlyMillicents": 1060,
    "hourlyLabel": "0.0015 EUR/h",
    "isFree": False,
    "createdAt": T,
}
FLAW = {"id": "CVE-1", "package": "runc", "version": "1.0", "fixVersion": "1.1", "severity": "Critical"}
QUERY_RESULT = {
    "columns": [{"name": "id", "type": "int4"}],
    "rows": [["1"], [None]],
    "rowCount": 2,
    "truncated": False,
    "elapsedMs": 3,
    "command": "SELECT",
}
EXAMPLES: list[tuple[type[m.Model], dict[str, Any]]] = [
    (m.Dimensions, DIMENSIONS),
    (m.ServiceSummary, SUMMARY),
    (
        m.Service,
        {
            **{key: SUMMARY[key] for key in ("id", "name", "family", "status", "product", "runtime", "host")},
            "projectId": "prj_1",
            "dimensions": DIMENSIONS,
            "maintenance": None,
            "pricing": {
                "monthlyMillicents": 1060,
                "storageMonthlyMillicents": 100,
                "billedMonthlyMillicents": 1060,
                "monthlyCents": 106,
                "minBalanceCents": 4,
                "hourlyLabel": "0.0015 EUR/h",
                "isFree": False,
                "freeExpiresAt": None,
            },
            "dates": {"createdAt": T, "suspendedAt": None, "deletedAt": None},
            "failureReason": None,
            "panelUrl": None,
            "address": None,
            "capabilities": ["console", "powerSignals", "suspension"],
        },
    ),
    (
        m.Metrics,
        {
            "state": "running",
            "cpuAllocationPercent": 12.5,
            "ramBytes": 1,
            "storageBytes": 2,
            "uptimeSeconds": 3,
            "netRxBytes": 4,
            "netTxBytes": 5,
        },
    ),
    (
        m.Settings,
        {
            "source": {
                "kind": "image",
                "reference": "registry.example/a/b",
                "digest": "sha256:0",
                "tag": "v1",
                "releasedAt": T,
                "origin": "push",
            },
            "network": {
                "alias": "db",
                "project": "default",
                "internalPort": 5432,
                "publicIp": None,
                "publicPort": None,
                "isPublic": False,
                "editable": True,
            },
            "scale": {
                **DIMENSIONS,
                "cpuMin": 1,
                "cpuMax": 8,
                "ramMinGb": 1,
                "ramMaxGb": 32,
                "storageMinGb": 5,
                "storageMaxGb": 200,
                "cpuMillicentsPerMonth": 300,
                "ramMillicentsPerGbMonth": 100,
                "storageMillicentsPerGbMonth": 3,
                "optionsMillicents": 0,
                "monthlyMillicents": 1060,
                "editable": False,
                "lockedReason": "a suspended service cannot be resized",
            },
            "deploy": {"command": "", "defaultCommand": None, "editable": True},
            "deletable": True,
        },
    ),
    (
        m.App,
        {
            "id": "svc_2",
            "name": "shop",
            "slug": "shop",
            "status": "ACTIVE",
            "imageRef": "registry.example/p/shop@sha256:0",
            "address": "192.0.2.1:8080",
            "platform": "linux/amd64",
            "releasedAt": T,
            "scanStatus": "PASSED",
        },
    ),
    (
        m.ScanReport,
        {
            "tag": "v1",
            "digest": "sha256:0",
            "scanStatus": "BLOCKED",
            "scannedAt": T,
            "scanVerdict": {
                "counts": {"Critical": 1, "High": 0, "Medium": 2, "Low": 0},
                "blocking": [{**FLAW, "reason": "isolation"}],
                "warnings": [FLAW],
                "warningCount": 1,
                "scanner": "trivy",
            },
        },
    ),
    (m.RegistryCredentials, {"host": "r.example", "project": "p", "username": "u", "secret": "s"}),
    (m.AppQuote, {"hostId": "nd_1", "hostLabel": "N", "dimensions": DIMENSIONS, "monthlyMillicents": 1060}),
    (m.Project, {"id": "prj_1", "name": "shop", "createdAt": T, "resourceCount": 1}),
    (
        m.ProjectDetail,
        {"id": "prj_1", "name": "shop", "createdAt": T, "resourceCount": 1, "resources": [SUMMARY]},
    ),
    (
        m.ProjectSpend,
        {
            "id": "prj_1",
            "name": "shop",
            "range": 30,
            "totalCents": 106,
            "days": [{"date": "2026-11-01", "totalCents": 106}],
            "services": [
                {
                    "id": "svc_1",
                    "name": "survival",
                    "family": "GAME",
                    "productName": "Minecraft",
                    "detail": "2 vCPU",
                    "totalCents": 106,
                    "parts": [{"label": "CPU", "cents": 106}],
                }
            ],
        },
    ),
    (
        m.ProjectGraph,
        {
            "id": "prj_1",
            "name": "shop",
            "nodes": [
                {
                    "id": "svc_1",
                    "name": "survival",
                    "family": "GAME",
                    "alias": "survival",
                    "subtitle": "Paper",
                    "status": "ACTIVE",
                    "state": "running",
                    "capabilities": ["files"],
                    "diskBytes": 5,
                    "position": {"x": 0, "y": 0},
                }
            ],
            "edges": [{"from": "svc_2", "to": "svc_1", "through": ["DATABASE_URL"]}],
        },
    ),
    (
        m.FileEntry,
        {
            "name": "server.properties",
            "size": 12,
            "directory": False,
            "symlink": False,
            "mime": "text/plain",
            "modeBits": "644",
            "modifiedAt": T,
        },
    ),
    (
        m.Backup,
        {
            "id": "bk_1",
            "name": "nightly",
            "status": "COMPLETED",
            "sizeBytes": 9,
            "createdAt": T,
            "completedAt": T,
        },
    ),
    (
        m.Snapshot,
        {
            "id": "sn_1",
            "name": "before",
            "description": "",
            "parent": None,
            "createdAt": T,
            "sizeBytes": 9,
        },
    ),
    (m.Event, {"id": "ev_1", "type": "POWER_START", "at": T}),
    (m.Usage, {"range": 30, "totalCents": 0, "days": [{"date": "2026-11-01", "totalCents": 0}]}),
    (m.BilledTotals, {"hourCents": 1, "dayCents": 2, "weekCents": 3, "monthCents": 4}),
    (
        m.BillingOverview,
        {
            "balanceCents": 1000,
            "monthToDateCents": 10,
            "projectedMonthCents": 30,
            "dailyAvgCents": 1,
            "daysLeftEstimate": 99,
            "currentHourlyBurnCents": 0.15,
            "currentDailyBurnCents": 3.6,
        },
    ),
    (m.Wallet, {"balanceCents": 1000, "currency": "EUR", "becameClientAt": T}),
    (
        m.SshKey,
        {
            "id": "key_1",
            "name": "laptop",
            "algorithm": "ssh-ed25519",
            "label": "me@laptop",
            "fingerprint": "SHA256:abc",
            "createdAt": T,
            "lastUsedAt": None,
        },
    ),
    (m.SftpAccess, {"host": "sftp.example", "port": 2022, "username": "u.1", "passwordSetAt": None}),
    (m.SftpPassword, {"host": "sftp.example", "port": 2022, "username": "u.1", "password": "p"}),
    (
        m.DatabaseConnection,
        {
            "engine": "postgres",
            "host": "db.internal",
            "port": 5432,
            "user": "u",
            "password": "p",
            "database": "d",
            "url": "postgres://u:p@db.internal/d",
        },
    ),
    (
        m.DatabaseInventory,
        {
            "engine": "postgres",
            "supported": True,
            "database": "d",
            "version": "17",
            "tables": [{"schema": "public", "name": "t", "rows": 3, "bytes": 8192}],
        },
    ),
    (m.QueryResult, QUERY_RESULT),
    (
        m.Quote,
        {
            "productSlug": "minecraft",
            "dimensions": DIMENSIONS,
            "lines": [{"label": "CPU", "detail": "2 vCPU", "monthlyCents": 60}],
            "monthlyMillicents": 1060,
            "monthlyCents": 106,
            "hourlyLabel": "0.0015 EUR/h",
            "minBalanceCents": 4,
            "balanceCents": 1000,
            "daysCovered": 200,
            "coversFirstDay": True,
        },
    ),
    (
        m.Order,
        {
            "instanceId": "svc_9",
            "productSlug": "minecraft",
            "name": "survival",
            "status": "PROVISIONING",
            "monthlyMillicents": 1060,
            "href": "/services/svc_9",
            "secrets": [{"label": "Password", "value": "v"}],
        },
    ),
    (m.Whoami, {"email": "me@example.com"}),
    (m.FileContents, {"content": "text"}),
    (m.LogLines, {"lines": ["one", "two"]}),
]
NEEDED = {
    "ServiceSummary": {"id", "name", "family", "status"},
    "Service": {"id", "name", "family", "status"},
    "App": {"id", "slug", "status"},
    "ScanReport": {"scanStatus"},
    "RegistryCredentials": {"host", "project", "username", "secret"},
    "Order": {"instanceId"},
    "Project": {"id", "name"},
    "ProjectDetail": {"id", "name", "resources"},
    "FileEntry": {"name"},
    "FileContents": {"content"},
    "LogLines": {"lines"},
    "Backup": {"id", "name", "status"},
    "Snapshot": {"name"},
    "Event": {"id"},
    "SshKey": {"id"},
    "SftpAccess": {"host", "port", "username"},
    "SftpPassword": {"host", "port", "username", "password"},
}
IDS = [model.__name__ for model, _example in EXAMPLES]


def undone(value: Any) -> Any:
    """Take snake_case keys back to camelCase, and exact numbers to JSON's, without the models' help."""
    if isinstance(value, dict):
        return {
            "".join(part if i == 0 else part.title() for i, part in enumerate(key.split("_"))): undone(item)
            for key, item in value.items()
        }
    return [undone(item) for item in value] if isinstance(value, list) else value


def unknown(value: Any) -> list[str]:
    """Return the fields, at any depth, that no model names."""
    if isinstance(value, m.Model):
        inside = [field for _name, item in value for field in unknown(item)]
        return [*(value.model_extra or {}), *inside]
    return [field for item in value for field in unknown(item)] if isinstance(value, list) else []


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("model", "example"), EXAMPLES, ids=IDS)
def test_a_shape_of_the_specification_is_read_whole(model: type[m.Model], example: dict[str, Any]) -> None:
    read = model.model_validate(example)
    assert unknown(read) == [], "a field that the specification names is not in the model"
    shown = read.as_dict()
    if model is m.App:
        assert shown.pop("digest") is None, "the example has no whole digest"
    assert set(shown) == set(type(read).model_fields) - {"from_", "schema_"} | {
        name.rstrip("_") for name in type(read).model_fields if name.endswith("_")
    }
    shown = undone(shown)
    if model is m.BillingOverview:  # exact numbers are shown as strings
        shown = {key: float(value) if key.startswith("current") else value for key, value in shown.items()}
    assert without_nulls(shown) == without_nulls(example)


@pytest.mark.parametrize(("model", "example"), EXAMPLES, ids=IDS)
def test_a_field_of_tomorrow_is_kept(model: type[m.Model], example: dict[str, Any]) -> None:
    read = model.model_validate({**example, "brandNew": {"keyAsItIs": [1]}})
    assert read.as_dict()["brand_new"] == {"keyAsItIs": [1]}


@pytest.mark.parametrize(("model", "example"), EXAMPLES, ids=IDS)
def test_only_what_is_needed_has_to_be_there(model: type[m.Model], example: dict[str, Any]) -> None:
    needed = NEEDED.get(model.__name__, set())
    bare = {key: value for key, value in example.items() if key in needed}
    assert model.model_validate(bare).model_dump(exclude_none=True, by_alias=True).keys() == needed
    nulls = {key: value if key in needed else None for key, value in example.items()}
    assert model.model_validate(nulls)
    for key in needed:
        with pytest.raises(ValueError, match=key):
            model.model_validate({name: value for name, value in example.items() if name != key})
        with pytest.raises(ValueError, match=key):
            model.model_validate({**example, key: None})


@pytest.mark.parametrize(
    ("model", "field"),
    [
        (m.ServiceSummary, "family"),
        (m.ServiceSummary, "status"),
        (m.Service, "status"),
        (m.Metrics, "state"),
        (m.App, "scanStatus"),
        (m.ScanReport, "scanStatus"),
        (m.Backup, "status"),
        (m.Event, "type"),
    ],
)
def test_an_enumeration_takes_a_value_of_tomorrow(model: type[m.Model], field: str) -> None:
    example = next(example for known, example in EXAMPLES if known is model)
    assert (
        model.model_validate({**example, field: "BRAND_NEW"}).model_dump(by_alias=True)[field] == "BRAND_NEW"
    )


def test_null_product_runtime_and_host_of_a_service_pass() -> None:
    service = m.ServiceSummary.model_validate({**SUMMARY, "product": None, "runtime": None, "host": None})
    assert (service.product, service.runtime, service.host) == (None, None, None)


def test_keys_that_are_data_are_not_respelt() -> None:
    report = m.ScanReport.model_validate(
        {"scanStatus": "PASSED", "scanVerdict": {"counts": {"VeryLow": 3}}, "extraMap": {"MY_VAR": 1}}
    ).as_dict()
    assert report["scan_verdict"]["counts"] == {"VeryLow": 3}
    assert report["extra_map"] == {"MY_VAR": 1}


def test_an_edge_and_a_table_have_plain_names() -> None:
    assert m.Edge.model_validate({"from": "a", "to": "b", "newField": 1}).as_dict() == {
        "from": "a",
        "to": "b",
        "through": None,
        "new_field": 1,
    }
    assert m.DatabaseTable.model_validate({"schema": "public"}).as_dict()["schema"] == "public"


def test_numeric_ids_become_strings() -> None:
    assert m.Project.model_validate({"id": 7, "name": "x"}).id == "7"


def test_fractions_of_cents_stay_exact() -> None:
    overview = m.BillingOverview.model_validate({"currentHourlyBurnCents": 0.1})
    assert overview.current_hourly_burn_cents == Decimal("0.1")
    assert overview.as_dict()["current_hourly_burn_cents"] == "0.1"


@pytest.mark.parametrize(
    "answer",
    [
        {"monthlyMillicents": 10.5},
        {"monthlyMillicents": "1060 per month"},
        {"status": {"code": "ACTIVE"}},
        {"href": {"self": "/x"}},
        {"name": True},
    ],
)
def test_an_oddity_of_a_receipt_does_not_lose_its_secrets(answer: dict[str, Any]) -> None:
    secrets = [{"label": "Password", "value": "kept"}]
    order = m.Order.model_validate({"instanceId": "svc_9", "secrets": secrets, **answer})
    assert order.instance_id == "svc_9"
    assert order.secrets is not None
    assert order.secrets[0].value == "kept"
