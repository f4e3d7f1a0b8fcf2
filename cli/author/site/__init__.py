"""The course as static pages: `make site`."""
