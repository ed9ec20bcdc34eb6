"""Write an assessment as a self-contained HTML page."""

from __future__ import annotations

from taxonomist.report.page import write_report

__all__ = ["write_report"]
