"""What the docs are made with: the pages of the gallery, and pictures."""
