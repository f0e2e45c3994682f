"""A plot of several curves over a count, both axes by powers of ten, as SVG."""
import math

from svg import page, text

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 440, 70, 70, 20, 36
LEGEND = "Lines: simulated, a machine for each replica. All on one machine: dots measured, rings simulated."
STYLES = ("good", "bad")  # two tones that differ in brightness too


def powers(values):
    """The powers of ten that enclose `values`."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return range(low, max(high, low + 1) + 1)


def scale(tens, begin, end):
    return lambda value: begin + (math.log10(value) - tens[0]) / (tens[-1] - tens[0]) * (end - begin)


def number(power):
    return f"{10 ** power:,}" if power >= 0 else f"{10.0 ** power:g}"


def plot(curves, points, label):
    """`curves`, two of them: {name: {count: value}}; `points`: {name: {count: (measured, simulated)}} of the machine that measured."""
    values = [value for each in curves.values() for value in each.values() if value > 0]
    values += [value for each in points.values() for both in each.values() for value in both]
    x_tens, y_tens = powers([count for each in curves.values() for count in each]), powers(values)
    x, y = scale(x_tens, LEFT, WIDTH - RIGHT), scale(y_tens, HEIGHT - BOTTOM, TOP)
    out = []
    for power in x_tens:
        at = x(10 ** power)
        out += [f'<path class="grid" d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}"/>',
                text(at, HEIGHT - BOTTOM + 18, number(power), text_anchor="middle")]
    for power in y_tens:
        at = y(10 ** power)
        out += [f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>', text(LEFT - 8, at + 4, number(power), text_anchor="end")]
    out.append(text((LEFT + WIDTH) / 2, HEIGHT - BOTTOM + 36, label, text_anchor="middle"))
    for (name, curve), style in zip(curves.items(), STYLES, strict=True):
        shown = [(count, value) for count, value in sorted(curve.items()) if value > 0]
        line = " ".join(f"{x(c):.1f},{y(v):.1f}" for c, v in shown)
        out.append(f'<polyline class="{style}" style="fill: none" points="{line}" stroke-width="2"/>')
        for count, (measured, simulated) in points.get(name, {}).items():
            out += [f'<circle class="{style}" cx="{x(count):.1f}" cy="{y(measured):.1f}" r="4"/>',
                    f'<circle class="{style}" style="fill: none" cx="{x(count):.1f}" cy="{y(simulated):.1f}" r="7" stroke-width="1.5"/>']
        out.append(text(WIDTH - RIGHT - 8, y(shown[-1][1]) - 10, name, text_anchor="end"))
    out.append(text(12, HEIGHT - 10, LEGEND, class_="faint"))
    title = ". ".join(f"{name}: " + ", ".join(f"{value:,.0f} at {count}" for count, value in sorted(curve.items()))
                      for name, curve in curves.items())
    return page(WIDTH, HEIGHT, title, out)
