"""``taxonomist serve``: the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taxonomist.cli.checks import OptionError
from taxonomist.cli.late_import import import_scikit_learn
from taxonomist.cli.output import print_note, progress
from taxonomist.server.settings import ServiceLimits, ServiceSettings

Folder = Annotated[
    Path, typer.Option("--folder", help="Folder for the database and for retrained models.")
]
Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        help="Database: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME. By default, a "
        "SQLite file in --folder. Or set TAXONOMIST_DB.",
        envvar="TAXONOMIST_DB",
        show_envvar=False,
    ),
]
DEFAULTS = ServiceSettings()
LIMITS = ServiceLimits()
FOLDER = Path(DEFAULTS.folder)
DEMO_NOTE = "No model was given, so this is the demo, a model of the bundled corpus."


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="Folders of models, or PROJECT=FOLDER; without any, the demo."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="Training table of a project, PROJECT=FILE, so that it can be retrained."
        ),
    ] = None,
    synonyms: Annotated[
        list[str] | None,
        typer.Option(
            help="Table of a project, PROJECT=FILE, with the columns id and synonym: more names of "
            "categories, for search; and a column note, if it has one, for the screen."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
    folder: Folder = FOLDER,
    db: Database = None,
    processes: Annotated[
        int, typer.Option(min=1, help="Processes; they share the memory of the models.")
    ] = DEFAULTS.processes,
    language: Annotated[str, typer.Option(help="Language of the texts.")] = DEFAULTS.language,
    public: Annotated[
        bool, typer.Option("--public", help="Let everybody read and ask without a token.")
    ] = False,
    label_studio: Annotated[
        bool,
        typer.Option("--label-studio", help="Serve the first project to Label Studio, too."),
    ] = False,
    rate: Annotated[
        float, typer.Option(min=0, help="Requests per second and token; 0 for no limit.")
    ] = LIMITS.rate,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Seconds for a request.")
    ] = LIMITS.seconds,
    waiting: Annotated[
        int, typer.Option(min=1, help="Requests that may wait in each process.")
    ] = LIMITS.waiting,
    body_mib: Annotated[float, typer.Option(min=0.01, help="MiB in a request.")] = LIMITS.body_bytes
    / 2**20,
    text_chars: Annotated[
        int, typer.Option(min=1, help="Characters in a text.")
    ] = LIMITS.text_chars,
    batch: Annotated[int, typer.Option(min=1, help="Documents in a request.")] = LIMITS.batch,
    random_share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of documents to measure quality by.")
    ] = DEFAULTS.random_share,
    weight: Annotated[
        float, typer.Option(min=0, help="Weight of a decision in training.")
    ] = DEFAULTS.weight,
    training_mib: Annotated[
        int, typer.Option(min=0, help="MiB for a training; 0 for half of the machine's memory.")
    ] = DEFAULTS.memory_mib,
    user_header: Annotated[
        str, typer.Option(help="Header with the user's name, set by a trusted proxy.")
    ] = "",
    proxy: Annotated[
        list[str] | None, typer.Option(help="Address of a trusted proxy; by default, this machine.")
    ] = None,
    origin: Annotated[
        list[str] | None, typer.Option(help="Origin whose pages may call the service (CORS).")
    ] = None,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="Host name that requests may use.")
    ] = None,
    log_texts: Annotated[bool, typer.Option("--log-texts", help="Write texts to the log.")] = False,
) -> None:
    """Serve models: suggest categories, say why, take corrections, and learn from them.

    Without tokens it listens on this machine only; 'taxonomist token add' makes one.
    """
    import_scikit_learn()
    from taxonomist.errors import import_extra

    for package in ("fastapi", "uvicorn", "sqlalchemy", "alembic", "prometheus_client"):
        import_extra(package, "server")
    from taxonomist.server.running import check_port, run

    limits = ServiceLimits(
        body_bytes=round(body_mib * 2**20),
        text_chars=text_chars,
        batch=batch,
        waiting=waiting,
        seconds=seconds,
        rate=rate,
    )
    settings = ServiceSettings(
        models=named(models or [], "a model"),
        tables=named(data or [], "--data"),
        synonyms=named(synonyms or [], "--synonyms"),
        folder=str(folder),
        db=db or "",
        language=language,
        is_public=public,
        user_header=user_header,
        proxies=tuple(proxy or DEFAULTS.proxies),
        origins=tuple(origin or ()),
        hosts=tuple(allowed_host or ()),
        random_share=random_share,
        weight=weight,
        memory_mib=training_mib,
        log_texts=log_texts,
        processes=processes,
        limits=limits,
    )
    check_port(host, port)
    settings = _with_models(settings, label_studio)
    run(settings, host, port, lambda: print_note(f"Serving http://{host}:{port}/"))


def named(given: list[str], what: str) -> dict[str, str]:
    """Return folders or files by project; a folder without a project has its own name."""
    found: dict[str, str] = {}
    for each in given:
        name, equals, place = each.partition("=")
        if not equals:
            if what.startswith("--"):
                raise OptionError(f"{what} must be PROJECT=FILE. Got {each!r}.")
            name, place = Path(each).resolve().name, each
        if name in found:
            raise OptionError(f"Project {name!r} was given twice. Name one PROJECT=FOLDER.")
        found[name] = place
    return found


def _with_models(settings: ServiceSettings, label_studio: bool) -> ServiceSettings:
    """Add the demo if there is no model, and check the rest."""
    from dataclasses import replace

    from taxonomist.server.demo_model import DEMO_PROJECT, demo_table, make_demo

    models, tables = settings.models, settings.tables
    is_demo = not models
    if is_demo:
        print_note(DEMO_NOTE)
        with progress() as on_step:
            demo = make_demo(Path(settings.folder), on_step)
        models = {DEMO_PROJECT: str(demo)}
        tables = {DEMO_PROJECT: str(demo_table()), **tables}
    for option, given in (("--data", tables), ("--synonyms", settings.synonyms)):
        for name, place in given.items():
            if name not in models:
                raise OptionError(f"{option} names the project {name!r}, which has no model.")
            if not Path(place).is_file():
                raise OptionError(f"{option} {name}={place}: there is no such file.")
    first = next(iter(models)) if label_studio else ""
    return replace(settings, models=models, tables=tables, label_studio=first, has_samples=is_demo)
