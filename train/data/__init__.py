"""Recorded games: data set, files, generation, conversion, replay and split.

`dataset.GameDataset` holds games as their actions, with the agents that played. `storage` reads
and writes its files; `generate` plays games; `convert` reads Kaggle's episodes and tables;
`positions` replays games into training samples.
"""
