"""Other platforms: nbgrader, Gradescope, Canvas, GitHub, JUnit, JPlag, CSV."""
