"""TorchRL: PPO with action masks against random moves, then self-play against past policies."""

import copy
import time

import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss, ValueEstimators

from ludoteca.agents import OpponentPool, PoolAgent
from ludoteca.agents.external.torchrl import agent_of_actor, save_actor
from ludoteca.envs.adapters.torchrl import TorchRLEnv
from ludoteca.evaluate.match import play_match

torch.set_num_threads(1)
torch.manual_seed(0)
steps = 30 * 4096
env = TorchRLEnv("connect4", 64, agent_seat="random", observation="flat", seed=0)
sampling = {"flat": True, "deterministic": False}


def learn(pool=None):
    masked = {"distribution_class": MaskedCategorical, "return_log_prob": True}
    module = TensorDictModule(MLP(84, 7, num_cells=[128, 128]), ["observation"], ["logits"])
    actor = ProbabilisticActor(module, {"logits": "logits", "mask": "action_mask"}, **masked)
    loss = ClipPPOLoss(actor, ValueOperator(MLP(84, 1)), normalize_advantage=True)
    loss.make_value_estimator(ValueEstimators.GAE, gamma=1.0, lmbda=0.95)
    adam = torch.optim.Adam(loss.parameters(), lr=1e-3)
    for n, data in enumerate(Collector(env, actor, frames_per_batch=4096, total_frames=steps)):
        rows = loss.value_estimator(data).reshape(-1)
        for batch in (part for _ in range(4) for part in torch.randperm(4096).split(1024)):
            adam.zero_grad()
            sum(x for key, x in loss(rows[batch]).items() if key.startswith("loss_")).backward()
            adam.step()
        if pool is not None and n % 3 == 0:
            pool.add(str(n), agent_of_actor(env.game, copy.deepcopy(actor), **sampling))
            env.set_opponent(PoolAgent(env.game, pool))
    return actor


start = time.perf_counter()
path = save_actor("connect4", env.game, learn(), flat=True)
seconds = time.perf_counter() - start
print(against_random := play_match(env.game, [f"torchrl:{path}", "random"], 1000, seed=1))
learner = agent_of_actor(env.game, learn(OpponentPool(size=8)), flat=True)
print(self_play := play_match(env.game, [learner, "random"], 1000, seed=2))
