"""Results for people and for other programs: `tally` counts a stream, `terminal` and `html` show it, `tables` writes it."""
