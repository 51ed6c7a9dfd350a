"""Write the table of shapes into README.md."""

from pathlib import Path

from shapes import table

TOP = """# Shapes of real files

`shapes.py` makes small files in the shapes that programs write. All files are our own: five nodes,
one graph, nothing copied. `tests/unit/datasets/test_zoo.py` reads each of them with `read_graph`,
as `explain FILE` does, and with `import_folder`; each must give the graph that was written, or the
expected refusal. Run `python tests/zoo/write_readme.py` after a change.

"""

Path(__file__).with_name("README.md").write_text(TOP + "\n".join(table()) + "\n", encoding="utf-8")
