"""The configuration of Sphinx. Nothing here may make a page ask another host for anything."""

extensions = ["myst_parser", "cli.author.site.mathml"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 6
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
templates_path: list[str] = []
