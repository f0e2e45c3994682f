"""A plot of several curves over a count, both axes by powers of ten, as SVG."""
import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 420, 70, 50, 20, 20
COLOURS = ("#1f6f8b", "#b5482f", "#4f7d3a", "#6b4c9a")


def powers(values):
    """The powers of ten that enclose `values`."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return range(low, max(high, low + 1) + 1)


def scale(tens, begin, end):
    return lambda value: begin + (math.log10(value) - tens[0]) / (tens[-1] - tens[0]) * (end - begin)


def number(power):
    return f"{10 ** power:,}" if power >= 0 else f"{10.0 ** power:g}"


def plot(curves, points, label):
    """`curves` and `points`: {name: {count: value}}. Points carry the colour of the curve of their name."""
    values = [value for each in (*curves.values(), *points.values()) for value in each.values() if value > 0]
    x_tens, y_tens = powers([count for each in curves.values() for count in each]), powers(values)
    x, y = scale(x_tens, LEFT, WIDTH - RIGHT), scale(y_tens, HEIGHT - BOTTOM, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for power in x_tens:
        at = x(10 ** power)
        out.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                   f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{number(power)}</text>')
    for power in y_tens:
        at = y(10 ** power)
        out.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{number(power)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">{label}</text>')
    for index, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[index % len(COLOURS)]
        shown = [(count, value) for count, value in sorted(curve.items()) if value > 0]
        out.append(f'<polyline points="{" ".join(f"{x(c):.1f},{y(v):.1f}" for c, v in shown)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(c):.1f}" cy="{y(v):.1f}" r="4" fill="{colour}"/>' for c, v in points.get(name, {}).items() if v > 0]
        out.append(f'<text x="{x(shown[0][0]) + 8:.1f}" y="{y(shown[0][1]) - 8:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*out, "</svg>", ""])
