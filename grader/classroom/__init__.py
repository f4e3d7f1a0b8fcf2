"""A class: its reports, attempts, due dates and grades."""
