"""What every room stands on: checks with words, whole-or-absent files, tables, tiles, threads and clusters."""
