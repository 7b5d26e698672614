"""PTX text to the instructions, control flow and definitions of a kernel."""
