"""Everything that only the reproduction of the paper needs: its runs, quirks included."""
