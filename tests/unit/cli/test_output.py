from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from time import sleep

import pytest

from taxonomist.cli import output, progress_lines
from taxonomist.errors import CorpusNotFoundError, FormatError, ParameterError, UnknownNodeError
from tests.unit.cli.running import arguments, run_on_terminal

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="terminals and signals of POSIX")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (FormatError("line 3 is bad."), "line 3 is bad."),
        (UnknownNodeError("'x' is no node."), "'x' is no node."),
        (ParameterError("C must be positive."), "C must be positive."),
        (CorpusNotFoundError("Not here."), "Not here."),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), "a.csv: No such file or"),
        (OSError(28, "No space left on device"), "No space left on device."),
        (OSError("timed out"), "timed out"),
        (FormatError(), "FormatError"),
    ],
)
def test_bad_input_is_one_sentence(capsys, error, sentence):
    with pytest.raises(SystemExit) as caught, output.plain_errors():
        raise error
    captured = capsys.readouterr()
    assert caught.value.code == 2
    assert captured.err.startswith(f"taxonomist: {sentence}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_a_bug_keeps_its_traceback(capsys, error):
    with pytest.raises(error, match="oh"), output.plain_errors():
        raise error("oh")
    assert "please report it" in capsys.readouterr().err


@pytest.mark.parametrize("error", ["TypeError", "ValueError"])
def test_a_bug_exits_with_1(error):
    code = (
        f"from taxonomist.cli.output import plain_errors\nwith plain_errors(): raise {error}('oh')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert f"{error}: oh" in done.stderr


def test_an_interrupt_exits_with_130(capsys):
    with pytest.raises(SystemExit) as caught, output.plain_errors():
        raise KeyboardInterrupt
    assert caught.value.code == 130
    assert capsys.readouterr() == ("", "taxonomist: interrupted.\n")


def test_nothing_raised_nothing_said(capsys):
    with output.plain_errors():
        pass
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", [[], ["taxonomy"], ["data"]])
def test_every_group_helps(command, call):
    done = call(*command, "--help")
    assert done.code == 0
    assert "Usage: taxonomist" in done.out


@pytest.mark.parametrize("command", [["nix"], ["data", "list", "--nix"], ["taxonomy", "show"]])
def test_wrong_usage_exits_with_2(command, call):
    done = call(*command)
    assert done.code == 2
    assert done.out == ""
    assert "Usage: taxonomist" in done.err


def test_a_closed_pipe_is_no_error(tmp_path):
    path = tmp_path / "t.csv"
    rows = "\n".join(f"a,{i}" for i in range(50_000))
    path.write_text(f"parent,child\n{rows}\n", encoding="utf-8")
    process = subprocess.Popen(
        arguments(("taxonomy", "show", path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1)


def test_tables_are_tab_separated_off_a_terminal(capsys):
    output.print_table(("name", "n"), [("a\tb\nc", 1000), (None, 0.25), ("[bold]x", True)])
    assert capsys.readouterr().out == "name\tn\na b c\t1000\n\t0.25\n[bold]x\tTrue\n"


def test_an_empty_table_has_its_head(capsys):
    output.print_table(("name", "n"), [])
    assert capsys.readouterr().out == "name\tn\n"


def test_zero_has_no_sign(capsys):
    output.print_table(("n",), [(-0.0,), (-0.25,)])
    output.print_facts({"n": -0.0})
    assert capsys.readouterr().out == "n\n0.0\n-0.25\nn  0\n"


def test_facts_are_aligned(capsys):
    output.print_facts({"nodes": 1234, "is": True, "not": False, "mean": 2.5, "none": None})
    lines = ["nodes  1,234", "is     yes", "not    no", "mean   2.5", "none"]
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == lines


def test_progress_is_a_line_every_ten_seconds_off_a_terminal(capsys, monkeypatch):
    assert progress_lines.SECONDS_BETWEEN == 10
    monkeypatch.setattr(progress_lines, "SECONDS_BETWEEN", 0.02)
    for unit, calls, said in (
        (
            "fits",
            [("Comparing", 1200, 4800)],
            "Comparing: 1,200 of 4,800 fits, 0 s so far, about 0 s left",
        ),
        ("rows", [("Reading", 5, None)], "Reading: 5 rows, 0 s so far"),
        ("fits", [("Training", 0, None)], "Training: 0 s so far"),
        ("models", [("A", 1, 2), ("B", 1, 5, "svm, about 3 s")], "B: 1 of 5 models, svm, about 3"),
        ("bytes", [("Loading", 2_500_000, 10_000_000)], "Loading: 2.5 MB of 10.0 MB, 0 s so far"),
    ):
        with output.progress(unit) as report:
            for call in calls:
                report(*call)
            sleep(0.1)
        shown = capsys.readouterr()
        assert shown.out == ""
        assert len(shown.err.splitlines()) > 1
        assert said in shown.err.splitlines()[-1]
    with output.progress():
        sleep(0.1)
    assert capsys.readouterr() == ("", "")


def test_progress_of_a_short_task_is_silent_off_a_terminal(capsys):
    with output.progress() as report:
        report("step", 1, 2)
        report("step", 2, None)
    assert capsys.readouterr() == ("", "")


@POSIX
def test_tables_are_drawn_on_a_terminal():
    done = run_on_terminal("data", "list", "--found")
    assert done.code == 0
    assert "│" in done.out
    assert "6,795" in done.out
    assert "\t" not in done.out


@POSIX
def test_names_are_not_taken_for_markup_on_a_terminal(tmp_path):
    code = (
        "from taxonomist.cli.output import print_table\nprint_table(('a',), [('[bold]x[/nix]',)])"
    )
    import pty

    main, terminal = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stdout=terminal, check=True, timeout=60)
    os.close(terminal)
    assert "[bold]x[/nix]" in os.read(main, 65536).decode()
    os.close(main)


@POSIX
def test_an_interrupt_of_the_real_command(tmp_path):
    from tests.unit.datasets.web import serving

    home = tmp_path / "home"
    with serving({"reuters21578.tar.gz": b"x" * 1000}) as site:
        site.faults = [("hang", 400)]
        process = subprocess.Popen(
            arguments(("data", "fetch", "reuters21578", "--url", site.url)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TAXONOMIST_DATA": str(home), "XDG_DATA_HOME": str(home)},
        )
        assert site.hanging.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "taxonomist: interrupted."
    assert "Traceback" not in err
    assert out == ""
    assert not (home / "reuters21578").exists()


def test_what_is_logged_is_noted_once(capsys):
    logger = logging.getLogger("taxonomist.test_output")
    for _ in range(2):
        output.show_log(logger.name)
    logger.info("Compiling %s.", "it")
    assert capsys.readouterr() == ("", "Compiling it.\n")
