"""The goals of speed as bars, one a goal: its length is the figure divided by the goal, so that every goal lies on one line."""
from xml.sax.saxutils import quoteattr

from speed_goals import holds
from svg import page, text

WIDTH, ROW, BAR, LEFT, LINE, RIGHT = 880, 24, 14, 262, 412, 562
KINDS = {"at most": "At most: a bar that ends before the line holds its goal.",
         "at least": "At least: a bar that reaches the line holds its goal."}


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")


def verdict(row):
    if row["figure"] is None:
        return "not measured"
    return f"{number(row['figure'])} {row['unit']}, {row['kind']} {number(row['goal'])}: {'yes' if holds(row) else 'NO'}"


def bar(row, y):
    if row["figure"] is None:
        return []
    end = LEFT + row["figure"] / row["goal"] * (LINE - LEFT)
    shown = min(end, RIGHT)
    out = [f'<rect class="{"good" if holds(row) else "bad"}" x="{LEFT}" y="{y + 5}" width="{max(shown - LEFT, 1):.3f}" height="{BAR}"/>']
    if end > RIGHT:  # longer than there is room for
        out.append(f'<path stroke="var(--page)" stroke-width="3" d="M{RIGHT - 14} {y + ROW - 3}l6 {-BAR - 4}m4 0l-6 {BAR + 4}"/>')
    return out


def panel(rows, kind, top):
    """(lines, where it ends)."""
    bottom = top + ROW * len(rows)
    out = [text(12, top - 10, KINDS[kind], font_weight="bold"), text(LINE, bottom + 15, "goal", class_="faint", text_anchor="middle")]
    for index, row in enumerate(rows):
        y = top + index * ROW
        out += [f'<g data-goal={quoteattr(row["name"])}>', text(LEFT - 8, y + 16, row["name"], text_anchor="end"), *bar(row, y),
                text(RIGHT + 10, y + 16, verdict(row)), "</g>"]
    out.append(f'<path class="grid" stroke-width="1" d="M{LEFT} {top}V{bottom}"/>')
    out.append(f'<path data-line="{kind}" stroke="var(--ink)" stroke-width="2" d="M{LINE} {top - 4}V{bottom + 2}"/>')
    return out, bottom + 24


def plot(rows):
    """The SVG of rows as speed_goals.figures() returns them."""
    lines, end = [], 0
    for kind in KINDS:
        chosen = [row for row in rows if row["kind"] == kind]
        if chosen:
            more, end = panel(chosen, kind, end + 36)
            lines += more
    told = [row for row in rows if row["figure"] is not None]
    title = f"{sum(map(holds, told))} of {len(rows)} goals of speed hold. " + " ".join(f"{row['name']}: {verdict(row)}." for row in rows)
    return page(WIDTH, end, title, lines)
