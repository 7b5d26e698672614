"""Kernels: operations in graphs, buffers and views, index expressions, the builder and the text form.

A kernel is a tree of graphs (or, unstructured, a list of blocks) that every wave of a workgroup runs.
The text form and the trace say exactly the same: parsing what was printed gives the same kernel,
and printing what was parsed from printed text gives the same text.
"""
