"""Parts of an HTML report on other pages, with the report's own style."""

from __future__ import annotations

import re


def section(report: str, name: str) -> str:
    """Return a section of a report as HTML for a Markdown page.

    The section stands in a shadow tree, so that the styles of report and page do not mix. The
    report's colours come in from outside, and follow the theme of the page.

    Parameters
    ----------
    report
        The report's HTML.
    name
        The id of the section.
    """
    found = re.search(rf'<section id="{re.escape(name)}">(.*?)</section>', report, re.S)
    if found is None:
        known = ", ".join(re.findall(r'<section id="([^"]+)"', report))
        raise ValueError(f"The report has no section {name!r}. It has {known}.")
    content = re.sub(r"^<h2>.*?</h2>", "", found[1])
    style = _style(report)
    inside = f"<style>{_without_colours(style)}</style><div class=body>{content}</div>"
    return (
        "\n```{raw} html\n"
        f"<style>{_colours(style)}</style>"
        f'<div class="report-part"><template shadowrootmode="open">{inside}</template></div>'
        "\n```\n"
    )


def frame(address: str) -> str:
    """Return a frame with a whole report, and a link to it, as HTML for a Markdown page."""
    return (
        "\n```{raw} html\n"
        f'<iframe class="report-frame" src="{address}" title="A report" loading="lazy"></iframe>\n'
        f'<p><a href="{address}">Open this report in a page of its own</a></p>'
        "\n```\n"
    )


def _style(report: str) -> str:
    found = re.search(r"<style>(.*?)</style>", report, re.S)
    assert found is not None
    # A raw block must not have blank lines.
    return re.sub(r"\n\s*\n", "\n", found[1])


def _palettes(style: str) -> tuple[str, str]:
    """Return the variables of the light and of the dark theme."""
    light, dark = re.findall(r":root \{([^}]*--paper[^}]*)\}", style)[:2]
    return light.replace("color-scheme: light dark;", "").strip(), dark.strip()


def _colours(style: str) -> str:
    """Return the report's colours, for the themes of the page."""
    light, dark = _palettes(style)
    return (
        f".report-part {{ {light} }} "
        f'body[data-theme="dark"] .report-part {{ {dark} }} '
        "@media (prefers-color-scheme: dark) { "
        f'body:not([data-theme="light"]) .report-part {{ {dark} }} }}'
    )


def _without_colours(style: str) -> str:
    """Return the report's style for a shadow tree: without variables, and without margins."""
    style = re.sub(r"@media \(prefers-color-scheme: dark\) \{\s*:root \{[^}]*\}\s*\}", "", style)
    style = re.sub(r"@media print \{.*", "", style, flags=re.S)
    style = re.sub(r"^:root \{[^}]*\}", "", style.strip())
    font = "font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif"
    style = re.sub(r"^body \{[^}]*\}", f".body {{ color: var(--ink); {font}; }}", style, flags=re.M)
    return style.strip()
