"""denseflip."""
