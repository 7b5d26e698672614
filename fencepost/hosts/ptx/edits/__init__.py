"""Barriers taken out of PTX and CUDA and put into it, and what each of them is for."""
