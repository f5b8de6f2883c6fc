"""Policy tests: YAML documents of cases beside the policies, their coverage, and mutants that test the tests."""

from policyengine.check.policy_tests.report import Report
from policyengine.check.policy_tests.request import Request
from policyengine.check.policy_tests.suite import run

__all__ = ["Report", "Request", "run"]
