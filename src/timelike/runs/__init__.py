"""The whole job: chosen, done, written, read again, repeated."""
