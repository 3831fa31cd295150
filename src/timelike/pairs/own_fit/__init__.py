"""Pairs with hyperparameters of their own."""
