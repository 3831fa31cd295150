"""The report: one HTML file with everything about an analysis, which works offline and is safe to send on."""
