"""Code used only to reproduce the paper, including the quirks of its published runs."""
