//! Decides at which times a schedule has an occurrence. The rules are in `tests/table/make_table.py`; the code follows.
