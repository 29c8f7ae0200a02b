"""Environment APIs: Gymnasium (single and vector) and PettingZoo (AEC and parallel).

This folder imports the engine; the adapters for other libraries import this folder.
"""
