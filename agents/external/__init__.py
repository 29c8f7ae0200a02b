"""Agents of other libraries: SB3, RLlib, TorchRL, Tianshou, ONNX, OpenSpiel and Kaggle.

One module or folder a library, imported only when one of its agents is asked for.
"""
