"""Environment APIs: Gymnasium (single and vector) and PettingZoo (AEC and parallel).

Imports the engine; adapters of other libraries import this folder.
"""
