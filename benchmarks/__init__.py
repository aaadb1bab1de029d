"""The papers' tables and our own choices, one file per table: `python -m benchmarks.NAME [--quick] [--resume]`.

Each writes `benchmarks/results/NAME.json`: a list of rows with stable ids `paper/setting/task/metric/model`.
"""
