"""AMD kernels down to the assembly: is what was asked for what LLVM has made of it?"""
