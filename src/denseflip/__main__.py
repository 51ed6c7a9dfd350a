"""``python -m denseflip`` is the ``denseflip`` command."""

from denseflip.cli import main

if __name__ == "__main__":
    main()
