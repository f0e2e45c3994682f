"""What the plots share: a page with colours of its own, light or dark as the reader's system is, and text that is safe in it."""
from xml.sax.saxutils import escape, quoteattr

# The page is painted, so that it can be read on whatever it is put on. The two tones differ in brightness too.
STYLE = """
svg { --page: #ffffff; --ink: #1c2329; --faint: #5b6670; --grid: #d9dee2; --good: #1f6f8b; --bad: #b5482f; }
@media (prefers-color-scheme: dark) {
  svg { --page: #14191d; --ink: #e6eaed; --faint: #a3aeb7; --grid: #37414a; --good: #5cb3d0; --bad: #f08c6c; }
}
.page { fill: var(--page); } .grid { stroke: var(--grid); fill: none; } text { fill: var(--ink); } .faint { fill: var(--faint); }
.good { fill: var(--good); stroke: var(--good); } .bad { fill: var(--bad); stroke: var(--bad); }
"""


def page(width, height, title, lines):
    """The document of `lines`; `title` is what a reader of the screen is told."""
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="13">',
            f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", f'<rect class="page" width="{width}" height="{height}"/>')
    return "\n".join([*head, *lines, "</svg>", ""])


def text(x, y, words, **attributes):
    named = "".join(f' {name.rstrip("_").replace("_", "-")}={quoteattr(str(value))}' for name, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{named}>{escape(words)}</text>'
