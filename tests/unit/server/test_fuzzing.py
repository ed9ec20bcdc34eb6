"""Requests made up from the description of our routes never end in an internal error."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

LEFT_OUT = ("/v1/projects/{project_id}/retrain",)
"""Routes whose every good request starts a process."""


def fuzz(server, n_requests):
    """Ask every route with made-up requests; return the number of answers by status."""
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    chosen = [each for each in operations if each.path not in LEFT_OUT]
    statuses: dict[int, int] = {}

    def ask(operation):
        @settings(
            max_examples=2 * n_requests // len(chosen),  # routes without parameters get one
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def answered(case):
            if case.path_parameters and "project_id" in case.path_parameters:
                case.path_parameters["project_id"] = "beings"
            answer = case.call()
            statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
            case.validate_response(answer, checks=[not_a_server_error])

        answered()

    for operation in chosen:
        ask(operation)
    return statuses


def check(server, n_requests):
    server.post("/v1/projects/beings/documents", {"documents": [{"text": "it barks"}]})
    statuses = fuzz(server, n_requests)
    assert sum(statuses.values()) >= n_requests
    assert not {status for status in statuses if status >= 500}
    assert statuses[200] > n_requests / 20
    assert not [line for line in server.lines if line["level"] == "error"]


def test_a_few_hundred_made_up_requests(server):
    check(server, 200)


@pytest.mark.slow
def test_ten_thousand_made_up_requests(server):
    check(server, 10_000)
