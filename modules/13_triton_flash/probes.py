"""Probes of 13_triton_flash: none. Mistakes are named by probes on the CPU, and a kernel runs only on a GPU."""
