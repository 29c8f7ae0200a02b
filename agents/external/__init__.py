"""Agents of other libraries: SB3, RLlib, TorchRL, Tianshou, ONNX, OpenSpiel and Kaggle.

One module or folder per library, imported only when one of its agents is made.
"""
