"""The plot of the goals of speed: each bar on its side of the line, with its verdict in words, and the one in docs/ as its figures are."""
import json
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from support.program import ROOT

sys.path.insert(0, str(ROOT / "tests/bench"))
import speed_goals  # noqa: E402
from goal_plot import plot  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def row(name, kind, goal, figure):
    return {"bench": "b", "name": name, "kind": kind, "goal": goal, "unit": "× peer", "figure": figure}


def drawn(rows):
    """{name: (where its bar ends less where its goal's line stands, class, words)}"""
    root = ElementTree.fromstring(plot(rows))
    lines = {one.get("data-line"): float(one.get("d").removeprefix("M").split()[0]) for one in root.iter(f"{SVG}path") if one.get("data-line")}
    out = {}
    for group in (one for one in root.iter(f"{SVG}g") if one.get("data-goal")):
        kind = next(one["kind"] for one in rows if one["name"] == group.get("data-goal"))
        bar, words = group.find(f"{SVG}rect"), " ".join("".join(one.itertext()) for one in group.iter(f"{SVG}text"))
        end = None if bar is None else float(bar.get("x")) + float(bar.get("width")) - lines[kind]
        out[group.get("data-goal")] = (end, None if bar is None else bar.get("class"), words)
    return out


CASES = {"at most": ((0.01, True), (0.5, True), (1.49, True), (1.51, False), (2.4, False), (900, False)),
         "at least": ((0.01, False), (0.5, False), (1.49, False), (1.51, True), (2.4, True), (900, True))}


@pytest.mark.parametrize("kind", CASES)
def test_a_bar_ends_on_the_side_of_the_line_that_its_goal_says(kind):
    for figure, expected in CASES[kind]:
        end, style, words = drawn([row("one", kind, 1.5, figure), row("two", "at most", 2, 1)])["one"]
        assert (end > 0) == (figure > 1.5), (figure, end)
        assert (style, words.endswith("yes"), words.endswith("NO")) == (("good", True, False) if expected else ("bad", False, True)), words


def test_what_equals_its_goal_holds_and_ends_on_the_line():
    for kind in CASES:
        end, style, words = drawn([row("equal", kind, 64, 64)])["equal"]
        assert abs(end) < 0.01 and style == "good" and words.endswith("yes")


def test_every_goal_lies_on_the_line_of_its_panel_whatever_its_size():
    found = drawn([row("small", "at most", 0.5, 0.25), row("large", "at most", 3000, 1500)])
    assert found["small"][0] == pytest.approx(found["large"][0])


def test_what_was_not_measured_says_so_and_has_no_bar():
    end, style, words = drawn([row("gone", "at least", 1, None), row("a", "at least", 1, 1)])["gone"]
    assert end is None and style is None and words.endswith("not measured")


def test_a_name_cannot_break_the_document():
    assert drawn([row('<&"', "at most", 1, 1)])['<&"'][1] == "good"


def measured():
    case = {"dashctl direct": {"wall_s": 2.0, "cpu_s": 3.0, "peak_mib": 20}, "mc": {"wall_s": 1.0, "cpu_s": 2.0, "peak_mib": 40},
            "chunked lane": {"wall_s": 2.5}}
    policy = {"bare_fdatasync": {"p50_us": 100}, "dry_run": {"one": {"p50_us": 400}},
              "deny": {"one": {"p50_us": 950}, "sixteen": {"per_second": 2000}},
              "bare_engine": {"as dry_run": {"p50_us": 200}, "as deny": {"p50_us": 400}, "sixteen": {"per_second": 4000}},
              "dry_run_of_200_rules": {"one": {"p50_us": 1510}},
              "postgres": {"sixteen": {"per_second": 3000}, "two_replicas": {"per_second": 2700}}}
    served = {"nginx file": {"per_second": 100}, "dashctl /api/auth/me signed in": {"per_second": 60},
              "dashctl /livez at 16": {"per_second": 100}, "dashctl list of 20 assets at 16": {"per_second": 19}}
    return {"http": [{"servers": served}], "storage": [{"fetch large": case, "upload large": case, "lane": case}], "policy": [policy],
            "migrate": [{"bench": "migrate.import", "keys": keys, "seconds": keys / 60000, "peak_mib": 70} for keys in (600, 60000)]}


def test_figures_are_read_from_what_the_benchmarks_print():
    rows = {one["name"]: one for one in speed_goals.figures(measured())}
    figures = {name: one["figure"] for name, one in rows.items() if one["figure"] is not None}
    assert figures == {"fetch of 1 GiB, time": 2.0, "fetch of 1 GiB, processor": 1.5, "upload of 1 GiB, time": 2.0,
                       "upload of 1 GiB, processor": 1.5, "upload of 1 GiB, memory": 0.5, "chunked lane, time": 1.25, "dry run": 2.0,
                       "durable denial": 0.704, "denials at 16 connections": 0.5, "refusals on PostgreSQL at 16": 3000,
                       "refusals by two replicas": 0.9, "import of 60,000 keys, time": 1.0, "import of 60,000 keys, memory": 70, "dry run with 200 rules": 1.51,
                       "signed-in GET at 64 connections": 0.6, "list of 20 assets at 16": 0.19}
    held = {name for name in figures if speed_goals.holds(rows[name])}
    assert held == {"fetch of 1 GiB, processor", "upload of 1 GiB, memory", "chunked lane, time", "durable denial",
                    "refusals on PostgreSQL at 16", "import of 60,000 keys, time",
                    "signed-in GET at 64 connections"}


def test_the_plot_in_the_documentation_is_that_of_its_figures():
    rows = json.loads((ROOT / "docs/speed.json").read_text(encoding="utf-8"))
    assert (ROOT / "docs/speed.svg").read_text(encoding="utf-8") == plot(rows)
    goals = [(goal.name, goal.kind, goal.goal) for goal in speed_goals.GOALS]
    assert [(one["name"], one["kind"], one["goal"]) for one in rows] == goals
