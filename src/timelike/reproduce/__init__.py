"""The paper's experiments from scratch, one module a figure or table, beside the printed values."""
