"""What the end-to-end tests share, a subject a file. Tests import from here and never from each other."""
